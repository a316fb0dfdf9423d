"""What the body of a chat completion says, and what the body of a refusal says.

Servers that speak the protocol differ in what they leave out, so nothing is presumed: a number that is none is unknown,
a content in parts is their texts, a body that is no completion is said to be none. Whatever it says, the raw body is
what is kept.
"""

import json
from dataclasses import dataclass
from typing import Any

LARGEST = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; None where it doesn't say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer: its text, the endpoint's word for how it ended, the model as returned, and the usage."""

    text: str
    finish_reason: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an endpoint says of a call that it refused. Empty where it says nothing."""

    message: str = ""
    code: str = ""
    kind: str = ""
    status: int | None = None

    @property
    def words(self) -> str:
        """All of it in lower case, to look words up in."""
        return f"{self.code} {self.kind} {self.message}".casefold()


def read_completion(body: bytes) -> Completion | None:
    """The completion in a body, or None where it holds none."""
    given = _object(body)
    choices = given.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    if not isinstance(message, dict):
        return None
    finish_reason = _text(choices[0].get("finish_reason"))
    text = _content(message.get("content"))
    refusal = _text(message.get("refusal"))
    if refusal and not text:
        text, finish_reason = refusal, "refusal"
    return Completion(text, finish_reason, _text(given.get("model")), _usage(given))


def read_complaint(body: bytes) -> Complaint | None:
    """The complaint in a body, in the shapes that servers give it; None where it holds none."""
    given = _object(body)
    error = given.get("error", given)
    if isinstance(error, str):
        return Complaint(message=error)
    if not isinstance(error, dict):
        return None
    message = _text(error.get("message")) or _text(error.get("detail"))
    code = error.get("code")
    inner = error.get("innererror")
    kind = _text(error.get("type")) or (_text(inner.get("code")) if isinstance(inner, dict) else "")
    is_status = isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599
    if not message and code is None and not kind:
        return None
    return Complaint(message, "" if is_status else _text(code), kind, code if is_status else None)


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(given, list) and given:  # Gemini's compatible layer wraps its errors in a list
        given = given[0]
    return given if isinstance(given, dict) else {}


def _content(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _usage(given: dict[str, Any]) -> Usage:
    usage = given.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    timings = given.get("timings")
    cached = [
        _part(usage, "prompt_tokens_details", "cached_tokens"),
        _count(usage.get("prompt_cache_hit_tokens")),
        _count(usage.get("cache_read_input_tokens")),
        _count(timings.get("cache_n")) if isinstance(timings, dict) else None,
    ]
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=next((number for number in cached if number is not None), None),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_part(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _part(usage: dict[str, Any], name: str, key: str) -> int | None:
    details = usage.get(name)
    return _count(details.get(key)) if isinstance(details, dict) else None


def _count(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= LARGEST else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
