"""Finding the JSON objects of a grader's reply, also where they are not quite JSON.

Read are: raw newlines and unescaped quotes inside of strings, single, curly and full-width quotes, full-width
punctuation, trailing, doubled and missing commas, Python's True and None, keys without quotes. A string ends
only at a quote after which an object goes on: a comma and a key, a closing brace, the end of the text.

Nothing is made up. An object that holds one of the answer's keys and doesn't end is *cut*, one that can't be
followed to its end is *broken*; after either the search stops, for what follows could stand inside of one of
its strings. Thinking (`<think> ... </think>` and its like) is set apart: objects in it are drafts.

The work is bounded: each character is looked at a fixed number of times, by compiled patterns.
"""

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from grading.reply_words import field_of

_MOST_FAILED_STARTS = 500
_MOST_OBJECTS = 500
_MOST_DEPTH = 8
_MOST_PAIRS = 200

_DOUBLE_QUOTES = '"“”„‟＂«»「」『』'
_SINGLE_QUOTES = "'‘’‚‛＇`"
_QUOTES = _DOUBLE_QUOTES + _SINGLE_QUOTES
_ASKED_KEYS = frozenset({"explanation", "quotes", "condition_absent", "criteria_met"})

_THINKING = (
    r"(?P<thinking>^[ \t]*+(?:<(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad)>"
    r"|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>))"
)
_THINKING_ENDS = (
    r"(?P<thinking_ends></(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad)>"
    r"|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)"
)
_START = re.compile(
    rf"{_THINKING}|{_THINKING_ENDS}|(?P<object>[{{｛](?=\s*+(?:[{_QUOTES}\w]|\Z)))", re.IGNORECASE | re.MULTILINE
)
_THINKING_END = re.compile(_THINKING_ENDS, re.IGNORECASE)

_BETWEEN = re.compile(r"[\s,，、]*+")
_CLOSING = re.compile(r"[}｝]")
_KEY = re.compile(
    rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}\n:：{{}}｛｝]{{1,60}})[{_QUOTES}]|(?P<bare>[^\W\d]\w{{0,59}}))"
    r"\s*+[:：]\s*+"
)
_UNFINISHED_KEY = re.compile(rf"[{_QUOTES}]?[^{_QUOTES}\n:：{{}}｛｝]{{0,60}}[{_QUOTES}]?\s*+\Z")
_WORD = re.compile(rf"[^{_QUOTES},，、\n{{}}｛｝\[\]［］]{{1,60}}")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}


def _string_end(quotes: str, *, in_list: bool) -> re.Pattern[str]:
    goes_on = (
        rf"[,，、]\s*+[{quotes}]|(?:[,，、]\s*+)?[\]］]"
        if in_list
        else rf"(?P<comma>[,，、]\s*+)?"
        rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}\n:：{{}}｛｝]{{1,60}})[{_QUOTES}]|(?P<bare>[a-z_]{{6,16}}))\s*+[:：]"
        r"|(?:[,，、]\s*+)?[}｝]"
    )
    return re.compile(rf"\\.|(?P<end>[{quotes}])(?=\s*+(?:{goes_on}|\Z))", re.DOTALL)


_STRING_ENDS = {
    (quotes, in_list): _string_end(quotes, in_list=in_list)
    for quotes in (_DOUBLE_QUOTES, _SINGLE_QUOTES)
    for in_list in (False, True)
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs in order: a key that is given twice is not lost."""


class Ending(StrEnum):
    """How an object ended."""

    CLOSED = "closed"
    CUT = "cut"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of the text: its pairs, where it stands (end exclusive), and whether it is JSON as it is."""

    pairs: Pairs
    start: int
    end: int
    ending: Ending
    is_json: bool

    @property
    def is_answer(self) -> bool:
        """Whether it holds a key of the answer."""
        return any(field_of(key) is not None for key, _ in self.pairs)

    @property
    def is_complete(self) -> bool:
        """Whether each of its keys has its whole value."""
        return all(value is not _UNFINISHED for _, value in self.pairs)


@dataclass(slots=True)
class Search:
    """What a reply holds. `drafts` is how many of the objects stand before the end of thinking."""

    objects: list[FoundObject] = field(default_factory=list)
    unended: FoundObject | None = None
    thinking: list[tuple[int, int]] = field(default_factory=list)
    thinking_is_open: bool = False
    thinking_ended_at: int | None = None
    drafts: int = 0
    is_given_up: bool = False

    def outside(self, text: str, *, also_without: bool) -> str:
        """The text without thinking and JSON objects; without any object if `also_without`."""
        spans = self.thinking + [(o.start, o.end) for o in self.objects if o.is_json or also_without]
        pieces, position = [], 0
        for start, end in sorted(spans):
            pieces.append(text[position:start])
            position = max(position, end)
        return "\n".join([*pieces, text[position:]])


def whole_value(text: str) -> tuple[bool, Any]:
    """(True, value) if the text is JSON from beginning to end, with objects as Pairs; else (False, None)."""
    try:
        return True, json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):  # not JSON, a number of thousands of digits, nested without end
        return False, None


def find_objects(text: str) -> Search:
    """The reply's objects, in order. Never raises; gives up (`is_given_up`) on what no grader writes."""
    search = Search()
    position, failures, effort = 0, 0, 4 * len(text) + 10_000
    while start := _START.search(text, position):
        if start["thinking"]:
            end = _THINKING_END.search(text, start.end())
            search.thinking_is_open = end is None
            search.thinking.append((start.start(), end.end() if end else len(text)))
            if end is None:
                return search
            position = end.end()
        elif start["thinking_ends"]:
            # Its beginning stood in the server's template: what came before was thinking too.
            search.thinking_ended_at = position = start.end()
            search.drafts = len(search.objects)
        else:
            found, cost = _object_at(text, start.start())
            if found.ending is Ending.CLOSED:
                search.objects.append(found)
                position = found.end
            elif found.is_answer or (found.ending is Ending.CUT and not found.pairs and not search.objects):
                search.unended = found
                return search
            else:
                failures += 1
                effort -= cost
                position = start.end()
            if len(search.objects) > _MOST_OBJECTS or failures > _MOST_FAILED_STARTS or effort < 0:
                search.is_given_up = True
                return search
    return search


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def _object_at(text: str, start: int) -> tuple[FoundObject, int]:
    """The object that begins here, and how many characters were looked at in vain."""
    try:
        pairs, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as problem:
        cost = problem.pos - start
    except (ValueError, RecursionError):  # a number of thousands of digits, nested without end
        cost = len(text) - start
    else:
        return FoundObject(pairs, start, end, Ending.CLOSED, is_json=True), 0
    reader = _Reader(text)
    ending = reader.read_object(start, pairs := Pairs(), depth=0)
    found = FoundObject(pairs, start, reader.position, ending, is_json=False)
    return found, cost + found.end - start


class _Reader:
    """Reads one object that is not quite JSON. `position` is as far as it came."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def read_object(self, start: int, pairs: Pairs, *, depth: int) -> Ending:
        """Fills `pairs` with what is complete, also where the object then turns out cut or broken."""
        self.position = start + 1
        while True:
            self._skip(_BETWEEN)
            if self.position == len(self.text):
                return Ending.CUT
            if self._skip(_CLOSING):
                return Ending.CLOSED
            if len(pairs) == _MOST_PAIRS:
                return Ending.BROKEN
            key = _KEY.match(self.text, self.position)
            if key is None:
                return Ending.CUT if _UNFINISHED_KEY.match(self.text, self.position) else Ending.BROKEN
            self.position = key.end()
            name = key["quoted"] or key["bare"]
            pairs.append((name, _UNFINISHED))
            ending, value = self._read_value(depth=depth, in_list=False)
            if ending is not Ending.CLOSED:
                return ending
            pairs[-1] = (name, value)

    def _read_value(self, *, depth: int, in_list: bool) -> tuple[Ending, Any]:
        if self.position == len(self.text):
            return Ending.CUT, None
        first = self.text[self.position]
        if first in _QUOTES:
            return self._read_string(first, in_list=in_list)
        if first in "[［{｛":
            if depth == _MOST_DEPTH:
                return Ending.BROKEN, None
            if first in "[［":
                return self._read_list(depth=depth + 1)
            inner = Pairs()
            return self.read_object(self.position, inner, depth=depth + 1), inner
        word = _WORD.match(self.text, self.position)
        if word is None:
            return Ending.BROKEN, None
        self.position = word.end()
        return Ending.CLOSED, _value_of(word[0].strip())

    def _read_string(self, quote: str, *, in_list: bool) -> tuple[Ending, Any]:
        quotes = _DOUBLE_QUOTES if quote in _DOUBLE_QUOTES else _SINGLE_QUOTES
        begin = self.position + 1
        for end in _STRING_ENDS[quotes, in_list].finditer(self.text, begin):
            if end["end"] and (in_list or _is_believable(end)):
                self.position = end.end()
                return Ending.CLOSED, _unescaped(self.text[begin : end.start()])
        self.position = len(self.text)
        return Ending.CUT, None

    def _read_list(self, *, depth: int) -> tuple[Ending, Any]:
        self.position += 1
        values: list[Any] = []
        while True:
            self._skip(_BETWEEN)
            if self.position == len(self.text):
                return Ending.CUT, None
            if self.text[self.position] in "]］":
                self.position += 1
                return Ending.CLOSED, values
            if len(values) == _MOST_PAIRS:
                return Ending.BROKEN, None
            ending, value = self._read_value(depth=depth, in_list=True)
            if ending is not Ending.CLOSED:
                return ending, None
            values.append(value)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.position)
        if match is None:
            return False
        self.position = match.end()
        return True


class _Unfinished:
    """The value of a key after which the text ends or can't be followed."""


_UNFINISHED = _Unfinished()


def _is_believable(end: re.Match[str]) -> bool:
    """Whether a quote that a key seems to follow ends its string: not in 'said "no", which: go'."""
    if end["bare"]:
        return bool(end["comma"]) and end["bare"] in _ASKED_KEYS
    if end["quoted"]:
        return field_of(end["quoted"]) is not None or (bool(end["comma"]) and _is_name(end["quoted"]))
    return True


def _is_name(key: str) -> bool:
    return key.replace("_", "").replace("-", "").isalnum()


def _value_of(word: str) -> Any:
    if _NUMBER.fullmatch(word):
        return float(word)
    return _LITERALS.get(word.casefold(), word)


def _unescaped(body: str) -> str:
    def meant(escape: re.Match[str]) -> str:
        code, letter = escape.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(letter, letter)

    text = _ESCAPE.sub(meant, body)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in body else text
