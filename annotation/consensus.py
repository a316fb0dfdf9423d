"""The rule of consensus: a pure function of (policy, writers, wording, eligible reviewers, the round's votes).

A criterion is in consensus exactly when, for its current wording, in the last revealed round that it was voted in:

1. at least ``min_reviewed`` eligible reviewers agreed, objected or abstained, and at least ``min_agree`` distinct
   ones agreed; a writer never counts, for or against;
2. agree / (agree + object) is at least ``min_ratio``;
3. nobody objected in a category that blocks;
4. the agreeing weights have one sign, and at least ``min_ratio`` of them lie within ``points_tolerance`` of their
   median. Consensus points are the median, a half rounded toward zero.

Recusing counts nowhere; silence and ties never pass. With at least ``min_reviewed`` objections and no agreement the
criterion is out. Nothing here reads a database or a clock.
"""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import median
from typing import Literal

Choice = Literal["agree", "object", "abstain", "recuse"]

ALL_CATEGORIES = (
    "unsafe",
    "clinically_wrong",
    "ambiguous",
    "missing_context",
    "not_gradable",
    "duplicate",
    "out_of_scope",
)


class Clause(StrEnum):
    """The clauses of the rule that can fail."""

    REVIEWED = "reviewed"
    AGREED = "agreed"
    RATIO = "ratio"
    BLOCKED = "blocked"
    SIGN = "sign"
    SPREAD = "spread"


WEIGHT_CLAUSES = frozenset({Clause.SIGN, Clause.SPREAD})
"""Rule 4: a criterion that fails on it alone is proposed for the next round."""


class Result(StrEnum):
    IN_CONSENSUS = "in_consensus"
    UNSETTLED = "unsettled"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class Rule:
    """A policy's numbers. ``min_ratio`` is exact: 3 of 4 reach 0.75."""

    min_reviewed: int = 3
    min_agree: int = 3
    min_ratio: Fraction = Fraction(3, 4)
    points_tolerance: int = 2
    blocks: frozenset[str] = frozenset({"unsafe", "clinically_wrong"})

    def __post_init__(self) -> None:
        if self.min_agree < 1 or self.min_agree > self.min_reviewed:
            raise ValueError("min_agree lies between 1 and min_reviewed.")
        if self.min_agree < self.min_reviewed and not self.blocks.issuperset(ALL_CATEGORIES):
            raise ValueError("Where fewer must agree than review, every category of objection blocks.")
        if not Fraction(1, 2) < self.min_ratio <= 1:
            raise ValueError("min_ratio lies above one half and at most at 1.")


THREE_AGREE = Rule()
TWO_OF_THREE = Rule(min_agree=2, blocks=frozenset(ALL_CATEGORIES))
"""Two of three agree, none contradicts: MentalHealthBench's rule as its authors describe it."""

PRESETS: dict[str, Rule] = {"three-agree": THREE_AGREE, "two-of-three": TWO_OF_THREE}


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote as the rule sees it: whose, on which wording, and what."""

    reviewer: Hashable
    wording: Hashable
    choice: Choice
    points: int | None = None
    category: str = ""

    def __post_init__(self) -> None:
        has_weight = self.points is not None and -10 <= self.points <= 10 and self.points != 0
        if self.choice == "agree" and not has_weight:
            raise ValueError("Who agrees gives a weight from -10 to +10, not 0.")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rule found, with its numbers.

    ``points`` are the consensus points, None unless in consensus. ``failing`` names the clauses that fail, in the
    rule's order. ``sentence`` says it in a clinician's words.
    """

    result: Result
    points: int | None
    failing: tuple[Clause, ...]
    agreed: int
    objected: int
    abstained: int
    weights: tuple[int, ...]
    sentence: str

    @property
    def is_in_consensus(self) -> bool:
        return self.result is Result.IN_CONSENSUS

    @property
    def fails_on_weights_alone(self) -> bool:
        return bool(self.failing) and WEIGHT_CLAUSES.issuperset(self.failing)


def decide(
    rule: Rule,
    *,
    writers: Collection[Hashable],
    wording: Hashable,
    eligible: Collection[Hashable],
    votes: Iterable[Ballot],
) -> Decision:
    """Decide one criterion.

    ``writers`` and ``eligible`` name people as the votes do (ids, or addresses in any letter case). Votes by writers,
    by people who are not eligible and on another wording don't count, and nobody counts twice.
    """
    counted = _counted(writers, wording, eligible, votes)
    weights = sorted(ballot.points for ballot in counted if ballot.choice == "agree" and ballot.points)
    agreed = sum(ballot.choice == "agree" for ballot in counted)
    objections = [ballot for ballot in counted if ballot.choice == "object"]
    objected, abstained = len(objections), sum(ballot.choice == "abstain" for ballot in counted)
    blocking = sorted({ballot.category for ballot in objections if ballot.category in rule.blocks})

    failing: list[Clause] = []
    if agreed + objected + abstained < rule.min_reviewed:
        failing.append(Clause.REVIEWED)
    if agreed < rule.min_agree:
        failing.append(Clause.AGREED)
    if agreed + objected and Fraction(agreed, agreed + objected) < rule.min_ratio:
        failing.append(Clause.RATIO)
    if blocking:
        failing.append(Clause.BLOCKED)
    middle = Fraction(0)
    near = 0
    if weights:
        middle = Fraction(median(Fraction(weight) for weight in weights))
        near = sum(abs(weight - middle) <= rule.points_tolerance for weight in weights)
        if weights[0] < 0 < weights[-1]:
            failing.append(Clause.SIGN)
        if near < rule.min_ratio * len(weights):
            failing.append(Clause.SPREAD)

    if not failing:
        result, points = Result.IN_CONSENSUS, int(middle)  # int() rounds toward zero: the milder weight
    elif objected >= rule.min_reviewed and not agreed:
        result, points = Result.OUT, None
    else:
        result, points = Result.UNSETTLED, None
    facts = _Facts(rule, agreed, objected, abstained, tuple(weights), near, middle, tuple(blocking))
    return Decision(
        result=result,
        points=points,
        failing=tuple(failing),
        agreed=agreed,
        objected=objected,
        abstained=abstained,
        weights=tuple(weights),
        sentence=_sentence(result, points, failing, facts),
    )


_CAUTION = {"object": 0, "abstain": 1, "recuse": 2, "agree": 3}


def _person(name: Hashable) -> Hashable:
    return name.strip().casefold() if isinstance(name, str) else name


def _counted(
    writers: Collection[Hashable],
    wording: Hashable,
    eligible: Collection[Hashable],
    votes: Iterable[Ballot],
) -> list[Ballot]:
    """The votes that count, one a person; were there two, the more cautious one, so that no order matters."""
    may = {_person(name) for name in eligible} - {_person(name) for name in writers}
    by_person: dict[Hashable, Ballot] = {}
    for ballot in votes:
        person = _person(ballot.reviewer)
        if person not in may or ballot.wording != wording:
            continue
        kept = by_person.get(person)
        if kept is None or _caution(ballot) < _caution(kept):
            by_person[person] = ballot
    return list(by_person.values())


def _caution(ballot: Ballot) -> tuple[int, str, int]:
    return (_CAUTION[ballot.choice], ballot.category, ballot.points or 0)


@dataclass(frozen=True, slots=True)
class _Facts:
    rule: Rule
    agreed: int
    objected: int
    abstained: int
    weights: tuple[int, ...]
    near: int
    middle: Fraction
    blocking: tuple[str, ...]


def signed(points: int | Fraction) -> str:
    """+6, −8 or +6.5, with a true minus sign."""
    return f"{float(points):+g}".replace("-", "\N{MINUS SIGN}")


def _sentence(result: Result, points: int | None, failing: list[Clause], facts: _Facts) -> str:
    if points is not None:
        against = f", {facts.objected} objected" if facts.objected else ""
        abstained = f", {facts.abstained} abstained" if facts.abstained else ""
        return f"In consensus at {signed(points)}: {facts.agreed} agreed{against}{abstained}."
    if result is Result.OUT:
        return f"Out: {facts.objected} objected and nobody agreed."
    return "Not in consensus: " + "; ".join(_why(clause, facts) for clause in failing) + "."


def _why(clause: Clause, facts: _Facts) -> str:
    rule = facts.rule
    reviewed = facts.agreed + facts.objected + facts.abstained
    decided = facts.agreed + facts.objected
    if clause is Clause.REVIEWED:
        return f"{reviewed} of the {rule.min_reviewed} reviewers needed have judged it"
    if clause is Clause.AGREED:
        return f"{facts.agreed} agreed, {rule.min_agree} are needed"
    if clause is Clause.RATIO:
        share = f"{float(rule.min_ratio):.0%}"
        return f"{facts.agreed} of {decided} who decided agreed, at least {share} are needed"
    if clause is Clause.BLOCKED:
        return "somebody objected that it is " + " and ".join(name.replace("_", " ") for name in facts.blocking)
    if clause is Clause.SIGN:
        return "some want it in a good answer and some don't want it"
    return (
        f"{facts.near} of {len(facts.weights)} weights lie within {rule.points_tolerance} "
        f"of the middle one ({signed(facts.middle)}), at least {float(rule.min_ratio):.0%} are needed"
    )
