"""Real workers in processes of their own, killed, ended and cut off from PostgreSQL while a run goes on.

Whatever happens: no pair without a grade, none with two, and at most the calls under way are made again.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from grading.models import Attempt, Grade, Run
from tests.grading.endpoint import Endpoint, default_rule
from tests.grading.making import begin, empty_queue, make_set, state_of, statuses_of, waiting_jobs

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[2]
CALLS_AT_ONCE = 6


@pytest.fixture(autouse=True)
def _empty_queue(transactional_db: None) -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


def address_of_test_database() -> str:
    facts = connection.settings_dict
    user, password = quote(str(facts["USER"] or "postgres")), quote(str(facts["PASSWORD"] or ""))
    port = f"&port={facts['PORT']}" if facts["PORT"] else ""
    return f"postgresql://{user}:{password}@/{facts['NAME']}?host={quote(str(facts['HOST'] or ''), safe='')}{port}"


class Worker:
    """``manage.py procrastinate worker`` as it runs beside the web server."""

    def __init__(self, log: Path) -> None:
        self.log = log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "procrastinate", "worker"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": address_of_test_database()},
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """As a machine's out-of-memory killer does: no chance to tidy up."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def ask_to_end(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def workers(folder: Path) -> Iterator[Callable[[], Worker]]:
    """Something that starts workers; all that still live at the end are killed."""
    started: list[Worker] = []

    def start() -> Worker:
        started.append(Worker(folder / f"worker-{len(started)}.log"))
        return started[-1]

    try:
        yield start
    finally:
        for worker in started:
            if worker.is_alive:
                worker.kill()
            worker.log.close()


def wait_until(holds: Callable[[], bool], *, what: str, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"waited in vain until {what}"
        time.sleep(0.02)


def assert_nothing_is_lost_or_doubled(run: Run, endpoint: Endpoint, *, repeated: int) -> None:
    """Exact counts: a grade for each pair, as the endpoint's rule says, and no more calls than may be repeated."""
    grades = list(Grade.objects.filter(run=run).select_related("criterion", "response"))
    assert len(grades) == len({(grade.response_id, grade.criterion_id) for grade in grades}) == run.pairs
    for grade in grades:
        assert grade.criterion.text is not None
        assert grade.verdict == default_rule(grade.criterion.text, grade.response.text)
    ends = Counter(statuses_of(run))
    assert ends["answered"] == run.pairs
    assert set(ends) <= {"answered", "unknown"}
    assert ends["unknown"] <= repeated
    assert endpoint.calls <= run.pairs + ends["unknown"]
    assert not Attempt.objects.filter(run=run, status="open").exists()


def test_workers_killed_at_any_moment_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    kills = 2
    with Endpoint(latency=0.1) as endpoint, workers(tmp_path) as start:
        run = begin(make_set(conversations=24, criteria=4, respondents=2), endpoint, concurrency=CALLS_AT_ONCE)
        for turn in range(1, kills + 1):
            worker = start()
            reached = run.pairs * turn // (kills + 2)
            wait_until(lambda reached=reached: endpoint.calls >= reached, what=f"{reached} calls")  # type: ignore[misc]
            assert worker.is_alive
            worker.kill()
        start()
        wait_until(lambda: state_of(run) == "completed", what="the run is completed")
    assert_nothing_is_lost_or_doubled(run, endpoint, repeated=kills * CALLS_AT_ONCE)
    assert endpoint.most_in_flight <= CALLS_AT_ONCE
    assert not waiting_jobs(run)


def test_another_worker_takes_over_what_a_killed_one_had_and_both_keep_the_cap(tmp_path: Path) -> None:
    with Endpoint(latency=0.15) as endpoint, workers(tmp_path) as start:
        run = begin(make_set(conversations=20, criteria=4, respondents=2), endpoint, concurrency=CALLS_AT_ONCE)
        first, second = start(), start()
        wait_until(lambda: endpoint.calls >= 40, what="40 calls")
        first.kill()
        wait_until(lambda: state_of(run) == "completed", what="the run is completed")
        assert second.is_alive
    assert_nothing_is_lost_or_doubled(run, endpoint, repeated=CALLS_AT_ONCE)
    assert endpoint.most_in_flight <= CALLS_AT_ONCE


def test_a_worker_asked_to_end_hears_its_calls_to_the_end_and_leaves_the_rest(tmp_path: Path) -> None:
    with Endpoint(latency=0.4) as endpoint, workers(tmp_path) as start:
        run = begin(make_set(conversations=10, criteria=4), endpoint, concurrency=CALLS_AT_ONCE)
        worker = start()
        wait_until(lambda: endpoint.calls >= 8, what="8 calls")
        worker.ask_to_end()
        assert worker.process.wait(20) == 0
        assert endpoint.calls < run.pairs
        assert set(statuses_of(run)) == {"answered"}
        assert state_of(run) == "running"
        start()
        wait_until(lambda: state_of(run) == "completed", what="the run is completed")
    assert_nothing_is_lost_or_doubled(run, endpoint, repeated=0)
    assert set(endpoint.pairs.values()) == {1}


def test_a_worker_outlives_the_end_of_all_its_connections_to_postgresql(tmp_path: Path) -> None:
    """What PostgreSQL does when it is restarted."""
    with Endpoint(latency=0.1) as endpoint, workers(tmp_path) as start:
        run = begin(make_set(conversations=15, criteria=4, respondents=2), endpoint, concurrency=CALLS_AT_ONCE)
        worker = start()
        for calls in (20, 60):
            wait_until(lambda calls=calls: endpoint.calls >= calls, what=f"{calls} calls")  # type: ignore[misc]
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                assert len(cursor.fetchall()) > 3
        wait_until(lambda: state_of(run) == "completed", what="the run is completed")
        assert worker.is_alive
    assert_nothing_is_lost_or_doubled(run, endpoint, repeated=2 * CALLS_AT_ONCE)
