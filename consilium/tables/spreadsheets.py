"""XLSX: one sheet of a workbook, row by row, with what a cell shows and not how it is drawn.

A formula counts as the value that was stored with it. Whole numbers are int, dates ISO text, true and false
bool, rich text its characters. Error cells, formulas without a stored value, merged cells and numbers of more
digits than a spreadsheet keeps are problems. A sheet's declared size is not believed. The sheet read is the
one asked for, else the first visible one that has most known columns; hidden rows and columns are read, with
a remark.

openpyxl isn't asked to read sheets: it can't tell a formula without a value from an empty cell, changes texts
that hold "x005F_", and makes a million rows of a sheet with one cell in its last row. A dense reader would
ask the computer for the memory of all of them at once.
"""

import re
from collections.abc import Collection, Iterator

from consilium.tables.headings import (
    SEARCHED_ROWS,
    Assembler,
    Cells,
    Headings,
    best_heading,
    column_letter,
    is_blank,
    passed_over,
    read_headings,
)
from consilium.tables.opening import Source
from consilium.tables.sheet_cells import SheetEvents
from consilium.tables.strict_json import printable
from consilium.tables.table import Contents, Limits, Problem, Refused, Remark, Row
from consilium.tables.workbooks import Package, SheetPart, Workbook, opened_package, read_workbook

_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_MOST_SHEETS = 100


class Spreadsheet(Contents):
    """The inside of an XLSX file. Making one raises Refused when it is no workbook that can be read."""

    def __init__(self, source: Source, *, limits: Limits, known: Collection[str], sheet: str | None) -> None:
        self._source = source
        self._limits = limits
        with source.opened() as binary, opened_package(binary, limits=limits) as package:
            self._workbook: Workbook = read_workbook(package, limits=limits)
            self._part, first, others = self._choose_sheet(package, known=known, sheet=sheet)
        place, _ = best_heading(first, known=known)
        line, cells = first[place]
        self.sheet = self._part.title
        self._headings: Headings = read_headings(line, cells, limits=limits, sheet=self.sheet)
        self.columns = self._headings.columns
        above = [line for line, _ in first[:place]]
        unread = [Remark(None, None, f"The sheet “{printable(title)}” was not read.") for title in others]
        self.problems = [*self._headings.problems, *passed_over(above, heading_line=line), *unread]

    def rows(self) -> Iterator[Row | Problem]:
        """Yield each row below the headings that isn't blank."""
        assembler = Assembler(self._headings, limits=self._limits)
        last = self._headings.line
        with (
            self._source.opened() as binary,
            opened_package(binary, limits=self._limits) as package,
        ):
            events = SheetEvents(self._workbook, limits=self._limits)
            for line, cells in self._sheet_rows(package, self._part, events):
                if line > self._headings.line:
                    last = line
                    yield from assembler.row(line, cells)
        yield from self._merged(events, last=last)
        yield from self._hidden(events)

    def _sheet_rows(self, package: Package, part: SheetPart, events: SheetEvents) -> Iterator[tuple[int, Cells]]:
        for _ in package.parse(part.part, events):
            yield from (found for found in events.take() if not is_blank(found[1]))

    def _choose_sheet(
        self, package: Package, *, known: Collection[str], sheet: str | None
    ) -> tuple[SheetPart, list[tuple[int, Cells]], list[str]]:
        """Answer the sheet to read, its first rows, and the titles of the other sheets that aren't empty."""
        if len(self._workbook.sheets) > _MOST_SHEETS:
            raise Refused(f"The workbook has more than {_MOST_SHEETS} sheets.")
        held: list[tuple[SheetPart, list[tuple[int, Cells]], int]] = []
        for part in self._workbook.sheets:
            first: list[tuple[int, Cells]] = []
            for row in self._sheet_rows(package, part, SheetEvents(self._workbook, limits=self._limits)):
                first.append(row)
                if len(first) == SEARCHED_ROWS:
                    break
            if first:
                held.append((part, first, best_heading(first, known=known)[1] if known else 0))
        named = [found for found in held if found[0].title == sheet]
        visible = [found for found in held if not found[0].is_hidden]
        if not held or (visible == [] and not named):
            raise Refused("The workbook has no rows on a sheet that can be seen." if held else "The file has no rows.")
        chosen = named[0] if named else max(visible, key=lambda found: found[2])
        others = [part.title for part, _, _ in held if part is not chosen[0] and not part.is_hidden]
        return chosen[0], chosen[1], others

    def _merged(self, events: SheetEvents, *, last: int) -> Iterator[Problem]:
        """A merged cell holds one value for many rows or columns: which it is for can't be told."""
        names = self._headings.names
        for reference in events.merged:
            match = _RANGE.fullmatch(reference)
            if not match:
                continue
            index, top, bottom = _column_index(match[1]), int(match[2]), int(match[4])
            if bottom < self._headings.line or top > last or index >= len(names):
                continue
            message = f"The cells {reference} are merged. Separate them, and write the value into each."
            yield Problem(max(top, self._headings.line), names[index] or column_letter(index), message)

    def _hidden(self, events: SheetEvents) -> Iterator[Problem]:
        lines = [line for line in events.hidden_rows if line > self._headings.line]
        if lines:
            yield Remark(lines[0], None, f"Hidden rows were read like the others ({len(lines)}, from line {lines[0]}).")
        for index, name in enumerate(self._headings.names):
            if name is not None and any(first <= index <= last for first, last in events.hidden_columns):
                yield Remark(self._headings.line, name, "This column is hidden. It was read like the others.")


def _column_index(letters: str) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - 64
    return index - 1
