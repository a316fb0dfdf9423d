"""What a cell or a JSON value is taken for, once the column says what it should be.

Each function takes a value as `Row.values` holds it and answers None where it is absent (None, or in the
columns that aren't text only blanks). What can't be taken raises Unreadable with what was expected, so that
the importer can add the line and the column. Nothing is guessed: a comma separates no list, 1e3 is no whole
number here.
"""

import re
import unicodedata
from collections.abc import Iterable

from consilium.tables.strict_json import GREATEST, JsonFault, parse_json, printable

_WHOLE_NUMBER = re.compile(r"([+-]?)(\d+)(?:\.0*)?")
_MINUS = "\N{MINUS SIGN}"
_YES = {"true", "yes", "y", "1"}
_NO = {"false", "no", "n", "0"}


class Unreadable(ValueError):
    """A value is not what its column holds; the message says what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def normal_id(text: str) -> str:
    """Answer an id as it is compared and stored: trimmed, in NFC."""
    return unicodedata.normalize("NFC", text.strip())


def as_text(value: object) -> str | None:
    """Answer a text as given. A number becomes its text: an id held as 7.0 by a spreadsheet is "7"."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise Unreadable(f"Expected a text, found {str(value).lower()}.")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    raise Unreadable(f"Expected a text, found {_named(value)}.")


def as_whole_number(value: object) -> int | None:
    """Answer a whole number: 4, "4", "+4", "4.0", "−4" with a true minus sign; at most 63 bits."""
    if _is_absent(value):
        return None
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    elif isinstance(value, str):
        match = _WHOLE_NUMBER.fullmatch(value.strip().replace(_MINUS, "-"))
        if match and len(match[2]) <= 100:
            number = int(match[1] + match[2])
    if number is None:
        raise Unreadable(f"Expected a whole number, found {_named(value)}.")
    if not -GREATEST - 1 <= number <= GREATEST:
        raise Unreadable("Expected a whole number, found one that is too large.")
    return number


def as_true_or_false(value: object) -> bool | None:
    """Answer true or false: true, false, yes, no, y, n, 1, 0, in any letter case."""
    if _is_absent(value):
        return None
    if isinstance(value, bool):
        return value
    word = as_text(value) if isinstance(value, str | int | float) else None
    if word is not None and word.strip().lower() in _YES:
        return True
    if word is not None and word.strip().lower() in _NO:
        return False
    raise Unreadable(f"Expected true or false, found {_named(value)}.")


def as_choice(value: object, *, allowed: Iterable[str]) -> str | None:
    """Answer the allowed word that is meant, in any letter case, with spaces or hyphens for `_`."""
    if _is_absent(value):
        return None
    words = list(allowed)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        meant = _as_word(as_text(value) or "")
        for word in words:
            if _as_word(word) == meant:
                return word
    raise Unreadable(f"Expected one of {', '.join(words)}; found {_named(value)}.")


def as_list(value: object) -> list[str] | None:
    """Answer a list of texts: a JSON list, or parts with `|` (else `;`) between them, trimmed, none blank."""
    if _is_absent(value):
        return None
    if isinstance(value, str) and value.strip().startswith("["):
        value = as_json(value)
    if isinstance(value, str):
        separator = "|" if "|" in value else ";"
        return [part.strip() for part in value.split(separator) if part.strip()]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [as_text(value) or ""]
    if not isinstance(value, list):
        raise Unreadable(f"Expected a list, found {_named(value)}. Put | between its parts.")
    texts = [as_text(part) for part in value]
    if None in texts:
        raise Unreadable("Expected a list of texts, found one with null in it.")
    return [text for text in texts if text is not None]


def as_json(value: object) -> object:
    """Answer what a JSON text says; a value that is no text is taken as it is."""
    if _is_absent(value) or not isinstance(value, str):
        return value if not isinstance(value, str) else None
    try:
        return parse_json(value.strip())
    except JsonFault as fault:
        raise Unreadable(f"Expected JSON. {fault.message}") from None


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _as_word(text: str) -> str:
    return re.sub(r"[\s\-\N{NON-BREAKING HYPHEN}]+", "_", normal_id(text)).casefold()


def _named(value: object) -> str:
    """Name a value in a sentence."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a JSON object"
    if isinstance(value, list):
        return "a list"
    return f"“{printable(str(value))}”"
