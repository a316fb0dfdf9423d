"""Importing a study's own conversations, from JSON Lines, CSV or XLSX.

The file is read twice: once to check it, keeping of each row its hash and its few facts, and once to write it in
batches, so that memory does not grow with the texts. A row without an id is named by the digest of its messages.
Keys that are not known are kept as JSON text where they come from JSON Lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from django.db.models import Max

from annotation.importing.files import must_be_as_checked, one_act, open_file, record_import
from annotation.importing.messages import (
    Facts,
    ReadConversation,
    comparable_facts,
    conversation_sha256,
    different_keys,
    id_from_messages,
    read_acuity,
    read_country,
    read_language,
    read_messages,
    read_tags,
    read_user_profile,
    unknown_keys,
)
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, in_batches, read_rows
from annotation.importing.turns import TURN_COLUMNS, Turns
from annotation.models import Conversation, FileImport, Study, User
from consilium.tables import Kind, Table, column_name

FACTS = (
    "language",
    "country",
    "acuity",
    "user_profile",
    "has_prior_context",
    "tags",
    "source",
    "canary_string",
)
COLUMNS = Columns(known=("id", "messages", *FACTS, *TURN_COLUMNS))
WHOLE = Columns(known=("id", "messages", *FACTS), required=("messages",))
BY_TURN = Columns(known=("id", *TURN_COLUMNS, *FACTS), required=("id", "role", "turn", "content"))
BATCH = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept of a row between the two readings, and what is compared with a stored conversation."""

    line: int
    item_sha256: str
    facts: Facts
    criteria_sha256: str = ""
    faulty: frozenset[str] = frozenset()

    def differences(self, other: "Seen") -> list[str]:
        """The columns in which another conversation of the same id differs; unknown keys by their own names.

        A column that couldn't be taken in one of the two is not compared.
        """
        differs = {
            "messages": self.item_sha256 != other.item_sha256,
            **{
                column: mine != theirs
                for column, mine, theirs in zip(Facts._fields, self.facts, other.facts, strict=True)
                if column != "extra"
            },
            "criteria": self.criteria_sha256 != other.criteria_sha256,
        }
        faulty = self.faulty | other.faulty
        found = [column for column, is_different in differs.items() if is_different and column not in faulty]
        return found + [key for key in different_keys(self.facts.extra, other.facts.extra) if key not in faulty]


class SeenConversations:
    """The conversations of a file by their id; a double is warned of, a contradiction an error of both lines.

    ``columns`` are the file's own names of what it calls otherwise than a study's own file does.
    """

    def __init__(self, report: Report, *, columns: Mapping[str, str] | None = None) -> None:
        self._report = report
        self.columns = columns or {}
        self.by_id: dict[str, Seen] = {}

    def add(self, this: ReadConversation, criteria_sha256: str = "") -> None:
        """Add one, and warn of the personal data that it seems to hold. Without an id it can't be compared."""
        if not this.external_id or this.faulty & {"id", self.columns.get("id", "id")}:
            return
        seen = Seen(
            this.line, conversation_sha256(this.external_id, this.messages), this.facts(), criteria_sha256, this.faulty
        )
        before = self.by_id.setdefault(this.external_id, seen)
        if before is seen:
            self._scan(this)
            return
        lines = and_lines(before.line, this.line)
        different = [self.columns.get(column, column) for column in before.differences(seen)]
        if different:
            told = f"The {lines} both have the id “{this.external_id}”, but differ in {', '.join(different)}."
            self._report.error(this.line, different[0], told)
        elif not (before.faulty or this.faulty):
            told = f"The {lines} hold the same conversation; it counts once."
            self._report.warn(this.line, self.columns.get("id", "id"), told, kind="doubles")

    def _scan(self, this: ReadConversation) -> None:
        column = self.columns.get("messages", "messages")
        for number, message in enumerate(this.messages, start=1):
            warn_of_personal_data(
                self._report, line=this.line, column=column, text=message["content"], place=f"Message {number}"
            )


def import_conversations(
    *, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool
) -> Report:
    """Take a file of conversations into a study as its own. ``check``: write nothing, answer the same report.

    Raises FileCantBeRead where the machine can't read the file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    reading = _Reading(table)
    seen = SeenConversations(report, columns=reading.own_names)
    for this in reading.conversations(report):
        seen.add(this)
    with one_act(study, check=check):
        new = _compared(study, seen, report)
        if not report.errors and new and not check:
            record = record_import(
                study=study,
                kind=FileImport.Kind.CONVERSATIONS,
                file_name=file_name,
                table=table,
                report=report,
                by=by,
            )
            _write(study, reading, new, record)
    return report.close()


class _Reading:
    """A file's conversations, read as often as asked for; rows of turns are gathered."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._turns: Turns | None = None
        if self._is_by_turn():
            self._turns = Turns(table, BY_TURN)

    @property
    def own_names(self) -> dict[str, str]:
        """The file's own names of what it calls otherwise: a row of one turn has a content, no messages."""
        return {"messages": "content"} if self._turns else {}

    def conversations(self, report: Report) -> Iterator[ReadConversation]:
        if self._turns is None:
            rows = read_rows(self.table, report, WHOLE, keeps_unknown=True)
        else:
            rows = self._turns.conversations(report)
        for row in rows:
            yield _read(row, keeps_unknown=self.table.kind == Kind.JSONL)

    def _is_by_turn(self) -> bool:
        columns = self.table.columns
        if columns is None:
            columns = next((tuple(column_name(key) for key in row.values) for row in self.table.rows()), ())
        return "messages" not in columns and {"role", "content"} <= set(columns)


def _read(row: FileRow, *, keeps_unknown: bool) -> ReadConversation:
    messages = [] if "messages" in row.faulty else read_messages(row, "messages", row.values.get("messages"))
    this = ReadConversation(
        line=row.line,
        external_id=row.name("id") or (id_from_messages(messages) if messages else ""),
        messages=messages,
        language=read_language(row),
        country=read_country(row),
        acuity=read_acuity(row),
        user_profile=read_user_profile(row),
        has_prior_context=row.true_or_false("has_prior_context"),
        tags=read_tags(row),
        source=row.text("source", longest=500),
        canary_string=row.text("canary_string", longest=500),
        extra=unknown_keys(row.values, known=WHOLE.known) if keeps_unknown else "",
    )
    return this if row.is_sound else replace(this, faulty=frozenset(row.faulty))


def _compared(study: Study, seen: SeenConversations, report: Report) -> set[str]:
    """Compare a file's conversations with the stored ones. Returns the ids of the new ones."""
    new = set(seen.by_id)
    stored = Conversation.objects.own().filter(study=study)
    for external_id, item_sha256, *facts in stored.values_list("external_id", "item_sha256", *Facts._fields).iterator():
        this = seen.by_id.get(external_id)
        if this is None:
            continue
        new.discard(external_id)
        stored_one = Seen(0, item_sha256, comparable_facts(*facts))
        different = [seen.columns.get(column, column) for column in this.differences(stored_one)]
        if not different:
            report.unchanged += not this.faulty
            continue
        report.error(
            this.line,
            different[0],
            f"Conversation “{external_id}” is stored with other content: expected the same "
            f"{', '.join(different)}, or another id.",
        )
    report.created = len(new)
    return new


def _write(study: Study, reading: _Reading, new: set[str], record: FileImport) -> None:
    last = Conversation.objects.own().filter(study=study).aggregate(last=Max("position"))["last"]
    written = 0
    for batch in in_batches(_rows(study, reading, new, record, 0 if last is None else last + 1), BATCH):
        written += len(Conversation.objects.bulk_create(batch))
    must_be_as_checked(reading.table, written=written, expected=len(new))


def _rows(study: Study, reading: _Reading, new: set[str], record: FileImport, position: int) -> Iterator[Conversation]:
    left = set(new)
    for this in reading.conversations(Report()):
        if this.external_id not in left:
            continue
        left.discard(this.external_id)
        yield Conversation(
            study=study,
            external_id=this.external_id,
            messages=this.messages,
            item_sha256=conversation_sha256(this.external_id, this.messages),
            language=this.language,
            country=this.country,
            acuity=this.acuity,
            user_profile=this.user_profile,
            has_prior_context=this.has_prior_context,
            tags=this.tags,
            source=this.source,
            canary_string=this.canary_string,
            extra=this.extra,
            position=position,
            imported_from=record,
        )
        position += 1
