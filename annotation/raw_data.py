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

from annotation.models import (
    Study,
    User,
)
from annotation.permissions import membership_of, oversees
from annotation.raw_rows import Asked, Rows, comment_rows, criteria_rows, round_rows, vote_rows
from consilium.downloads import TooLargeForAWorkbook
from consilium.errors import RuleViolation
from consilium.tables import Column, Type, Unwritable, Written, write_csv, write_parquet, write_xlsx


class RawFormat(models.TextChoices):
    CSV = "csv", "CSV"
    XLSX = "xlsx", "Excel workbook"
    PARQUET = "parquet", "Parquet"


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


CONVERSATION = Column("conversation_id", Type.TEXT, "The conversation's id in its file.")
CRITERION = Column("criterion_id", Type.TEXT, "The criterion's id in its file.")
ROUND = Column("round", Type.WHOLE, "The number of the conversation's round.")
REVISION = Column("revision", Type.WHOLE, "The number of the revision; of a vote, the first of its wording.")
PERSON = Column("person", Type.TEXT, "A code for who it was, the same in each of these tables.")
ADDRESS = Column("address", Type.TEXT, "The e-mail address, where the policy of the reveal shows names.")


RAW_TABLES: dict[str, RawTable] = {
    table.kind: table
    for table in (
        RawTable(
            "criteria",
            "Criteria",
            "Every revision of every criterion, the first draft as well as the last word.",
            (
                CONVERSATION,
                CRITERION,
                Column("state", Type.TEXT, "Where the criterion stands now."),
                REVISION,
                Column("is_current", Type.TRUTH, "Whether this revision is the one in force."),
                Column("wording", Type.WHOLE, "The first revision of this wording: only white space differs."),
                Column("text", Type.TEXT, "The criterion."),
                Column("points", Type.WHOLE, "Its writer's points; empty where they are hidden from you still."),
                Column("consensus_points", Type.WHOLE, "The panel's points, of what is in consensus."),
                Column("axis", Type.TEXT, "The behaviour that it measures."),
                Column("scale", Type.TEXT, "binary or ordinal."),
                Column("levels", Type.JSON, "The levels of an ordinal scale."),
                Column("rationale", Type.TEXT, "Why, in its writer's words."),
                Column("turns", Type.WHOLES, "The turns that it cites."),
                Column("writers", Type.TEXTS, "The codes of who wrote this wording."),
                Column("person", Type.TEXT, "The code of who made this revision."),
                Column("is_imported", Type.TRUTH, "Whether the criterion came from a file."),
                Column("made_at", Type.TIME, "When this revision was made."),
                Column("merged_into", Type.TEXT, "The id of the criterion that it was merged into."),
            ),
            criteria_rows,
        ),
        RawTable(
            "votes",
            "Votes",
            "Every blind vote of the rounds that are revealed.",
            (
                CONVERSATION,
                CRITERION,
                ROUND,
                REVISION,
                Column("choice", Type.TEXT, "agree, object, abstain or recuse."),
                Column("points", Type.WHOLE, "The weight that came with an agreement."),
                Column("category", Type.TEXT, "The category of an objection."),
                Column("reason", Type.TEXT, "The reason of an objection."),
                Column("better_wording", Type.TEXT, "The wording that came with an agreement."),
                Column("cast_at", Type.TIME, "When it was cast, or last changed before the reveal."),
                Column("is_counted", Type.TRUTH, "Whether it counted: on the wording decided, by no writer of it."),
                Column("is_imported", Type.TRUTH, "Whether it was taken elsewhere and came from a file."),
                PERSON,
                ADDRESS,
            ),
            vote_rows,
        ),
        RawTable(
            "rounds",
            "Rounds",
            "What each reveal found for each criterion, and what a later policy would have found.",
            (
                CONVERSATION,
                ROUND,
                Column("opened_at", Type.TIME, "When the round opened."),
                Column("closes_at", Type.TIME, "The date that it had, if any."),
                Column("revealed_at", Type.TIME, "When it was revealed."),
                CRITERION,
                REVISION,
                Column("policy", Type.WHOLE, "The version of the policy that was applied."),
                Column("result", Type.TEXT, "in_consensus, unsettled or out."),
                Column("points", Type.WHOLE, "The consensus points."),
                Column("failing", Type.TEXTS, "The clauses of the rule that it failed."),
                Column("sentence", Type.TEXT, "The decision in words."),
                Column("eligible", Type.WHOLE, "How many reviewers could vote on it."),
                Column("agreed", Type.WHOLE, "How many of them agreed."),
                Column("objected", Type.WHOLE, "How many objected."),
                Column("abstained", Type.WHOLE, "How many abstained."),
                Column("recused", Type.WHOLE, "How many recused from it."),
            ),
            round_rows,
        ),
        RawTable(
            "discussion",
            "Discussion",
            "What was said about criteria after a reveal. While a conversation has an open round, its own is left out.",
            (
                CONVERSATION,
                CRITERION,
                Column("said_at", Type.TIME, "When it was said."),
                Column("text", Type.TEXT, "What was said."),
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
    if reader is not None:
        membership = membership_of(reader, study)
        if membership is None or not oversees(membership):
            raise DataIsForOverseers
    table = RAW_TABLES[kind]
    names = [column.name for column in table.columns]
    with transaction.atomic():
        rows = table.rows(Asked(study, reader))
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


def file_name_of(study: Study, kind: str, format: str) -> str:
    return f"consilium-{study.slug}-{kind}.{format}"
