"""What goes into the next rubric version, and what stays out and why, in one sentence each.

In goes every criterion whose current wording is in consensus, by its latest outcome and under the policy in force, in
conversations without an open round. Out of these stay conversations of which a reviewer says that it would not be
enough, those that an admin leaves out by name, the later of two equal texts in one conversation, and conversations in
which nothing with positive points would go in. Each outcome that
carries a criterion in is recomputed from the stored votes: what is stored must be what they give.

A fixed number of queries, however many criteria. Nothing here depends on a vote in an open round.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import models

from annotation import consensus
from annotation.care_locks import locked_among
from annotation.models import Acuity, Policy, Study
from annotation.revealing import rule_of
from annotation.states import ConversationState, CriterionState
from annotation.sufficiency import held_out, held_out_in_words
from consilium.canonical import normal_text
from consilium.errors import RuleViolation
from rubrics.candidates import (
    Candidate,
    CarryingVote,
    Outcome,
    Place,
    candidates_of,
    outcomes_of,
    places_of,
    votes_of,
)

HEAVY = 8
"""Own points of this size or more, left out, are acknowledged one by one."""


class StoredDecisionDiffers(RuleViolation):
    """What is stored for criterion "{criterion}" is not what its votes give. Nothing can be frozen until that is explained."""  # noqa: E501


class NoSuchCriterion(RuleViolation):
    """A criterion to leave out is none of this study's."""


class LeavingOutNeedsAReason(RuleViolation):
    """A criterion that is left out by name carries the reason."""


class LeftOutKind(models.TextChoices):
    DRAFT = "draft", "draft"
    VOTING = "voting", CriterionState.VOTING.label
    OPEN_ROUND = "open_round", "its conversation is in an open round"
    NOT_VOTED_ON = "not_voted_on", "wording not voted on"
    UNSETTLED = "unsettled", CriterionState.DISCUSSION.label
    NO_CONSENSUS = "no_consensus", "no consensus"
    OUT = "out", "out"
    OTHER_POLICY = "other_policy", "decided under another policy"
    ADJUDICATED = "adjudicated", "adjudicated"
    WITHDRAWN = "withdrawn", "withdrawn"
    MERGED = "merged", "merged"
    NOT_ENOUGH = "not_enough", "a reviewer says it is not enough"
    BY_NAME = "by_name", "left out by name"
    DUPLICATE = "duplicate", "same text as another"
    NO_POSITIVE_POINTS = "no_positive_points", "nothing with positive points in its conversation"


NEVER_ACKNOWLEDGED = frozenset({LeftOutKind.WITHDRAWN, LeftOutKind.MERGED})


@dataclass(frozen=True, slots=True)
class GoesIn:
    criterion: Candidate
    place: Place
    points: int
    """The panel's consensus points."""
    round_number: int
    sentence: str
    votes: tuple[CarryingVote, ...]


@dataclass(frozen=True, slots=True)
class StaysOut:
    criterion: Candidate
    place: Place
    kind: LeftOutKind
    reason: str

    @property
    def must_be_acknowledged(self) -> bool:
        """Whether an admin acknowledges it one by one: heavy, or of an emergency; not what its writers took back."""
        return self.kind not in NEVER_ACKNOWLEDGED and (
            abs(self.criterion.points) >= HEAVY or self.place.acuity == Acuity.EMERGENT
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """All criteria of a study, each either in or out, in reading order."""

    policy: Policy
    goes_in: list[GoesIn]
    stays_out: list[StaysOut]

    @property
    def to_acknowledge(self) -> list[StaysOut]:
        return [this for this in self.stays_out if this.must_be_acknowledged]


def select(
    *,
    study: Study,
    leave_out: Mapping[UUID, str] | None = None,
    conversations: Collection[UUID] | None = None,
) -> Selection:
    """Answer what a freeze would take now, and what not and why; ``conversations`` narrows it.

    ``leave_out`` names criteria with a reason each; one that would stay out anyway keeps its own reason. Raises
    NoSuchCriterion, LeavingOutNeedsAReason, StoredDecisionDiffers.
    """
    named = {key: reason.strip() for key, reason in (leave_out or {}).items()}
    if not all(named.values()):
        raise LeavingOutNeedsAReason
    policy = study.policy
    places = places_of(study, conversations)
    candidates = candidates_of(study, conversations)
    if not named.keys() <= {candidate.id for candidate in candidates}:
        raise NoSuchCriterion
    candidates.sort(key=lambda this: _reading_order(places[this.conversation_id], this))
    outcomes = outcomes_of(study, conversations)
    left: dict[UUID, tuple[LeftOutKind, str]] = {}
    locked = locked_among({candidate.conversation_id for candidate in candidates})
    noes = held_out(study, conversations)
    for candidate in candidates:
        outcome = outcomes.get(candidate.outcome_id) if candidate.outcome_id else None
        why = _why_not(candidate, places[candidate.conversation_id], outcome, policy)
        if why is None and candidate.conversation_id in locked:
            why = LeftOutKind.BY_NAME, "Its conversation is locked: it may be about a real person."
        if why is None and noes[candidate.conversation_id]:
            why = LeftOutKind.NOT_ENOUGH, held_out_in_words(noes[candidate.conversation_id])
        if why is None and candidate.id in named:
            why = LeftOutKind.BY_NAME, f"Left out by name: {_ended(named[candidate.id])}"
        if why is not None:
            left[candidate.id] = why
    in_consensus = [candidate for candidate in candidates if candidate.id not in left]
    left.update(_duplicates(in_consensus))
    left.update(
        _unscorable([candidate for candidate in in_consensus if candidate.id not in left], outcomes),
    )
    goes_in = [candidate for candidate in in_consensus if candidate.id not in left]
    carried = _recomputed(study, conversations, goes_in, outcomes)
    return Selection(
        policy=policy,
        goes_in=[
            GoesIn(
                criterion=candidate,
                place=places[candidate.conversation_id],
                points=carried[candidate.id][0].points or 0,
                round_number=carried[candidate.id][0].round_number,
                sentence=carried[candidate.id][0].sentence,
                votes=carried[candidate.id][1],
            )
            for candidate in goes_in
        ],
        stays_out=[
            StaysOut(candidate, places[candidate.conversation_id], *left[candidate.id])
            for candidate in candidates
            if candidate.id in left
        ],
    )


def _reading_order(place: Place, candidate: Candidate) -> tuple[object, ...]:
    return place.position, place.external_id, candidate.position, candidate.external_id


# Why not


def _why_not(
    candidate: Candidate, place: Place, outcome: Outcome | None, policy: Policy
) -> tuple[LeftOutKind, str] | None:
    """Answer why a criterion is not in consensus for a freeze, None where it is."""
    state = candidate.state
    if state == CriterionState.WITHDRAWN:
        return LeftOutKind.WITHDRAWN, "A writer of it withdrew it."
    if state == CriterionState.MERGED:
        return LeftOutKind.MERGED, f"It was merged into criterion {candidate.merged_into}."
    if state == CriterionState.ADJUDICATED:
        return LeftOutKind.ADJUDICATED, f"Adjudicated, which is not consensus: {_ended(candidate.adjudication)}"
    if state == CriterionState.DRAFT:
        return LeftOutKind.DRAFT, "It is a draft: drafting of its conversation is still open."
    if state == CriterionState.VOTING:
        return LeftOutKind.VOTING, f"It is in voting, in round {place.last_round} of its conversation."
    if place.state == ConversationState.VOTING:
        return LeftOutKind.OPEN_ROUND, f"Round {place.last_round} of its conversation is open."
    if outcome is None:
        return LeftOutKind.NOT_VOTED_ON, "This wording was never voted on."
    if state == CriterionState.OUT:
        return LeftOutKind.OUT, outcome.sentence
    if state == CriterionState.NO_CONSENSUS:
        rounds = "1 round" if place.last_round == 1 else f"{place.last_round} rounds"
        why = outcome.sentence.removeprefix("Not in consensus: ")
        return LeftOutKind.NO_CONSENSUS, f"No consensus after {rounds}: {why}"
    if state != CriterionState.IN_CONSENSUS:
        return LeftOutKind.UNSETTLED, outcome.sentence
    if outcome.policy_id != policy.id:
        return (
            LeftOutKind.OTHER_POLICY,
            f"It was decided under version {outcome.policy_version} of the rule of consensus, "
            f"and version {policy.version} is in force.",
        )
    return None


def _duplicates(candidates: Iterable[Candidate]) -> dict[UUID, tuple[LeftOutKind, str]]:
    """The later of two equal texts in one conversation: compared in NFC, with white space folded, case kept."""
    first: dict[tuple[UUID, str], Candidate] = {}
    left: dict[UUID, tuple[LeftOutKind, str]] = {}
    for candidate in sorted(candidates, key=lambda this: (this.created_at, this.position, this.external_id)):
        text = " ".join(normal_text(candidate.text).split())
        older = first.setdefault((candidate.conversation_id, text), candidate)
        if older is not candidate:
            left[candidate.id] = LeftOutKind.DUPLICATE, f"The older criterion {older.external_id} has the same text."
    return left


def _unscorable(
    candidates: Collection[Candidate], outcomes: Mapping[UUID, Outcome]
) -> dict[UUID, tuple[LeftOutKind, str]]:
    """The criteria of conversations in which nothing with positive consensus points would go in."""
    scorable = {
        candidate.conversation_id
        for candidate in candidates
        if candidate.outcome_id and (outcomes[candidate.outcome_id].points or 0) > 0
    }
    reason = "Nothing with positive points would go in for its conversation, so that no response could be scored."
    return {
        candidate.id: (LeftOutKind.NO_POSITIVE_POINTS, reason)
        for candidate in candidates
        if candidate.conversation_id not in scorable
    }


def _ended(reason: str) -> str:
    """A reason as the end of a sentence."""
    reason = reason.strip()
    return reason if reason.endswith((".", "!", "?", "…", "。")) else f"{reason}."


# What the votes give


def _recomputed(
    study: Study,
    conversations: Collection[UUID] | None,
    candidates: Collection[Candidate],
    outcomes: Mapping[UUID, Outcome],
) -> dict[UUID, tuple[Outcome, tuple[CarryingVote, ...]]]:
    """Answer for each criterion its outcome and the votes that carried it, after deciding it again from them."""
    rules = {policy.id: rule_of(policy) for policy in study.policies.all()}
    deciding = {candidate.id: outcomes[candidate.outcome_id] for candidate in candidates if candidate.outcome_id}
    votes = votes_of(study, conversations, {(this.round_id, this.wording_id) for this in deciding.values()})
    carried: dict[UUID, tuple[Outcome, tuple[CarryingVote, ...]]] = {}
    found: dict[tuple[object, ...], tuple[str, int | None, list[str]]] = {}
    for candidate in candidates:
        outcome = deciding[candidate.id]
        may = set(outcome.eligible).difference(outcome.writers)
        counting = tuple(vote for vote in votes[outcome.round_id, outcome.wording_id] if vote.person in may)
        # The rule knows no names, and nobody has two votes on a wording: the same votes by others decide the same.
        key = outcome.policy_id, *sorted((vote.choice, vote.points or 0, vote.category) for vote in counting)
        given = found.get(key)
        if given is None:
            given = found[key] = _decided(rules[outcome.policy_id], outcome, counting)
        if given != (outcome.result, outcome.points, outcome.failing) or candidate.wording_id != outcome.wording_id:
            raise StoredDecisionDiffers(criterion=candidate.external_id)
        carried[candidate.id] = outcome, counting
    return carried


def _decided(
    rule: consensus.Rule, outcome: Outcome, votes: Collection[CarryingVote]
) -> tuple[str, int | None, list[str]]:
    decision = consensus.decide(
        rule,
        writers=outcome.writers,
        wording=outcome.wording_id,
        eligible=outcome.eligible,
        votes=[
            consensus.Ballot(vote.person, outcome.wording_id, vote.choice, vote.points, vote.category)  # type: ignore[arg-type]
            for vote in votes
        ],
    )
    return decision.result, decision.points, [clause.value for clause in decision.failing]
