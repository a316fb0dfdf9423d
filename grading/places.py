"""Places at an endpoint: how many calls may be under way at once, over all workers together.

An endpoint with n places has n locks in PostgreSQL; whoever holds one may have a call under way. A worker keeps its
places while it has work for them, and gives them back when it has none, or when another worker that waits has less
than its share. A call that waits for an endpoint's Retry-After keeps no place.

A response that was begun goes before one that was not: its calls follow each other while the endpoint still holds the
prefix that they share.
"""

import asyncio
import hashlib
import logging
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import psycopg

from grading.session import Session

logger = logging.getLogger(__name__)

PRESENT, HUNGRY = 1_000_001, 1_000_002
"""Numbers beyond all places: locks that workers share, to count who works here and who waits for a place."""

SECONDS_IDLE = 1.0
SECONDS_BETWEEN_TRIES = 0.2
SECONDS_BETWEEN_LOOKS = 1.0


def places_key(queue: str) -> int:
    """The first of the two numbers of an endpoint's locks: 31 bits of its queue's hash."""
    return int.from_bytes(hashlib.sha256(f"places {queue}".encode()).digest()[:4], "big") & 0x7FFFFFFF


class _Taken:
    """A place that is this worker's, until it is given back or lost with the connection."""

    def __init__(self, number: int) -> None:
        self.number = number


class Places:
    """This worker's places at one endpoint. ``on_waiting`` is told when a call begins (+1) or ends (-1) to wait."""

    def __init__(self, session: Session, queue: str, *, limit: int, on_waiting: Callable[[int], None]) -> None:
        self.limit = limit
        self._session, self._key, self._on_waiting = session, places_key(queue), on_waiting
        self._mine: dict[int, _Taken] = {}
        self._idle: list[_Taken] = []
        self._going_on: deque[asyncio.Future[_Taken]] = deque()
        self._beginning: deque[asyncio.Future[_Taken]] = deque()
        self._allowance: int | None = None
        self._is_hungry = False
        self._stir = asyncio.Event()
        self._tending: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def one(self, *, is_going_on: bool = False) -> AsyncIterator[None]:
        """Wait for a place, and have it. ``is_going_on``: before all calls that aren't, for a response begun."""
        place = await self._take(self._going_on if is_going_on else self._beginning)
        try:
            yield
        finally:
            self._hand_on(place)

    async def close(self) -> None:
        if self._tending is not None:
            self._tending.cancel()
            with suppress(asyncio.CancelledError):
                await self._tending

    @property
    def _waiting(self) -> int:
        return len(self._going_on) + len(self._beginning)

    @property
    def _allowed(self) -> int:
        return self.limit if self._allowance is None else min(self.limit, self._allowance)

    @property
    def _surplus(self) -> int:
        return len(self._mine) - self._allowed

    async def _take(self, line: "deque[asyncio.Future[_Taken]]") -> _Taken:
        if self._idle and not self._waiting and self._surplus <= 0:
            return self._idle.pop()
        waiter: asyncio.Future[_Taken] = asyncio.get_running_loop().create_future()
        line.append(waiter)
        self._on_waiting(1)
        self._tend()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # it got a place in the very moment
                self._hand_on(waiter.result())
            else:
                line.remove(waiter)
                self._on_waiting(-1)
            raise

    def _hand_on(self, place: _Taken) -> None:
        """A place without a call goes to the next that waits, or back where this worker has too many."""
        if self._mine.get(place.number) is place:
            self._idle.append(place)
            self._serve()
            if self._idle:
                self._tend()

    def _serve(self) -> None:
        while self._idle and self._waiting and self._surplus <= 0:
            waiter = (self._going_on or self._beginning).popleft()
            self._on_waiting(-1)
            if not waiter.done():
                waiter.set_result(self._idle.pop())

    def _lose(self, number: int) -> None:
        place = self._mine.pop(number, None)
        if place in self._idle:
            self._idle.remove(place)

    # Tending: one coroutine while there is anything to take or to give back.

    def _tend(self) -> None:
        self._stir.set()
        if self._tending is None or self._tending.done():
            self._tending = asyncio.ensure_future(self._tend_until_idle())

    async def _tend_until_idle(self) -> None:
        looked_at = idle_since = 0.0
        await self._quietly(self._session.share(self._key, PRESENT))
        try:
            while self._waiting or self._mine:
                self._stir.clear()
                await self._take_more()
                now = time.monotonic()
                if now - looked_at >= SECONDS_BETWEEN_LOOKS:
                    await self._quietly(self._look_at_others())
                    looked_at = now
                idle_since = (idle_since or now) if self._idle and not self._waiting else 0.0
                is_idle = bool(idle_since) and now - idle_since >= SECONDS_IDLE
                await self._give_back(len(self._idle) if is_idle else self._surplus)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await self._stir.wait()
        finally:
            await self._quietly(self._leave())

    def _pause(self) -> float:
        if self._waiting and len(self._mine) < self._allowed:
            return SECONDS_BETWEEN_TRIES
        return SECONDS_BETWEEN_LOOKS if self._waiting or self._mine else 0.0

    async def _take_more(self) -> None:
        wanted = min(self._waiting, -self._surplus)
        if wanted <= 0:
            return
        start = random.randrange(self.limit)
        numbers = [(start + step) % self.limit for step in range(self.limit)]
        try:
            taken = await self._session.take_places(self._key, numbers, most=wanted, on_lost=self._lose)
        except psycopg.OperationalError as problem:
            logger.warning("No place could be asked for: %s", problem)
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)
            return
        for number in taken:
            self._mine[number] = _Taken(number)
            self._idle.append(self._mine[number])
        self._serve()

    async def _give_back(self, number: int) -> None:
        given, self._idle = self._idle[: max(0, number)], self._idle[max(0, number) :]
        for place in given:
            self._mine.pop(place.number, None)
        if given:
            await self._quietly(self._session.give_places(self._key, [place.number for place in given]))

    async def _look_at_others(self) -> None:
        """Keep to this worker's share while another waits that has less than its own."""
        others = await self._session.count_sharing(self._key)
        share = max(1, self.limit // (1 + others.get(PRESENT, 0)))
        self._allowance = share if others.get(HUNGRY) else None
        is_hungry = bool(self._waiting) and len(self._mine) < share
        if is_hungry != self._is_hungry:
            self._is_hungry = is_hungry
            change = self._session.share if is_hungry else self._session.unshare
            await change(self._key, HUNGRY)

    async def _leave(self) -> None:
        await self._give_back(len(self._idle))
        if self._is_hungry:
            self._is_hungry = False
            await self._session.unshare(self._key, HUNGRY)
        await self._session.unshare(self._key, PRESENT)

    async def _quietly(self, act: "asyncio.Future[None] | object") -> None:
        try:
            await act  # type: ignore[misc]
        except psycopg.OperationalError as problem:
            logger.warning("Places could not be tended: %s", problem)
