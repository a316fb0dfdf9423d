"""An XLSX file, written row by row, of which every byte follows from the rows.

Text cells are inline strings in the format "text", so that no program makes a formula, a date or a number of
them; those that begin like a formula also carry the quote prefix, so that editing keeps them text. Characters
that XML can't hold are written as `_xHHHH_`, as spreadsheets do; a text that looks like such an escape has
its underscore escaped. The parts are stored, not packed, with one date. openpyxl isn't used for this: it
stamps the time and its own version, and takes a text that begins with = for a formula.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO
from xml.sax.saxutils import escape

from consilium.tables.cells import (
    LONGEST_CELL,
    CellTooLong,
    Misfit,
    Unwritable,
    is_too_long,
    looks_like_a_formula,
    plain,
)
from consilium.tables.headings import check_headings, column_letter

MOST_ROWS = 1_048_576
LARGEST_NUMBER = 10**15
"""Beyond it a spreadsheet loses digits: such numbers are written as text."""
_LARGEST_SHEET = 2**31 - 2**20
_BUFFERED = 1 << 18
_DATE = (1980, 1, 1, 0, 0, 0)
_HEADING, _TEXT, _QUOTED = 1, 2, 3
_IMPOSSIBLE = "\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
_TO_ESCAPE = re.compile(f"[{_IMPOSSIBLE}]|_(?=x[0-9A-Fa-f]{{4}}[_{_IMPOSSIBLE}])")
_TITLE = re.compile(r"(?!')[^\[\]:*?/\\\x00-\x1f]{1,31}(?<!')")

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}">'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>'
    '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" quotePrefix="1"/>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
_SHEET_START = (
    f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
    '<sheetFormatPr defaultColWidth="20" defaultRowHeight="15"/><sheetData>'
)
_SHEET_END = "</sheetData></worksheet>"

Sheet = tuple[str, Sequence[str], Iterable[Sequence[object]]]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A cell in which characters that XML can't hold were written as `_xHHHH_`."""

    sheet: str
    row: int
    column: str


def write_workbook(binary: BinaryIO, sheets: Sequence[Sheet]) -> tuple[int, list[Replaced]]:
    """Write the workbook to a seekable file. Answer the number of rows and the cells with replaced characters."""
    if not binary.seekable():
        raise ValueError("A workbook can only be written to a file that is seekable.")
    _check_titles([title for title, _, _ in sheets])
    count = 0
    replaced: list[Replaced] = []
    with zipfile.ZipFile(binary, "w", zipfile.ZIP_STORED) as archive:
        for name, content in _small_parts([title for title, _, _ in sheets]):
            with archive.open(_entry(name), "w") as part:
                part.write(content.encode("utf-8"))
        for number, (title, columns, rows) in enumerate(sheets, start=1):
            writer = _SheetWriter(title, columns)
            with archive.open(_entry(f"xl/worksheets/sheet{number}.xml"), "w") as part:
                written = 0
                for piece in writer.pieces(rows):
                    written += len(piece)
                    if written > _LARGEST_SHEET:
                        raise ValueError(f"The sheet {title} is larger than 2 GB.")
                    part.write(piece)
            count += writer.rows
            replaced.extend(writer.replaced)
    return count, replaced


class _SheetWriter:
    """Makes the XML of one sheet."""

    def __init__(self, title: str, columns: Sequence[str]) -> None:
        check_headings(columns)
        self._title = title
        self._columns = columns
        self._letters = [column_letter(index) for index in range(len(columns))]
        self.rows = 0
        self.replaced: list[Replaced] = []

    def pieces(self, rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
        buffer = io.StringIO()
        buffer.write(_SHEET_START)
        buffer.write(self._row(1, self._columns, style=_HEADING))
        for number, row in enumerate(rows, start=2):
            if number > MOST_ROWS:
                raise ValueError(f"The sheet {self._title} has more rows than a sheet holds ({MOST_ROWS:,}).")
            if len(row) != len(self._columns):
                raise ValueError(
                    f"Row {number} of the sheet {self._title} has {len(row)} cells, "
                    f"the headings have {len(self._columns)}."
                )
            buffer.write(self._row(number, row))
            self.rows += 1
            if buffer.tell() > _BUFFERED:
                yield buffer.getvalue().encode("utf-8")
                buffer = io.StringIO()
        buffer.write(_SHEET_END)
        yield buffer.getvalue().encode("utf-8")

    def _row(self, number: int, values: Sequence[object], *, style: int | None = None) -> str:
        cells = "".join(self._cell(number, index, value, style) for index, value in enumerate(values))
        return f'<row r="{number}">{cells}</row>'

    def _cell(self, row: int, index: int, value: object, style: int | None) -> str:
        place = f'r="{self._letters[index]}{row}"'
        column = self._columns[index]
        try:
            cell = plain(value)
        except Misfit as misfit:
            raise Unwritable(str(misfit), row=row, column=column, sheet=self._title) from None
        if cell is None or cell == "":
            return ""
        if isinstance(cell, bool):
            return f'<c {place} t="b"><v>{int(cell)}</v></c>'
        if isinstance(cell, int | float) and abs(cell) < LARGEST_NUMBER:
            return f"<c {place}><v>{cell!r}</v></c>"
        text = str(cell)
        if is_too_long(text, longest=LONGEST_CELL):
            message = f"The text is longer than the {LONGEST_CELL:,} characters of a cell."
            raise CellTooLong(message, row=row, column=column, sheet=self._title)
        style = style or (_QUOTED if looks_like_a_formula(text) else _TEXT)
        content = self._escaped(text, row=row, column=column)
        return f'<c {place} s="{style}" t="inlineStr"><is><t xml:space="preserve">{content}</t></is></c>'

    def _escaped(self, text: str, *, row: int, column: str) -> str:
        found = _TO_ESCAPE.findall(text)
        if found:
            text = _TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
            if set(found) != {"_"}:
                self.replaced.append(Replaced(self._title, row, column))
        # A parser would turn a bare CR into LF; as a reference it stays.
        return escape(text, {"\r": "&#13;"})


def _check_titles(titles: Sequence[str]) -> None:
    if not titles:
        raise ValueError("A workbook has at least one sheet.")
    for title in titles:
        if not _TITLE.fullmatch(title):
            raise ValueError(f"“{title}” can't be the title of a sheet.")
    if len({title.casefold() for title in titles}) < len(titles):
        raise ValueError("Two sheets have one title.")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=_DATE)
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _small_parts(titles: Sequence[str]) -> Iterator[tuple[str, str]]:
    numbers = range(1, len(titles) + 1)
    kinds = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
        for number in numbers
    )
    yield (
        "[Content_Types].xml",
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>{kinds}</Types>',
    )
    yield "_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")])
    listed = "".join(
        f'<sheet name="{escape(title, {chr(34): "&quot;"})}" sheetId="{number}" r:id="rId{number}"/>'
        for number, title in zip(numbers, titles, strict=True)
    )
    yield (
        "xl/workbook.xml",
        f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
    )
    targets = [("worksheet", f"worksheets/sheet{number}.xml") for number in numbers]
    yield "xl/_rels/workbook.xml.rels", _relations([*targets, ("styles", "styles.xml")])
    yield "xl/styles.xml", _STYLES


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'
