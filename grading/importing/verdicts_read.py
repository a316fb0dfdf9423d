"""The rows of a file of reviewer verdicts, read and checked as far as a row can be by itself."""

from dataclasses import dataclass
from uuid import UUID

from annotation.importing.people import People
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, read_rows
from consilium.tables import Table
from grading.models import ReviewerVerdict

COLUMNS = Columns(
    known=("conversation_id", "respondent", "sample", "criterion_id", "reviewer", "verdict", "comment"),
    required=("conversation_id", "respondent", "criterion_id", "reviewer", "verdict"),
)
GREATEST_SAMPLE = 1_000_000


@dataclass(frozen=True, slots=True)
class ReadVerdict:
    """A reviewer verdict as a file gives it. ``faulty`` are the columns that couldn't be taken: it is never written."""

    line: int
    conversation_id: str
    respondent: str
    sample: int
    criterion_id: str
    reviewer_id: UUID | None
    reviewer: str
    verdict: str
    comment: str
    faulty: frozenset[str] = frozenset()


def read_verdicts(table: Table, report: Report, *, people: People) -> list[ReadVerdict]:
    """The verdicts of a file, as far as each can be taken."""
    found = []
    for row in read_rows(table, report, COLUMNS):
        this = _read(row, people)
        warn_of_personal_data(report, line=this.line, column="comment", text=this.comment)
        found.append(this)
    return found


def _read(row: FileRow, people: People) -> ReadVerdict:
    conversation_id = row.name("conversation_id", required=True)
    respondent = row.name("respondent", required=True, longest=200)
    sample = row.whole_number("sample", low=1, high=GREATEST_SAMPLE)
    criterion_id = row.name("criterion_id", required=True)
    reviewer = people.clinician(row, "reviewer")
    verdict = row.choice("verdict", allowed=ReviewerVerdict.Verdict.values, required=True)
    comment = row.text("comment")
    return ReadVerdict(
        line=row.line,
        conversation_id=conversation_id,
        respondent=respondent,
        sample=1 if sample is None else sample,
        criterion_id=criterion_id,
        reviewer_id=reviewer.id if reviewer else None,
        reviewer=reviewer.email if reviewer else "",
        verdict=verdict or "",
        comment=comment,
        faulty=frozenset(row.faulty),
    )
