"""Asking as a reader: what comes back, with the clock and chance held still, and how two answers differ."""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar
from unittest.mock import patch

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.core import mail
from django.core.paginator import Paginator
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.http import QueryDict
from django.test import Client, TestCase
from django.utils import timezone

from tests.worlds.acts import Sent
from tests.worlds.scene import Scene


class Noticing(QueryDict):
    """An address's query that notes which of its parameters were asked for."""

    asked: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def getlist(self, key: str, *default: Any) -> Any:
        self.asked.add(key)
        return super().getlist(key, *default)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)


class Chance:
    """Bytes that look random and are the same for the same beginning."""

    def __init__(self) -> None:
        self.begin("")

    def begin(self, with_words: str) -> None:
        self._words, self._number = with_words.encode(), 0

    def name_a_mail(self, domain: str) -> str:
        return f"<{self.draw(8).hex()}@{domain}>"

    def draw(self, size: int) -> bytes:
        self._number += 1
        return hashlib.shake_128(self._words + self._number.to_bytes(8, "big")).digest(size)


@dataclass(frozen=True)
class Answer:
    """What came back, all that a browser or a stopwatch can tell of it."""

    status: int
    headers: dict[str, str]
    cookies: dict[str, str]
    body: bytes
    mails: tuple[str, ...]
    queries: tuple[tuple[str, int], ...]
    """Each statement with its placeholders and how many rows it found: whoever has as much to do takes as long."""
    session: dict[str, Any] = field(default_factory=dict)
    """What the person's session holds after an act: sentences that the next page says among it."""


def fields_that_begin_now() -> list[Any]:
    """The fields that hold the clock's own function as their default, where no other clock reaches it."""
    return [field for model in apps.get_models() for field in model._meta.fields if field.default is timezone.now]


SAVEPOINT = re.compile(r"\"s\d+_x\d+\"")


class Asker:
    """One reader's browser in the world that one is in, with the clock and chance held still."""

    def __init__(self, scene: Scene, reader: str) -> None:
        self.client = Client()
        self.session, self.moment, self.chance = scene.sessions.get(reader, ""), scene.moment, Chance()
        self.reader, self.asked = reader, 0

    @contextmanager
    def held_still(self) -> Iterator[None]:
        paged = Paginator.__init__

        def by_three(this: Any, rows: Any, per_page: Any, *args: Any, **facts: Any) -> None:
            paged(this, rows, min(int(per_page), 3), *args, **facts)

        def now() -> datetime:
            return self.moment

        with ExitStack() as stack:
            for field in fields_that_begin_now():
                stack.enter_context(patch.dict(field.__dict__, {"default": now, "_get_default": now}))
            stack.enter_context(patch("django.utils.timezone.now", now))
            stack.enter_context(patch("time.time", self.moment.timestamp))
            stack.enter_context(patch("django.core.mail.message.make_msgid", self.chance.name_a_mail))
            stack.enter_context(patch("os.urandom", self.chance.draw))
            stack.enter_context(patch("random._urandom", self.chance.draw))
            stack.enter_context(patch("django.core.handlers.wsgi.QueryDict", Noticing))
            stack.enter_context(patch.object(Paginator, "__init__", by_three))  # so that short lists have pages
            yield

    def ask(self, method: str, address: str, **facts: Any) -> Answer:
        """Send one request, as a browser with nothing but its session."""
        return self._answered(lambda: self.client.generic(method, address, **facts))

    def send(self, address: str, act: Sent, *, as_json: bool = False, **facts: Any) -> Answer:
        """Do an act and undo it, with what comes before it."""
        if act.has_file or not as_json:
            return self.undone(
                lambda: self._answered(lambda: self.client.post(address, act.as_form(), **facts)), first=act.first
            )
        body = json.dumps(act.data, cls=DjangoJSONEncoder)
        facts["content_type"] = "application/json"
        return self.undone(
            lambda: self._answered(lambda: self.client.generic(act.method, address, body, **facts)), first=act.first
        )

    def undone(self, do: Callable[[], Answer], *, first: Callable[[], object] | None = None) -> Answer:
        """What is answered when something is done and undone again; mails are sent as if it had been kept."""
        with transaction.atomic():
            if first is not None:
                first()
                take_mails()
            with TestCase.captureOnCommitCallbacks(execute=True):
                answer = do()
            session = dict(SessionStore(session_key=self.session).load())
            transaction.set_rollback(True)
        return replace(answer, mails=answer.mails + take_mails(), session=session)

    def _answered(self, ask: Callable[[], Any]) -> Answer:
        self.client.cookies.clear()
        self.client.cookies[settings.SESSION_COOKIE_NAME] = self.session
        self.asked += 1
        self.chance.begin(f"{self.reader} {self.asked}")  # another one each time: ids of new rows must differ
        Noticing.asked.clear()
        queries: list[tuple[str, int]] = []
        with connection.execute_wrapper(noting(queries)):
            response = ask()
            body = response.getvalue() if response.streaming else response.content
        cookies = {name: morsel.OutputString() for name, morsel in response.cookies.items()}
        return Answer(response.status_code, dict(response.headers), cookies, body, take_mails(), tuple(queries))


def noting(queries: list[tuple[str, int]]) -> Callable[..., Any]:
    """A wrapper that notes each statement with the number of rows that it found."""

    def note(execute: Any, statement: str, parameters: Any, many: bool, context: Any) -> Any:
        result = execute(statement, parameters, many, context)
        queries.append((SAVEPOINT.sub("(savepoint)", str(statement)), context["cursor"].rowcount))
        return result

    return note


def take_mails() -> tuple[str, ...]:
    """The mails that were sent since they were last taken."""
    mails = tuple(str(sent.message()) for sent in getattr(mail, "outbox", []))
    mail.outbox = []
    return mails


Key = tuple[str, ...]
Answers = dict[Key, Answer]


ASPECTS = ("status", "headers", "cookies", "body", "mails", "queries", "session")


def differences(one: Answers, other: Answers, *, but_for: Container[Key] = ()) -> list[str]:
    """A line for whatever differs, named by what was asked for. Queries may differ of acts that end blindness."""
    found = [f"{key}: asked for in one world alone" for key in one.keys() ^ other.keys()]
    for key in one.keys() & other.keys():
        for aspect in ASPECTS:
            this, that = getattr(one[key], aspect), getattr(other[key], aspect)
            if this == that or (aspect == "queries" and key in but_for):
                continue
            if aspect == "body":
                this, that = this.splitlines(), that.splitlines()
            if aspect in {"body", "queries", "mails"}:
                pairs = [pair for pair in itertools.zip_longest(this, that) if pair[0] != pair[1]]
                told = f"{pairs[0][0]!r:.600} against {pairs[0][1]!r:.600} ({len(this)} and {len(that)})"
            else:
                told = f"{this!r:.600} against {that!r:.600}"
            found.append(f"{key} {aspect}: {told}")
    return sorted(found)
