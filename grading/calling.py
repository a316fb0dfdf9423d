"""One call to a grader's endpoint, and what its outcome means.

An outcome is an answer, or a problem of a known kind: with the call (its texts are too long, it is not accepted), with
the moment (too many calls, a fault, no connection: to be tried again a counted number of times), or with the endpoint
(wrong key, no credit, unknown model: nothing will help but a person). No money is no rate limit. The client's own
retries are off, redirects are not followed, and no key is in anything that is kept or said.
"""

import asyncio
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from consilium.environment import is_this_machine
from grading.completions import Complaint, read_complaint, read_completion

if TYPE_CHECKING:  # half a second that no other command should wait for
    import httpx2
    from openai import AsyncOpenAI

SECONDS_TO_CONNECT = 10.0
LONGEST_RETRY_AFTER = 300.0
LONGEST_BODY = 4_000_000
"""Bytes of a body that are read; no verdict is longer, and a worker with many calls must hold all of theirs."""


class Kind(Enum):
    """What kind of problem it is, which decides what comes next."""

    TOO_LONG = auto()
    FILTERED = auto()
    NO_SCHEMA = auto()
    NOT_ACCEPTED = auto()
    TOO_MANY = auto()
    FAULT = auto()
    UNREACHED = auto()
    UNUSABLE = auto()


@dataclass(frozen=True, slots=True)
class Answered:
    """A body that holds a completion, or that should."""

    body: bytes
    latency_ms: int
    http_status: int = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no answer: ``sentence`` for people, ``retry_after`` in seconds where the endpoint says it."""

    kind: Kind
    sentence: str
    latency_ms: int
    http_status: int | None = None
    body: bytes | None = None
    retry_after: float | None = None
    is_possibly_billed: bool = False


Outcome = Answered | Problem


class KeyIsMissing(Exception):
    """The key of an endpoint can't be had; the message is a sentence."""


async def _read_bounded(response: "httpx2.Response") -> None:
    """Read a body, unpacked, up to the longest that is kept; what is longer is cut, and then can't be read as a reply.

    The client would read all of it, and a few hundred kilobytes can unpack to more than the machine holds.
    """
    content = bytearray()
    async for part in response.aiter_bytes(65_536):
        content += part
        if len(content) > LONGEST_BODY:
            await response.aclose()
            break
    response._content = bytes(content[:LONGEST_BODY])  # where the client's own aread() leaves it


class EndpointClient:
    """The client of one endpoint, for all calls of a worker.

    Each call under way has a lane, a client with one connection, and the lane that was used last is used next. One
    pool for all of them would look at each of its connections before each call, which at hundreds of calls at once
    takes longer than the call itself.
    """

    def __init__(self, *, base_url: str, key: str, seconds: float) -> None:
        import httpx2

        self._base_url, self._key, self._seconds = base_url, key, seconds
        self._host = urlsplit(base_url).netloc
        self._certificates = httpx2.create_ssl_context()
        self._lanes: list[AsyncOpenAI] = []
        self._idle: list[AsyncOpenAI] = []

    async def close(self) -> None:
        for lane in self._lanes:
            await lane.close()

    def _lane(self) -> "AsyncOpenAI":
        import httpx2
        import openai

        if self._idle:
            return self._idle.pop()
        client = openai.DefaultAsyncHttpxClient(
            timeout=httpx2.Timeout(self._seconds, connect=SECONDS_TO_CONNECT, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=30),
            follow_redirects=False,
            event_hooks={"response": [_read_bounded]},
            verify=self._certificates,
            # A proxy for the world outside is none for this machine.
            trust_env=not is_this_machine(urlsplit(self._base_url).hostname or ""),
        )
        # What the environment says of OpenAI's own accounts is no other endpoint's business.
        nobody: Mapping[str, Any] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        lane = openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._key or "none",
            max_retries=0,
            http_client=client,
            default_headers=nobody,
        )
        self._lanes.append(lane)
        return lane

    async def call(self, body: Mapping[str, Any]) -> Outcome:
        """Send one request for a chat completion; every outcome comes back, none is raised."""
        import httpx2
        import openai

        began = time.monotonic()

        def took() -> int:
            return round((time.monotonic() - began) * 1000)

        problem: BaseException | None = None
        lane = self._lane()
        try:
            async with asyncio.timeout(self._seconds):
                # Not .chat.completions.create: it walks through every message to check what is checked already, which
                # takes longer than the call's whole way through the client; and any parameter may be sent so.
                response = await lane.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as refusal:
            response = refusal.response
        except openai.APIConnectionError as broken:
            problem = broken.__cause__ or broken
        except TimeoutError as late:
            problem = late
        finally:
            self._idle.append(lane)
        # Read only here: the client's exceptions quote the endpoint, and one raised beside them would print them.
        if problem is not None:
            return self._unanswered(problem, took())
        if not response.is_success:
            return self._refused(response, took())
        content = self._without_key(response.content)
        if read_completion(content) is None and (complaint := read_complaint(content)) and complaint.message:
            # Some servers in between answer 200 and put the refusal into the body.
            return self._problem(complaint.status or 502, complaint, content, response.headers, took())
        return Answered(content, took(), response.status_code)

    def _refused(self, response: "httpx2.Response", took: int) -> Problem:
        content = self._without_key(response.content)
        complaint = read_complaint(content) or Complaint()
        return self._problem(response.status_code, complaint, content, response.headers, took)

    def _problem(self, status: int, said: Complaint, content: bytes, headers: Mapping[str, str], took: int) -> Problem:
        kind = kind_of(status, said)
        return Problem(
            kind=kind,
            sentence=self._sentence(kind, status, said),
            latency_ms=took,
            http_status=status,
            body=content,
            retry_after=read_retry_after(headers) if kind in {Kind.TOO_MANY, Kind.FAULT} else None,
        )

    def _unanswered(self, problem: BaseException, took: int) -> Problem:
        """No connection, or one that broke: then the call may have been worked on, and may be billed."""
        import httpx2

        if isinstance(problem, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
            return Problem(Kind.UNREACHED, f"{self._host} can't be reached.", took)
        if isinstance(problem, TimeoutError | httpx2.TimeoutException):
            sentence = f"{self._host} did not answer within {self._seconds:g} seconds."
            return Problem(Kind.FAULT, sentence, took, is_possibly_billed=True)
        sentence = f"The connection to {self._host} broke before the answer was complete ({type(problem).__name__})."
        return Problem(Kind.FAULT, sentence, took, is_possibly_billed=True)

    def _sentence(self, kind: Kind, status: int, said: Complaint) -> str:
        unusable = next((words for test, words in _UNUSABLE if test(status, said)), _OTHERWISE_UNUSABLE)
        reason = unusable if kind is Kind.UNUSABLE else _REASONS[kind]
        heard = self._without_key(said.message.strip().encode("utf-8", "replace")).decode("utf-8", "replace")
        heard = " ".join(heard.replace("\x00", " ").split())[:300]
        return f"{self._host} {reason} ({status})" + (f": {heard}" if heard else ".")

    def _without_key(self, content: bytes) -> bytes:
        # An endpoint may quote the key that it was given, in an error or in an echo.
        return content.replace(self._key.encode(), b"[key]") if len(self._key) >= 8 else content


def read_key(variable: str, environment: Mapping[str, str] = os.environ) -> str:
    """The key that an environment variable holds; '' where no variable is named. Raises KeyIsMissing."""
    if not variable:
        return ""
    key = environment.get(variable, "").strip()
    if not key:
        raise KeyIsMissing(
            f"The environment variable {variable}, which holds the key, isn't set where the worker runs."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise KeyIsMissing(f"What the environment variable {variable} holds is no key.")
    return key


def kind_of(status: int, said: Complaint) -> Kind:
    """What a refusal means, by its status and by what it says."""
    words = said.words
    if 300 <= status < 400 or status in {401, 402, 403, 404, 405, 410} or _has_no_credit(status, said):
        return Kind.UNUSABLE
    if status == 413 or (status in {400, 422, 500} and _says(words, _TOO_LONG)):
        return Kind.TOO_LONG
    if status in {400, 422}:
        if _says(words, ("content_filter", "content filter", "responsibleaipolicy", "content management policy")):
            return Kind.FILTERED
        if _says(words, ("response_format", "json_schema", "response format", "json schema", "structured output")):
            return Kind.NO_SCHEMA
        return Kind.UNUSABLE if _is_unknown_model(status, said) else Kind.NOT_ACCEPTED
    if status == 429:
        return Kind.TOO_MANY
    return Kind.FAULT if status >= 500 or status in {408, 409, 425, 499} else Kind.NOT_ACCEPTED


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (seconds or a date); None where it makes no sense."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "").strip()) / scale
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return min(seconds, LONGEST_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    seconds = (at - datetime.now(UTC)).total_seconds()
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER)


_TOO_LONG = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "exceed_context",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "max_model_len",
    "maximum number of tokens",
    "reduce the length",
    "string_above_max_length",
)
_NO_MONEY = ("insufficient_quota", "billing", "insufficient balance", "insufficient credit", "credit balance")
_REASONS = {
    Kind.TOO_LONG: "says that the texts are longer than the model's context",
    Kind.FILTERED: "stopped the call by its content filter",
    Kind.NO_SCHEMA: "does not take a schema for the answer",
    Kind.NOT_ACCEPTED: "does not accept the call",
    Kind.TOO_MANY: "has too many calls at the moment",
    Kind.FAULT: "has a fault",
    Kind.UNREACHED: "can't be reached",
}
_OTHERWISE_UNUSABLE = "answers, but has no chat completions at this address"


def _says(words: str, any_of: tuple[str, ...]) -> bool:
    return any(word in words for word in any_of)


def _has_no_credit(status: int, said: Complaint) -> bool:
    # Elsewhere the message may quote the study's own texts.
    words = said.words if status in {402, 403, 429} else f"{said.code} {said.kind}".casefold()
    return status == 402 or _says(words, _NO_MONEY)


def _is_unknown_model(status: int, said: Complaint) -> bool:
    if said.code == "model_not_found":
        return True
    is_about_a_model = "model" in said.words and _says(said.words, ("not found", "not exist", "unknown", "no such"))
    return is_about_a_model and status in {400, 404, 422}


_UNUSABLE = (
    (_has_no_credit, "has no credit left for this key"),
    (lambda status, said: status == 401, "refuses the key"),
    (_is_unknown_model, "does not know the model"),
    (lambda status, said: status == 403, "does not allow this key to use the model"),
    (lambda status, said: 300 <= status < 400, "sends the call to another address, and calls are not sent on"),
)
