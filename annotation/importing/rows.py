"""The rows of a file as an importer reads them: each cell for what its column holds, each fault by line and column."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from annotation.importing.report import Report
from consilium.tables import (
    Kind,
    Table,
    TwoKeysOfOneColumn,
    Unreadable,
    as_choice,
    as_list,
    as_text,
    as_true_or_false,
    as_whole_number,
    normal_id,
    under_known_names,
)

T = TypeVar("T")
LONGEST_ID = 500
WHOLE_ROW = ""
"""Among a row's faulty columns: the fault is of no single one."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What a kind of file holds: the columns that are known, and those that every row needs."""

    known: tuple[str, ...]
    required: tuple[str, ...] = ()


class FileRow:
    """One row being read. What can't be taken is an error of the report, and its column is ``faulty``.

    A row that isn't sound is read on: its other cells are checked and compared as those of any row, so that a file's
    errors are all told at once. What a reader answers for a faulty cell is never looked at.
    """

    __slots__ = ("_report", "faulty", "line", "values")

    def __init__(self, line: int, values: dict[str, object], report: Report) -> None:
        self.line = line
        self.values = values
        self.faulty: set[str] = set()
        self._report = report

    @property
    def is_sound(self) -> bool:
        return not self.faulty

    def error(self, column: str | None, message: str) -> None:
        self.faulty.add(column or WHOLE_ROW)
        self._report.error(self.line, column, message)

    def warn(self, column: str | None, message: str, *, kind: str) -> None:
        self._report.warn(self.line, column, message, kind=kind)

    def text(self, column: str, *, required: bool = False, longest: int | None = None) -> str:
        """A text as given; '' where there is none."""
        text = self._read(column, as_text) or ""
        if required and not text.strip():
            self._missing(column, "a text")
        elif longest is not None and len(text) > longest:
            self.error(column, f"Expected at most {longest:,} characters, found {len(text):,}.")
        return text

    def name(self, column: str, *, required: bool = False, longest: int = LONGEST_ID) -> str:
        """An id or a name: trimmed, in NFC; '' where there is none."""
        name = normal_id(self._read(column, as_text) or "")
        if required and not name:
            self._missing(column, "an id" if column.endswith("id") else "a name")
        elif len(name) > longest:
            self.error(column, f"Expected at most {longest:,} characters, found {len(name):,}.")
        return name

    def whole_number(self, column: str, *, low: int, high: int, required: bool = False) -> int | None:
        number = self._read(column, as_whole_number)
        if number is None:
            if required:
                self._missing(column, "a whole number")
        elif not low <= number <= high:
            self.error(column, f"Expected a whole number from {low:,} to {high:,}, found {number:,}.")
            return None
        return number

    def points(self, column: str, *, required: bool = False) -> int | None:
        """Points or a weight: a whole number from -10 to +10, not 0."""
        points = self._read(column, as_whole_number)
        if points is None:
            if required:
                self._missing(column, "points, a whole number from -10 to +10, not 0")
        elif not -10 <= points <= 10 or points == 0:
            self.error(column, f"Expected a whole number from -10 to +10, not 0; found {points:,}.")
            return None
        return points

    def choice(self, column: str, *, allowed: Iterable[str], required: bool = False) -> str | None:
        """One of the allowed words, in any letter case, with spaces or hyphens for underscores."""
        words = list(allowed)
        word = self._read(column, lambda value: as_choice(value, allowed=words))
        if word is None and required:
            self._missing(column, f"one of {', '.join(words)}")
        return word

    def true_or_false(self, column: str) -> bool | None:
        return self._read(column, as_true_or_false)

    def texts(self, column: str) -> list[str]:
        return self._read(column, as_list) or []

    def has(self, column: str) -> bool:
        """Whether the row says anything in a column."""
        value = self.values.get(column)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def _read(self, column: str, take: Callable[[object], T | None]) -> T | None:
        try:
            return take(self.values.get(column))
        except Unreadable as fault:
            self.error(column, fault.message)
            return None

    def _missing(self, column: str, expected: str) -> None:
        if not self.has(column):
            self.error(column, f"Expected {expected}, found nothing.")


def read_rows(table: Table, report: Report, columns: Columns, *, keeps_unknown: bool = False) -> Iterator[FileRow]:
    """Yield the rows of a file, and put into the report what its reader found wrong.

    The keys of JSON Lines are compared as headings are. Columns that are not known are warned of once each; with
    ``keeps_unknown`` those of JSON Lines are the importer's own to keep. Stops where there are too many errors.
    """
    if table.columns is not None and not _headings_suffice(table.columns, report, columns):
        return
    told: set[str] = set()
    known = frozenset(columns.known)
    for row in table.rows():
        try:
            values = under_known_names(row.values, known=known) if table.kind == Kind.JSONL else row.values
        except TwoKeysOfOneColumn as fault:
            report.error(row.line, fault.column, fault.message)
        else:
            if table.kind == Kind.JSONL and not keeps_unknown:
                _warn_of_unknown(values, row.line, report, columns, told)
            yield FileRow(row.line, values, report)
        if report.is_full:
            break
    report.take(table.problems, table.warnings)


def _headings_suffice(headings: Collection[str], report: Report, columns: Columns) -> bool:
    missing = [column for column in columns.required if column not in headings]
    for column in missing:
        report.error(1, column, f"Expected a column with the heading “{column}”, found none.")
    for heading in headings:
        if heading not in columns.known:
            report.warn(1, heading, _unknown(heading, columns), kind="unknown columns")
    return not missing


def _warn_of_unknown(values: dict[str, object], line: int, report: Report, columns: Columns, told: set[str]) -> None:
    for key in values.keys() - told:
        if key not in columns.known:
            told.add(key)
            report.warn(line, key, _unknown(key, columns), kind="unknown columns")


def _unknown(column: str, columns: Columns) -> str:
    return f"This column is not read. Known are {', '.join(columns.known)}."


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most ``size``."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def and_lines(one: int, other: int) -> str:
    """Name two lines of a file, the lower first."""
    low, high = sorted((one, other))
    return f"lines {low} and {high}"
