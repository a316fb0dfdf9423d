"""A worker's own session with PostgreSQL, for what the session itself must hold: locks, and reading beside them.

PostgreSQL frees a session's advisory locks when its connection ends, so a killed worker leaves nothing locked. When
PostgreSQL is restarted the session connects again and takes its locks again; whatever another worker got meanwhile is
told as lost. It runs in autocommit: no transaction stays open across a call to an endpoint.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, LiteralString, Self

import psycopg
from psycopg.rows import dict_row

logger = logging.getLogger(__name__)

Connection = psycopg.AsyncConnection[dict[str, Any]]

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_UNTIL_NEXT_TRY = 0.25

# A machine that is lost, and not only the worker on it, ends no connection by itself; PostgreSQL has to ask.
_KEEPALIVE = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)


@dataclass(frozen=True, slots=True)
class Hold:
    """A lock that one worker holds alone: a signed 64-bit number."""

    key: int


@dataclass(frozen=True, slots=True)
class Place:
    """One of the numbered places of an endpoint: two 32-bit numbers."""

    endpoint: int
    number: int


Lock = Hold | Place
OnLost = Callable[[], None]


async def connect(parameters: Mapping[str, Any], *, name: str) -> Connection:
    """A connection in autocommit, with prepared statements. ``parameters`` are libpq's."""
    facts: dict[str, Any] = {**parameters, "autocommit": True, "prepare_threshold": 3, "application_name": name}
    return await psycopg.AsyncConnection.connect(**facts, row_factory=dict_row)


class Session:
    """One connection that holds locks and connects again when it must. ``async with`` opens and ends it."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        self._held: dict[Lock, OnLost] = {}
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        async with self._turn:
            await self._connected()
        self._watch = asyncio.ensure_future(self._keep_alive())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        async with self._turn:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None
        self._held.clear()

    async def rows(
        self, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[dict[str, Any]]:
        """The rows of one statement, each a mapping. Raises OperationalError when PostgreSQL can't be reached."""
        async with self._turn:
            for is_last in (False, True):
                connection = await self._connected()
                try:
                    cursor = await connection.execute(query, parameters)
                    return await cursor.fetchall() if cursor.description else []
                except psycopg.OperationalError:
                    # A break is found out only by asking. Every statement here may be made twice.
                    if is_last or not connection.closed:
                        raise
        raise AssertionError("never reached")

    async def hold(self, key: int, *, on_lost: OnLost) -> bool:
        """Take a lock for this worker; False where this or another worker has it."""
        lock = Hold(key)
        if lock in self._held:
            return False
        rows = await self.rows("SELECT pg_try_advisory_lock(%s::bigint) AS taken", [key])
        if rows[0]["taken"]:
            self._held[lock] = on_lost
        return bool(rows[0]["taken"])

    async def let_go(self, key: int) -> None:
        """Free a lock taken by ``hold``."""
        if self._held.pop(Hold(key), None) is not None:
            with contextlib.suppress(psycopg.OperationalError):  # then it is free already
                await self.rows("SELECT pg_advisory_unlock(%s::bigint)", [key])

    async def take_places(
        self, endpoint: int, numbers: Iterable[int], *, most: int, on_lost: Callable[[int], None]
    ) -> list[int]:
        """Take up to ``most`` of an endpoint's places that nobody has; answers their numbers."""
        wanted = [number for number in numbers if Place(endpoint, number) not in self._held]
        if not wanted or most < 1:
            return []
        # LIMIT ends the scan once enough are taken: no place is locked that was not asked for.
        rows = await self.rows(
            "SELECT number FROM unnest(%s::int[]) AS number WHERE pg_try_advisory_lock(%s::int, number) LIMIT %s",
            [wanted, endpoint, most],
        )
        taken = [int(row["number"]) for row in rows]
        for number in taken:
            self._held[Place(endpoint, number)] = lambda number=number: on_lost(number)  # type: ignore[misc]
        return taken

    async def give_places(self, endpoint: int, numbers: Iterable[int]) -> None:
        """Free places taken by ``take_places``."""
        given = [number for number in numbers if self._held.pop(Place(endpoint, number), None) is not None]
        if given:
            with contextlib.suppress(psycopg.OperationalError):
                await self.rows(
                    "SELECT pg_advisory_unlock(%s::int, number) FROM unnest(%s::int[]) AS number", [endpoint, given]
                )

    async def share(self, endpoint: int, number: int) -> None:
        """Take a lock that others may share, by which workers count each other."""
        await self.rows("SELECT pg_try_advisory_lock_shared(%s::int, %s::int)", [endpoint, number])

    async def unshare(self, endpoint: int, number: int) -> None:
        with contextlib.suppress(psycopg.OperationalError):
            await self.rows("SELECT pg_advisory_unlock_shared(%s::int, %s::int)", [endpoint, number])

    async def count_sharing(self, endpoint: int) -> dict[int, int]:
        """How many other sessions share each numbered lock of an endpoint."""
        rows = await self.rows(
            """
            SELECT objid::bigint AS number, count(*) AS sessions FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 2 AND mode = 'ShareLock' AND granted
              AND classid = %s::bigint::oid AND pid <> pg_backend_pid()
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            GROUP BY objid
            """,
            [endpoint],
        )
        return {int(row["number"]): int(row["sessions"]) for row in rows}

    # The connection

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._parameters, name="consilium grading session")
            await self._connection.execute(_KEEPALIVE)
            await self._take_again(self._connection)
        return self._connection

    async def _take_again(self, connection: Connection) -> None:
        """After a break: whoever holds a lock from before has it again, or is told that it is lost."""
        before, lost = dict(self._held), []
        holds = [lock.key for lock in before if isinstance(lock, Hold)]
        places = [lock for lock in before if isinstance(lock, Place)]
        again: set[Lock] = set()
        if holds:
            cursor = await connection.execute(
                "SELECT key FROM unnest(%s::bigint[]) AS key WHERE pg_try_advisory_lock(key)", [holds]
            )
            again |= {Hold(int(row["key"])) for row in await cursor.fetchall()}
        if places:
            cursor = await connection.execute(
                "SELECT endpoint, number FROM unnest(%s::int[], %s::int[]) AS place (endpoint, number) "
                "WHERE pg_try_advisory_lock(endpoint, number)",
                [[lock.endpoint for lock in places], [lock.number for lock in places]],
            )
            again |= {Place(int(row["endpoint"]), int(row["number"])) for row in await cursor.fetchall()}
        for lock, on_lost in before.items():
            if lock not in again and self._held.pop(lock, None) is not None:
                lost.append(on_lost)
        for on_lost in lost:
            on_lost()
        if before:
            logger.warning("Connected to PostgreSQL again: %d locks taken again, %d lost.", len(again), len(lost))

    async def _keep_alive(self) -> None:
        """Notice a break soon, and not only when the next call ends."""
        pause = SECONDS_BETWEEN_LOOKS
        while True:
            await asyncio.sleep(pause)
            try:
                await self.rows("SELECT 1")
                pause = SECONDS_BETWEEN_LOOKS
            except psycopg.OperationalError:
                pause = SECONDS_UNTIL_NEXT_TRY
