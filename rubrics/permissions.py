"""Who may read what of the criteria that a version takes or leaves.

Blindness binds persons, not roles: an admin or a researcher who also reviews a conversation reads there what a
reviewer reads. While drafting is open (policy: alone) that is the own drafts, and until a criterion's first reveal
(policy: own weights) not its author's points.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404

from annotation.models import Assignment, Criterion, Drafting, Study, User
from annotation.permissions import sees_points
from annotation.writers import writers_of
from rubrics.finding import NoSuchVersion, find_version
from rubrics.models import RubricVersion
from rubrics.selecting import NEVER_ACKNOWLEDGED, Selection, StaysOut


@dataclass(frozen=True, slots=True)
class Hidden:
    """The ids of criteria whose text, and of those whose points, a person may not read now."""

    texts: frozenset[UUID] = frozenset()
    points: frozenset[UUID] = frozenset()


def hidden_from(user: User, study: Study, criterion_ids: Collection[UUID]) -> Hidden:
    """What of these criteria of a study, on a page for those who oversee it, this person may not read.

    A fixed number of queries; one for who reviews nothing.
    """
    reviewing = set(
        Assignment.objects.filter(conversation__study=study, reviewer=user).values_list("conversation_id", flat=True)
    )
    if not reviewing or not criterion_ids:
        return Hidden()
    criteria = list(
        Criterion.objects.filter(study=study, id__in=criterion_ids, conversation__in=reviewing)
        .select_related("current_revision", "conversation", "study")
        .defer("conversation__messages", "conversation__extra", "current_revision__text")
    )
    points = {criterion.id for criterion in criteria} - sees_points(user, criteria)
    if study.policy.drafting != Drafting.ALONE:
        return Hidden(points=frozenset(points))
    drafts = [criterion for criterion in criteria if criterion.conversation.drafting_closed_at is None]
    writers = writers_of(drafts)
    return Hidden(
        texts=frozenset(draft.id for draft in drafts if user.id not in writers[draft.id]),
        points=frozenset(points),
    )


def to_acknowledge(selection: Selection, hidden: Hidden) -> list[StaysOut]:
    """What this person acknowledges one by one before a freeze.

    Where the person may not read points yet, all of those are asked about: a shorter list would tell the heavy ones.
    """
    return [
        this
        for this in selection.stays_out
        if this.must_be_acknowledged or (this.criterion.id in hidden.points and this.kind not in NEVER_ACKNOWLEDGED)
    ]


def find_version_of(study: Study, address: str) -> RubricVersion:
    """The study's version by its number or name, for a page or the API; Http404 else."""
    try:
        return find_version(study, address)
    except NoSuchVersion as missing:
        raise Http404(missing.sentence) from missing
