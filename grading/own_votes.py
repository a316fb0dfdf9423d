"""How one clinician's blind votes lie beside those of the others on the same criteria: for that person's eyes alone.

The others' majority takes two of them or more, and no tie. A weight is compared with the mean of the others' who
agreed, signed by the criterion's direction: plus is heavier, of what is wanted and of what is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from annotation.models import Study, User
from grading.counted_votes import Beside, count_open, read_beside
from grading.statistics.undefined import Coefficient, Reason, defined, undefined
from grading.vote_agreement import When, majority_of


@dataclass(frozen=True, slots=True)
class OwnVotes:
    """``votes`` agreed or objected, ``imported`` of them. Of ``others_agreed`` criteria on which the majority of the
    others agreed the person agreed on ``agreed_too``, and likewise objecting; on ``without_majority`` there was none.

    ``weight_difference`` is the mean over ``weighed`` criteria, in points.
    """

    votes: int
    imported: int
    others_agreed: int
    agreed_too: int
    others_objected: int
    objected_too: int
    weighed: int
    weight_difference: Coefficient

    @property
    def compared(self) -> int:
        return self.others_agreed + self.others_objected

    @property
    def without_majority(self) -> int:
        return self.votes - self.compared

    @property
    def shares(self) -> dict[str, Coefficient]:
        """How often the person voted as the majority of the others: on all, where it agreed, where it objected."""
        return {
            "with_majority": _share(self.agreed_too + self.objected_too, self.compared),
            "where_others_agreed": _share(self.agreed_too, self.others_agreed),
            "where_others_objected": _share(self.objected_too, self.others_objected),
        }

    def as_data(self) -> dict[str, Any]:
        numbers = {**self.shares, "weight_difference": self.weight_difference}
        counts = ("votes", "imported", "compared", "without_majority", "weighed")
        halves = ("others_agreed", "agreed_too", "others_objected", "objected_too")
        return {
            **{name: getattr(self, name) for name in (*counts, *halves)},
            **{name: number.value for name, number in numbers.items()},
            "undefined": {name: number.reason.value for name, number in numbers.items() if number.reason},
        }


def _share(part: int, whole: int) -> Coefficient:
    return defined(part / whole) if whole else undefined(Reason.NO_PAIRS)


def compare_own(rows: Sequence[Beside]) -> OwnVotes:
    """One person's votes in rounds of one and the same ``When`` beside the others'."""
    said = [(row, majority_of(row.agreed, row.objected)) for row in rows]

    def count(majority: bool, *, own: tuple[bool, ...] = (True, False)) -> int:
        return sum(row.criteria for row, most in said if most is majority and row.has_agreed in own)

    weighed, total = 0, Fraction(0)
    for row in rows:
        if row.weight is not None and row.weights is not None:
            weighed += row.criteria
            total += row.criteria * (row.weight - Fraction(row.weights, row.agreed))
    return OwnVotes(
        votes=sum(row.criteria for row in rows),
        imported=sum(row.criteria for row in rows if row.is_imported),
        others_agreed=count(True),
        agreed_too=count(True, own=(True,)),
        others_objected=count(False),
        objected_too=count(False, own=(False,)),
        weighed=weighed,
        weight_difference=defined(float(total / weighed)) if weighed else undefined(Reason.NO_PAIRS),
    )


@dataclass(frozen=True, slots=True)
class OwnReport:
    """What one person may read of the own votes: in the first and in the last rounds of their criteria."""

    open_conversations: int
    figures: dict[When, OwnVotes]

    @property
    def has_votes(self) -> bool:
        return self.figures[When.FIRST].votes + self.figures[When.LAST].votes > 0

    def as_data(self) -> dict[str, Any]:
        return {
            "open_conversations": self.open_conversations,
            **{when.value: figures.as_data() for when, figures in self.figures.items()},
        }


def report_own_votes(study: Study, person: User) -> OwnReport:
    """A clinician's own votes in a study beside the others', as they are now. Two queries."""
    rows = read_beside(study, person)
    return OwnReport(
        open_conversations=count_open(study, person),
        figures={when: compare_own([row for row in rows if when.holds(row)]) for when in (When.FIRST, When.LAST)},
    )
