"""The pairs behind a number of the agreement report: what a clinician and the grader said of one response and
criterion, with the grade's explanation and quotes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from grading.agreement import Judged, judged_pairs
from grading.models import Grade, Response, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which pairs: of a criterion, an axis, a clinician (by address), with what either side said; None for any.

    An empty axis asks for the criteria without one. ``differ`` asks for the pairs on which the two sides differ.
    """

    criterion: str | None = None
    axis: str | None = None
    reviewer: str | None = None
    grader: str | None = None
    clinician: str | None = None
    differ: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Asked":
        """What an address asks for: what it doesn't name is any, what it names is that, also when it is empty."""
        words = {name: query.get(name) for name in ("criterion", "axis", "reviewer", "grader", "clinician")}
        return cls(**words, differ="differ" in query)

    def holds(self, pair: Judged) -> bool:
        said = {
            "criterion": pair.criterion.external_id,
            "axis": pair.criterion.axis,
            "reviewer": pair.reviewer,
            "grader": pair.grader,
            "clinician": pair.clinician,
        }
        if self.differ and not pair.differs:
            return False
        return all((wanted := getattr(self, name)) is None or wanted == value for name, value in said.items())


@dataclass(frozen=True, slots=True)
class PairShown:
    """A pair with the response and the grade; ``grade`` is None where the grader has not got there yet."""

    pair: Judged
    response: Response
    grade: Grade | None


def find_pairs(run: Run, asked: Asked) -> list[Judged]:
    """The run's pairs that were asked for, in the report's order. Three queries."""
    return [pair for pair in judged_pairs(run)[0] if asked.holds(pair)]


def show_pairs(run: Run, pairs: Collection[Judged]) -> list[PairShown]:
    """Pairs with their responses and grades. Two queries, however many."""
    units = {pair.unit for pair in pairs}
    ids: set[UUID] = {response_id for response_id, _ in units}
    grades = {
        (grade.response_id, grade.criterion_id): grade
        for grade in Grade.objects.filter(run=run, repeat=1, response__in=ids)
    }
    responses = Response.objects.select_related("respondent", "conversation").in_bulk(list(ids))
    return [PairShown(pair, responses[pair.unit[0]], grades.get(pair.unit)) for pair in pairs]
