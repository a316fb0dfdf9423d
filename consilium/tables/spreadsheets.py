"""XLSX: one sheet of a workbook, row by row, with what a cell shows and not how it is drawn.

A formula counts as the value that was stored with it. Whole numbers are int, dates ISO text, true and false
bool, rich text its characters. Error cells, formulas without a stored value, merged cells and numbers of more
digits than a spreadsheet keeps are problems. A sheet's declared size is not believed. The sheet read is the
one asked for, else the first visible one that has most known columns; hidden rows and columns are read, with
a remark.
"""

import itertools
import zipfile
from collections.abc import Collection, Iterator

from consilium.tables.headings import (
    SEARCHED_ROWS,
    Assembler,
    Cells,
    Headings,
    best_heading,
    column_letter,
    passed_over,
    read_headings,
)
from consilium.tables.opening import Source
from consilium.tables.second_reader import plain_copy
from consilium.tables.strict_json import printable
from consilium.tables.table import Contents, Limits, Problem, Refused, Remark, Row
from consilium.tables.workbooks import SheetPart, SheetRows, Unopened, Workbook, check_archive

_MOST_SHEETS = 100
_READ_BY_SECOND = (
    "This workbook is of an unusual kind. Its values were read, but not which rows and columns are hidden. "
    "To be sure, open it in a spreadsheet program and save it again as .xlsx."
)


class Spreadsheet(Contents):
    """The inside of an XLSX file. Making one raises Refused when it is no workbook that can be read."""

    def __init__(self, source: Source, *, limits: Limits, known: Collection[str], sheet: str | None) -> None:
        self._source = source
        self._limits = limits
        remarks: list[Problem] = []
        with source.opened() as binary:
            check_archive(binary, limits=limits)
            try:
                self._workbook = Workbook(binary, limits=limits)
            except Unopened:
                self._source = Source(plain_copy(binary))
                remarks.append(Remark(None, None, _READ_BY_SECOND))
        with self._source.opened() as binary:
            if remarks:
                self._workbook = Workbook(binary, limits=limits)
            with zipfile.ZipFile(binary) as archive:
                self._part, first, others = self._choose_sheet(archive, known=known, sheet=sheet)
        place, _ = best_heading(first, known=known)
        line, cells = first[place]
        self.sheet = self._part.title
        self._headings: Headings = read_headings(line, cells, limits=limits, sheet=self.sheet)
        self.columns = self._headings.columns
        above = [line for line, _ in first[:place]]
        remarks += [Remark(None, None, f"The sheet “{printable(title)}” was not read.") for title in others]
        self.problems = [*self._headings.problems, *passed_over(above, heading_line=line), *remarks]

    def rows(self) -> Iterator[Row | Problem]:
        """Yield each row below the headings that isn't blank."""
        assembler = Assembler(self._headings, limits=self._limits)
        last = self._headings.line
        with self._source.opened() as binary, zipfile.ZipFile(binary) as archive:
            sheet = self._workbook.rows_of(archive, self._part)
            for line, cells in sheet:
                if line > self._headings.line:
                    last = line
                    yield from assembler.row(line, cells)
        yield from self._merged(sheet, last=last)
        yield from self._hidden(sheet)

    def _choose_sheet(
        self, archive: zipfile.ZipFile, *, known: Collection[str], sheet: str | None
    ) -> tuple[SheetPart, list[tuple[int, Cells]], list[str]]:
        """Answer the sheet to read, its first rows, and the titles of the other sheets that aren't empty."""
        if len(self._workbook.sheets) > _MOST_SHEETS:
            raise Refused(f"The workbook has more than {_MOST_SHEETS} sheets.")
        held: list[tuple[SheetPart, list[tuple[int, Cells]], int]] = []
        for part in self._workbook.sheets:
            first = list(itertools.islice(self._workbook.rows_of(archive, part), SEARCHED_ROWS))
            if first:
                held.append((part, first, best_heading(first, known=known)[1] if known else 0))
        named = [found for found in held if found[0].title == sheet]
        visible = [found for found in held if not found[0].is_hidden]
        if not held or (visible == [] and not named):
            raise Refused("The workbook has no rows on a sheet that can be seen." if held else "The file has no rows.")
        chosen = named[0] if named else max(visible, key=lambda found: found[2])
        others = [part.title for part, _, _ in held if part is not chosen[0] and not part.is_hidden]
        return chosen[0], chosen[1], others

    def _merged(self, sheet: SheetRows, *, last: int) -> Iterator[Problem]:
        """A merged cell holds one value for many rows or columns: which it is for can't be told."""
        names = self._headings.names
        for merged in sheet.merged:
            if merged.max_row < self._headings.line or merged.min_row > last or merged.min_col > len(names):
                continue
            message = f"The cells {merged.coord} are merged. Separate them, and write the value into each."
            column = names[merged.min_col - 1] or column_letter(merged.min_col - 1)
            yield Problem(max(merged.min_row, self._headings.line), column, message)

    def _hidden(self, sheet: SheetRows) -> Iterator[Problem]:
        lines = [line for line in sheet.hidden_rows if line > self._headings.line]
        if lines:
            yield Remark(lines[0], None, f"Hidden rows were read like the others ({len(lines)}, from line {lines[0]}).")
        for index, name in enumerate(self._headings.names):
            if name is not None and any(index in hidden for hidden in sheet.hidden_columns):
                yield Remark(self._headings.line, name, "This column is hidden. It was read like the others.")
