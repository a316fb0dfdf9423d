"""A stand-in for a grader's endpoint: an HTTP server on a socket that speaks chat completions.

It reads the prompt as a model would have to: by the code on the borders. What it answers comes from a rule over the
criterion's and the response's text, so that a test knows every verdict beforehand; or from a script that a test gives
(a wait, a refusal, silence, rubbish). It counts what it was asked and how many calls were open at once.

    with Endpoint(rule=judged) as endpoint:
        endpoint.url        # http://127.0.0.1:PORT/v1
    python -m tests.grading.endpoint --port 9000 --latency 0.1
"""

import argparse
import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

Verdict = str | None
"""met, not_met, or None: it can't be told."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as the endpoint saw it. ``number`` counts all calls, ``turn`` those about this pair, both from 1."""

    number: int
    turn: int
    criterion: str
    response: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send back. Without ``content``, ``error`` or ``raw`` the rule's verdict is given."""

    content: str | None = None
    status: int = 200
    error: dict[str, Any] | None = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    latency: float | None = None
    finish_reason: str = "stop"
    message: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    is_silent: bool = False
    is_cut: bool = False


Script = Callable[[Asked], Answer | None]


def default_rule(criterion: str, response: str) -> Verdict:
    return "met" if hashlib.sha256(f"{criterion}\0{response}".encode()).digest()[0] % 2 else "not_met"


def verdict_as_reply(verdict: Verdict, *, explanation: str = "By the rule.") -> str:
    met = {"met": True, "not_met": False, None: None}[verdict]
    return json.dumps({"explanation": explanation, "quotes": [], "condition_absent": False, "criteria_met": met})


def point_of(asked: Asked) -> int:
    """The number at the end of a criterion such as "Asks about 3, point 2." """
    return int(asked.criterion.rstrip(".").rsplit(" ", 1)[1])


def quoted_parts(prompt: str) -> tuple[str, str]:
    """The criterion and the response that a prompt quotes, found by the code that its first line gives."""
    code = prompt.split("\n", 1)[0].removeprefix("The code is ").removesuffix(".")

    def part(name: str) -> str:
        begin = f"\n<<{code} {name}\n"
        return prompt[prompt.index(begin) + len(begin) : prompt.index(f"\n<<{code} END OF {name}")]

    return part("CRITERION"), part("RESPONSE")


class Endpoint:
    """The server, in a thread of its own. ``script`` may answer a call in place of the rule, or leave it (None)."""

    def __init__(
        self,
        *,
        rule: Callable[[str, str], Verdict] = default_rule,
        script: Script | None = None,
        latency: float = 0.0,
        criteria: Collection[str] | None = None,
        responses: Collection[str] | None = None,
        port: int = 0,
        keeps_calls: bool = True,
    ) -> None:
        self.rule, self.script, self.latency = rule, script, latency
        self.criteria = set(criteria) if criteria is not None else None
        self.responses = set(responses) if responses is not None else None
        self.port = port
        self.calls = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.asked: list[Asked] = []
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.surprises: list[str] = []
        self._keeps_calls = keeps_calls
        self._prefixes: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._connections: set[_Connection] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert not self.surprises or kind is not None, self.surprises

    def start(self) -> None:
        self._ready.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10), "The stand-in endpoint doesn't start."

    def stop(self) -> None:
        """Close everything at once, as a machine does that is switched off. It can be started again on its port."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(10)
            self._loop = None

    async def serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=2048)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopped.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()

    async def answer(self, path: str, headers: dict[str, str], content: bytes) -> tuple[Answer, bytes] | None:
        """What goes back for a request; None is silence."""
        if path != "/v1/chat/completions":
            return _error(404, {"message": f"no such path: {path}", "code": 404})
        asked = self._read(headers, json.loads(content))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            given = (self.script(asked) if self.script else None) or Answer()
            wait = self.latency if given.latency is None else given.latency
            if given.is_silent:
                await asyncio.sleep(3600)
            if wait:
                await asyncio.sleep(wait)
        finally:
            self.in_flight -= 1
        if given.raw is not None:
            return given, given.raw
        if given.error is not None:
            return given, json.dumps({"error": given.error}).encode()
        content_given = given.content
        if content_given is None:
            content_given = verdict_as_reply(self.rule(asked.criterion, asked.response))
        return given, self._completion(asked, given, content_given)

    def _read(self, headers: dict[str, str], body: dict[str, Any]) -> Asked:
        criterion, response = quoted_parts(body["messages"][-1]["content"])
        if self.criteria is not None and criterion not in self.criteria:
            self.surprises.append(f"an unknown criterion: {criterion[:80]}")
        if self.responses is not None and response not in self.responses:
            self.surprises.append(f"an unknown response: {response[:80]}")
        self.calls += 1
        self.pairs[criterion, response] += 1
        asked = Asked(self.calls, self.pairs[criterion, response], criterion, response, body, headers, time.monotonic())
        if self._keeps_calls:
            self.asked.append(asked)
        return asked

    def _completion(self, asked: Asked, given: Answer, content: str) -> bytes:
        # Four characters a token, and a prefix cache that knows everything before the criterion.
        prefix = asked.prompt[: asked.prompt.rindex(" CRITERION\n")]
        is_cached = prefix in self._prefixes
        self._prefixes.add(prefix)
        prompt_tokens = sum(len(message["content"]) for message in asked.body["messages"]) // 4
        completion = {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": given.model or asked.body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, **given.message},
                    "finish_reason": given.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": len(content) // 4,
                "total_tokens": prompt_tokens + len(content) // 4,
                "prompt_tokens_details": {"cached_tokens": len(prefix) // 4 if is_cached else 0},
            },
        }
        return json.dumps(completion).encode()


def _error(status: int, error: dict[str, Any]) -> tuple[Answer, bytes]:
    return Answer(status=status), json.dumps({"error": error}).encode()


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, as little of it as a client needs."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.received = b""
        self.transport: asyncio.Transport | None = None
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.endpoint._connections.discard(self)
        if self.task:
            self.task.cancel()

    def abort(self) -> None:
        if self.transport:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.task is None or self.task.done():
            self._next()

    def _next(self) -> None:
        head, found, rest = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self.received = rest[length:]
        self.task = asyncio.ensure_future(self._answer(first.split(" ")[1], headers, rest[:length]))

    async def _answer(self, path: str, headers: dict[str, str], content: bytes) -> None:
        answer = await self.endpoint.answer(path, headers, content)
        if answer is None or self.transport is None:
            return
        given, body = answer
        lines = [f"HTTP/1.1 {given.status} Whatever", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in {"content-type": "application/json", **given.headers}.items()]
        message = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        if given.is_cut:
            self.transport.write(message[: -len(body) // 2])
            self.transport.close()
            return
        self.transport.write(message)
        self.task = None
        self._next()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="Seconds that every answer takes.")
    options = parser.parse_args()
    endpoint = Endpoint(latency=options.latency, port=options.port, keeps_calls=False)
    endpoint.start()
    print(endpoint.url, flush=True)  # noqa: T201
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        endpoint.stop()


if __name__ == "__main__":
    main()
