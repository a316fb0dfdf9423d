"""JSON that means one thing only: no key twice in an object, no NaN, no number that a column can't hold.

Python's own reader takes the last of two equal keys, reads NaN, and turns 1e999 into infinity. Here each of
these is a fault that says where it stands.
"""

import json
import re
from collections.abc import Iterator

GREATEST = 2**63 - 1
"""Whole numbers reach from -2**63 to 2**63 - 1, as in the database."""

_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WANTED = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma, or the end of the list or object, is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Illegal trailing comma before end of object": "a comma stands before the closing brace",
    "Illegal trailing comma before end of array": "a comma stands before the closing bracket",
    "Unterminated string starting at": "the text that begins here is never closed",
    "Invalid control character at": "a text holds a raw control character (write a line break as \\n)",
    "Invalid \\escape": "a backslash begins no escape that JSON knows",
    "Invalid \\uXXXX escape": "a \\u is not followed by four hex digits",
    "Extra data": "there is more after the end of the object",
}


class JsonFault(Exception):
    """What is wrong with a JSON text, the top-level `key` it is under, and whether the text `ends` early."""

    def __init__(self, message: str, *, key: str | None = None, ends: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.key = key
        self.ends = ends


class _Mark:
    """Stands where a value can't be taken as it is, until it is known under which key."""

    def __init__(self, message: str, *, key: str | None = None) -> None:
        self.message = message
        self.key = key


class _Reader:
    """One decoder for many texts; `marks` counts what this text's values can't be."""

    def __init__(self) -> None:
        self.marks = 0
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._whole_number,
            parse_float=self._number,
            parse_constant=self._constant,
        )

    def _mark(self, message: str, *, key: str | None = None) -> _Mark:
        self.marks += 1
        return _Mark(message, key=key)

    def _object(self, pairs: list[tuple[str, object]]) -> object:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return self._mark(f"The key “{printable(twice)}” stands twice in one object.", key=twice)

    def _whole_number(self, digits: str) -> object:
        if len(digits) <= 20 and -GREATEST - 1 <= int(digits) <= GREATEST:
            return int(digits)
        return self._mark("The whole number is too large. Write an id as text, in quotes.")

    def _number(self, digits: str) -> object:
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            return self._mark("The number is too large.")
        return number

    def _constant(self, name: str) -> object:
        return self._mark(f"{name} is no number that JSON knows. Leave the value out, or write null.")


def parse_json(text: str, *, nesting: int = 64) -> object:
    """Answer the value of a JSON text, with at most `nesting` lists and objects inside one another.

    Raises JsonFault, which names the top-level key where there is one.
    """
    reader = _Reader()
    try:
        value = reader.decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_fault(text, error) from None
    except RecursionError:
        raise JsonFault(_too_deep(nesting)) from None
    if reader.marks or _SUSPECT.search(text) or text.count("[") + text.count("{") > nesting:
        for key, fault in _faults(value, nesting=nesting):
            raise JsonFault(fault, key=key)
    return value


def printable(text: str, *, length: int = 60) -> str:
    """Answer the text as a message may quote it: in one line, short, with nothing that can't be shown."""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def text_fault(text: str) -> str | None:
    """Answer what makes a text one that neither the database nor UTF-8 can hold, or None."""
    if "\0" in text:
        return "The text holds a NUL character. Remove it."
    if _SURROGATE.search(text):
        return "The text holds half of a character (a lone surrogate). Remove it, or write it again."
    return None


def _syntax_fault(text: str, error: json.JSONDecodeError) -> JsonFault:
    ends = error.pos >= len(text.rstrip()) or error.msg == "Unterminated string starting at"
    if "\0" in text[error.pos : error.pos + 1]:
        return JsonFault("The text holds a NUL character. Remove it.")
    wanted = _WANTED.get(error.msg, "this is not JSON")
    return JsonFault(f"This can't be read as JSON: at character {error.pos + 1}, {wanted}.", ends=ends)


def _too_deep(nesting: int) -> str:
    return f"Lists and objects are nested too deeply (more than {nesting} inside one another)."


def _faults(value: object, *, nesting: int) -> Iterator[tuple[str | None, str]]:
    """Yield each (top-level key, fault) of a value, in the order of the text, without recursion."""
    pending: list[tuple[object, str | None, int]] = [(value, None, 0)]
    while pending:
        found, key, depth = pending.pop()
        if isinstance(found, _Mark):
            yield (found.key if depth == 0 else key), found.message
        elif isinstance(found, str):
            fault = text_fault(found)
            if fault:
                yield key, fault
        elif isinstance(found, list | dict) and depth >= nesting:
            yield key, _too_deep(nesting)
        elif isinstance(found, list):
            pending.extend((item, key, depth + 1) for item in reversed(found))
        elif isinstance(found, dict):
            for name, item in reversed(found.items()):
                pending.append((item, name if depth == 0 else key, depth + 1))
                fault = text_fault(name)
                if fault:
                    pending.append((_Mark(fault), printable(name) if depth == 0 else key, depth + 1))
