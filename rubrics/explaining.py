"""Why a criterion is in version n, or not: from its draft over each round's votes and the policy to the freeze.

Votes are told of revealed rounds alone, in an order that tells nothing, and by name only where the policy that the
reveal applied says so. Of an open round nothing is told but that it is open. The author's points stay hidden from a
reviewer until the first reveal.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from statistics import median
from uuid import UUID

from annotation import consensus
from annotation.consensus import Clause, signed
from annotation.models import Criterion, Revision, Round, RoundOutcome, User, Vote
from annotation.permissions import sees_points
from annotation.policy_words import policy_title
from annotation.revealing import rule_of
from annotation.states import CriterionState
from annotation.tallies import is_counted
from rubrics.models import FrozenCriterion, FrozenLeftOut, RubricVersion
from rubrics.selecting import Selection, select


@dataclass(frozen=True, slots=True)
class RevisionTold:
    """One text of the criterion. ``points`` is None while they are hidden from whoever reads."""

    revision: Revision
    points: int | None
    is_same_wording: bool
    """Only white space, the rationale or the cited turns differ from an earlier one: it kept its votes."""
    accepted_objection: str
    """The reason of the objection that it accepts, '' where it answers none."""


@dataclass(frozen=True, slots=True)
class VoteTold:
    """A vote of a revealed round. ``name`` is None where the policy shows no names."""

    choice: str
    points: int | None
    category: str
    reason: str
    better_wording: str
    name: str | None
    is_readers_own: bool
    revision_number: int
    is_counted: bool
    """It was on the wording that was decided, by an eligible reviewer."""


@dataclass(frozen=True, slots=True)
class ClauseTold:
    """One clause of the policy, with the numbers, and whether it holds."""

    clause: Clause
    holds: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class OutcomeTold:
    """What was decided, under which policy, clause by clause."""

    outcome: RoundOutcome
    clauses: list[ClauseTold]

    @property
    def rule(self) -> str:
        return policy_title(self.outcome.policy)


@dataclass(frozen=True, slots=True)
class RoundTold:
    """A round that covered the criterion; without votes and outcomes while it is open."""

    number: int
    revealed_at: datetime | None
    votes: list[VoteTold]
    outcomes: list[OutcomeTold]


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a criterion is in a version (or would go into the next one), and why, in a sentence."""

    is_in: bool
    sentence: str
    version: RubricVersion | None = None
    frozen: FrozenCriterion | None = None
    is_acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    criterion: Criterion
    state: CriterionState | None
    """None for a criterion of an external version."""
    revisions: list[RevisionTold]
    merged_from: list[str]
    rounds: list[RoundTold]
    standing: Standing


def explain(*, criterion: Criterion, version: RubricVersion | None = None, reader: User | None = None) -> Explanation:
    """Answer why a criterion is in ``version`` or not; without one, whether the next freeze would take it.

    ``reader`` is who will read it (None: nobody of the panel, as on the command line). Whether that person may see the
    criterion at all is decided before.
    """
    is_own = not criterion.external_name
    selection = select(study=criterion.study, conversations=[criterion.conversation_id]) if is_own else None
    state = _state(criterion, selection)
    if version is not None:
        standing = standing_in(criterion, version)
    elif selection is not None:
        standing = _standing_now(criterion, selection)
    else:
        standing = Standing(False, "It belongs to a published version, and is never frozen again.")
    return Explanation(
        criterion=criterion,
        state=state,
        revisions=_revisions(criterion, reader),
        merged_from=sorted(criterion.merged_from.values_list("external_id", flat=True)),
        rounds=_rounds(criterion, reader),
        standing=standing,
    )


def standing_in(criterion: Criterion, version: RubricVersion) -> Standing:
    """Answer whether a criterion is in a version, by what the freeze wrote."""
    frozen = FrozenCriterion.objects.filter(version=version, criterion=criterion).first()
    if frozen is not None:
        how = f" {frozen.sentence}" if frozen.sentence else ""
        sentence = f"It is in version {version.address}, with {signed(frozen.points)} points.{how}"
        return Standing(True, sentence, version, frozen)
    left_out = FrozenLeftOut.objects.filter(version=version, criterion=criterion).first()
    if left_out is not None:
        sentence = f"It is not in version {version.address}: {left_out.reason}"
        return Standing(False, sentence, version, is_acknowledged=left_out.is_acknowledged)
    if version.kind == RubricVersion.Kind.EXTERNAL or criterion.external_name:
        return Standing(False, "The study's own criteria and those of a published version are kept apart.", version)
    return Standing(False, f"It was written after version {version.address} was frozen.", version)


def _standing_now(criterion: Criterion, selection: Selection) -> Standing:
    for this in selection.goes_in:
        if this.criterion.id == criterion.id:
            return Standing(True, f"The next version would take it, with {signed(this.points)} points. {this.sentence}")
    for left in selection.stays_out:
        if left.criterion.id == criterion.id:
            return Standing(False, f"The next version would not take it: {left.reason}")
    return Standing(False, "Its conversation was taken out of the study.")


def _state(criterion: Criterion, selection: Selection | None) -> CriterionState | None:
    if selection is None:
        return None
    candidates = [this.criterion for this in selection.goes_in] + [this.criterion for this in selection.stays_out]
    return next((CriterionState(this.state) for this in candidates if this.id == criterion.id), None)


def _revisions(criterion: Criterion, reader: User | None) -> list[RevisionTold]:
    is_shown = reader is None or criterion.id in sees_points(reader, [criterion])
    revisions = criterion.revisions.select_related("answers_vote").order_by("number")
    return [
        RevisionTold(
            revision=this,
            points=this.points if is_shown else None,
            is_same_wording=this.same_wording_as_id is not None,
            accepted_objection=this.answers_vote.reason if this.answers_vote else "",
        )
        for this in revisions
    ]


def _rounds(criterion: Criterion, reader: User | None) -> list[RoundTold]:
    rounds = Round.objects.filter(covered__criterion=criterion).select_related("policy").order_by("number")
    told = []
    for this in rounds:
        if this.revealed_at is None:
            told.append(RoundTold(this.number, None, [], []))
            continue
        votes = list(
            Vote.objects.filter(round=this, wording__criterion=criterion).select_related("reviewer", "wording")
        )
        outcomes = list(
            RoundOutcome.objects.filter(round=this, criterion=criterion)
            .select_related("policy")
            .order_by("policy__version")
        )
        told.append(
            RoundTold(
                this.number,
                this.revealed_at,
                _votes(votes, outcomes[0] if outcomes else None, this, reader),
                [OutcomeTold(outcome, _clauses(outcome, votes)) for outcome in outcomes],
            )
        )
    return told


def _counted(outcome: RoundOutcome | None, votes: Collection[Vote]) -> list[Vote]:
    if outcome is None:
        return []
    return [vote for vote in votes if is_counted(vote, outcome)]


def _votes(votes: Collection[Vote], outcome: RoundOutcome | None, this: Round, reader: User | None) -> list[VoteTold]:
    counted = {vote.id for vote in _counted(outcome, votes)}
    told = [
        VoteTold(
            choice=vote.choice,
            points=vote.points,
            category=vote.category,
            reason=vote.reason,
            better_wording=vote.better_wording,
            name=(vote.reviewer.name or vote.reviewer.email) if this.shows_names else None,
            is_readers_own=reader is not None and vote.reviewer_id == reader.id,
            revision_number=vote.wording.number,
            is_counted=vote.id in counted,
        )
        for vote in votes
    ]
    return sorted(
        told,
        key=lambda this: (
            not this.is_counted,
            this.choice,
            -(this.points or 0),
            this.category,
            this.reason,
            this.better_wording,
            this.name or "",
        ),
    )


def _clauses(outcome: RoundOutcome, votes: Collection[Vote]) -> list[ClauseTold]:
    """The policy clause by clause, from the votes that counted."""
    rule = rule_of(outcome.policy)
    counted = _counted(outcome, votes)
    decision = consensus.decide(
        rule,
        writers=outcome.writers,
        wording=outcome.wording_id,
        eligible=outcome.eligible,
        votes=[
            consensus.Ballot(vote.reviewer_id, vote.wording_id, vote.choice, vote.points, vote.category)  # type: ignore[arg-type]
            for vote in counted
        ],
    )
    sentences = _sentences(rule, decision, {vote.category for vote in counted if vote.category})
    return [ClauseTold(clause, clause.value not in outcome.failing, sentence) for clause, sentence in sentences.items()]


def _sentences(rule: consensus.Rule, decision: consensus.Decision, categories: Collection[str]) -> Mapping[Clause, str]:
    share = f"{float(rule.min_ratio):.0%}"
    weights = decision.weights
    decided = decision.agreed + decision.objected
    blocking = sorted(set(categories) & rule.blocks)
    sentences = {
        Clause.REVIEWED: (
            f"{decided + decision.abstained} eligible reviewers judged it; at least {rule.min_reviewed} are needed."
        ),
        Clause.AGREED: f"{decision.agreed} agreed; at least {rule.min_agree} are needed.",
        Clause.RATIO: f"{decision.agreed} of the {decided} who decided agreed; at least {share} are needed.",
        Clause.BLOCKED: (
            f"Nobody may object that it is {_words(rule.blocks, 'or')}; nobody did."
            if rule.blocks
            else "No category of objection blocks by itself."
        ),
    }
    if blocking:
        sentences[Clause.BLOCKED] = f"Somebody objected that it is {_words(blocking, 'and')}, which blocks."
    if weights:
        middle = Fraction(median(Fraction(weight) for weight in weights))
        near = sum(abs(weight - middle) <= rule.points_tolerance for weight in weights)
        has_two_signs = min(weights) < 0 < max(weights)
        sentences[Clause.SIGN] = (
            "Some weights are positive and some negative; all must have one sign."
            if has_two_signs
            else "The weights must have one sign; they do."
        )
        sentences[Clause.SPREAD] = (
            f"{near} of {len(weights)} weights lie within {rule.points_tolerance} of the middle one "
            f"({signed(middle)}); at least {share} are needed."
        )
    return sentences


def _words(names: Collection[str], last: str) -> str:
    words = [name.replace("_", " ") for name in sorted(names)]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def outcome_in(version: RubricVersion, criterion_ids: Collection[UUID]) -> dict[UUID, Standing]:
    """Answer the standing of many criteria in a version, with two queries: for lists that link here."""
    standings: dict[UUID, Standing] = {}
    for frozen in FrozenCriterion.objects.filter(version=version, criterion__in=criterion_ids):
        sentence = f"In version {version.address}, with {signed(frozen.points)} points."
        standings[frozen.criterion_id] = Standing(True, sentence, version, frozen)
    for left in FrozenLeftOut.objects.filter(version=version, criterion__in=criterion_ids):
        sentence = f"Not in version {version.address}: {left.reason}"
        standings[left.criterion_id] = Standing(False, sentence, version, is_acknowledged=left.is_acknowledged)
    return standings
