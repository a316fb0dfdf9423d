"""What a worker takes from the queue, and what comes back into it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from procrastinate import jobs
from procrastinate.contrib.django import app, connector_params

from annotation.models import Round
from grading import queueing, runs, waiting
from grading.models import Run
from grading.places import Places, places_key
from grading.queueing import Crowds, HeldElsewhere, PatientJobManager, WorkerEnds, hold_key
from grading.runs import workers_up
from grading.session import Session
from grading.tasks import TryAgain, settle_due_studies
from grading.waiting import NO_WORKER, progress_line, wait_for_run
from tests.factories import make_panel, make_voting
from tests.grading.making import beside, empty_queue, make_grader, make_set, waiting_jobs

URL = "http://127.0.0.1:9/v1"


def make_run(**facts: Any) -> Run:
    made = make_set(**facts)
    return runs.start_run(
        study=made.study, version=made.version, grader=make_grader(study=made.study, url=URL), by=None
    )


@pytest.fixture
def queue(transactional_db: None) -> None:
    empty_queue()


def with_manager(act: Callable[[PatientJobManager], Awaitable[None]]) -> None:
    """Give the worker's own job manager to ``act``, with a pool of connections as a worker has."""

    async def main() -> None:
        connector = app.connector.get_worker_connector()  # type: ignore[attr-defined]
        await connector.open_async()
        try:
            await act(PatientJobManager(connector))
        finally:
            await connector.close_async()

    asyncio.run(main())


# How much a worker takes


def test_a_worker_takes_no_more_jobs_of_an_endpoint_than_it_can_keep_busy() -> None:
    crowds = Crowds()
    for job in range(2):
        assert not crowds.full()
        crowds.arrived("one", job)
    assert crowds.full() == {"one"}, "two that have not begun are enough ahead"
    for job in range(2):
        crowds.asks(job, limit=16)
    assert not crowds.full()
    crowds.waits("one", 2)
    assert crowds.full() == {"one"}, "two calls wait for a place already"
    crowds.waits("one", -1)
    assert not crowds.full()
    for job in range(2, 40):
        crowds.arrived("one", job)
        crowds.asks(job, limit=16)
    assert crowds.full() == {"one"}, "all of them may be waiting for Retry-After"
    crowds.arrived("two", 99)
    assert crowds.full() == {"one"}, "another endpoint's jobs are another matter"
    for job in range(40):
        crowds.left(job)
    assert not crowds.full()


def test_a_worker_is_woken_when_there_is_room_again() -> None:
    woken: list[str] = []

    async def wake(*, channel: str, notification: jobs.Notification) -> None:
        woken.append(notification["type"])

    async def main() -> None:
        crowds = Crowds()
        crowds.begin(wake)
        crowds.waits("one", 3)
        await asyncio.sleep(0)
        assert not woken
        crowds.waits("one", -3)
        await asyncio.sleep(0.01)
        assert (woken, crowds.turns) == (["job_inserted"], 1)

    asyncio.run(main())


def test_a_full_endpoints_jobs_stay_in_the_queue_and_others_are_taken(queue: None) -> None:
    first, second = make_run(conversations=4), None
    made = make_set(conversations=1)
    other = make_grader(study=made.study, url="http://127.0.0.1:10/v1")
    second = runs.start_run(study=made.study, version=made.version, grader=other, by=None)
    taken: list[str] = []

    async def take(manager: PatientJobManager) -> None:
        worker = await manager.register_worker()
        while (job := await manager.fetch_job(None, worker)) is not None:
            taken.append(str(job.task_kwargs["run_id"]))

    with_manager(take)
    assert sorted(taken) == sorted([str(first.id)] * 2 + [str(second.id)])
    assert len(waiting_jobs(first)) == 2


def test_runs_of_one_grader_are_served_in_turn(queue: None) -> None:
    """A short run beside a long one isn't kept until that one ends; a third comes in where the two are."""
    made = make_set(conversations=6)
    grader = make_grader(study=made.study, url=URL)

    def another() -> Run:
        return runs.start_run(study=made.study, version=made.version, grader=grader, by=None)

    def turns() -> str:
        return "".join(names[run_id] for run_id, _, _ in waiting_jobs())

    first, second = another(), another()
    names = {str(first.id): "a", str(second.id): "b"}
    assert turns() == "abababababab"
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM procrastinate_jobs WHERE id IN "
            "(SELECT id FROM procrastinate_jobs WHERE status = 'todo' ORDER BY priority DESC, id LIMIT 8)"
        )
        # one that came back keeps its place before all, and moves nobody else
        cursor.execute(
            "UPDATE procrastinate_jobs SET attempts = 1, priority = 0 WHERE args ->> 'run_id' = %s AND "
            "id = (SELECT min(id) FROM procrastinate_jobs)",
            [str(first.id)],
        )
    third = another()
    names[str(third.id)] = "c"
    assert turns() == "abcabccccc"
    pause = runs.pause_run(run=third)
    assert "c" not in turns()
    runs.resume_run(run=pause)
    assert turns().count("c") == 6


def test_room_that_came_while_the_queue_was_asked_is_not_forgotten() -> None:
    """Else the worker would sleep for seconds although there is work and room."""
    answers = [None, jobs.Job(id=1, queue="q", lock=None, queueing_lock=None, task_name="another")]

    class Asked(PatientJobManager):
        async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> jobs.Job | None:
            self.crowds.waits("one", 3)
            self.crowds.waits("one", -3)
            return answers.pop(0)

    assert asyncio.run(Asked(None).fetch_job(None, 1)) is not None
    assert not answers


# What comes back


def test_jobs_that_nobody_holds_come_back_and_those_that_are_held_stay(
    queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queueing, "SECONDS_BETWEEN_LOOKS", 0.2)
    run = make_run(conversations=2)
    found: list[int] = []

    async def lose(manager: PatientJobManager) -> None:
        worker = await manager.register_worker()
        held, lost = await manager.fetch_job(None, worker), await manager.fetch_job(None, worker)
        assert held is not None
        assert lost is not None
        async with Session(connector_params("default")) as session:
            key = hold_key(run.id, UUID(str(held.task_kwargs["response_id"])))
            assert await session.hold(key, on_lost=lambda: None)
            found.append(await manager.fetch_back_lost_jobs())
            assert [job[1] for job in await beside(lambda: waiting_jobs(run))] == [lost.task_kwargs["response_id"]]
        # its worker ended; PostgreSQL may need a moment to see it
        async with asyncio.timeout(20):
            while not (number := await manager.fetch_back_lost_jobs()):
                await asyncio.sleep(0.05)
        found.append(number)

    with_manager(lose)
    assert found == [1, 1]
    assert len(waiting_jobs(run)) == 2


def test_an_outcome_that_another_worker_told_already_is_no_trouble(queue: None) -> None:
    make_run(conversations=1)

    async def twice(manager: PatientJobManager) -> None:
        worker = await manager.register_worker()
        job = await manager.fetch_job(None, worker)
        assert job is not None
        for _ in range(2):
            await manager.finish_job(job, jobs.Status.SUCCEEDED, delete_job=True)

    with_manager(twice)
    assert not waiting_jobs()


def test_a_worker_that_was_taken_for_dead_is_alive_again_with_its_next_sign(queue: None) -> None:
    make_run(conversations=1)

    async def come_back(manager: PatientJobManager) -> None:
        worker = await manager.register_worker()
        await beside(empty_workers)
        assert await manager.fetch_job(None, worker) is None
        assert await manager.fetch_job(None, worker) is not None

    with_manager(come_back)
    assert workers_up() == 1


def empty_workers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")


@pytest.mark.parametrize(
    ("reason", "attempts", "comes_back"),
    [
        (HeldElsewhere(), 50, True),
        (WorkerEnds(), 50, True),
        (asyncio.CancelledError(), 50, True),
        (psycopg.OperationalError(), 50, True),
        (TypeError(), 2, True),
        (TypeError(), 3, False),
    ],
)
def test_when_a_job_comes_back(reason: BaseException, attempts: int, comes_back: bool) -> None:
    job = jobs.Job(id=1, queue="q", lock=None, queueing_lock=None, task_name="t", attempts=attempts)
    assert (TryAgain().get_retry_decision(exception=reason, job=job) is not None) is comes_back


# Places


def test_a_worker_with_more_than_its_share_gives_places_to_one_that_waits(queue: None) -> None:
    async def main() -> None:
        parameters = connector_params("default")
        async with Session(parameters) as mine, Session(parameters) as theirs:
            greedy = Places(mine, "q", limit=4, on_waiting=lambda change: None)
            late = Places(theirs, "q", limit=4, on_waiting=lambda change: None)
            open_calls, most = 0, 0

            async def calls(places: Places, until: float) -> int:
                nonlocal open_calls, most
                made = 0
                while asyncio.get_running_loop().time() < until:
                    async with places.one():
                        open_calls += 1
                        most = max(most, open_calls)
                        await asyncio.sleep(0.02)
                        open_calls -= 1
                        made += 1
                return made

            now = asyncio.get_running_loop().time()
            first = [asyncio.ensure_future(calls(greedy, now + 3.5)) for _ in range(8)]
            await asyncio.sleep(0.5)
            assert most == 4, "alone it has all"
            late_calls = sum(await asyncio.gather(*(calls(late, now + 3.5) for _ in range(8))))
            await asyncio.gather(*first)
            assert most == 4
            assert late_calls > 30, "for most of the time it had its half"
            await greedy.close()
            await late.close()
            assert not await mine.count_sharing(places_key("q"))

    asyncio.run(main())


# Minding


@pytest.mark.django_db
def test_what_is_due_is_settled_every_minute() -> None:
    panel = make_panel()
    _, _, this = make_voting(panel=panel)
    settle_due_studies(0)
    assert Round.objects.get(pk=this.pk).revealed_at is None
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_round SET closes_at = now() - interval '1 minute' WHERE id = %s", [this.pk])
    settle_due_studies(0)
    assert Round.objects.get(pk=this.pk).revealed_at is not None


# Waiting in a terminal


class Terminal:
    """A terminal that remembers what was written."""

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.django_db
def test_waiting_says_when_no_worker_is_up_and_shows_how_far_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SECONDS_UNTIL_ASKING_FOR_WORKERS", 0.0)
    monkeypatch.setattr(waiting, "SECONDS_BETWEEN_LOOKS", 0.01)
    empty_queue()
    run = make_run(conversations=1, criteria=2)
    said: list[str] = []

    def note(sentence: str) -> None:
        said.append(sentence)
        runs.cancel_run(run=run)

    terminal = Terminal()
    status = wait_for_run(run, stream=terminal, note=note)  # type: ignore[arg-type]
    assert said == [NO_WORKER]
    assert status["state"] == "cancelled"
    assert "0 of 2 pairs" in terminal.written


@pytest.mark.django_db
def test_waiting_ends_with_a_run_that_paused_itself_and_tells_why() -> None:
    empty_queue()
    run = make_run(conversations=1)
    Run.objects.filter(pk=run.pk).update(state="paused", stop_reason="It can't be reached.")
    status = wait_for_run(run, stream=Terminal(), note=lambda sentence: None)  # type: ignore[arg-type]
    assert (status["state"], status["stop_reason"]) == ("paused", "It can't be reached.")


def test_a_line_of_progress_shows_share_speed_and_what_is_unscored() -> None:
    status = {"graded": 150, "pairs": 1200, "unscored": 3, "state": "running"}
    line = progress_line(status, seconds=10)
    assert " 12 %  150 of 1,200 pairs, 15.0 a second, 3 unscored  (running)" in line
    assert line.startswith("███░")
    assert "a second" not in progress_line({**status, "graded": 0}, seconds=10)
