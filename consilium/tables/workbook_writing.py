"""An XLSX file, written row by row with openpyxl, of which every byte follows from the rows.

Text cells are inline strings in the format "text", so that no program makes a formula, a date or a number of
them; those that begin like a formula also carry the quote prefix, so that editing keeps them text. Characters
that XML can't hold are written as `_xHHHH_`, as spreadsheets do; a text that looks like such an escape has its
underscore escaped. openpyxl's own archive bears the time of day, so its parts are copied into one that has one
date, stored and sorted.
"""

import datetime
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import openpyxl
from openpyxl.cell import WriteOnlyCell
from openpyxl.packaging.core import DocumentProperties
from openpyxl.styles import Font
from openpyxl.writer.excel import ExcelWriter

from consilium.tables.cells import (
    LONGEST_CELL,
    CellTooLong,
    Misfit,
    Replaced,
    Unwritable,
    is_too_long,
    looks_like_a_formula,
)
from consilium.tables.cells import plain as as_plain
from consilium.tables.headings import check_headings

MOST_ROWS = 1_048_576
LARGEST_NUMBER = 10**15
"""Beyond it a spreadsheet loses digits: such numbers are written as text."""
_DATE = datetime.datetime(1980, 1, 1)
_CHUNK = 1 << 20
_BOLD = Font(bold=True)
_IMPOSSIBLE = "\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
_TO_ESCAPE = re.compile(f"[{_IMPOSSIBLE}]|_(?=x[0-9A-Fa-f]{{4}}[_{_IMPOSSIBLE}])")
_TITLE = re.compile(r"(?!')[^\[\]:*?/\\\x00-\x1f]{1,31}(?<!')")

Sheet = tuple[str, Sequence[str], Iterable[Sequence[object]]]


def write_workbook(binary: BinaryIO, sheets: Sequence[Sheet]) -> tuple[int, list[Replaced]]:
    """Write the workbook to a seekable file. Answer the number of rows and the cells with replaced characters."""
    if not binary.seekable():
        raise ValueError("A workbook can only be written to a file that is seekable.")
    _check_titles([title for title, _, _ in sheets])
    count = 0
    replaced: list[Replaced] = []
    book = new_workbook()
    try:
        for title, columns, rows in sheets:
            check_headings(columns)
            sheet: Any = book.create_sheet(title)
            sheet.freeze_panes = "A2"
            sheet.sheet_format.defaultColWidth = 20
            sheet.append([cell_of(sheet, column, font=_BOLD) for column in columns])
            for number, row in enumerate(rows, start=2):
                sheet.append(list(_cells(sheet, number, columns, row, replaced)))
                count += 1
        save(book, binary)
    finally:
        _remove_unfinished(book)
    return count, replaced


def new_workbook() -> openpyxl.Workbook:
    book = openpyxl.Workbook(write_only=True)
    book.properties = DocumentProperties(creator="Consilium", created=_DATE, modified=_DATE)
    return book


def cell_of(sheet: Any, value: object, *, font: Font | None = None) -> object:
    """Answer a cell in which a text is text for every program, whatever it holds, and a number keeps its digits.

    Both are set past openpyxl's setter, which makes a formula of "=1", cuts an escaped text after 32,767
    characters, and a number after its sixteenth digit.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    cell: Any = WriteOnlyCell(sheet)
    if not isinstance(value, str):
        cell._value = repr(value)
        return cell
    cell._value = _TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", value)
    cell.data_type = "s"
    cell.number_format = "@"
    if font:
        cell.font = font
    elif looks_like_a_formula(value):
        cell.quotePrefix = True
    return cell


def save(book: openpyxl.Workbook, binary: BinaryIO) -> None:
    """Write the workbook's parts to an archive that is the same whenever and wherever it is made."""
    with tempfile.TemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w") as parts:
            ExcelWriter(book, parts).write_data()
        with zipfile.ZipFile(packed) as parts, zipfile.ZipFile(binary, "w", zipfile.ZIP_STORED) as archive:
            for part in sorted(parts.infolist(), key=lambda part: part.filename):
                entry = zipfile.ZipInfo(part.filename, date_time=_DATE.timetuple()[:6])
                entry.file_size, entry.create_system, entry.external_attr = part.file_size, 3, 0o644 << 16
                with parts.open(part) as content, archive.open(entry, "w") as copy:
                    while chunk := content.read(_CHUNK):
                        # A parser would turn a bare CR into LF; as a reference it stays.
                        copy.write(chunk.replace(b"\r", b"&#13;"))


def _cells(
    sheet: Any, number: int, columns: Sequence[str], row: Sequence[object], replaced: list[Replaced]
) -> Iterator[object]:
    title = sheet.title
    if number > MOST_ROWS:
        raise ValueError(f"The sheet {title} has more rows than a sheet holds ({MOST_ROWS:,}).")
    if len(row) != len(columns):
        raise ValueError(f"Row {number} of the sheet {title} has {len(row)} cells, the headings have {len(columns)}.")
    for column, value in zip(columns, row, strict=True):
        try:
            plain = as_plain(value)
        except Misfit as misfit:
            raise Unwritable(str(misfit), row=number, column=column, sheet=title) from None
        if isinstance(plain, int | float) and abs(plain) >= LARGEST_NUMBER:
            plain = str(plain)
        if isinstance(plain, str):
            if is_too_long(plain, longest=LONGEST_CELL):
                message = f"The text is longer than the {LONGEST_CELL:,} characters of a cell."
                raise CellTooLong(message, row=number, column=column, sheet=title)
            if set(_TO_ESCAPE.findall(plain)) - {"_"}:
                replaced.append(Replaced(title, number, column))
        yield None if plain == "" else cell_of(sheet, plain)


def _check_titles(titles: Sequence[str]) -> None:
    if not titles:
        raise ValueError("A workbook has at least one sheet.")
    for title in titles:
        if not _TITLE.fullmatch(title):
            raise ValueError(f"“{title}” can't be the title of a sheet.")
    if len({title.casefold() for title in titles}) < len(titles):
        raise ValueError("Two sheets have one title.")


def _remove_unfinished(book: openpyxl.Workbook) -> None:
    """openpyxl writes each sheet to a file of its own, which it would leave until the program ends."""
    sheets: list[Any] = book.worksheets
    for sheet in sheets:
        if not sheet.closed:
            sheet.close()
        if os.path.exists(sheet._writer.out):
            sheet._writer.cleanup()
