"""The ledger: every attempt committed before its call is sent, completed after, with the grade that it gave.

One writer with a connection of its own commits what many calls hand it, in small batches, and wakes them; nobody is
told before the commit. An attempt opens only while its run goes on, and a grade stands only if its own attempt was
ended by this very entry: a worker that was taken for dead, and another that took over, never both write.

While PostgreSQL is restarted the entries wait and are written again. That is safe, because each is known by times
that only this writer gave: what was committed just before the break is found, and not written twice.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Jsonb

from grading.session import Connection, connect

logger = logging.getLogger(__name__)

MOST_IN_A_BATCH = 500
SECONDS_OF_PATIENCE = 300


class RunHasStopped(Exception):
    """The run was paused, cancelled, or ended: no call is made for it."""


class PairIsTaken(Exception):
    """Another worker has opened an attempt for this pair."""


@dataclass(frozen=True, slots=True)
class PairKey:
    """One response x criterion x repeat of a run."""

    run_id: UUID
    response_id: UUID
    criterion_id: UUID
    repeat: int


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """What a pair's grade will say. ``quotes`` are [{text, is_found}]."""

    verdict: str
    reason: str = ""
    explanation: str = ""
    quotes: Sequence[Mapping[str, Any]] = ()
    condition_absent: bool | None = None
    is_contradicting_itself: bool = False


@dataclass(slots=True)
class Opening:
    """An attempt that is about to be sent."""

    pair: PairKey
    number: int
    request_sha256: str
    sent_at: datetime
    told: asyncio.Future[int]


@dataclass(slots=True)
class Ending:
    """How an attempt ended, and the grade that it gave, if any. ``attempt_id`` None is a grade without a call."""

    pair: PairKey
    attempt_id: int | None
    told: asyncio.Future[bool]
    status: str = ""
    raw_reply: bytes | None = None
    http_status: int | None = None
    problem: str = ""
    model_returned: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    latency_ms: int | None = None
    grade: GivenGrade | None = None
    ended_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    grade_id: UUID = field(default_factory=uuid4)


class Ledger:
    """The writer of one worker. ``async with`` opens and ends it; at its end everything handed in is written."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._connection: Connection | None = None
        self._openings: list[Opening] = []
        self._endings: list[Ending] = []
        self._batch: tuple[list[Opening], list[Ending]] = [], []
        self._work = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._is_closing = False
        self.commits = 0

    async def __aenter__(self) -> Self:
        self._connection = await connect(self._parameters, name="consilium grading ledger")
        self._writing = asyncio.ensure_future(self._write_on())
        self._writing.add_done_callback(self._writer_ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        self._work.set()
        if self._writing is not None:
            with suppress(asyncio.CancelledError):
                await self._writing
        if self._connection is not None:
            await self._connection.close()

    async def open(self, pair: PairKey, *, number: int, request_sha256: str) -> int:
        """Commit that a call is about to be sent; answers the attempt's id. Raises RunHasStopped, PairIsTaken."""
        self._check_writer()
        told: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._openings.append(Opening(pair, number, request_sha256, datetime.now(UTC), told))
        self._work.set()
        return await told

    async def end(self, ending: Ending) -> bool:
        """Commit how an attempt ended, with its grade; False where it had been ended for us meanwhile."""
        self._check_writer()
        self._endings.append(ending)
        self._work.set()
        return await ending.told

    def ending(self, pair: PairKey, attempt_id: int | None, **facts: Any) -> Ending:
        """An entry for ``end``; see Ending for the facts."""
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        return Ending(pair, attempt_id, told, **facts)

    # Writing

    @property
    def is_open(self) -> bool:
        return self._writing is not None and not self._writing.done()

    def _check_writer(self) -> None:
        if not self.is_open:
            raise RuntimeError("The ledger isn't open.")

    def _writer_ended(self, writing: asyncio.Task[None]) -> None:
        """Nobody may wait for ever for a writer that met something unforeseen."""
        if not writing.cancelled() and (problem := writing.exception()) is not None:
            logger.error("The ledger's writer ended.", exc_info=problem)
            openings, self._openings = self._openings, []
            endings, self._endings = self._endings, []
            _tell_all([*self._batch[0], *openings], [*self._batch[1], *endings], problem)

    async def _write_on(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while self._openings or self._endings:
                # Let the calls that are ready in this turn of the loop hand in theirs.
                await asyncio.sleep(0)
                endings, self._endings = self._endings[:MOST_IN_A_BATCH], self._endings[MOST_IN_A_BATCH:]
                openings, self._openings = self._openings[:MOST_IN_A_BATCH], self._openings[MOST_IN_A_BATCH:]
                self._batch = openings, endings
                await self._write_patiently(openings, endings)
                self._batch = [], []
            if self._is_closing:
                return

    async def _write_patiently(self, openings: list[Opening], endings: list[Ending]) -> None:
        """Write a batch, over breaks of the connection; an entry that can't be written spoils no other."""
        begun, is_told = asyncio.get_running_loop().time(), False
        while True:
            try:
                await self._write(openings, endings)
            except psycopg.Error as problem:
                is_broken = self._connection is None or self._connection.closed
                if not (is_broken or isinstance(problem, psycopg.OperationalError)):
                    return await self._write_one_by_one(openings, endings, problem)
                if asyncio.get_running_loop().time() - begun > SECONDS_OF_PATIENCE:
                    return _tell_all(openings, endings, problem)
                if not is_told:
                    logger.warning("The ledger waits for PostgreSQL: %s", str(problem).strip().split("\n")[0])
                    is_told = True
                await asyncio.sleep(0.25)
            else:
                return

    async def _write_one_by_one(self, openings: list[Opening], endings: list[Ending], problem: psycopg.Error) -> None:
        if len(openings) + len(endings) == 1:
            return _tell_all(openings, endings, problem)
        for ending in endings:
            await self._write_patiently([], [ending])
        for opening in openings:
            await self._write_patiently([opening], [])

    async def _write(self, openings: list[Opening], endings: list[Ending]) -> None:
        connection = await self._connected()
        async with connection.pipeline(), connection.transaction():
            if calls := [ending for ending in endings if ending.attempt_id is not None]:
                end_cursor = await connection.execute(_END, _columns([_ending_row(ending) for ending in calls]))
            if grades := [ending for ending in endings if ending.grade is not None]:
                await connection.execute(_GRADE, _columns([_grade_row(ending) for ending in grades]))
            if openings:
                open_cursor = await connection.execute(_OPEN, _columns([_opening_row(each) for each in openings]))
        # Committed. Fetched only here, so that a batch takes one way to PostgreSQL and back.
        self.commits += 1
        ended = {int(row["id"]) for row in await end_cursor.fetchall()} if calls else set()
        opened = await open_cursor.fetchall() if openings else []
        for ending in endings:
            if not ending.told.done():
                ending.told.set_result(ending.attempt_id is None or ending.attempt_id in ended)
        self._tell_opened(openings, opened)

    def _tell_opened(self, openings: list[Opening], rows: list[dict[str, Any]]) -> None:
        found = {
            (PairKey(row["run_id"], row["response_id"], row["criterion_id"], row["repeat"]), row["number"]): row
            for row in rows
        }
        for opening in openings:
            if opening.told.done():
                continue
            row = found.get((opening.pair, opening.number))
            if row is None or row["has_stopped"]:
                opening.told.set_exception(RunHasStopped())
            elif row["attempt_id"] is None:
                opening.told.set_exception(PairIsTaken())
            else:
                opening.told.set_result(int(row["attempt_id"]))

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._parameters, name="consilium grading ledger")
        return self._connection


def _tell_all(openings: list[Opening], endings: list[Ending], problem: BaseException) -> None:
    waiting: list[asyncio.Future[Any]] = [*(each.told for each in openings), *(each.told for each in endings)]
    for told in waiting:
        if not told.done():
            told.set_exception(problem)


def _columns(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """For unnest: one array a column."""
    return [list(column) for column in zip(*rows, strict=True)]


def _opening_row(opening: Opening) -> tuple[Any, ...]:
    pair = opening.pair
    return (
        pair.run_id,
        pair.response_id,
        pair.criterion_id,
        pair.repeat,
        opening.number,
        opening.request_sha256,
        opening.sent_at,
    )


def _ending_row(ending: Ending) -> tuple[Any, ...]:
    return (
        ending.attempt_id,
        ending.ended_at,
        ending.status,
        ending.raw_reply,
        ending.http_status,
        _storable(ending.problem),
        _storable(ending.model_returned)[:200],
        _storable(ending.finish_reason)[:40],
        ending.prompt_tokens,
        ending.cached_tokens,
        ending.completion_tokens,
        ending.reasoning_tokens,
        ending.latency_ms,
    )


def _grade_row(ending: Ending) -> tuple[Any, ...]:
    pair, grade = ending.pair, ending.grade
    assert grade is not None
    return (
        ending.attempt_id,
        ending.ended_at,
        ending.grade_id,
        pair.run_id,
        pair.response_id,
        pair.criterion_id,
        pair.repeat,
        grade.verdict,
        grade.reason,
        _storable(grade.explanation),
        Jsonb([{**quote, "text": _storable(quote["text"])} for quote in grade.quotes]),
        grade.condition_absent,
        grade.is_contradicting_itself,
    )


def _storable(text: str) -> str:
    """The text without what PostgreSQL can't hold."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


# An ended attempt is found again by the time that this entry gave it, so that a second writing tells the same.
_END: LiteralString = """
    WITH given AS (
        SELECT * FROM unnest(%s::bigint[], %s::timestamptz[], %s::text[], %s::bytea[], %s::smallint[], %s::text[],
            %s::text[], %s::text[], %s::int[], %s::int[], %s::int[], %s::int[], %s::int[])
        AS given (id, ended_at, status, raw_reply, http_status, problem, model_returned, finish_reason,
            prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, latency_ms)
    ), ended AS (
        UPDATE grading_attempt AS attempt
        SET status = given.status, ended_at = given.ended_at, raw_reply = given.raw_reply,
            http_status = given.http_status, problem = given.problem, model_returned = given.model_returned,
            finish_reason = given.finish_reason, prompt_tokens = given.prompt_tokens,
            cached_tokens = given.cached_tokens, completion_tokens = given.completion_tokens,
            reasoning_tokens = given.reasoning_tokens, latency_ms = given.latency_ms
        FROM given
        WHERE attempt.id = given.id AND attempt.ended_at IS NULL
        RETURNING attempt.id
    )
    SELECT id FROM ended
    UNION
    SELECT attempt.id FROM given JOIN grading_attempt AS attempt USING (id, ended_at)
"""

_GRADE: LiteralString = """
    INSERT INTO grading_grade (id, run_id, response_id, criterion_id, repeat, verdict, reason, explanation, quotes,
                               condition_absent, is_contradicting_itself, graded_at)
    SELECT given.id, given.run_id, given.response_id, given.criterion_id, given.repeat, verdict, reason, explanation,
           quotes, condition_absent, is_contradicting_itself, clock_timestamp()
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::uuid[], %s::uuid[], %s::uuid[], %s::uuid[], %s::smallint[],
                %s::text[], %s::text[], %s::text[], %s::jsonb[], %s::boolean[], %s::boolean[])
    AS given (attempt_id, ended_at, id, run_id, response_id, criterion_id, repeat,
              verdict, reason, explanation, quotes, condition_absent, is_contradicting_itself)
    LEFT JOIN grading_attempt AS attempt ON attempt.id = given.attempt_id AND attempt.ended_at = given.ended_at
    WHERE given.attempt_id IS NULL OR attempt.id IS NOT NULL
    ON CONFLICT (run_id, response_id, criterion_id, repeat) DO NOTHING
"""

_OPEN: LiteralString = """
    WITH asked AS (
        SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::smallint[], %s::smallint[], %s::text[],
                             %s::timestamptz[])
        AS asked (run_id, response_id, criterion_id, repeat, number, request_sha256, sent_at)
    ), opened AS (
        INSERT INTO grading_attempt (run_id, response_id, criterion_id, repeat, number, status, request_sha256,
                                     reserved_tokens, problem, model_returned, finish_reason, sent_at)
        SELECT asked.run_id, response_id, criterion_id, repeat, number, 'open', request_sha256, 0, '', '', '', sent_at
        FROM asked JOIN grading_run AS run ON run.id = asked.run_id AND run.state IN ('queued', 'running')
        ON CONFLICT DO NOTHING
        RETURNING id, run_id, response_id, criterion_id, repeat, number
    )
    SELECT asked.run_id, asked.response_id, asked.criterion_id, asked.repeat, asked.number,
           coalesce(opened.id, earlier.id) AS attempt_id,
           run.state NOT IN ('queued', 'running') AS has_stopped
    FROM asked
    JOIN grading_run AS run ON run.id = asked.run_id
    LEFT JOIN opened USING (run_id, response_id, criterion_id, repeat, number)
    LEFT JOIN grading_attempt AS earlier
        ON earlier.run_id = asked.run_id AND earlier.response_id = asked.response_id
        AND earlier.criterion_id = asked.criterion_id AND earlier.repeat = asked.repeat
        AND earlier.number = asked.number AND earlier.sent_at = asked.sent_at AND earlier.ended_at IS NULL
"""
