"""What workers do: grade the responses of runs, and mind what must not be forgotten.

A worker is ``manage.py procrastinate worker``; it serves every queue. Each task may be done twice without harm.
"""

import asyncio
import hmac
import logging
from typing import TYPE_CHECKING, Any
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from django.conf import settings
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision, jobs
from procrastinate.contrib.django import app, connector_params

from annotation.models import Study
from annotation.rounds import settle_if_due
from grading.queueing import GRADE_TASK, Crowds, HeldElsewhere, PatientJobManager, WorkerEnds
from grading.runs import mind_runs

if TYPE_CHECKING:
    from grading.engine import Engine

logger = logging.getLogger(__name__)

URGENT = 100
TRIES_AFTER_SURPRISE = 3
"""How often a job is tried again after something that nobody foresaw; then its run is stopped, and says so."""


class TryAgain(BaseRetryStrategy):
    """When the job of a response comes back: whatever kept it from its end, no pair may be forgotten."""

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError | WorkerEnds):
            return RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, HeldElsewhere):
            return RetryDecision(retry_in={"seconds": 5})
        if isinstance(exception, psycopg.OperationalError):
            return RetryDecision(retry_in={"seconds": 2})
        return RetryDecision(retry_in={"seconds": 10}) if job.attempts < TRIES_AFTER_SURPRISE else None


@app.task(name=GRADE_TASK, pass_context=True, retry=TryAgain())
async def grade_response(context: JobContext, *, run_id: str, response_id: str) -> None:
    """Grade what is left of one response of a run."""
    manager = context.app.job_manager
    crowds = manager.crowds if isinstance(manager, PatientJobManager) else Crowds()
    engine = await engine_of_this_worker(crowds)
    await engine.grade_response(run_id=UUID(run_id), response_id=UUID(response_id), job_id=context.job.id or 0)


_engines: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Future[Engine]]" = WeakKeyDictionary()


async def engine_of_this_worker(crowds: Crowds) -> "Engine":
    """The one engine of this worker; opened with its first job."""
    loop = asyncio.get_running_loop()
    opening = _engines.get(loop)
    if opening is None or (opening.done() and not _is_open(opening)):
        opening = _engines[loop] = asyncio.ensure_future(_open_engine(crowds))
    return await asyncio.shield(opening)


def _is_open(opening: "asyncio.Future[Engine]") -> bool:
    return not opening.cancelled() and opening.exception() is None and opening.result().is_open


async def _open_engine(crowds: Crowds) -> "Engine":
    # imported late: every command imports the tasks, and only a worker needs the client
    from grading.engine import Engine

    parameters: dict[str, Any] = connector_params("default")
    engine = Engine(
        parameters=parameters,
        fence_key=hmac.digest(settings.SECRET_KEY.encode(), b"the fence around what graders read", "sha256"),
        crowds=crowds,
        call_seconds=settings.GRADER_CALL_SECONDS,
    )
    return await engine.__aenter__()


async def close_engine() -> None:
    """End this loop's engine, where it has one: everything handed in is written, every lock is freed."""
    opening = _engines.pop(asyncio.get_running_loop(), None)
    if opening is not None:
        await (await opening).__aexit__(None, None, None)


@app.periodic(cron="* * * * * */10")
@app.task(name="grading.fetch_back_lost_jobs", pass_context=True, priority=URGENT, queueing_lock="fetch back lost jobs")
async def fetch_back_lost_jobs(context: JobContext, timestamp: int) -> None:
    """Every ten seconds: what workers that ended had taken comes back into the queue."""
    manager = context.app.job_manager
    if isinstance(manager, PatientJobManager):
        await manager.fetch_back_lost_jobs()


@app.periodic(cron="* * * * *")
@app.task(name="grading.settle_due_studies", priority=URGENT, queueing_lock="settle due studies")
def settle_due_studies(timestamp: int) -> None:
    """Every minute: close drafting, reveal rounds and open the next ones where their date has passed."""
    for study in Study.objects.order_by("id"):
        settle_if_due(study)


@app.periodic(cron="* * * * *")
@app.task(name="grading.mind_runs", priority=URGENT, queueing_lock="mind runs")
def mind_due_runs(timestamp: int) -> None:
    """Every minute: a run that goes on without any job is completed, or stopped with its reason."""
    mind_runs()
