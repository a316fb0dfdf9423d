"""The state of a conversation and of a criterion: derived from the acts and outcomes that are stored, in SQL.

A criterion is draft, voting, discussion, in_consensus, no_consensus, out, withdrawn, merged or adjudicated; a
conversation drafting, voting or revealed. A conversation whose drafting was closed without any criterion stays in
*drafting*: there is nothing to vote on. No state here depends on a vote in an open round.
"""

from collections import Counter
from typing import Any

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.models import Conversation, Criterion, Policy, Round, RoundCriterion, RoundOutcome, Study


class ConversationState(models.TextChoices):
    DRAFTING = "drafting", "drafting"
    VOTING = "voting", "voting"
    REVEALED = "revealed", "revealed"


class CriterionState(models.TextChoices):
    DRAFT = "draft", "draft"
    VOTING = "voting", "in voting"
    DISCUSSION = "discussion", "in discussion"
    IN_CONSENSUS = "in_consensus", "in consensus"
    NO_CONSENSUS = "no_consensus", "no consensus"
    OUT = "out", "out"
    WITHDRAWN = "withdrawn", "withdrawn"
    MERGED = "merged", "merged"
    ADJUDICATED = "adjudicated", "adjudicated"


def with_conversation_state(conversations: "QuerySet[Conversation]") -> "QuerySet[Conversation, Any]":
    """Conversations with ``state`` and ``last_round`` (a number, 0 before the first)."""
    rounds = Round.objects.filter(conversation=OuterRef("pk"))
    return conversations.annotate(
        last_round=Coalesce(Subquery(rounds.order_by("-number").values("number")[:1]), Value(0)),
        state=Case(
            When(Exists(rounds.filter(revealed_at=None)), then=Value(ConversationState.VOTING)),
            When(Q(drafting_closed_at=None) | ~Exists(rounds), then=Value(ConversationState.DRAFTING)),
            default=Value(ConversationState.REVEALED),
            output_field=models.CharField(),
        ),
    )


def with_criterion_state(criteria: "QuerySet[Criterion]") -> "QuerySet[Criterion, Any]":
    """Criteria with ``state``, and of the latest outcome of the current wording ``outcome_id``, ``outcome_result``,
    ``consensus_points``, ``outcome_sentence`` and ``outcome_round``; null where it was never decided.
    """
    outcome = RoundOutcome.objects.filter(
        criterion=OuterRef("pk"), wording_id=OuterRef("current_revision__wording_id")
    ).order_by("-round__number", "-policy__version")
    rounds = Round.objects.filter(conversation=OuterRef("conversation_id"))
    max_rounds = Policy.objects.filter(study=OuterRef("study_id")).order_by("-version").values("max_rounds")[:1]
    return criteria.annotate(
        outcome_id=Subquery(outcome.values("id")[:1]),
        outcome_result=Subquery(outcome.values("result")[:1]),
        consensus_points=Subquery(outcome.values("points")[:1]),
        outcome_sentence=Subquery(outcome.values("sentence")[:1]),
        outcome_round=Subquery(outcome.values("round__number")[:1]),
        _last_round=Coalesce(Subquery(rounds.order_by("-number").values("number")[:1]), Value(0)),
        state=Case(
            When(withdrawn_at__isnull=False, then=Value(CriterionState.WITHDRAWN)),
            When(merged_into__isnull=False, then=Value(CriterionState.MERGED)),
            When(adjudicated_at__isnull=False, then=Value(CriterionState.ADJUDICATED)),
            When(conversation__drafting_closed_at=None, then=Value(CriterionState.DRAFT)),
            When(
                Exists(RoundCriterion.objects.filter(criterion=OuterRef("pk"), round__revealed_at=None)),
                then=Value(CriterionState.VOTING),
            ),
            When(outcome_result="in_consensus", then=Value(CriterionState.IN_CONSENSUS)),
            When(outcome_result="out", then=Value(CriterionState.OUT)),
            When(_last_round__gte=Subquery(max_rounds), then=Value(CriterionState.NO_CONSENSUS)),
            default=Value(CriterionState.DISCUSSION),
            output_field=models.CharField(),
        ),
    )


def count_states(study: Study) -> dict[str, dict[str, int]]:
    """How many conversations and criteria of the study are in each state. Two queries."""
    conversations = _counts(with_conversation_state(Conversation.objects.own().filter(study=study)))
    criteria = _counts(with_criterion_state(Criterion.objects.own().filter(study=study)))
    return {
        "conversations": {state: conversations[state] for state in ConversationState.values},
        "criteria": {state: criteria[state] for state in CriterionState.values},
    }


def _counts(rows: "QuerySet[Any, Any]") -> Counter[str]:
    counted: Counter[str] = Counter()
    for row in rows.order_by().values("state").annotate(number=models.Count("pk")):
        counted[row["state"]] = row["number"]
    return counted
