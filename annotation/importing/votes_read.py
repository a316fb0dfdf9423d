"""The rows of a file of votes, read and checked as far as a row can be by itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from annotation.importing.people import People
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, read_rows
from annotation.models import ObjectionCategory, Vote
from annotation.voting import Ballot
from consilium.canonical import normal_text
from consilium.tables import Table

COLUMNS = Columns(
    known=("criterion_id", "reviewer", "choice", "points", "reason", "category", "round"),
    required=("criterion_id", "reviewer", "choice"),
)


@dataclass(frozen=True, slots=True)
class ReadVote:
    """A vote as a file gives it. Who agrees without points agrees with the criterion's: None until it is known.

    ``faulty`` are the columns that couldn't be taken; such a vote is never written.
    """

    line: int
    criterion_id: str
    reviewer_id: UUID | None
    reviewer: str
    ballot: Ballot
    round_number: int | None
    faulty: frozenset[str] = frozenset()

    def with_points(self, points: int) -> Ballot:
        """The vote with the criterion's points where it agrees and names none."""
        if self.ballot.choice != Vote.Choice.AGREE or self.ballot.points is not None:
            return self.ballot
        return Ballot(self.ballot.choice, points)


def is_same(one: Ballot, other: Ballot) -> bool:
    """Whether two votes say the same."""
    return (one.choice, one.points, one.category, normal_text(one.reason)) == (
        other.choice,
        other.points,
        other.category,
        normal_text(other.reason),
    )


def read_votes(table: Table, report: Report, *, people: People) -> list[ReadVote]:
    """The votes of a file, as far as each can be taken."""
    found = []
    for row in read_rows(table, report, COLUMNS):
        this = _read(row, people)
        warn_of_personal_data(report, line=this.line, column="reason", text=this.ballot.reason)
        found.append(this)
    return found


def report_double(before: ReadVote, this: ReadVote, report: Report, *, is_double: bool) -> None:
    """Two rows are votes of one person on one criterion in one round: the same, or in contradiction."""
    lines = and_lines(before.line, this.line)
    if is_double:
        report.warn(this.line, None, f"The {lines} hold the same vote; it counts once.", kind="doubles")
    else:
        told = f"The {lines} are different votes by {this.reviewer} on criterion “{this.criterion_id}”. Expected one."
        report.error(this.line, "choice", told)


def _read(row: FileRow, people: People) -> ReadVote:
    criterion_id = row.name("criterion_id", required=True)
    reviewer = people.clinician(row, "reviewer")
    choice = row.choice("choice", allowed=Vote.Choice.values, required=True)
    points = row.points("points")
    category = row.choice("category", allowed=ObjectionCategory.values) or ""
    reason = row.text("reason")
    round_number = row.whole_number("round", low=1, high=1000)
    if choice == Vote.Choice.OBJECT:
        if not row.has("category"):
            row.error("category", f"Expected one of {', '.join(ObjectionCategory.values)} for an objection.")
        if not reason.strip():
            row.error("reason", "Expected a reason for the objection, found nothing.")
    elif choice == Vote.Choice.AGREE and category:
        row.error("category", "Expected no category with agree. Perhaps it is an objection.")
    if choice is not None and row.is_sound:
        _warn_of_what_is_not_kept(row, choice)
    is_objection = choice == Vote.Choice.OBJECT
    return ReadVote(
        line=row.line,
        criterion_id=criterion_id,
        reviewer_id=reviewer.id if reviewer else None,
        reviewer=reviewer.email if reviewer else "",
        ballot=Ballot(
            Vote.Choice(choice or Vote.Choice.ABSTAIN),
            points=points if choice == Vote.Choice.AGREE else None,
            category=category if is_objection else "",
            reason=reason if is_objection else "",
        ),
        round_number=round_number,
        faulty=frozenset(row.faulty),
    )


def _warn_of_what_is_not_kept(row: FileRow, choice: str) -> None:
    left: Iterable[str] = ()
    if choice == Vote.Choice.AGREE:
        left = ["reason"]
    elif choice == Vote.Choice.OBJECT:
        left = ["points"]
    else:
        left = ["points", "category", "reason"]
    for column in left:
        if row.has(column):
            row.warn(column, f"Not kept: a vote to {choice} has no {column}.", kind="cells that are not kept")
