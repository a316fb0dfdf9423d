"""The pairs of a run that have no verdict: which, why, and what the grader replied.

A raw reply is shown to a researcher as it came, as text and not longer than a page bears.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import BinaryField, Count, QuerySet
from django.db.models.functions import Length, Substr

from grading.models import Attempt, Grade, Run
from grading.reasons import sentence_for
from grading.told_again import problem_in_words

LONGEST_SHOWN = 4000
"""Bytes of a raw reply that a page shows."""

PairOfRun = tuple[UUID, UUID, int]
"""Response, criterion, repeat."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The last call about a pair: what came back, and what was wrong with it."""

    number: int
    text: str
    is_cut: bool
    problem: str


@dataclass(frozen=True, slots=True)
class UnscoredPair:
    """A pair without a verdict; ``reply`` is None where no call was made, or where it isn't shown."""

    grade: Grade
    reason: str
    reply: Reply | None


def unscored_grades(run: Run, *, reason: str = "") -> "QuerySet[Grade]":
    """The unscored grades of a run, of one reason where one is named."""
    grades = Grade.objects.filter(run=run, verdict=Grade.Verdict.UNSCORED)
    if reason:
        grades = grades.filter(reason=reason)
    return grades.select_related("criterion", "response__conversation", "response__respondent").order_by(
        "reason", "criterion__position", "response_id", "repeat"
    )


def reasons_of(run: Run) -> list[tuple[str, str, int]]:
    """(stored reason, its sentence, pairs), the most frequent first."""
    rows = (
        Grade.objects.filter(run=run, verdict=Grade.Verdict.UNSCORED)
        .values("reason")
        .annotate(number=Count("id"))
        .order_by("-number", "reason")
    )
    return [(row["reason"], sentence_for(row["reason"]), row["number"]) for row in rows]


def show_unscored(run: Run, grades: Collection[Grade], *, with_replies: bool) -> list[UnscoredPair]:
    """Unscored grades as they are shown. One query more where replies are."""
    replies = _last_replies(run, grades) if with_replies else {}
    return [
        UnscoredPair(
            grade, sentence_for(grade.reason), replies.get((grade.response_id, grade.criterion_id, grade.repeat))
        )
        for grade in grades
    ]


def _last_replies(run: Run, grades: Collection[Grade]) -> dict[PairOfRun, Reply]:
    attempts = (
        Attempt.objects.filter(
            run=run,
            response__in={grade.response_id for grade in grades},
            criterion__in={grade.criterion_id for grade in grades},
        )
        .annotate(begin=Substr("raw_reply", 1, LONGEST_SHOWN, output_field=BinaryField()), length=Length("raw_reply"))
        .order_by("number")
        .values_list("response_id", "criterion_id", "repeat", "number", "begin", "length", "problem")
    )
    return {
        (response_id, criterion_id, repeat): Reply(
            number,
            bytes(begin or b"").decode("utf-8", "replace"),
            (length or 0) > LONGEST_SHOWN,
            problem_in_words(problem),
        )
        for response_id, criterion_id, repeat, number, begin, length, problem in attempts
    }
