"""No more emergent conversations in a row than the study allows, where there is another to put in between.

In a row is counted from what the person finished last: votes cast, drafting finished, discussions ended. These are
the person's own acts, which are kept anyway; nothing here looks at how long somebody reads.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Max, OuterRef, Q, Subquery
from django.db.models.functions import Greatest

from annotation.models import Acuity, Assignment, Study, User, Vote

Known = TypeVar("Known")


def spread_out(waiting: Sequence[tuple[Known, bool]], *, in_a_row: int, limit: int) -> list[Known]:
    """What waits, as (what, is it emergent), in an order with at most ``limit`` emergent ones in a row.

    ``in_a_row`` emergent ones came just before. Each comes as early as that allows; where only emergent ones are left
    they come all the same. A limit of 0 is none.
    """
    left = list(waiting)
    order: list[Known] = []
    while left:
        is_enough = bool(limit) and in_a_row >= limit
        # the first that is not emergent, where there are enough of the others; else simply the first
        place = next((number for number, (_, is_emergent) in enumerate(left) if not (is_enough and is_emergent)), 0)
        what, is_emergent = left.pop(place)
        order.append(what)
        in_a_row = in_a_row + 1 if is_emergent else 0
    return order


def count_in_a_row(user: User, studies: Collection[Study]) -> dict[UUID, int]:
    """How many emergent conversations a person finished last, one after the other, in each study. One query."""
    votes = Vote.objects.filter(round__conversation=OuterRef("conversation"), reviewer=user, imported_from=None)
    last_vote = votes.order_by().values("reviewer").annotate(last=Max("cast_at")).values("last")
    rows: Any = (
        Assignment.objects.filter(reviewer=user, conversation__study__in=studies)
        # GREATEST passes over what is null
        .annotate(last=Greatest(Subquery(last_vote), "finished_drafting_at", "ended_discussion_at"))
        .filter(Q(last__isnull=False))
        .order_by("conversation__study_id", "-last", "id")
        .values_list("conversation__study_id", "conversation__acuity")
    )
    return _runs(rows)


def _runs(rows: Iterable[tuple[UUID, str | None]]) -> dict[UUID, int]:
    """Of (study, acuity), newest first: how many of each study are emergent before the first that is not."""
    runs: dict[UUID, int] = {}
    ended: set[UUID] = set()
    for study_id, acuity in rows:
        if acuity != Acuity.EMERGENT:
            ended.add(study_id)
        elif study_id not in ended:
            runs[study_id] = runs.get(study_id, 0) + 1
    return runs
