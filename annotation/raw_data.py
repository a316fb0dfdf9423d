"""The study's own data as tables for other programs: criteria, votes, rounds, the discussion.

Blindness holds in a file as it does on a page: votes come after their reveal, the discussion while no round is open,
and an admin who reviews a conversation gets of it what its page shows. People are codes, the same in each table and
each download of a study; an address stands beside one only where the reveal's policy shows names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.db import models, transaction
from django.http import FileResponse, Http404
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_noop as _

from annotation.models import Role, Study, User
from annotation.permissions import has_role, membership_of, oversees
from annotation.raw_rows import Asked, Rows, comment_rows, criteria_rows, round_rows, vote_rows
from consilium.downloads import TooLargeForAWorkbook, as_download
from consilium.errors import RuleViolation
from consilium.tables import Column, Type, Unwritable, Written, write_csv, write_parquet, write_xlsx


class RawFormat(models.TextChoices):
    CSV = "csv", gettext_lazy("CSV")
    XLSX = "xlsx", gettext_lazy("Excel workbook")
    PARQUET = "parquet", gettext_lazy("Parquet")


class DataIsForOverseers(RuleViolation):
    """A study's data are for its admins and researchers."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """One table: its columns with what they hold, and its rows in the order of the study's files."""

    kind: str
    title: str
    holds: str
    columns: tuple[Column, ...]
    rows: Callable[[Asked], Rows]

    @property
    def shown_title(self) -> str:
        return gettext(self.title)

    @property
    def shown_holds(self) -> str:
        return gettext(self.holds)

    @property
    def shown_columns(self) -> list[tuple[str, str, str]]:
        """(name, what it holds, of which type) for a page."""
        return [(column.name, gettext(column.meaning), gettext(TYPES[column.type])) for column in self.columns]


TYPES = {
    Type.TEXT: _("text"),
    Type.WHOLE: _("whole number"),
    Type.NUMBER: _("number"),
    Type.TRUTH: _("true or false"),
    Type.TIME: _("time"),
    Type.TEXTS: _("list of texts"),
    Type.WHOLES: _("list of whole numbers"),
    Type.JSON: "JSON",
}
"""What a column's type is called on a page."""

CONVERSATION = Column("conversation_id", Type.TEXT, _("The conversation's id in its file."))
CRITERION = Column("criterion_id", Type.TEXT, _("The criterion's id in its file."))
ROUND = Column("round", Type.WHOLE, _("The number of the conversation's round."))
REVISION = Column("revision", Type.WHOLE, _("The number of the revision; of a vote, the first of its wording."))
PERSON = Column("person", Type.TEXT, _("A code for who it was, the same in each of these tables."))
ADDRESS = Column("address", Type.TEXT, _("The e-mail address, where the policy of the reveal shows names."))


RAW_TABLES: dict[str, RawTable] = {
    table.kind: table
    for table in (
        RawTable(
            "criteria",
            _("Criteria"),
            _("Every revision of every criterion, the first draft as well as the last word."),
            (
                CONVERSATION,
                CRITERION,
                Column("state", Type.TEXT, _("Where the criterion stands now.")),
                REVISION,
                Column("is_current", Type.TRUTH, _("Whether this revision is the one in force.")),
                Column("wording", Type.WHOLE, _("The first revision of this wording: only white space differs.")),
                Column("text", Type.TEXT, _("The criterion.")),
                Column("points", Type.WHOLE, _("Its writer's points; empty where they are hidden from you still.")),
                Column("consensus_points", Type.WHOLE, _("The panel's points, of what is in consensus.")),
                Column("axis", Type.TEXT, _("The behaviour that it measures.")),
                Column("scale", Type.TEXT, _("binary or ordinal.")),
                Column("levels", Type.JSON, _("The levels of an ordinal scale.")),
                Column("rationale", Type.TEXT, _("Why, in its writer's words.")),
                Column("turns", Type.WHOLES, _("The turns that it cites.")),
                Column("writers", Type.TEXTS, _("The codes of who wrote this wording.")),
                Column("person", Type.TEXT, _("The code of who made this revision.")),
                Column("is_imported", Type.TRUTH, _("Whether the criterion came from a file.")),
                Column("made_at", Type.TIME, _("When this revision was made.")),
                Column("merged_into", Type.TEXT, _("The id of the criterion that it was merged into.")),
            ),
            criteria_rows,
        ),
        RawTable(
            "votes",
            _("Votes"),
            _("Every blind vote of the rounds that are revealed."),
            (
                CONVERSATION,
                CRITERION,
                ROUND,
                REVISION,
                Column("choice", Type.TEXT, _("agree, object, abstain or recuse.")),
                Column("points", Type.WHOLE, _("The weight that came with an agreement.")),
                Column("category", Type.TEXT, _("The category of an objection.")),
                Column("reason", Type.TEXT, _("The reason of an objection.")),
                Column("better_wording", Type.TEXT, _("The wording that came with an agreement.")),
                Column("cast_at", Type.TIME, _("When it was cast, or last changed before the reveal.")),
                Column("is_counted", Type.TRUTH, _("Whether it counted: on the wording decided, by no writer of it.")),
                Column("is_imported", Type.TRUTH, _("Whether it was taken elsewhere and came from a file.")),
                PERSON,
                ADDRESS,
            ),
            vote_rows,
        ),
        RawTable(
            "rounds",
            _("Rounds"),
            _("What each reveal found for each criterion, and what a later policy would have found."),
            (
                CONVERSATION,
                ROUND,
                Column("opened_at", Type.TIME, _("When the round opened.")),
                Column("closes_at", Type.TIME, _("The date that it had, if any.")),
                Column("revealed_at", Type.TIME, _("When it was revealed.")),
                CRITERION,
                REVISION,
                Column("policy", Type.WHOLE, _("The version of the policy that was applied.")),
                Column("result", Type.TEXT, _("in_consensus, unsettled or out.")),
                Column("points", Type.WHOLE, _("The consensus points.")),
                Column("failing", Type.TEXTS, _("The clauses of the rule that it failed.")),
                Column("sentence", Type.TEXT, _("The decision in words.")),
                Column("eligible", Type.WHOLE, _("How many reviewers could vote on it.")),
                Column("agreed", Type.WHOLE, _("How many of them agreed.")),
                Column("objected", Type.WHOLE, _("How many objected.")),
                Column("abstained", Type.WHOLE, _("How many abstained.")),
                Column("recused", Type.WHOLE, _("How many recused from it.")),
            ),
            round_rows,
        ),
        RawTable(
            "discussion",
            _("Discussion"),
            _(
                "What was said about criteria after a reveal. "
                "While a conversation has an open round, its own is left out."
            ),
            (
                CONVERSATION,
                CRITERION,
                Column("said_at", Type.TIME, _("When it was said.")),
                Column("text", Type.TEXT, _("What was said.")),
                PERSON,
                ADDRESS,
            ),
            comment_rows,
        ),
    )
}


def write_raw_table(
    *, study: Study, kind: str, format: RawFormat, file: Path | BinaryIO, reader: User | None
) -> Written:
    """Write one of the tables to a path, which is replaced in one step, or to an open file (seekable).

    Raises KeyError for no such kind, DataIsForOverseers, TooLargeForAWorkbook, Unwritable where a cell can't hold a
    text (Parquet can).
    """
    is_admin = reader is None
    if reader is not None:
        membership = membership_of(reader, study)
        if membership is None or not oversees(membership):
            raise DataIsForOverseers
        is_admin = has_role(membership, Role.ADMIN)
    table = RAW_TABLES[kind]
    names = [column.name for column in table.columns]
    with transaction.atomic():
        rows = table.rows(Asked(study, reader, is_admin))
        if format == RawFormat.PARQUET:
            return write_parquet(file, table.columns, rows)
        plain = (tuple(_as_cell(value) for value in row) for row in rows)
        if format == RawFormat.CSV:
            return write_csv(file, names, plain)
        try:
            return write_xlsx(file, [(table.title, names, plain)])
        except Unwritable:
            raise
        except ValueError as error:
            raise TooLargeForAWorkbook from error


def _as_cell(value: object) -> object:
    """Lists of codes and numbers as one text, readable and sortable in a spreadsheet."""
    return (
        " ".join(map(str, value)) if isinstance(value, list) and all(isinstance(v, str | int) for v in value) else value
    )


def download_of(study: Study, *, kind: str, format: str, reader: User) -> FileResponse:
    """One of the tables as an attachment. Http404 for no such file; raises what ``write_raw_table`` refuses with."""
    if kind not in RAW_TABLES or format not in RawFormat.values:
        raise Http404("There is no such file.")
    return as_download(
        lambda file: write_raw_table(study=study, kind=kind, format=RawFormat(format), file=file, reader=reader),
        name=f"consilium-{study.slug}-{kind}.{format}",
    )
