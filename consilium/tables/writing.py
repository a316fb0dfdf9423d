"""Writing rows to a file that is safe to open in a spreadsheet, and comes back as it was.

- A text is never a formula. In XLSX its cell is text by its type (see workbook_writing.py). CSV has no types:
  there an apostrophe is put before such a text, and the last column, `apostrophe_added`, names the columns of
  its row where this was done, with `|` between them. Reading takes off exactly these; the apostrophes of
  others are left.
- No cell is cut: a text that is too long raises CellTooLong, and the old file stays.
- Ids stay text, a time is ISO text with its zone (one without is refused), lists and objects are JSON text.
- The same rows make the same bytes, on any machine and whenever made.
- None and "" are both an empty cell, which is read as absent.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from consilium.tables.cells import (
    LONGEST_CELL,
    CellTooLong,
    Misfit,
    Replaced,
    Unwritable,
    as_json_text,
    is_too_long,
    looks_like_a_formula,
    plain,
)
from consilium.tables.headings import APOSTROPHE_ADDED, check_headings
from consilium.tables.replacing import writable

_TAKEN_FOR_LINE_ENDS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: rows, without the headings, and the cells whose characters had to be replaced."""

    rows: int
    replaced: tuple[Replaced, ...] = ()


def write_xlsx(
    file: Path | BinaryIO, sheets: Iterable[tuple[str, Sequence[str], Iterable[Sequence[object]]]]
) -> Written:
    """Write a workbook of sheets, each (title, columns, rows), row by row.

    A path is replaced in one step; an open file must be seekable. Raises Unwritable (CellTooLong) for a value
    that a cell can't hold, ValueError for more rows than a sheet has, rows and headings that don't match, and
    bad titles.
    """
    # openpyxl takes its time to import; only a workbook needs it
    from consilium.tables.workbook_writing import write_workbook

    with writable(file) as binary:
        rows, replaced = write_workbook(binary, list(sheets))
    return Written(rows, tuple(replaced))


def write_csv(
    file: Path | BinaryIO,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    longest_cell: int | None = LONGEST_CELL,
) -> Written:
    """Write CSV after RFC 4180: UTF-8 without byte order mark, comma, CR LF, quotation marks where needed.

    A path is replaced in one step. `longest_cell` (UTF-16 units) is None for files that no spreadsheet will
    open. Raises Unwritable (CellTooLong) for a value that a cell can't hold, ValueError for rows and headings
    that don't match.
    """
    check_headings(columns)
    count = 0
    with writable(file) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        try:
            writer = csv.writer(text, lineterminator="\r\n")
            writer.writerow([*columns, APOSTROPHE_ADDED])
            for count, row in enumerate(rows, start=1):
                writer.writerow(_csv_cells(columns, row, number=count + 1, longest=longest_cell))
        finally:
            text.detach()
    return Written(count)


def write_jsonl(file: Path | BinaryIO, rows: Iterable[Mapping[str, object]]) -> Written:
    """Write JSON Lines: UTF-8, keys in the order given, LF after each object.

    U+2028, U+2029 and U+0085 are escaped, because some readers take them for line ends. A path is replaced in
    one step. Raises Unwritable, with the line as its row and the key as its column, for what JSON can't hold.
    """
    count = 0
    with writable(file) as binary:
        for count, row in enumerate(rows, start=1):
            pairs = ",".join(_json_pair(key, value, line=count) for key, value in row.items())
            for character, escape in _TAKEN_FOR_LINE_ENDS.items():
                pairs = pairs.replace(character, escape)
            binary.write(f"{{{pairs}}}\n".encode())
    return Written(count)


def _csv_cells(columns: Sequence[str], row: Sequence[object], *, number: int, longest: int | None) -> list[str]:
    if len(row) != len(columns):
        raise ValueError(f"Row {number} has {len(row)} cells, the headings have {len(columns)}.")
    cells: list[str] = []
    guarded: list[str] = []
    for column, value in zip(columns, row, strict=True):
        try:
            cell = plain(value)
        except Misfit as misfit:
            raise Unwritable(str(misfit), row=number, column=column) from None
        if isinstance(cell, str):
            text = cell
            if looks_like_a_formula(cell):
                text = f"'{cell}"
                guarded.append(column)
        else:
            text = "" if cell is None else str(cell).lower() if isinstance(cell, bool) else repr(cell)
        if longest is not None and is_too_long(text, longest=longest):
            raise CellTooLong(
                f"The text is longer than the {longest:,} characters of a cell.", row=number, column=column
            )
        cells.append(text)
    return [*cells, "|".join(guarded)]


def _json_pair(key: str, value: object, *, line: int) -> str:
    try:
        return f"{as_json_text(key)}:{as_json_text(value)}"
    except Misfit as misfit:
        raise Unwritable(str(misfit), row=line, column=key) from None
