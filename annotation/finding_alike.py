"""Criteria like a text that somebody is writing, among those that this person may see now, and no others."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from annotation.likeness import find_alike, fold
from annotation.models import Assignment, Conversation, Criterion, Drafting, Study, User
from annotation.models.criteria import CriterionQuerySet
from annotation.permissions import visible_criteria
from annotation.writers import ways_to_be_writer

AT_MOST = 3
MOST_COMPARED = 50_000
LEAST = 12
"""Characters of a text before anything is said to be like it."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A criterion that is like what is written. Its points are not told: only whether it is wanted."""

    id: UUID
    conversation_id: UUID
    conversation: str
    text: str
    is_wanted: bool
    is_here: bool


def find_similar(
    *, reader: User, conversation: Conversation, text: str, apart_from: UUID | None = None
) -> list[Similar]:
    """At most three criteria like ``text``, those of the conversation first, then those of the study.

    ``apart_from`` is the criterion that is being revised.
    """
    if len(fold(text)) < LEAST:
        return []
    here = [
        each
        for each in visible_criteria(reader, conversation)
        if each.id != apart_from and each.withdrawn_at is None and each.merged_into_id is None and each.current_revision
    ]
    texts = [fold(each.current_revision.text) for each in here if each.current_revision]
    found = [here[alike.place].id for alike in find_alike(text, texts, at_most=AT_MOST)]
    if len(found) < AT_MOST:
        elsewhere = seen_in_study(reader, conversation.study).exclude(conversation=conversation)
        rows = list(
            elsewhere.annotate(folded=Lower("current_revision__text")).values_list("id", "folded")[:MOST_COMPARED]
        )
        alike = find_alike(text, [folded for _, folded in rows], at_most=AT_MOST - len(found))
        found += [rows[each.place][0] for each in alike]
    if not found:
        return []
    shown = Criterion.objects.select_related("conversation", "current_revision").in_bulk(found)
    return [_similar(shown[each], conversation) for each in found]


def _similar(criterion: Criterion, conversation: Conversation) -> Similar:
    revision = criterion.current_revision
    assert revision is not None
    return Similar(
        id=criterion.id,
        conversation_id=criterion.conversation_id,
        conversation=criterion.conversation.external_id,
        text=revision.text,
        is_wanted=revision.points > 0,
        is_here=criterion.conversation_id == conversation.id,
    )


def seen_in_study(reader: User, study: Study) -> "QuerySet[Criterion]":
    """The standing criteria of the study that a person may see now."""
    return visible_in_study(reader, study).standing()


def visible_in_study(reader: User, study: Study) -> "CriterionQuerySet":
    """All criteria of the study that a person may see now: ``visible_criteria`` over all of its conversations.

    A test holds the two together.
    """
    conversations = Conversation.objects.visible_to(reader).filter(study=study)
    criteria = Criterion.objects.own().filter(conversation__in=conversations.values("id"))
    if study.policy.drafting == Drafting.TOGETHER:
        return criteria
    reviewing = Assignment.objects.filter(conversation=OuterRef("conversation_id"), reviewer=reader)
    first, current, source = ways_to_be_writer(reader)
    return criteria.filter(
        Q(conversation__drafting_closed_at__isnull=False) | ~Exists(reviewing) | Q(first) | Q(current) | Q(source)
    )
