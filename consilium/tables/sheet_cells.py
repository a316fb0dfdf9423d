"""The cells of one sheet, as the XML says them, turned into values."""

import datetime
import math
import re

from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

from consilium.tables.headings import CellFault, Cells
from consilium.tables.strict_json import printable
from consilium.tables.table import Limits, Refused
from consilium.tables.workbooks import Workbook, XmlEvents, damaged, unescaped, whole_number

MOST_COLUMNS = 16_384
KEPT_DIGITS = 10**15
"""A spreadsheet keeps fifteen digits of a number; what is longer has lost its end already."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_COORDINATE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_MIDNIGHT = "T00:00:00"


class SheetEvents(XmlEvents):
    """Collects the rows of a sheet as its XML passes by; `take` answers those that are complete."""

    def __init__(self, workbook: Workbook, *, limits: Limits) -> None:
        self._workbook = workbook
        self._longest = limits.cell_characters
        self._done: list[tuple[int, Cells]] = []
        self.merged: list[str] = []
        self.hidden_rows: list[int] = []
        self.hidden_columns: list[tuple[int, int]] = []
        self._line = 0
        self._cells: list[object] | None = None
        self._index = -1
        self._indexes: dict[str, int] = {}
        self._cell: dict[str, str] | None = None
        self._parts: list[str] = []
        self._length = 0
        self._collecting = False
        self._in_reading_aid = False
        self._has_formula = False
        self._has_value = False

    def take(self) -> list[tuple[int, Cells]]:
        done, self._done = self._done, []
        return done

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._start_cell(attributes)
        elif name == "v":
            self._collecting = self._cell is not None
            self._has_value = True
        elif name == "t":
            self._collecting = self._cell is not None and not self._in_reading_aid
        elif name == "row":
            self._start_row(attributes)
        elif name == "f":
            self._has_formula = True
        elif name == "rPh":
            self._in_reading_aid = True
        elif name == "mergeCell":
            self.merged.append(attributes.get("ref", ""))
        elif name == "col" and attributes.get("hidden") in ("1", "true"):
            first, last = (whole_number(attributes.get(edge, "")) for edge in ("min", "max"))
            self.hidden_columns.append((first - 1, last - 1))

    def text(self, data: str) -> None:
        if self._collecting:
            self._length += len(data)
            if self._length <= self._longest:
                self._parts.append(data)

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self._collecting = False
        elif name == "c":
            self._end_cell()
        elif name == "rPh":
            self._in_reading_aid = False
        elif name == "row" and self._cells is not None:
            self._done.append((self._line, self._cells))
            self._cells = None

    def _start_row(self, attributes: dict[str, str]) -> None:
        line = whole_number(attributes["r"]) if "r" in attributes else self._line + 1
        if line <= self._line:
            damaged("its rows are out of order")
        self._line = line
        self._cells = []
        self._index = -1
        if attributes.get("hidden") in ("1", "true"):
            self.hidden_rows.append(line)

    def _start_cell(self, attributes: dict[str, str]) -> None:
        if self._cells is None:
            damaged("a cell is in no row")
        self._index = self._column(attributes["r"]) if "r" in attributes else self._index + 1
        if self._index >= MOST_COLUMNS:
            raise Refused("A cell is in a column that no spreadsheet has.", line=self._line)
        self._cell = attributes
        self._parts.clear()
        self._length = 0
        self._has_formula = self._has_value = False

    def _column(self, coordinate: str) -> int:
        match = _COORDINATE.fullmatch(coordinate)
        if not match:
            damaged("a cell has no place")
        letters = match[1]
        if letters not in self._indexes:
            index = 0
            for letter in letters:
                index = index * 26 + ord(letter) - 64
            self._indexes[letters] = index - 1
        return self._indexes[letters]

    def _end_cell(self) -> None:
        if self._cell is None or self._cells is None:
            return
        value = self._value(self._cell, "".join(self._parts))
        self._cell = None
        if value is None:
            return
        missing = self._index - len(self._cells)
        if missing < 0:
            damaged(f"the cells of line {self._line} are out of order")
        self._cells.extend([None] * missing)
        self._cells.append(value)

    def _value(self, cell: dict[str, str], text: str) -> object:
        if self._length > self._longest:
            return CellFault(f"The cell is longer than {self._longest:,} characters.")
        kind = cell.get("t", "n")
        if self._has_formula and (not self._has_value or (not text and kind != "str")):
            return CellFault(
                "The formula in this cell has no stored value. "
                "Open the file in a spreadsheet program and save it, or write the value in its place."
            )
        if not text:
            return None
        if kind == "s":
            return self._shared(text)
        if kind in ("inlineStr", "str"):
            return unescaped(text)
        if kind == "n":
            return self._number(text, whole_number(cell.get("s", "0")))
        if kind == "b":
            return text in ("1", "true")
        if kind == "d":
            return text.removesuffix(_MIDNIGHT)
        if kind == "e":
            return CellFault(f"The cell shows an error ({printable(text)}). Correct it, or write the value.")
        return CellFault("The cell is of a kind that no spreadsheet uses.")

    def _shared(self, text: str) -> object:
        place = whole_number(text.strip())
        if place >= len(self._workbook.texts):
            damaged("a cell points at a text that isn't there")
        return self._workbook.texts[place] or None

    def _number(self, text: str, style: int) -> object:
        if not _NUMBER.fullmatch(text.strip()):
            return CellFault(f"The cell's number can't be read ({printable(text)}).")
        number = float(text)
        if not math.isfinite(number):
            return CellFault("The number is too large.")
        if style in self._workbook.date_styles or style in self._workbook.duration_styles:
            return self._date(number, is_duration=style in self._workbook.duration_styles)
        if not number.is_integer():
            return number
        if abs(number) >= KEPT_DIGITS:
            return CellFault(
                "The number has more digits than a spreadsheet keeps (15). "
                "Give the column the format “text” and write it again."
            )
        return int(number)

    def _date(self, number: float, *, is_duration: bool) -> object:
        epoch = MAC_EPOCH if self._workbook.counts_from_1904 else WINDOWS_EPOCH
        try:
            value = from_excel(number, epoch, timedelta=is_duration)
        except (OverflowError, ValueError):
            return CellFault("The cell is formatted as a date, but its number is none.")
        if isinstance(value, datetime.timedelta):
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        if isinstance(value, datetime.datetime | datetime.time):
            return value.isoformat().removesuffix(_MIDNIGHT)
        return CellFault("The cell is formatted as a date, but its number is none.")
