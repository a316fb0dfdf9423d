"""What may stand in a cell that is written, and what a spreadsheet would take for a formula."""

import datetime
import json
import math
import re
import uuid
from dataclasses import dataclass

LONGEST_CELL = 32_767
"""UTF-16 units that a cell of Excel holds. It counts them so: an emoji is two."""

Plain = str | int | float | bool | None
SURROGATE = re.compile("[\ud800-\udfff]")
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")


class Unwritable(ValueError):
    """A value can't be written into its cell. `row` counts as a spreadsheet does: the headings are row 1."""

    def __init__(self, message: str, *, row: int, column: str, sheet: str | None = None) -> None:
        place = f"row {row}, column {column}" + (f", sheet {sheet}" if sheet else "")
        super().__init__(f"{message} ({place})")
        self.message = message
        self.row = row
        self.column = column
        self.sheet = sheet


class CellTooLong(Unwritable):
    """A text is longer than a cell of a spreadsheet holds."""


class Misfit(Exception):
    """A value that no cell can hold; whoever knows the row and the column makes it an Unwritable."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A cell in which characters that XML can't hold were written as `_xHHHH_`."""

    sheet: str
    row: int
    column: str


def plain(value: object) -> Plain:
    """Answer a value as a cell holds it: a time as ISO text with its zone, a list or an object as JSON text.

    Raises Misfit for a time without zone, a number that is none, and half a character; TypeError for other
    types.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        if SURROGATE.search(value):
            raise Misfit("The text holds half of a character (a lone surrogate).")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Misfit("The number is infinite or none.")
        return value
    if isinstance(value, list | dict):
        return as_json_text(value)
    return _other(value)


def as_json_text(value: object) -> str:
    """Answer JSON in one line, without ASCII escapes, keys in their own order. Raises as `plain` does."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_other)
    except ValueError:
        raise Misfit("A number in it is infinite or none, or it holds itself.") from None
    if SURROGATE.search(text):
        raise Misfit("A text in it holds half of a character (a lone surrogate).")
    return text


def looks_like_a_formula(text: str) -> bool:
    """Whether a spreadsheet might take the text for a formula, also after white space, also in full width."""
    return _FORMULA.match(text) is not None


def is_too_long(text: str, *, longest: int) -> bool:
    """Whether a text has more UTF-16 units than a cell may hold."""
    return len(text) > longest or (
        len(text) > longest // 2 and len(text.encode("utf-16-le", "surrogatepass")) > 2 * longest
    )


def _other(value: object) -> str:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise Misfit("The time has no zone.")
        return value.isoformat()
    if isinstance(value, datetime.date | uuid.UUID):
        return str(value)
    raise TypeError(f"A cell holds no {type(value).__name__}.")
