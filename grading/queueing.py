"""The queue between a run and its workers: one job a response, in the queue of the grader's endpoint.

A worker takes jobs of every queue, but of one endpoint no more than it can keep busy: jobs whose calls would only wait
for a place stay in the queue, for another worker or for another endpoint's turn. Runs of one endpoint are served in
turn, a response of each: a run's jobs have falling priorities, from where its queue is now.

A restarted PostgreSQL doesn't end a worker. A job whose worker died comes back: each job under way is held by a lock of
its worker's own session, which PostgreSQL frees when that worker ends, however it ends; a worker that is only slow
still holds it.
"""

import asyncio
import hashlib
import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import procrastinate
import psycopg
from procrastinate import exceptions, jobs
from procrastinate.manager import JobManager, NotificationCallback

logger = logging.getLogger(__name__)

GRADE_TASK = "grading.grade_response"

TAKE_OUT_OF_QUEUE = """
    DELETE FROM procrastinate_jobs WHERE status = 'todo' AND task_name = %s AND args ->> 'run_id' = %s
"""
"""For (GRADE_TASK, a run's id): its jobs that no worker has taken yet."""

HAS_JOBS = """
    SELECT EXISTS (SELECT FROM procrastinate_jobs
                   WHERE status IN ('todo', 'doing') AND task_name = %s AND args ->> 'run_id' = %s)
"""

FRONT_OF_QUEUE = """
    SELECT coalesce(max(priority), 0) FROM procrastinate_jobs
    WHERE status = 'todo' AND attempts = 0 AND task_name = %s AND queue_name = %s
"""
"""For (GRADE_TASK, a queue): the priority at which it is now. A job that came back has one from long before."""

WORKERS_UP = "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - interval '45 seconds'"

_NAMES = "SELECT DISTINCT queue_name FROM procrastinate_jobs WHERE status = 'todo'"
_ALIVE = """
    INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE VALUES (%(worker_id)s, now())
    ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
"""
_HELD = """
    SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_OF_PATIENCE = 600
"""How long the outcome of a job is kept in hand while PostgreSQL can't be reached."""


class HeldElsewhere(Exception):
    """Another worker holds this response."""


class WorkerEnds(Exception):
    """This worker was asked to end and makes no further call."""


def queue_of(base_url: str, api_key_variable: str) -> str:
    """The queue of an endpoint: an address with the account that a key stands for. At most 40 characters."""
    return "endpoint-" + hashlib.sha256(f"{base_url}\0{api_key_variable}".encode()).hexdigest()[:16]


def hold_key(run_id: UUID, response_id: UUID) -> int:
    """The advisory lock (a signed 64-bit number) by which a worker holds a response of a run."""
    digest = hashlib.sha256(b"a response of a run" + run_id.bytes + response_id.bytes).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


@dataclass
class Crowd:
    """The jobs of one queue in this worker, and how many of their calls wait for a place."""

    limit: int = 1
    waiting: int = 0
    jobs: set[int] = field(default_factory=set)
    starting: set[int] = field(default_factory=set)
    was_full: bool = False

    @property
    def is_full(self) -> bool:
        """Whether another job would only wait. Calls that wait for an endpoint's Retry-After leave room for others."""
        ahead = max(2, self.limit // 8)
        return len(self.starting) + self.waiting >= ahead or len(self.jobs) >= 2 * self.limit + ahead


class Crowds:
    """The crowd of each queue in this worker. ``turns`` counts how often a full one got room again."""

    def __init__(self) -> None:
        self.turns = 0
        self._end = asyncio.Event()
        self._crowds: dict[str, Crowd] = {}
        self._queue_of_job: dict[int, str] = {}
        self._on_room: NotificationCallback | None = None
        self._wakes: set[asyncio.Task[None]] = set()

    @property
    def is_ending(self) -> bool:
        """Whether the worker was asked to end: what it has begun it may finish."""
        return self._end.is_set()

    def begin(self, on_room: NotificationCallback) -> None:
        """A worker begins; ``on_room`` wakes it when there is room again."""
        self._end = asyncio.Event()
        self._on_room = on_room

    def end(self) -> None:
        """The worker was asked to end."""
        self._end.set()
        self._on_room = None

    async def rest(self, seconds: float) -> None:
        """Wait, but not beyond the worker's end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end.wait()

    def of(self, queue: str) -> Crowd:
        return self._crowds.setdefault(queue, Crowd())

    def full(self) -> set[str]:
        return {queue for queue, crowd in self._crowds.items() if crowd.is_full}

    def arrived(self, queue: str, job_id: int) -> None:
        """A job was taken out of the queue."""
        self._queue_of_job[job_id] = queue
        self.of(queue).jobs.add(job_id)
        self.of(queue).starting.add(job_id)
        self._look(queue)

    def asks(self, job_id: int, *, limit: int) -> None:
        """The job knows its texts and asks for places now; ``limit`` is how many calls its endpoint takes at once."""
        if queue := self._queue_of_job.get(job_id):
            self.of(queue).starting.discard(job_id)
            self.of(queue).limit = limit
            self._look(queue)

    def waits(self, queue: str, change: int) -> None:
        """So many calls more (or, below zero, less) wait for a place."""
        self.of(queue).waiting += change
        self._look(queue)

    def left(self, job_id: int) -> None:
        """The job ended, well or not."""
        if queue := self._queue_of_job.pop(job_id, None):
            self.of(queue).starting.discard(job_id)
            self.of(queue).jobs.discard(job_id)
            self._look(queue)

    def _look(self, queue: str) -> None:
        crowd = self.of(queue)
        is_full, was_full, crowd.was_full = crowd.is_full, crowd.was_full, crowd.is_full
        if was_full and not is_full:
            self.turns += 1
            if self._on_room is not None:
                wake = asyncio.ensure_future(self._wake(self._on_room))
                self._wakes.add(wake)
                wake.add_done_callback(self._wakes.discard)

    async def _wake(self, on_room: NotificationCallback) -> None:
        await on_room(channel="", notification={"type": "job_inserted", "job_id": 0})


class PatientJobManager(JobManager):
    """procrastinate's own, with room for several endpoints, and patience while PostgreSQL is restarted."""

    def __init__(self, connector: Any) -> None:
        super().__init__(connector)
        self.crowds = Crowds()
        self._background: set[asyncio.Task[Any]] = set()

    # Taking jobs

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> jobs.Job | None:
        try:
            while True:
                turns = self.crowds.turns
                job = await self._fetch(queues, worker_id)
                if job is not None:
                    if job.task_name == GRADE_TASK and job.id is not None:
                        self.crowds.arrived(job.queue, job.id)
                    return job
                # Room that came while PostgreSQL answered would be forgotten by the worker for seconds.
                if turns == self.crowds.turns:
                    return None
        except exceptions.ConnectorException as problem:
            logger.warning("No job could be taken: %s", _reason(problem))
            if isinstance(problem.__cause__, psycopg.IntegrityError):  # this worker was taken for dead meanwhile
                await self.update_heartbeat(worker_id)
            await asyncio.sleep(1)
            return None

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> jobs.Job | None:
        full = self.crowds.full()
        if not full:
            return await super().fetch_job(queues=queues, worker_id=worker_id)
        if queues is None:
            rows = await self.connector.execute_query_all_async(query=_NAMES)
            queues = [str(row["queue_name"]) for row in rows]
        with_room = [queue for queue in queues if queue not in full]
        return await super().fetch_job(queues=with_room, worker_id=worker_id) if with_room else None

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        self.crowds.begin(on_notification)
        try:
            while True:
                try:
                    await super().listen_for_jobs(on_notification=on_notification, queues=queues)
                except exceptions.ConnectorException as problem:
                    logger.warning("PostgreSQL doesn't tell of new jobs: %s", _reason(problem))
                await asyncio.sleep(1)
        finally:
            # A worker that is asked to end stops listening first, and then waits for what it has begun.
            self.crowds.end()

    # The outcome of jobs

    async def finish_job_by_id_async(self, job_id: int, status: jobs.Status, delete_job: bool) -> None:
        self.crowds.left(job_id)
        await self._patiently(super().finish_job_by_id_async, job_id=job_id, status=status, delete_job=delete_job)

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        self.crowds.left(job_id)
        await self._patiently(
            super().retry_job_by_id_async,
            job_id=job_id,
            retry_at=retry_at,
            priority=priority,
            queue=queue,
            lock=lock,
        )

    async def _patiently(self, act: Any, **facts: Any) -> None:
        for _ in range(SECONDS_OF_PATIENCE):
            try:
                await act(**facts)
            except exceptions.ConnectorException as problem:
                if not isinstance(problem.__cause__, psycopg.OperationalError):
                    # Another worker has it, or has ended it: the work is done only once, whoever says so.
                    logger.info("Job %s had ended already: %s", facts["job_id"], _reason(problem))
                    return
                await asyncio.sleep(1)
            else:
                return
        logger.error("Job %s ended and PostgreSQL could not be told; it will be looked at again.", facts["job_id"])

    # Being alive

    async def register_worker(self) -> int:
        worker_id = await super().register_worker()
        task = asyncio.ensure_future(self._fetch_back_at_start())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return worker_id

    async def _fetch_back_at_start(self) -> None:
        try:
            await self.fetch_back_lost_jobs()
        except exceptions.ConnectorException as problem:  # the periodic job does it again
            logger.warning("Jobs of dead workers could not be looked for: %s", _reason(problem))

    async def unregister_worker(self, worker_id: int) -> None:
        try:
            await super().unregister_worker(worker_id)
        except exceptions.ConnectorException as problem:
            logger.warning("PostgreSQL could not be told that this worker ends: %s", _reason(problem))

    async def update_heartbeat(self, worker_id: int) -> None:
        try:
            # Not only updated: a worker that was taken for dead while PostgreSQL was away has lost its row.
            await self.connector.execute_query_async(query=_ALIVE, worker_id=worker_id)
        except exceptions.ConnectorException as problem:
            logger.warning("PostgreSQL could not be told that this worker lives: %s", _reason(problem))

    async def defer_periodic_job(self, job: jobs.Job, periodic_id: str, defer_timestamp: int) -> int | None:
        try:
            return await super().defer_periodic_job(job, periodic_id, defer_timestamp)
        except exceptions.AlreadyEnqueued:
            raise
        except exceptions.ConnectorException as problem:
            logger.warning("The periodic job %s was left out: %s", job.task_name, _reason(problem))
            return None

    # Jobs of dead workers

    async def fetch_back_lost_jobs(self) -> int:
        """Put back into the queue what dead workers had taken; answers how many jobs.

        A response's job is lost when nobody holds it, seen twice: between taking a job and holding its response, and
        between PostgreSQL's restart and holding it again, lies a moment. Other jobs go by their worker's heartbeat.
        """
        seen = await self._unheld()
        if seen:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            seen &= await self._unheld()
        stalled = await self.get_stalled_jobs(seconds_since_heartbeat=60)
        lost = seen | {job.id for job in stalled if job.task_name != GRADE_TASK and job.id is not None}
        for job_id in sorted(lost):
            await JobManager.retry_job_by_id_async(self, job_id, retry_at=_now())
        if lost:
            logger.warning("%d jobs of workers that ended came back into the queue.", len(lost))
        return len(lost)

    async def _unheld(self) -> set[int]:
        doing = [job for job in await self.list_jobs_async(status="doing", task=GRADE_TASK) if job.id is not None]
        if not doing:
            return set()
        held = {int(row["key"]) for row in await self.connector.execute_query_all_async(query=_HELD)}
        return {job.id for job in doing if job.id is not None and _key_of(job) not in held}


def _key_of(job: jobs.Job) -> int:
    return hold_key(UUID(str(job.task_kwargs["run_id"])), UUID(str(job.task_kwargs["response_id"])))


def _now() -> datetime:
    return datetime.now().astimezone()


def _reason(problem: BaseException) -> str:
    return (str(problem.__cause__ or problem).strip() or type(problem).__name__).splitlines()[0]


def set_up(app: procrastinate.App) -> None:
    """What procrastinate calls once the apps are ready (PROCRASTINATE_ON_APP_READY)."""
    app.job_manager = PatientJobManager(app.connector)
