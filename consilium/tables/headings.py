"""Headings and cells of a table with columns (CSV, XLSX): which row holds the headings, which value is whose.

A heading is compared trimmed, in NFC and lower case. The headings are the first row that isn't blank or,
where the caller names the columns it knows, that of the first ten rows which holds most of them: titles above
are passed over.
"""

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from consilium.tables.cells import looks_like_a_formula
from consilium.tables.strict_json import printable, text_fault
from consilium.tables.table import Limits, Problem, Refused, Remark, Row
from consilium.tables.values import Unreadable

SEARCHED_ROWS = 10
APOSTROPHE_ADDED = "apostrophe_added"
"""The column with which our CSV files say where an apostrophe was put before a text (see writing.py)."""


@dataclass(frozen=True, slots=True)
class CellFault:
    """What is wrong with one cell; stands in the place of its value."""

    message: str


Cells = Sequence[object]
"""The values of one row by column, None where a cell is empty."""


@dataclass
class Headings:
    """The columns of a table, by their place; `problems` are those of the headings themselves."""

    line: int
    names: list[str | None]
    sheet: str | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name is not None and name != APOSTROPHE_ADDED)


def column_name(heading: object) -> str:
    """Answer a heading as it is compared: without a byte order mark, trimmed, NFC, lower case."""
    return unicodedata.normalize("NFC", str(heading).strip("\ufeff \t\r\n\u00a0").lower())


class TwoKeysOfOneColumn(Unreadable):
    """Two keys of a JSON object mean one column."""

    def __init__(self, column: str, one: str, other: str) -> None:
        super().__init__(f"The keys “{printable(one)}” and “{printable(other)}” mean one column. Expected one of them.")
        self.column = column


def under_known_names(values: dict[str, object], *, known: Collection[str]) -> dict[str, object]:
    """Answer a JSON object with its keys compared as headings are.

    A key that is a known column but for letter case, white space around it and NFC gets the column's name; what is
    not known stays as it is written. Raises TwoKeysOfOneColumn.
    """
    others = [key for key in values if key not in known]
    meant = {key: name for key in others if (name := column_name(key)) in known}
    if not meant:
        return values
    written: dict[str, str] = {}
    for key in values:
        column = meant.get(key, key)
        if column in written:
            raise TwoKeysOfOneColumn(column, written[column], key)
        written[column] = key
    return {column: values[key] for column, key in written.items()}


def check_headings(columns: Sequence[str]) -> None:
    """Raise ValueError for headings that would not be read back as they are, or would be taken for a formula."""
    if not columns or len(set(columns)) < len(columns) or APOSTROPHE_ADDED in columns:
        raise ValueError("Headings must be there, each once.")
    for column in columns:
        if column_name(column) != column or not column or "|" in column or looks_like_a_formula(column):
            raise ValueError(f"“{column}” can't be a heading.")


def column_letter(index: int) -> str:
    """Answer the letters that a spreadsheet gives its column, counted from 0: A, B, ... Z, AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def is_blank(cells: Cells) -> bool:
    return all(cell is None for cell in cells)


def best_heading(rows: Sequence[tuple[int, Cells]], *, known: Collection[str]) -> tuple[int, int]:
    """Answer which of the first rows holds the headings, and how many of the known columns it has."""
    known_names = {column_name(name) for name in known}
    named = [
        {column_name(cell) for cell in cells if cell is not None and not isinstance(cell, CellFault)} - {""}
        for _, cells in rows
    ]
    found = [len(names & known_names) for names in named]
    most = max(found)
    if most:
        return found.index(most), most
    return next((place for place, names in enumerate(named) if names), 0), 0


def read_headings(line: int, cells: Cells, *, limits: Limits, sheet: str | None = None) -> Headings:
    """Answer the headings that a row holds. Raises Refused when they are too many."""
    if len(cells) > limits.columns:
        raise Refused(f"There are more than {limits.columns:,} columns.", line=line)
    headings = Headings(line, [], sheet)
    for index, cell in enumerate(cells):
        if isinstance(cell, CellFault):
            headings.problems.append(Problem(line, column_letter(index), cell.message))
            cell = None
        name = column_name(cell) if cell is not None else ""
        fault = text_fault(name)
        if fault:
            headings.problems.append(Problem(line, column_letter(index), fault))
        elif name and name in headings.names:
            first = column_letter(headings.names.index(name))
            message = f"This heading stands twice, in the columns {first} and {column_letter(index)}. Rename one."
            headings.problems.append(Problem(line, printable(name), message))
        else:
            headings.names.append(name or None)
            continue
        headings.names.append(None)
    return headings


class Assembler:
    """Makes rows of cells, under one set of headings, in one pass over a file."""

    def __init__(self, headings: Headings, *, limits: Limits) -> None:
        self._headings = headings
        self._limits = limits
        self._nameless: set[int] = set()

    def row(self, line: int, cells: Cells) -> Iterator[Row | Problem]:
        """Yield the row, or each problem of its cells. A blank row yields nothing."""
        if is_blank(cells):
            return
        values: dict[str, object] = {}
        problems: list[Problem] = []
        names = self._headings.names
        for index, cell in enumerate(cells):
            if cell is None:
                continue
            name = names[index] if index < len(names) else None
            if name is None:
                problems.extend(self._without_heading(line, index))
                continue
            fault = self._fault(cell)
            if fault is None:
                values[name] = cell
            else:
                problems.append(Problem(line, name, fault))
        if problems:
            yield from problems
        elif values:
            yield Row(line, without_added_apostrophes(values), self._headings.sheet)

    def _without_heading(self, line: int, index: int) -> Iterator[Problem]:
        """A column that has cells and no heading is one problem, not one for each row."""
        if index not in self._nameless and not self._headings.problems:
            self._nameless.add(index)
            yield Problem(
                line,
                column_letter(index),
                f"This column has no heading in line {self._headings.line}, yet here it holds something. "
                "Give it a heading, or empty it.",
            )

    def _fault(self, cell: object) -> str | None:
        if isinstance(cell, CellFault):
            return cell.message
        if isinstance(cell, str):
            if len(cell) > self._limits.cell_characters:
                return f"The cell is longer than {self._limits.cell_characters:,} characters."
            return text_fault(cell)
        return None


def without_added_apostrophes(values: dict[str, object]) -> dict[str, object]:
    """Take off the apostrophes that our CSV files put before texts, in the columns that the row names."""
    added = values.pop(APOSTROPHE_ADDED, None)
    if isinstance(added, str):
        for name in added.split("|"):
            text = values.get(column_name(name))
            if isinstance(text, str) and text.startswith("'"):
                values[column_name(name)] = text[1:]
    return values


def passed_over(lines: Sequence[int], *, heading_line: int) -> list[Problem]:
    """Answer the remark that lines above the headings were not read."""
    if not lines:
        return []
    which = f"Line {lines[0]} was" if len(lines) == 1 else f"Lines {lines[0]} to {lines[-1]} were"
    return [Remark(lines[0], None, f"{which} not read: the headings are in line {heading_line}.")]
