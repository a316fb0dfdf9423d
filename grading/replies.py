"""How a grader's reply is read: every reply ends as a verdict or as unscored with its reason, never as a guess.

Tolerant about form (`reply_objects` says what it forgives), strict about meaning: the verdict is a word of a closed
list (`reply_words`), stated once or several times alike, in an object that ended. No verdict, or one outside the list,
or two that differ, or thinking that ate the answer: unscored. What a reply says of itself is kept: a verdict that
contradicts its explanation stays as given, flagged, and each quote is looked up in the response.

An object without an explanation still states its verdict and is read, with a note. `null` as the verdict is *cannot
assess*; a reply that is only `null` says nothing, and some servers write it for an answer that they lost.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from grading.explanations import claimed_verdict
from grading.prompting import without_control_tokens
from grading.reply_objects import Ending, FoundObject, Pairs, Search, find_objects, whole_value
from grading.reply_words import Field, Verdict, field_of, folded, is_yes, verdict_of

__all__ = ["STRICT", "Reading", "UnscoredReason", "Verdict", "find_quotes", "read_reply"]


class UnscoredReason(StrEnum):
    """Why a reply gives no score. The values are stored; `sentence` is what a reader of a page sees."""

    CANNOT_ASSESS = "cannot_assess"
    NO_VERDICT = "no_verdict"
    UNKNOWN_VERDICT = "unknown_verdict"
    CONTRADICTORY_VERDICTS = "contradictory_verdicts"
    EMPTY_REPLY = "empty_reply"
    TRUNCATED = "truncated"
    THINKING_ONLY = "thinking_only"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    UNREADABLE = "unreadable"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    UnscoredReason.CANNOT_ASSESS: "The grader says that it can't be told from the texts.",
    UnscoredReason.NO_VERDICT: "The grader's reply gives no verdict.",
    UnscoredReason.UNKNOWN_VERDICT: "The grader's verdict is neither met nor not met.",
    UnscoredReason.CONTRADICTORY_VERDICTS: "The grader's reply gives verdicts that differ.",
    UnscoredReason.EMPTY_REPLY: "The grader's reply is empty.",
    UnscoredReason.TRUNCATED: "The grader's reply ends before its verdict is complete.",
    UnscoredReason.THINKING_ONLY: "The grader thought and gave no answer.",
    UnscoredReason.REFUSAL: "The grader refused to judge.",
    UnscoredReason.CONTENT_FILTER: "The endpoint's content filter stopped the answer.",
    UnscoredReason.UNREADABLE: "The grader's reply can't be read.",
}

STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says.

    Either `verdict` is met or not met and `unscored_reason` None; or `verdict` is cannot_assess, with the reason of
    the same name; or `verdict` is None and `unscored_reason` says why. `quotes` are as the grader gave them (ten at
    most), `quotes_found` says of each whether it stands in the response. `read_as` is "strict" for exactly what was
    asked for, else what was forgiven.
    """

    verdict: Verdict | None
    unscored_reason: UnscoredReason | None
    explanation: str = ""
    quotes: tuple[str, ...] = ()
    quotes_found: tuple[bool, ...] = ()
    condition_absent: bool | None = None
    contradicts_itself: bool = False
    read_as: str = STRICT

    @property
    def is_scored(self) -> bool:
        return self.unscored_reason is None

    @property
    def may_be_asked_again(self) -> bool:
        """Whether asking once more can help: not after a verdict, and not after *cannot assess*."""
        return self.verdict is None


_LONGEST_REPLY = 1_000_000  # characters
_MOST_QUOTES = 10
_FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation"})
_REFUSED = frozenset({"refusal"})
_STOPPED = frozenset({"stop", "end_turn"})
_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_INVISIBLE = "\x00\ufeff\u200b\u200c\u200d\u2060"
_QUOTES = "\"“”'‘’＂"
_FENCED_WORD = re.compile(r"`{3,9}[\w-]{0,20}\s+(.{1,80}?)\s*`{3,9}")
_REFUSAL = re.compile(
    r"\b(?:I(?:['’]m| am) (?:very |so |really )?sorry|I apologi[sz]e"
    r"|I (?:can(?:not|['’]t| not)|won['’]t|will not|(?:am|['’]m) (?:unable|not able) to)"
    r"|I['’]m (?:unable|not able) to|as an AI)\b",
    re.IGNORECASE,
)
_STATED = re.compile(
    rf"(?:(?<!\\)[{_QUOTES}](?P<quoted>[^{_QUOTES}\n:：{{}}｛｝]{{1,60}})(?<!\\)[{_QUOTES}]"
    r"|\b(?P<bare>criteria_met|criterion_met|satisfaction))"
    rf"\s*+[:：]\s*+[{_QUOTES}]?(?P<value>[^{_QUOTES}\n,，、|/{{}}｛｝\[\]［］]{{1,60}}+)(?=[{_QUOTES}\n,，、}}｝\]］]|\Z)"
)
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_MARKS = re.compile(r"[^\w\s\x00-\x7f]{31,}")


def read_reply(raw: bytes | str, *, finish_reason: str | None = None, response_text: str = "") -> Reading:
    """The verdict that a reply gives, or why it gives none.

    `raw` is the reply's text or its bytes in UTF-8, `finish_reason` the endpoint's word for how it ended ("stop",
    "length", "content_filter", "refusal" ...), `response_text` the judged response, in which quotes are looked up.
    Never raises, and takes time in proportion to the reply.
    """
    text, notes = _decoded(raw)
    ended = (finish_reason or "").casefold()
    if ended in _FILTERED:
        return _unscored(UnscoredReason.CONTENT_FILTER)
    if ended in _REFUSED:
        return _unscored(UnscoredReason.REFUSAL)
    if len(text) > _LONGEST_REPLY:
        return _unscored(UnscoredReason.UNREADABLE)
    reading = _read_text(_trimmed(text), ended=ended, notes=notes)
    found = find_quotes(reading.quotes, response_text)
    return replace(reading, quotes_found=found) if found else reading


def find_quotes(quotes: Sequence[str], response_text: str) -> tuple[bool, ...]:
    """For each quote whether it stands word for word in the response; white space and Unicode's forms are folded."""
    if not quotes:
        return ()
    response = _as_compared(response_text)
    return tuple(bool(quote := _as_compared(given)) and quote in response for given in quotes)


def _read_text(text: str, *, ended: str, notes: tuple[str, ...], is_inner: bool = False) -> Reading:
    if not text:
        # A model that thinks out of sight and runs out of tokens answers with nothing.
        return _unscored(UnscoredReason.THINKING_ONLY if ended in _LENGTH else UnscoredReason.EMPTY_REPLY)
    is_json, value = whole_value(text)
    if not is_json:
        return _read_among_prose(text, ended=ended, notes=notes)
    if isinstance(value, Pairs):
        return _settled(_unwrapped(value), notes=notes)
    if isinstance(value, list):
        answers = [answer for element in value if isinstance(element, Pairs) for answer in _unwrapped(element)]
        return _settled(answers, notes=(*notes, "in a list"))
    if isinstance(value, str) and not is_inner and _trimmed(value)[:1] in {"{", "｛"}:
        inner = (*notes, "an object inside of a string")
        return _read_text(_trimmed(value), ended=ended, notes=inner, is_inner=True)
    return _read_bare(value, ended=ended, notes=notes)


def _read_among_prose(text: str, *, ended: str, notes: tuple[str, ...]) -> Reading:
    searched = text.rstrip("`").rstrip() if text.endswith("```") else text
    search = find_objects(searched)
    unended = search.unended
    if unended is not None and ended in _STOPPED and _lacks_only_its_brace(unended, searched):
        # The endpoint says that nothing was cut, and every key is there: the model forgot the brace. Without its
        # word, or with a key or a value missing, half an object gives no verdict.
        search.objects.append(unended)
        search.unended = unended = None
        notes = (*notes, "closing brace missing")
    if search.is_given_up:
        return _unscored(UnscoredReason.UNREADABLE)
    if search.thinking_is_open:
        return _unscored(UnscoredReason.THINKING_ONLY)
    if unended is not None:
        is_cut = unended.ending is Ending.CUT
        return _unscored(UnscoredReason.TRUNCATED if is_cut else UnscoredReason.UNREADABLE)
    if not search.objects or len(search.objects) == search.drafts:
        return _read_without_objects(search, text, ended=ended, notes=notes)
    after = _trimmed(searched[search.objects[-1].end :])
    if after and ended in _LENGTH:
        return _unscored(UnscoredReason.TRUNCATED)  # what followed was cut: it may have been the answer
    before = _trimmed(searched[: search.objects[0].start])
    if after and after[0] in _QUOTES and after != before:
        return _unscored(UnscoredReason.UNREADABLE)  # the object ended inside of a string
    answers = [answer for found in search.objects for answer in _unwrapped(found.pairs)]
    elsewhere = _stated_verdicts(search.outside(searched, also_without=False))
    return _settled(answers, elsewhere=elsewhere, notes=(*notes, *_forms(search, text)))


def _read_without_objects(search: Search, text: str, *, ended: str, notes: tuple[str, ...]) -> Reading:
    outside = search.outside(text, also_without=True)
    remainder = _trimmed(text[search.thinking_ended_at :] if search.thinking_ended_at else outside)
    has_thought = bool(search.thinking) or search.thinking_ended_at is not None
    if has_thought and (not remainder or search.objects):
        return _unscored(UnscoredReason.THINKING_ONLY)
    fenced = _FENCED_WORD.fullmatch(remainder) if len(remainder) < 150 else None
    word = (fenced[1] if fenced else remainder).strip(_QUOTES)
    reading = _read_bare(word, ended=ended, notes=notes)
    if reading.unscored_reason is UnscoredReason.NO_VERDICT and _REFUSAL.search(remainder):
        return _unscored(UnscoredReason.REFUSAL)
    return reading


def _read_bare(value: Any, *, ended: str, notes: tuple[str, ...]) -> Reading:
    """A reply that is one word of the closed list and nothing else."""
    verdict = None if value is None else verdict_of(value)
    if ended in _LENGTH:  # "No" may be the beginning of "No reason to ..."
        return _unscored(UnscoredReason.TRUNCATED)
    if verdict is None or (isinstance(value, str) and folded(value) in {"null", "none"}):
        return _unscored(UnscoredReason.NO_VERDICT)
    reason = UnscoredReason.CANNOT_ASSESS if verdict is Verdict.CANNOT_ASSESS else None
    return Reading(verdict, reason, read_as="; ".join((*notes, "a bare word", "no explanation")))


def _settled(
    answers: Sequence[Pairs], *, notes: tuple[str, ...], elsewhere: frozenset[Verdict] = frozenset()
) -> Reading:
    """The one verdict that all answers give. `elsewhere` are verdicts stated outside of well-formed objects."""
    stating = [answer for answer in answers if _values(answer, Field.VERDICT)]
    if not stating:
        return _unscored(UnscoredReason.NO_VERDICT)
    verdicts = [verdict_of(value) for answer in stating for value in _values(answer, Field.VERDICT)]
    known = {verdict for verdict in verdicts if verdict is not None}
    fields = _fields(stating[-1])
    if len(known | elsewhere) > 1 and known:
        return replace(fields, unscored_reason=UnscoredReason.CONTRADICTORY_VERDICTS)
    if None in verdicts:
        return replace(fields, unscored_reason=UnscoredReason.UNKNOWN_VERDICT)
    verdict = known.pop()
    if len(stating) > 1:
        notes = (*notes, "several objects that agree")
    return replace(
        fields,
        verdict=verdict,
        unscored_reason=UnscoredReason.CANNOT_ASSESS if verdict is Verdict.CANNOT_ASSESS else None,
        contradicts_itself=_contradicts(verdict, fields),
        read_as="; ".join((*notes, *_departures(stating[-1]))) or STRICT,
    )


def _fields(answer: Pairs) -> Reading:
    explanations = [_text_of(value) for value in _values(answer, Field.EXPLANATION)]
    quotes = tuple(
        _storable(quote)
        for value in _values(answer, Field.QUOTES)
        for quote in (value if isinstance(value, list) else [value])
        if isinstance(quote, str) and quote.strip()
    )
    absent = [is_yes(value) for value in _values(answer, Field.CONDITION_ABSENT)]
    return Reading(
        verdict=None,
        unscored_reason=UnscoredReason.NO_VERDICT,
        explanation="\n".join(text for text in explanations if text),
        quotes=quotes[:_MOST_QUOTES],
        condition_absent=absent[0] if len(set(absent)) == 1 else None,
        read_as="",
    )


def _contradicts(verdict: Verdict, fields: Reading) -> bool:
    claimed = claimed_verdict(fields.explanation)
    if verdict is Verdict.CANNOT_ASSESS:
        return False
    # "If X then Y" is met where X does not occur: not met and condition absent can't both be.
    return (claimed is not None and claimed is not verdict) or (
        verdict is Verdict.NOT_MET and fields.condition_absent is True
    )


def _departures(answer: Pairs) -> list[str]:
    """Where the answer's keys and types are not those that were asked for."""
    keys = [key for key, _ in answer]
    departures = []
    if not any(_text_of(value) for value in _values(answer, Field.EXPLANATION)):
        departures.append("no explanation")
    if sorted(keys) != sorted(Field):
        departures.append("other keys")
    if not all(value is None or isinstance(value, bool) for value in _values(answer, Field.VERDICT)):
        departures.append("the verdict as a word or a number")
    return departures


def _forms(search: Search, text: str) -> Iterable[str]:
    if search.thinking or search.thinking_ended_at is not None:
        yield "after thinking"
    if "```" in text:
        yield "in a fenced block"
    elif _trimmed(search.outside(text, also_without=True)):
        yield "among prose"
    if not all(found.is_json for found in search.objects):
        yield "repaired"


def _unwrapped(answer: Pairs) -> list[Pairs]:
    """The object itself, or what it wraps: `{"answer": {...}}`."""
    for _ in range(3):
        if len(answer) != 1 or field_of(answer[0][0]) is not None:
            break
        inner = answer[0][1]
        if isinstance(inner, Pairs):
            answer = inner
        elif isinstance(inner, list):
            return [element for element in inner if isinstance(element, Pairs)]
        else:
            break
    return [answer]


def _lacks_only_its_brace(found: FoundObject, text: str) -> bool:
    """Whether every key has its whole value: an explanation, and true, false or null as the verdict."""
    verdicts = _values(found.pairs, Field.VERDICT)
    return (
        found.ending is Ending.CUT
        and found.end == len(text)
        and found.is_complete
        and bool(_values(found.pairs, Field.EXPLANATION))
        and bool(verdicts)
        and all(value is None or isinstance(value, bool) for value in verdicts)
    )


def _stated_verdicts(text: str) -> frozenset[Verdict]:
    """Every verdict that is written as a key and a value, wherever it stands."""
    return frozenset(
        verdict
        for stated in _STATED.finditer(text)
        if field_of(stated["quoted"] or stated["bare"]) is Field.VERDICT
        and (verdict := verdict_of(stated["value"].strip())) is not None
    )


def _values(answer: Pairs, field: Field) -> list[Any]:
    return [value for key, value in answer if field_of(key) is field]


def _text_of(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text_of(element) for element in value if isinstance(element, str))
    return _storable(value.strip()) if isinstance(value, str) else ""


def _unscored(reason: UnscoredReason) -> Reading:
    return Reading(None, reason, read_as="")


def _decoded(raw: bytes | str) -> tuple[str, tuple[str, ...]]:
    if isinstance(raw, str):
        return raw, ()
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace"), ("in UTF-16",)
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), ("not UTF-8 everywhere",)


def _trimmed(text: str) -> str:
    return text.strip().strip(_INVISIBLE).strip()


def _storable(text: str) -> str:
    """The text without what PostgreSQL can't hold."""
    return _UNSTORABLE.sub("\ufffd", text)


def _as_compared(text: str) -> str:
    text = without_control_tokens(_storable(text))
    if not text.isascii():
        # Sorting a run of thousands of combining marks takes time in its square; no writing has such runs.
        text = unicodedata.normalize("NFC", _MARKS.sub(lambda run: run[0][:31], text))
    return " ".join(text.split())
