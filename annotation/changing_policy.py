"""Changing the policy of consensus: version n + 1, and what it finds for everything that was decided before.

A changed policy adds statuses and overwrites none. Of each criterion the latest outcome is decided again from what was
stored with it: wording, writers, eligible reviewers and that round's votes; the finding stands beside the first one.
Rounds past their date are revealed under the policy that was in force; open ones are decided under the one in force
at their reveal. What would move is shown first.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from annotation.consensus import ALL_CATEGORIES, PRESETS
from annotation.joining import UnknownPreset
from annotation.locks import hold_study
from annotation.models import Criterion, Drafting, Policy, Round, RoundOutcome, Study, User, Vote, Weights
from annotation.revealing import Covered, gather, is_complete, outcome_of, rule_of
from annotation.rounds import settle
from annotation.states import CriterionState, with_criterion_state
from consilium.errors import RuleViolation

RULE = ("min_reviewed", "min_agree", "min_ratio", "points_tolerance", "blocks")
"""The facts of a policy that decide (annotation.consensus)."""
FACTS = (
    *RULE,
    "max_rounds",
    "reviewers_per_conversation",
    "drafting",
    "weights",
    "names_shown_after_reveal",
)
SHARE = "The share that agrees lies above one half (50%) and at most at 1 (100%)."
MOST = 100
"""No count of a policy is larger."""


class PolicyMakesNoSense(RuleViolation):
    """This policy can't decide anything."""


class PolicyIsUnchanged(RuleViolation):
    """This is the policy in force already: nothing would change."""


class PolicyChangedMeanwhile(RuleViolation):
    """Somebody else changed the policy meanwhile: policy {version} is in force now. Look at it first."""


@dataclass(frozen=True, slots=True)
class Move:
    """A criterion whose state or consensus points another policy changes. ``state`` is a CriterionState."""

    criterion: Criterion
    state_before: str
    state_after: str
    points_before: int | None
    points_after: int | None
    sentence: str
    """What the other policy finds."""

    @property
    def comes_in(self) -> bool:
        return self.state_after == CriterionState.IN_CONSENSUS != self.state_before

    @property
    def goes_out(self) -> bool:
        return self.state_before == CriterionState.IN_CONSENSUS != self.state_after

    @property
    def before_in_words(self) -> str:
        return CriterionState(self.state_before).label

    @property
    def after_in_words(self) -> str:
        return CriterionState(self.state_after).label


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy would do if it came into force now. ``revealed_at_once`` counts open rounds that it completes."""

    policy: Policy
    moves: list[Move]
    decided: int
    revealed_at_once: int

    @property
    def unmoved(self) -> int:
        return self.decided - len(self.moves)


def propose_policy(*, study: Study, against: int | None = None, preset: str | None = None, **facts: Any) -> Policy:
    """The study's next policy, not saved: that in force with ``facts`` in place of its own, after a preset's.

    ``against`` is the version that the change was made against (None: whichever is in force). Raises
    PolicyChangedMeanwhile, UnknownPreset, PolicyMakesNoSense with its sentence, PolicyIsUnchanged.
    """
    unknown = facts.keys() - set(FACTS)
    if unknown:
        raise TypeError(f"A policy has no {', '.join(sorted(unknown))}.")
    in_force = study.policy
    if against is not None and against != in_force.version:
        raise PolicyChangedMeanwhile(version=in_force.version)
    before = {name: getattr(in_force, name) for name in FACTS}
    after = {**before, **(_facts_of_preset(preset) if preset else {}), **facts}
    blocks = set(after["blocks"])
    if not blocks <= set(ALL_CATEGORIES):
        raise PolicyMakesNoSense(f"An objection is {', '.join(ALL_CATEGORIES)}.")
    after["blocks"] = [category for category in ALL_CATEGORIES if category in blocks]
    after["min_ratio"] = _as_share(after["min_ratio"])
    _check(after)
    if after == {**before, "blocks": [category for category in ALL_CATEGORIES if category in before["blocks"]]}:
        raise PolicyIsUnchanged
    return Policy(study=study, version=in_force.version + 1, preset=_preset_of(after), **after)


def preview_policy(*, study: Study, policy: Policy) -> PolicyPreview:
    """What would move if a proposed policy came into force now. Nothing is locked or written."""
    outcomes = _decided_anew(study, policy)
    found = {(outcome.criterion_id, outcome.wording_id): outcome for outcome in outcomes}
    rows: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.own().filter(study=study))
    rows = rows.select_related("conversation", "current_revision").defer("conversation__messages", "extra")
    moves = []
    for row in rows.order_by("conversation__position", "conversation_id", "position", "id"):
        outcome = found.get((row.id, row.current_revision.wording_id))
        after = _state_after(row, outcome, policy)
        points = outcome.points if outcome and after == CriterionState.IN_CONSENSUS else None
        before = row.consensus_points if row.state == CriterionState.IN_CONSENSUS else None
        if (row.state, before) != (after, points):
            moves.append(Move(row, row.state, after, before, points, outcome.sentence if outcome else ""))
    unsettled = list(Round.objects.open().filter(conversation__study=study))
    gathered = gather(unsettled)
    complete = sum(is_complete(gathered[this.id], policy) for this in unsettled)
    return PolicyPreview(policy, moves, decided=len(outcomes), revealed_at_once=complete)


def change_policy(
    *, study: Study, by: User | None, against: int | None = None, preset: str | None = None, **facts: Any
) -> Policy:
    """Put the study's next policy in force, and store what it finds for all that was decided.

    Takes and raises what ``propose_policy`` does.
    """
    with transaction.atomic():
        hold_study(study.id)
        settle(study)
        policy = propose_policy(study=study, against=against, preset=preset, **facts)
        policy.created_by = by
        policy.save(force_insert=True)
        RoundOutcome.objects.bulk_create(_decided_anew(study, policy), batch_size=2000)
        settle(study)
    return policy


def _decided_anew(study: Study, policy: Policy) -> list[RoundOutcome]:
    """What a policy finds for the latest outcome of each criterion, not saved. Two queries, however many."""
    latest: dict[UUID, RoundOutcome] = {}
    stored = (
        RoundOutcome.objects.filter(criterion__study=study)
        .select_related("round", "criterion")
        .defer("criterion__extra")
        .order_by("round__number", "policy__version")
    )
    for outcome in stored.iterator(chunk_size=2000):
        latest[outcome.criterion_id] = outcome
    wanted = {(outcome.round_id, outcome.wording_id) for outcome in latest.values()}
    votes: dict[tuple[UUID, UUID], list[Vote]] = defaultdict(list)
    cast = Vote.objects.filter(round__conversation__study=study, round__revealed_at__isnull=False)
    for vote in cast.defer("reason", "better_wording").iterator(chunk_size=5000):
        if (vote.round_id, vote.wording_id) in wanted:
            votes[vote.round_id, vote.wording_id].append(vote)
    rule = rule_of(policy)
    return [
        outcome_of(
            outcome.round,
            Covered(
                criterion=outcome.criterion,
                wording_id=outcome.wording_id,
                writers=set(outcome.writers),
                eligible=set(outcome.eligible),
                votes=votes[outcome.round_id, outcome.wording_id],
            ),
            policy,
            rule,
        )
        for outcome in latest.values()
    ]


def _state_after(row: Any, outcome: RoundOutcome | None, policy: Policy) -> str:
    """The state (annotation.states) that a criterion would have, from its state now and what the policy finds."""
    decided = {
        CriterionState.IN_CONSENSUS,
        CriterionState.OUT,
        CriterionState.NO_CONSENSUS,
        CriterionState.DISCUSSION,
    }
    if row.state not in decided:
        return str(row.state)
    if outcome is not None and outcome.result == RoundOutcome.Result.IN_CONSENSUS:
        return CriterionState.IN_CONSENSUS
    if outcome is not None and outcome.result == RoundOutcome.Result.OUT:
        return CriterionState.OUT
    is_used_up = row._last_round >= policy.max_rounds
    return CriterionState.NO_CONSENSUS if is_used_up else CriterionState.DISCUSSION


def facts_of(policy: Policy) -> dict[str, Any]:
    """A policy's facts by name."""
    return {name: getattr(policy, name) for name in FACTS}


def _facts_of_preset(preset: str) -> dict[str, Any]:
    rule = PRESETS.get(preset)
    if rule is None:
        raise UnknownPreset
    ratio = Decimal(rule.min_ratio.numerator) / Decimal(rule.min_ratio.denominator)
    return {**{name: getattr(rule, name) for name in RULE}, "min_ratio": ratio}


def _preset_of(facts: dict[str, Any]) -> str:
    """The name of the preset whose rule this is; '' for the study's own."""
    for name in PRESETS:
        preset = _facts_of_preset(name)
        if all(set(preset[key]) == set(facts[key]) if key == "blocks" else preset[key] == facts[key] for key in preset):
            return name
    return ""


def _as_share(value: Decimal | float | str) -> Decimal:
    """A share as a policy keeps it, to three decimals."""
    try:
        share = Decimal(value)
        if not share.is_finite():
            raise PolicyMakesNoSense(SHARE)
        return share.quantize(Decimal("0.001"), ROUND_HALF_UP)
    except InvalidOperation as error:
        raise PolicyMakesNoSense(SHARE) from error


def _check(facts: dict[str, Any]) -> None:
    """Refuse what the rule can't decide by, in a sentence."""
    reviewed, agree = facts["min_reviewed"], facts["min_agree"]
    counts: Collection[str] = ("min_reviewed", "min_agree", "max_rounds", "reviewers_per_conversation")
    if any(not 1 <= facts[name] <= MOST for name in counts) or not 0 <= facts["points_tolerance"] <= 20:
        raise PolicyMakesNoSense(
            f"Reviewers and rounds are counted from 1 to {MOST}, weights lie 0 to 20 from the middle one."
        )
    if agree > reviewed:
        raise PolicyMakesNoSense(f"{agree} can't agree where {reviewed} are enough to have judged.")
    if agree < reviewed and not set(facts["blocks"]) >= set(ALL_CATEGORIES):
        raise PolicyMakesNoSense(
            "Where fewer must agree than must have judged, every category of objection blocks; "
            "else one more objection could carry a criterion in."
        )
    if not Decimal("0.5") < facts["min_ratio"] <= 1:
        raise PolicyMakesNoSense(SHARE)
    if facts["reviewers_per_conversation"] < reviewed:
        raise PolicyMakesNoSense(
            f"{facts['reviewers_per_conversation']} reviewers a conversation are fewer than the {reviewed} "
            "who must have judged each criterion."
        )
    if facts["drafting"] not in Drafting.values or facts["weights"] not in Weights.values:
        raise PolicyMakesNoSense("Drafting is alone or together; weights are own or prefilled.")
