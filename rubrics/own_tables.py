"""Our own table export of a version (rubrics.table_shapes), read back: CSV, or a workbook with its sheets.

It is told by its columns. The rows stand conversation by conversation, as they were exported, so that a file of any
size is read in constant memory. Each row says its hash and the file its digest: a row that was edited, one that is
missing and one that was added are errors. Who wants the edited file taken in as other content empties those hashes
and takes the row ``digest`` out. The votes' hashes are not read: a version that was taken in has no votes.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, ClassVar

from annotation.importing.messages import (
    Messages,
    ReadConversation,
    check_ending,
    read_acuity,
    read_country,
    read_language,
    read_role,
    read_tags,
    read_user_profile,
)
from annotation.importing.report import Report
from annotation.importing.rows import FileRow
from annotation.models import Scale
from consilium.tables import Kind, Table, Unreadable, as_json, open_table
from rubrics import digests
from rubrics.incoming import NOT_FOR_PUBLIC_TEXT, SOURCE_CANARY, SourceFormat, with_own_facts
from rubrics.models import RubricVersion
from rubrics.published_shapes import PublishedConversation
from rubrics.table_shapes import ALL, CONVERSATION, CRITERION, FACT, MESSAGE
from rubrics.taking_in import ExternalCriterion

KINDS = ("version", "conversation", "message", "criterion", "vote")
SHEETS = {
    "version": ("version", FACT),
    "conversation": ("conversations", CONVERSATION),
    "message": ("messages", MESSAGE),
    "criterion": ("criteria", CRITERION),
}
"""The sheet of the workbook for each kind of row: its title, its columns."""
FACTS_READ = frozenset({"kind", "digest", "canary_string"})
PLACE = frozenset({"kind", "conversation_id", "criterion_id", "turn", "name", "part"})
"""What each part of a row repeats."""
TELLING = frozenset({"conversation_id", "part", "sha256", "tombstone"})
_OTHER_CONTENT = (
    "To take the file in as other content, empty the column sha256 of the rows edited, and delete the row “digest”."
)


class SheetRow(FileRow):
    """A row of the table. Its kind; and of a workbook the sheet, which stands beside the column in each finding."""

    __slots__ = ("kind", "sheet")

    def __init__(self, line: int, values: dict[str, object], report: Report, *, kind: str, sheet: str | None) -> None:
        super().__init__(line, values, report)
        self.kind, self.sheet = kind, sheet

    def error(self, column: str | None, message: str) -> None:
        super().error(_column(column, self.sheet), message)

    def warn(self, column: str | None, message: str, *, kind: str) -> None:
        super().warn(_column(column, self.sheet), message, kind=kind)


@dataclass(slots=True)
class _Reading:
    """What one pass keeps: the facts of the version, and the hashes of all that it holds."""

    report: Report
    facts: dict[str, tuple[SheetRow, str]] = field(default_factory=dict)
    hashes: list[str] = field(default_factory=list)

    def fact(self, name: str) -> str:
        return self.facts[name][1] if name in self.facts else ""


@dataclass(slots=True)
class _Gathered:
    """The rows of one conversation."""

    row: SheetRow
    external_id: str
    messages: list[SheetRow] = field(default_factory=list)
    criteria: list[SheetRow] = field(default_factory=list)


def is_own_table(table: Table) -> bool:
    """Whether a file is one of our table exports, by its columns; of a workbook by those of the sheet that is read."""
    columns = set(table.columns or ())
    if table.kind == Kind.CSV:
        return {"kind", "turn", "name", "value"} | TELLING <= columns
    return table.kind == Kind.XLSX and columns >= TELLING


class OwnTable:
    """A table export, read as often as asked for."""

    name: SourceFormat = "consilium"
    criteria_key = "criterion"
    own_names: ClassVar[dict[str, str]] = {"id": "conversation_id", "messages": "content", "criteria": criteria_key}

    def __init__(self, table: Table, source: Path | BinaryIO) -> None:
        self.table, self._source = table, source
        self._sheets: dict[str, Table] = {}

    def read(self, report: Report) -> Iterator[PublishedConversation]:
        """Yield each conversation that can be taken; what is wrong is in the report, the digest's fault last."""
        reading = _Reading(report)
        rows = self._csv_rows(report) if self.table.kind == Kind.CSV else self._sheets_rows(report)
        for gathered in _by_conversation(rows, reading):
            this = _conversation(gathered, reading)
            if this is not None:
                yield this
            if report.is_full:
                return
        if not report.errors:
            _check_digest(reading)

    def _csv_rows(self, report: Report) -> Iterator[SheetRow]:
        _warn_of_unknown(self.table, ALL, report, sheet=None)
        yield from _whole(self._with_kind(report))
        report.take(self.table.problems, self.table.warnings)

    def _with_kind(self, report: Report) -> Iterator[SheetRow]:
        for row in self.table.rows():
            this = SheetRow(row.line, row.values, report, kind="", sheet=None)
            this.kind = this.choice("kind", allowed=KINDS, required=True) or ""
            if this.kind:
                yield this

    def _sheets_rows(self, report: Report) -> Iterator[SheetRow]:
        """The facts, then each conversation with its messages and its criteria, which stand on other sheets."""
        yield from self._sheet("version", report)
        beside = [_Ahead(self._sheet(kind, report)) for kind in ("message", "criterion")]
        for row in self._sheet("conversation", report):
            yield row
            for each in beside:
                yield from each.of(row.name("conversation_id"))
        for each in beside:
            yield from each.left()

    def _sheet(self, kind: str, report: Report) -> Iterator[SheetRow]:
        title, columns = SHEETS[kind]
        if kind not in self._sheets:
            self._sheets[kind] = open_table(self._source, known_columns=columns, sheet=title)
        table = self._sheets[kind]
        if table.sheet != title:
            report.error(None, _column(None, title), f"Expected a sheet “{title}”, found none.")
            return
        _warn_of_unknown(table, columns, report, sheet=title)
        yield from _whole(SheetRow(row.line, row.values, report, kind=kind, sheet=title) for row in table.rows())
        for problem in table.problems:
            report.error(problem.line, _column(problem.column, title), problem.message)


class _Ahead:
    """The rows of a sheet, one looked at ahead, so that they can be taken conversation by conversation."""

    def __init__(self, rows: Iterator[SheetRow]) -> None:
        self._rows = rows
        self._next: SheetRow | None = None
        self._is_begun = False

    def of(self, conversation_id: str) -> Iterator[SheetRow]:
        """The next rows, as long as they are of this conversation."""
        if not self._is_begun:
            self._is_begun, self._next = True, next(self._rows, None)
        while self._next is not None and self._next.name("conversation_id") == conversation_id:
            yield self._next
            self._next = next(self._rows, None)

    def left(self) -> Iterator[SheetRow]:
        """What was taken for no conversation; the first is enough to say so."""
        if not self._is_begun:
            self._next = next(self._rows, None)
        if self._next is not None:
            yield self._next
            for _ in self._rows:  # to its end, where the reader says what it couldn't read
                continue


def _column(column: str | None, sheet: str | None) -> str | None:
    if sheet is None:
        return column
    return f"{column} (sheet {sheet})" if column else f"sheet {sheet}"


def _warn_of_unknown(table: Table, known: Collection[str], report: Report, *, sheet: str | None) -> None:
    for heading in table.columns or ():
        if heading not in known:
            report.warn(1, _column(heading, sheet), "This column is not read.", kind="unknown columns")


def _whole(rows: Iterator[SheetRow]) -> Iterator[SheetRow]:
    """Put the parts of long texts together: a row, and those below it that are numbered from 2 on."""
    whole: SheetRow | None = None
    last = 0
    for row in rows:
        part = row.whole_number("part", low=1, high=1_000_000) or 1
        if part == 1:
            if whole is not None:
                yield whole
            whole, last = row, 1
        elif whole is None or part != last + 1 or any(_differ(whole, row, name) for name in PLACE):
            row.error("part", f"Expected part {part - 1} of the same row right above this part {part}.")
        else:
            last = part
            for name, value in row.values.items():
                if name not in PLACE:
                    whole.values[name] = f"{whole.values.get(name, '')}{value}"
    if whole is not None:
        yield whole


def _differ(one: SheetRow, other: SheetRow, name: str) -> bool:
    return name != "part" and (one.values.get(name), one.kind) != (other.values.get(name), other.kind)


def _by_conversation(rows: Iterator[SheetRow], reading: _Reading) -> Iterator[_Gathered]:
    """Keep the facts, and yield the rows of each conversation: they stand together."""
    gathered: _Gathered | None = None
    for row in rows:
        if row.kind == "version":
            name = row.name("name", required=True)
            if gathered is not None:
                row.error("kind", "Expected the rows about the version above all others.")
            reading.facts[name] = row, row.text("value") if name in FACTS_READ else ""
        elif row.kind == "conversation":
            if gathered is not None:
                yield gathered
            gathered = _Gathered(row, row.name("conversation_id", required=True))
        elif gathered is None or row.name("conversation_id", required=True) != gathered.external_id:
            row.error(
                "conversation_id",
                "Expected a row of the conversation above. Keep the rows in the order in which they were exported.",
            )
        elif row.kind == "message":
            gathered.messages.append(row)
        elif row.kind == "criterion":
            gathered.criteria.append(row)
    if gathered is not None:
        yield gathered


def _conversation(gathered: _Gathered, reading: _Reading) -> PublishedConversation | None:
    """A conversation as it is taken in, None where something of it can't be."""
    row = gathered.row
    messages = _messages(gathered)
    is_own = reading.fact("kind") == RubricVersion.Kind.CONSENSUS
    canary = row.text(SOURCE_CANARY, longest=500)
    kept: dict[str, object] = {SOURCE_CANARY: canary} if is_own and canary else {}
    mark = row.true_or_false(NOT_FOR_PUBLIC_TEXT)
    if mark is not None:
        kept[NOT_FOR_PUBLIC_TEXT] = mark
    this = PublishedConversation(
        conversation=ReadConversation(
            line=row.line,
            external_id=gathered.external_id,
            messages=messages,
            language=read_language(row),
            country=read_country(row),
            acuity=read_acuity(row),
            user_profile=read_user_profile(row),
            has_prior_context=row.true_or_false("has_prior_context"),
            tags=read_tags(row),
            source=row.text("source", longest=500),
            canary_string=reading.fact("canary_string") if is_own else canary,
            extra=_extra(row, kept),
        ),
        criteria=[made for each in gathered.criteria if (made := _criterion(each, gathered, reading)) is not None],
    )
    sha256 = digests.conversation_sha256(conversation_id=gathered.external_id, messages=messages)
    if all(each.is_sound for each in gathered.messages):
        _check_hash(row, sha256, "conversation, with its messages,")
    reading.hashes.append(sha256)
    is_sound = all(each.is_sound for each in (row, *gathered.messages, *gathered.criteria))
    return this if is_sound else None


def _messages(gathered: _Gathered) -> Messages:
    messages: Messages = []
    if gathered.row.has("tombstone"):
        gathered.row.error("tombstone", "The messages had to go, so that this conversation can't be taken in.")
        return messages
    if not gathered.messages:
        gathered.row.error(None, "Expected rows with the messages of this conversation, found none.")
        return messages
    for number, row in enumerate(gathered.messages, start=1):
        turn = row.whole_number("turn", low=1, high=1_000_000, required=True)
        if turn is not None and turn != number:
            row.error("turn", f"Expected turn {number} here, found {turn}. Keep the rows in their order.")
        try:
            messages.append({"role": read_role(row.values.get("role")), "content": row.text("content")})
        except Unreadable as fault:
            row.error("role", fault.message)
    if len(messages) == len(gathered.messages):
        check_ending(gathered.messages[-1], "content", messages)
    return messages


def _criterion(row: SheetRow, gathered: _Gathered, reading: _Reading) -> ExternalCriterion | None:
    if row.has("tombstone"):
        row.error("tombstone", "The text had to go, so that this criterion can't be taken in.")
        return None
    text = row.text("text", required=True, longest=32_767)
    points = row.points("points", required=True)
    axis = row.text("axis", longest=100)
    scale = row.choice("scale", allowed=Scale.values) or Scale.BINARY.value
    levels = _json(row, "levels")
    kept: dict[str, object] = {} if scale == Scale.BINARY else {"scale": scale, "levels": levels}
    if rationale := row.text("rationale"):
        kept["rationale"] = rationale
    extra = _extra(row, kept)
    if not row.is_sound or points is None:
        return None
    try:
        sha256 = digests.criterion_sha256(
            conversation_id=gathered.external_id, text=text, points=points, axis=axis, scale=scale, levels=levels
        )
    except (TypeError, ValueError):
        row.error("levels", "Expected levels of texts and whole numbers only.")
        return None
    _check_hash(row, sha256, "criterion")
    reading.hashes.append(sha256)
    return ExternalCriterion(text=text, points=points, axis=axis, extra=extra)


def _extra(row: SheetRow, kept: dict[str, object]) -> str:
    """The row's other keys, with those that no field holds under our own."""
    extra = row.text("extra") if row.has("extra") else ""
    given = _json(row, "extra")
    if given is not None and not isinstance(given, dict):
        row.error("extra", "Expected a JSON object.")
    if not row.is_sound:
        return ""
    return with_own_facts(extra, **kept) if kept else extra


def _json(row: SheetRow, column: str) -> object:
    try:
        return as_json(row.values.get(column))
    except Unreadable as fault:
        row.error(column, fault.message)
        return None


def _check_hash(row: SheetRow, sha256: str, what: str) -> None:
    if row.is_sound and row.has("sha256") and row.name("sha256").lower() != sha256:
        row.error("sha256", f"This {what} is not what this hash was taken over: it was edited. {_OTHER_CONTENT}")


def _check_digest(reading: _Reading) -> None:
    """The digest that the file says it has is that of its rows."""
    stated = reading.fact("digest").strip().lower()
    found = digests.digest_of(reading.hashes)
    if stated and stated != found:
        reading.facts["digest"][0].error(
            "value",
            f"The rows of this file give the digest {found}: some are missing, or were added or edited. "
            f"{_OTHER_CONTENT}",
        )
