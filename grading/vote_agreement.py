"""Agreement among clinicians on their blind votes, before any discussion and at the last.

*Before* is the first round in which a criterion was voted in, *last* the last one; a criterion that was voted on once
stands with the same votes in both. Agreeing and objecting are the two answers that are compared; who abstained or
recused gave none. Nothing is told of fewer than five people, and of one person only to that person: an axis with
fewer is left out, and another with it where what is left over would tell of fewer. What can't be computed is
undefined with its reason; very few criteria get counts in place of coefficients where people read them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar
from uuid import UUID

from annotation.models import ObjectionCategory, Study
from grading.agreement import FEWEST_CONVERSATIONS, FEWEST_PAIRS
from grading.agreement import is_too_few as is_too_few_for_coefficients
from grading.counted_votes import Pattern, Voters, count_open, read_votes
from grading.statistics.nominal import gwet_ac1_many, krippendorff_alpha, observed_many, specific_agreement
from grading.statistics.undefined import Coefficient
from grading.statistics.weights import median_difference

FEWEST_PEOPLE = 5
FEWEST_OTHERS = 2
"""A majority of the others takes so many: of one other person it would be that person's vote."""
TOO_FEW_PEOPLE = f"Nothing is told of fewer than {FEWEST_PEOPLE} people: it could tell how one of them votes."
TOO_FEW_CRITERIA = (
    f"Counts only: fewer than {FEWEST_PAIRS} criteria with two votes or more, or from fewer than "
    f"{FEWEST_CONVERSATIONS} conversations, are too few for a coefficient."
)


class Placed(Protocol):
    """What was voted on in the first round, in the last, or in the only one."""

    @property
    def is_first(self) -> bool: ...

    @property
    def is_last(self) -> bool: ...


Row = TypeVar("Row", bound=Placed)


class When(StrEnum):
    """Which of a criterion's rounds, and of which criteria."""

    FIRST = "first"
    LAST = "last"
    AGAIN_FIRST = "again_first"
    AGAIN_LAST = "again_last"

    def holds(self, row: Placed) -> bool:
        is_round = row.is_first if self in (When.FIRST, When.AGAIN_FIRST) else row.is_last
        return is_round and (self in (When.FIRST, When.LAST) or row.is_first != row.is_last)


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement over so many ``criteria``, of which ``compared`` have two or more who agreed or objected.

    ``people`` agreed or objected. ``with_majority`` of ``beside_majority`` votes say what the majority of the others on
    that criterion says, where these are two or more and not in a tie.
    """

    people: int
    conversations: int
    criteria: int
    compared: int
    agreed: int
    objected: int
    abstained: int
    recused: int
    imported: int
    with_majority: int
    beside_majority: int
    coefficients: dict[str, Coefficient]

    @property
    def is_too_few(self) -> bool:
        """Whether people read counts only. ``conversations`` are counted up to three, which is enough for that."""
        return is_too_few_for_coefficients(n=self.compared, conversations=self.conversations)

    @property
    def votes(self) -> int:
        return self.agreed + self.objected

    def as_data(self) -> dict[str, Any]:
        counts = ("people", "criteria", "compared", "agreed", "objected", "abstained", "recused", "imported")
        return {
            **{name: getattr(self, name) for name in counts},
            "is_too_few": self.is_too_few,
            "with_majority": self.with_majority,
            "beside_majority": self.beside_majority,
            **{name: number.value for name, number in self.coefficients.items()},
            "undefined": {name: number.reason.value for name, number in self.coefficients.items() if number.reason},
        }


def figures_of(patterns: Sequence[Pattern], voters: Iterable[Voters] = ()) -> Figures:
    """The agreement over patterns of one and the same ``When``, whoever voted: what may be told is asked elsewhere."""
    met: Counter[tuple[int, int]] = Counter()
    for row in patterns:
        met[row.agreed, row.objected] += row.criteria
    counts, times = (list(met), list(met.values())) if met else ([(0, 0)], [0])
    agree, objecting = specific_agreement(counts, times=times)
    voters = list(voters)

    def total(name: str) -> int:
        return sum(getattr(row, name) * row.criteria for row in patterns)

    majorities = [(_with_majority(agreed, objected), number) for (agreed, objected), number in met.items()]
    return Figures(
        people=len(_people(voters)),
        conversations=len(frozenset[UUID]().union(*(row.conversations for row in voters))),
        criteria=met.total(),
        compared=sum(number for (agreed, objected), number in met.items() if agreed + objected >= 2),
        agreed=total("agreed"),
        objected=total("objected"),
        abstained=total("abstained"),
        recused=total("recused"),
        imported=total("imported"),
        with_majority=sum(same * number for (same, _), number in majorities),
        beside_majority=sum(votes * number for (_, votes), number in majorities),
        coefficients={
            "agree": agree,
            "object": objecting,
            "ac1": gwet_ac1_many(counts, times=times),
            "alpha": krippendorff_alpha(counts, times=times),
            "observed": observed_many(counts, times=times),
            "weights": median_difference((row.weights, row.criteria) for row in patterns),
        },
    )


def majority_of(agreed: int, objected: int) -> bool | None:
    """Whether most of the others agreed; None where they are in a tie, or fewer than two."""
    if agreed + objected < FEWEST_OTHERS or agreed == objected:
        return None
    return agreed > objected


def _with_majority(agreed: int, objected: int) -> tuple[int, int]:
    """Of one criterion's votes, how many say what most of the others say, and how many others have a majority."""
    for_agreeing = majority_of(agreed - 1, objected) if agreed else None
    for_objecting = majority_of(agreed, objected - 1) if objected else None
    same = agreed * (for_agreeing is True) + objected * (for_objecting is False)
    return same, agreed * (for_agreeing is not None) + objected * (for_objecting is not None)


def _people(voters: Iterable[Voters]) -> frozenset[UUID]:
    return frozenset[UUID]().union(*(row.people for row in voters))


# What may be told


@dataclass(frozen=True, slots=True)
class Agreement:
    """What an admin or a researcher may read. A figure is None where it would tell of fewer than five people.

    ``voted_again`` criteria were voted on in more than one round. ``axes`` are those that may be told of, by when;
    ``left_out`` counts the others. ``categories`` counts objections.
    """

    study: Study
    open_conversations: int
    voted_again: int
    figures: dict[When, Figures | None]
    axes: dict[When, dict[str, Figures]]
    left_out: dict[When, int]
    categories: dict[When, dict[str, int]]
    has_votes: bool

    @property
    def is_told(self) -> bool:
        return self.figures[When.FIRST] is not None

    def as_data(self) -> dict[str, Any]:
        def told(when: When) -> dict[str, Any] | None:
            figures = self.figures[when]
            return None if figures is None else figures.as_data()

        return {
            "study": self.study.slug,
            "open_conversations": self.open_conversations,
            "has_votes": self.has_votes,
            "voted_again": self.voted_again,
            "fewest_people": FEWEST_PEOPLE,
            **{when.value: told(when) for when in When},
            "by_axis": {
                when.value: {axis: figures.as_data() for axis, figures in axes.items()}
                for when, axes in self.axes.items()
            },
            "axes_left_out": {when.value: number for when, number in self.left_out.items()},
            "by_category": {when.value: counts for when, counts in self.categories.items()},
        }


def report_votes(study: Study) -> Agreement:
    """The agreement on a study's votes, as it is now. Two queries."""
    patterns, voters = read_votes(study)
    figures, axes, left_out, categories = {}, {}, {}, {}
    for when in When:
        of_patterns, of_voters = _at(patterns, when), _at(voters, when)
        # what is left over is the criteria that were voted on once: they must not tell of fewer either
        rest = [row for row in voters if row.is_first and row.is_last] if "again" in when else []
        may_tell = len(_people(of_voters)) >= FEWEST_PEOPLE and (not rest or len(_people(rest)) >= FEWEST_PEOPLE)
        figures[when] = figures_of(of_patterns, of_voters) if may_tell else None
        if "again" in when:
            continue
        told, left_out[when] = axes_told(of_voters) if may_tell else ([], 0)
        axes[when] = {
            axis: figures_of(
                [row for row in of_patterns if row.axis == axis], [row for row in of_voters if row.axis == axis]
            )
            for axis in told
        }
        categories[when] = {
            category: sum(row.categories[category] for row in of_voters)
            for category in (ObjectionCategory.values if may_tell else ())
        }
    return Agreement(
        study=study,
        open_conversations=count_open(study),
        voted_again=sum(row.criteria for row in patterns if row.is_first and not row.is_last),
        figures=figures,
        axes=axes,
        left_out=left_out,
        categories=categories,
        has_votes=bool(patterns),
    )


def _at(rows: Iterable[Row], when: When) -> list[Row]:
    return [row for row in rows if when.holds(row)]


def axes_told(voters: Sequence[Voters]) -> tuple[list[str], int]:
    """The axes that may be told of, and how many may not.

    Those with fewer than five people are left out. Whoever takes the told ones from the whole learns what the others
    hold together: so the smallest are left out too until those are five people, or nothing is told by axis.
    """
    people = {axis: _people(row for row in voters if row.axis == axis) for axis in {row.axis for row in voters}}
    # an axis on which nobody agreed or objected tells of nobody
    people = {axis: those for axis, those in people.items() if those}
    out = {axis for axis, those in people.items() if len(those) < FEWEST_PEOPLE}
    smallest_first = sorted(set(people) - out, key=lambda axis: (len(people[axis]), axis))
    hidden = frozenset[UUID]().union(*(people[axis] for axis in out))
    while hidden and len(hidden) < FEWEST_PEOPLE and smallest_first:
        joined = smallest_first.pop(0)
        out.add(joined)
        hidden |= people[joined]
    return sorted(set(people) - out), len(out)
