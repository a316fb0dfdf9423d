"""A workbook's sheets, as openpyxl reads them, after a look at the zip archive itself.

The look comes first: how much the archive unpacks to, whether all of it can be unpacked and is well-formed, and
that no part declares a document type (the door to entity bombs), is in a foreign encoding, or holds a tag of more
than 16 MB, over which an XML parser takes for ever.

openpyxl's own parser makes the rows and cells. Two of its ways are not taken: its list of shared texts, from
which it deletes "x005F_", and its read-only sheet, which can't tell a formula without a value from an empty cell,
knows nothing of merged cells, and makes a million rows of a sheet with one cell in its last.
"""

import datetime
import math
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, BinaryIO, NoReturn, cast
from xml.parsers import expat

from defusedxml.ElementTree import iterparse
from openpyxl.cell.text import Text
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils.escape import unescape
from openpyxl.worksheet._reader import COL_TAG, DATA_TAG, FORMULA_TAG, ROW_TAG, VALUE_TAG, WorkSheetParser
from openpyxl.worksheet.cell_range import CellRange
from openpyxl.xml.constants import SHEET_MAIN_NS

from consilium.tables.headings import CellFault, Cells
from consilium.tables.strict_json import printable
from consilium.tables.table import Limits, Refused

MOST_COLUMNS = 16_384
MOST_ROWS = 1_048_576
KEPT_DIGITS = 10**15
"""A spreadsheet keeps fifteen digits of a number; what is longer has lost its end already."""

_CHUNK = 1 << 18
_LONGEST_TAG = 1 << 24
_SMALL = 10_000_000
_FEW_ROWS = 20_000
"""Below so many no look is taken at whether rows are empty: a row with text takes more than a packed byte."""
_STRICT = b"http://purl.oclc.org/ooxml/"
_EAST_ASIAN_DATES = {*range(27, 37), *range(50, 59)}
_TRUE = ("1", "true")
_KINDS = ("n", "s", "str", "inlineStr", "b", "d", "e")


class Unopened(Refused):
    """openpyxl can't open the workbook, or would pass over some of it without a word."""


def damaged(what: str, refusal: type[Refused] = Refused) -> NoReturn:
    raise refusal(f"The spreadsheet is damaged: {what}. Open it in a spreadsheet program and save it again as .xlsx.")


def check_archive(binary: BinaryIO, *, limits: Limits) -> None:
    """Raise Refused for a zip archive that is damaged, unpacks to too much, or holds what no spreadsheet needs."""
    try:
        with zipfile.ZipFile(binary) as archive:
            _check_entries(archive.infolist(), limits=limits)
            for entry in archive.infolist():
                _check_part(archive, entry)
    except expat.ExpatError:
        damaged("one of its parts is not well-formed")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        damaged("it is cut off, or has a password, or is not a whole zip archive")


def _check_entries(entries: list[zipfile.ZipInfo], *, limits: Limits) -> None:
    names = {entry.filename.replace("\\", "/").lstrip("/").lower() for entry in entries}
    expanded = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if len(names) < len(entries):
        damaged("one of its parts is there twice")
    if "xl/workbook.bin" in names:
        raise Refused("This is a binary workbook (.xlsb). Save it as .xlsx.")
    if {"mimetype", "content.xml"} <= names:
        raise Refused("This is an OpenDocument file. Save it as .xlsx.")
    if not any(name.endswith(".xml") and "workbook" in name for name in names):
        raise Refused("This is a zip archive, but no .xlsx workbook.")
    if expanded > limits.expanded_bytes:
        raise Refused(f"The spreadsheet unpacks to more than {limits.expanded_bytes // 1_000_000:,} MB.")
    if expanded > _SMALL and expanded > limits.expansion * max(packed, 1):
        raise Refused(f"The spreadsheet unpacks to more than {limits.expansion} times its size.")


def _check_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Unpack a part and, where it is XML, let expat go through it without making anything of it."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda *_: damaged("it declares a document type, which no spreadsheet needs")
    parser.XmlDeclHandler = _refuse_other_encodings
    is_xml = entry.filename.lower().endswith((".xml", ".rels"))
    unpacked = rows = 0
    with archive.open(entry) as part:
        while chunk := part.read(_CHUNK):
            unpacked += len(chunk)
            rows += chunk.count(b"<row")
            if rows > MOST_ROWS or (rows > _FEW_ROWS and rows > entry.compress_size):
                damaged("it has a great many rows and nothing in them")
            if is_xml and parser.Parse(chunk, False) and unpacked - parser.CurrentByteIndex > _LONGEST_TAG:
                damaged("it holds a tag without end")
    if is_xml:
        parser.Parse(b"", True)


def _refuse_other_encodings(version: str, encoding: str | None, standalone: int) -> None:
    if encoding and encoding.lower() not in ("utf-8", "utf8", "utf-16", "us-ascii"):
        damaged("one of its parts is not in UTF-8")


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet as the workbook lists it."""

    title: str
    part: str
    is_hidden: bool


class Workbook:
    """What all sheets share: their list, their texts, and which styles show numbers as dates.

    Making one raises Unopened; Refused for too much text.
    """

    def __init__(self, binary: BinaryIO, *, limits: Limits) -> None:
        with refusing("it can't be opened", Unopened):
            reader = ExcelReader(binary, read_only=True, data_only=True, keep_links=False)
            reader.read_manifest()
            reader.read_workbook()
            main = reader.archive.read(reader.parser.workbook_part_name)
            if _STRICT in main or not all(sheet.id for sheet in reader.parser.sheets):
                raise Unopened("Some of it would be missed.")
            self.sheets = [
                SheetPart(sheet.name, relation.target, sheet.state != "visible")
                for sheet, relation in reader.parser.find_sheets()
                if relation.Type.endswith("/worksheet")
            ]
            self._texts: dict[int, str] = {}
            relations: Any = reader.parser.rels
            for relation in relations.values():
                if relation.Type.endswith("/sharedStrings"):
                    self._read_texts(reader.archive, relation.target, most=limits.shared_characters)
                elif relation.Type.endswith("/styles"):
                    # openpyxl looks for them under one name only, and without them takes dates for numbers.
                    styles = reader.archive.read(relation.target)
                    apply_stylesheet(cast(Any, SimpleNamespace(read=lambda _, styles=styles: styles)), reader.wb)
        book: Any = reader.wb
        dates = {index for index, style in enumerate(book._cell_styles) if style.numFmtId in _EAST_ASIAN_DATES}
        self._formats = {
            "epoch": book.epoch,
            "date_formats": dates | set(book._date_formats),
            "timedelta_formats": book._timedelta_formats,
        }

    def rows_of(self, archive: zipfile.ZipFile, sheet: SheetPart) -> "SheetRows":
        with refusing("a sheet is missing"):
            return SheetRows(archive.open(sheet.part), self._texts, data_only=True, **self._formats)

    def _read_texts(self, archive: zipfile.ZipFile, part: str, *, most: int) -> None:
        count = 0
        with archive.open(part) as source:
            for _, element in iterparse(source, forbid_dtd=True):
                if element.tag == f"{{{SHEET_MAIN_NS}}}si":
                    found: Any = Text.from_tree(element)
                    element.clear()
                    self._texts[len(self._texts)] = found.content
                    count += len(found.content)
                    if count > most:
                        raise Refused(f"The spreadsheet holds more than {most:,} characters of text.")


class SheetRows(WorkSheetParser):
    """The rows of one sheet in one pass. What is merged or hidden is known after the last."""

    def __init__(self, source: Any, texts: Any, **options: Any) -> None:
        super().__init__(source, texts, **options)
        self.merged: list[CellRange] = []
        self.hidden_rows: list[int] = []
        self.hidden_columns: list[range] = []

    def __iter__(self) -> Iterator[tuple[int, Cells]]:
        """Yield the line and the cells of each row that isn't blank."""
        last = 0
        with refusing("a row or a cell in it can't be read"):
            for line, found in self.parse():
                if line <= last:
                    damaged("its rows are out of order")
                last = line
                cells: list[object] = []
                for cell in found:
                    if cell["value"] is None:
                        continue
                    if cell["column"] > MOST_COLUMNS:
                        raise Refused("A cell is in a column that no spreadsheet has.", line=line)
                    if cell["column"] <= len(cells):
                        damaged(f"the cells of line {line} are out of order")
                    cells.extend([None] * (cell["column"] - 1 - len(cells)))
                    cells.append(cell["value"])
                if cells:
                    yield line, cells

    def parse(self) -> Generator[tuple[int, list[dict[str, Any]]]]:
        """Go through the sheet as openpyxl does, past all that is of page layout and could fail."""
        for _, element in iterparse(self.source, forbid_dtd=True):
            if element.tag == ROW_TAG:
                line, cells = self.parse_row(element)
                if self.row_dimensions.pop(str(line), {}).get("hidden") in _TRUE:
                    self.hidden_rows.append(line)
                element.clear()
                yield line, cells
            elif element.tag == COL_TAG and element.get("hidden") in _TRUE:
                self.hidden_columns.append(range(int(element.get("min")) - 1, int(element.get("max"))))
            elif element.tag == DATA_TAG and any(child.tag != ROW_TAG for child in element):
                damaged("a cell is in no row")
            elif element.tag == f"{{{SHEET_MAIN_NS}}}mergeCell":
                self.merged.append(CellRange(element.get("ref")))

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["style_id"] < 0:
            damaged("a cell's style is none")
        value, kind = cell["value"], cell["data_type"]
        if value is not None or kind not in _KINDS:
            cell["value"] = _value(value, kind, is_date=kind == "e" != element.get("t"))
        elif element.find(FORMULA_TAG) is not None and (kind != "str" or element.find(VALUE_TAG) is None):
            cell["value"] = CellFault(
                "The formula in this cell has no stored value. "
                "Open the file in a spreadsheet program and save it, or write the value in its place."
            )
        return cell


def _value(value: object, kind: str, *, is_date: bool) -> object:
    if is_date:
        return CellFault("The cell is formatted as a date, but its number is none.")
    if kind == "e":
        return CellFault(f"The cell shows an error ({printable(str(value))}). Correct it, or write the value.")
    if kind == "s" and isinstance(value, str):
        # A character beyond the first 65,536 is escaped as two halves, which are joined here.
        return unescape(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") or None
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value) and not value.is_integer()):
        return value
    if not isinstance(value, int | float):
        return CellFault("The cell is of a kind that no spreadsheet uses.")
    if abs(value) >= KEPT_DIGITS:
        return CellFault(
            "The number has more digits than a spreadsheet keeps (15). "
            "Give the column the format “text” and write it again."
        )
    return int(value)


@contextmanager
def refusing(what: str, refusal: type[Refused] = Refused) -> Iterator[None]:
    """Turn what openpyxl raises over a part that it can't read (it may be almost anything) into a refusal."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's, not openpyxl's
        damaged(what, refusal)
