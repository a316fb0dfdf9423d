"""Out of reach: whether enough reviewers could be found for what a conversation has to decide.

Whoever could still be assigned counts, also who pauses: a pause ends. A reviewer who wrote a criterion is none for that
criterion.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.matching import Bench
from annotation.models import Assignment, Conversation, Criterion, Round, Study
from annotation.states import CriterionState, with_criterion_state
from annotation.writers import writers_of

OPEN_STATES = (CriterionState.DRAFT, CriterionState.VOTING, CriterionState.DISCUSSION)
"""States of a criterion that reviewers still have to bring to an end."""


def undecided(conversations: "QuerySet[Conversation]") -> "QuerySet[Conversation]":
    """Those with something to decide: no round was opened yet, or a criterion is not settled."""
    criteria: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.filter(conversation=OuterRef("pk")))
    unsettled = criteria.filter(Q(state__in=OPEN_STATES))
    return conversations.filter(~Exists(Round.objects.filter(conversation=OuterRef("pk"))) | Exists(unsettled))


@dataclass(frozen=True, slots=True)
class Reach:
    """Who could review a conversation that has something to decide: assigned now, or could be."""

    conversation: Conversation
    possible: int
    """How many reviewers could be found, each a clinician who may review it and didn't recuse."""
    fewest: int
    """How many of them are left for the criterion that most of them wrote; all, where there is none yet."""
    has_criteria: bool


def out_of_reach(study: Study) -> list[Conversation]:
    """Conversations with something to decide for which fewer than ``min_reviewed`` reviewers could be found.

    A reviewer who wrote a criterion is none for that criterion. Clinicians who could still be assigned count.
    """
    needed = study.policy.min_reviewed
    return [reach.conversation for reach in reach_of(study) if reach.fewest < needed]


def reach_of(study: Study) -> list[Reach]:
    """How many reviewers could be found for each conversation with something to decide."""
    bench = Bench(study)
    conversations = undecided(Conversation.objects.own().filter(study=study)).only(
        "external_id", "language", "country", "tags"
    )
    recused: dict[UUID, set[UUID]] = defaultdict(set)
    assigned: dict[UUID, set[UUID]] = defaultdict(set)
    for conversation_id, reviewer_id, recused_at in Assignment.objects.filter(conversation__study=study).values_list(
        "conversation_id", "reviewer_id", "recused_at"
    ):
        if recused_at is None and reviewer_id in bench.place:
            assigned[conversation_id].add(reviewer_id)
        elif recused_at is not None:
            recused[conversation_id].add(reviewer_id)
    criteria: dict[UUID, list[Criterion]] = defaultdict(list)
    standing: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.own().standing().filter(study=study))
    unsettled = standing.filter(Q(state__in=OPEN_STATES)).select_related("current_revision")
    for criterion in unsettled.only("conversation_id", "current_revision__wording_id"):
        criteria[criterion.conversation_id].append(criterion)
    writers = writers_of(criterion for each in criteria.values() for criterion in each)
    found = []
    for this in conversations:
        able = bench.may_review(this) & bench.demanded(this)
        possible = assigned[this.id] | (bench.ids(able) - recused[this.id])
        fewest = min((len(possible - writers[criterion.id]) for criterion in criteria[this.id]), default=len(possible))
        found.append(Reach(this, len(possible), fewest, has_criteria=bool(criteria[this.id])))
    return found
