"""The reveal: what the rule finds for each criterion of a round, stored with what it was found from.

At the reveal the round keeps its policy version and, per criterion, wording, writers and eligible reviewers, so that
recomputing always gives what was stored. It works on many rounds with a fixed number of queries.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation import consensus
from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Policy,
    Round,
    RoundCriterion,
    RoundOutcome,
    Study,
    Vote,
)
from annotation.writers import writers_of


def rule_of(policy: Policy) -> consensus.Rule:
    """A policy's numbers as the pure rule takes them."""
    return consensus.Rule(
        min_reviewed=policy.min_reviewed,
        min_agree=policy.min_agree,
        min_ratio=Fraction(policy.min_ratio),
        points_tolerance=policy.points_tolerance,
        blocks=frozenset(policy.blocks),
    )


@dataclass(slots=True)
class Covered:
    """One criterion in one round, with all that the rule needs of it."""

    criterion: Criterion
    wording_id: UUID
    writers: set[UUID]
    eligible: set[UUID]
    votes: list[Vote] = field(default_factory=list)
    voted: set[UUID] = field(default_factory=set)
    """Who voted on the current wording: asked for while the round is open."""

    def waits_for(self) -> set[UUID]:
        """Eligible reviewers who have not voted on the current wording."""
        return self.eligible - self.voted

    def voices(self) -> set[UUID]:
        """Who voted on the current wording. Recusing is no voice: it counts nowhere."""
        return {
            vote.reviewer_id
            for vote in self.votes
            if vote.wording_id == self.wording_id and vote.choice != Vote.Choice.RECUSE
        }

    def decide(self, rule: consensus.Rule) -> consensus.Decision:
        return consensus.decide(
            rule,
            writers=self.writers,
            wording=self.wording_id,
            eligible=self.eligible,
            votes=[
                consensus.Ballot(vote.reviewer_id, vote.wording_id, vote.choice, vote.points, vote.category)  # type: ignore[arg-type]
                for vote in self.votes
            ],
        )


def active_reviewers(conversation_ids: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Who reviews each conversation now. One query."""
    reviewers: dict[UUID, set[UUID]] = defaultdict(set)
    rows = (
        Assignment.objects.active()
        .filter(conversation__in=conversation_ids)
        .values_list("conversation_id", "reviewer_id")
    )
    for conversation_id, reviewer_id in rows:
        reviewers[conversation_id].add(reviewer_id)
    return reviewers


def gather(rounds: Collection[Round]) -> dict[UUID, list[Covered]]:
    """The standing criteria of each round with writers, eligible reviewers and votes. Five queries, however many."""
    gathered = _gather_without_votes(rounds)
    _add_votes(gathered, rounds)
    return gathered


def _add_votes(gathered: dict[UUID, list[Covered]], rounds: Collection[Round]) -> None:
    votes: dict[tuple[UUID, UUID], list[Vote]] = defaultdict(list)
    for vote in Vote.objects.filter(round__in=rounds).select_related("wording"):
        votes[vote.round_id, vote.wording.criterion_id].append(vote)
    for this in rounds:
        for covered in gathered[this.id]:
            covered.votes = votes[this.id, covered.criterion.id]


def _gather_without_votes(rounds: Collection[Round]) -> dict[UUID, list[Covered]]:
    """As ``gather``; of the votes only who voted on the current wording.

    One row a criterion, whoever has voted: while a round is open the work of an act tells nobody how many have.
    """
    voted = Vote.objects.filter(
        round=OuterRef("round"),
        wording=Coalesce(
            OuterRef("criterion__current_revision__same_wording_as"), OuterRef("criterion__current_revision")
        ),
    )
    rows = list(
        RoundCriterion.objects.filter(round__in=rounds, criterion__withdrawn_at=None, criterion__merged_into=None)
        .select_related("criterion__current_revision")
        .annotate(voted=ArraySubquery(voted.values("reviewer")))
    )
    writers = writers_of(row.criterion for row in rows)
    conversations = {this.id: this.conversation_id for this in rounds}
    reviewers = active_reviewers(set(conversations.values()))
    gathered: dict[UUID, list[Covered]] = {this.id: [] for this in rounds}
    for row in rows:
        revision = row.criterion.current_revision
        assert revision is not None
        mine = writers[row.criterion_id]
        gathered[row.round_id].append(
            Covered(
                criterion=row.criterion,
                wording_id=revision.wording_id,
                writers=mine,
                eligible=reviewers[conversations[row.round_id]] - mine,
                voted=set(row.voted),
            )
        )
    return gathered


def is_complete(covered: Collection[Covered], policy: Policy) -> bool:
    """Every criterion has at least ``min_reviewed`` eligible reviewers, and each of them has voted.

    Nobody is not everybody: with nobody assigned a round stays open. A round whose criteria were all withdrawn has
    nothing to wait for.
    """
    return all(len(this.eligible) >= policy.min_reviewed and not this.waits_for() for this in covered)


def reveal_if_due(study: Study, rounds: list[Round], *, past: Collection[UUID] = ()) -> list[Round]:
    """Reveal those of the rounds (rows locked by the caller) that are complete or in ``past``, by id."""
    if not rounds:
        return []
    policy = study.policy
    gathered = _gather_without_votes(rounds)
    due = [this for this in rounds if this.id in past or is_complete(gathered[this.id], policy)]
    if due:
        _add_votes(gathered, due)
        reveal(due, gathered, policy)
    return due


def reveal(rounds: list[Round], gathered: dict[UUID, list[Covered]], policy: Policy) -> None:
    """Store what the rule finds for each criterion of each round, and set them revealed.

    To be called with the rounds' rows locked. A criterion without a voice in this round keeps the outcome of the last
    round in which its wording was voted on, where there is one.
    """
    if not rounds:
        return
    rule = rule_of(policy)
    criterion_ids = [covered.criterion.id for this in rounds for covered in gathered[this.id]]
    decided_before = set(
        RoundOutcome.objects.filter(criterion__in=criterion_ids).values_list("criterion_id", "wording_id")
    )
    outcomes = []
    for this in rounds:
        for covered in gathered[this.id]:
            is_silent = not covered.voices() & covered.eligible
            if is_silent and (covered.criterion.id, covered.wording_id) in decided_before:
                continue
            outcomes.append(outcome_of(this, covered, policy, rule))
    RoundOutcome.objects.bulk_create(outcomes, batch_size=2000)
    now = timezone.now()
    Round.objects.filter(id__in=[this.id for this in rounds]).update(revealed_at=now, policy=policy)
    # A date that passed while the round was open says nothing of the discussion that begins now.
    Conversation.objects.filter(id__in=[this.conversation_id for this in rounds], discussion_closes_at__lte=now).update(
        discussion_closes_at=None
    )


def outcome_of(this: Round, covered: Covered, policy: Policy, rule: consensus.Rule) -> RoundOutcome:
    decision = covered.decide(rule)
    return RoundOutcome(
        round=this,
        criterion=covered.criterion,
        policy=policy,
        wording_id=covered.wording_id,
        writers=sorted(covered.writers),
        eligible=sorted(covered.eligible),
        result=decision.result.value,
        points=decision.points,
        failing=[clause.value for clause in decision.failing],
        sentence=decision.sentence,
    )
