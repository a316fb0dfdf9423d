"""Workers beside each other, workers that die and those that only seem to, and PostgreSQL that goes away."""

import asyncio
import time
from collections import Counter
from uuid import UUID

import psycopg
import pytest
from django.db import DatabaseError, connection
from procrastinate.contrib.django import connector_params

from grading.engine import Engine
from grading.ledger import PairKey
from grading.models import Attempt, Grade, Run
from grading.patience import Patience
from grading.queueing import HeldElsewhere, hold_key
from grading.runs import pause_run, resume_run
from tests.grading.endpoint import Answer, Endpoint, point_of
from tests.grading.making import (
    SOON,
    Set,
    begin,
    beside,
    empty_queue,
    grade_all,
    grade_now,
    make_set,
    reasons_of,
    state_of,
    statuses_of,
    with_engine,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue(transactional_db: None) -> None:
    empty_queue()


# The cap, over all workers


def test_no_more_calls_are_open_at_once_than_the_grader_says_over_two_workers() -> None:
    made = make_set(conversations=8, criteria=4)
    with Endpoint(latency=0.05) as endpoint:
        run = begin(made, endpoint, concurrency=3)
        halves = list(run.responses.values_list("response_id", flat=True))

        async def one_half(engine: Engine, half: list[UUID]) -> None:
            await asyncio.gather(*(engine.grade_response(run_id=run.id, response_id=each) for each in half))

        async def both(first: Engine) -> None:
            second = Engine(
                parameters=first.ledger._parameters, fence_key=b"another", crowds=first.crowds, patience=SOON
            )
            async with second:
                await asyncio.gather(one_half(first, halves[:4]), one_half(second, halves[4:]))

        with_engine(both)
    assert endpoint.most_in_flight == 3
    assert set(endpoint.pairs.values()) == {1}
    assert state_of(run) == "completed"


def test_the_places_of_an_idle_worker_are_another_ones() -> None:
    """A worker that is done gives its places back although it goes on living."""
    made = make_set(conversations=2, criteria=2)
    with Endpoint() as endpoint:
        run = begin(made, endpoint, concurrency=1)
        one, two = run.responses.values_list("response_id", flat=True)

        async def in_turn(first: Engine) -> None:
            await first.grade_response(run_id=run.id, response_id=one)
            async with Engine(
                parameters=first.ledger._parameters, fence_key=b"another", crowds=first.crowds, patience=SOON
            ) as second:
                async with asyncio.timeout(5):
                    await second.grade_response(run_id=run.id, response_id=two)

        with_engine(in_turn)
    assert state_of(run) == "completed"


# Pausing


def test_a_paused_run_makes_no_new_calls_and_goes_on_where_it_was() -> None:
    made = make_set(conversations=4, criteria=5)
    with Endpoint(latency=0.1) as endpoint:
        run = begin(made, endpoint, concurrency=2)
        after: list[int] = []

        async def pause_soon(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            while endpoint.calls < 3:
                await asyncio.sleep(0.01)
            await beside(lambda: pause_run(run=run))
            after.append(endpoint.calls)
            async with asyncio.timeout(10):
                await grading

        with_engine(pause_soon)
        assert endpoint.calls <= after[0] + 2, "only what had begun"
        assert state_of(run) == "paused"
        assert set(statuses_of(run)) == {"answered"}
        assert Grade.objects.filter(run=run).count() == endpoint.calls, "calls under way are heard to their end"
        resume_run(run=run)
        grade_now(run)
    assert state_of(run) == "completed"
    assert set(endpoint.pairs.values()) == {1}
    assert Grade.objects.filter(run=run).count() == run.pairs == 20


# Workers that die, and those that only seem to


def test_a_response_is_held_by_one_worker_at_a_time() -> None:
    made = make_set(conversations=1, criteria=2)
    with Endpoint(latency=1.0) as endpoint:
        run = begin(made, endpoint)
        response = made.responses[0].id

        async def twice(first: Engine) -> None:
            second = Engine(parameters=first.ledger._parameters, fence_key=b"x", crowds=first.crowds, patience=SOON)
            async with second:
                grading = asyncio.ensure_future(first.grade_response(run_id=run.id, response_id=response))
                while not endpoint.calls:
                    await asyncio.sleep(0.01)
                for engine in (first, second):
                    with pytest.raises(HeldElsewhere):
                        await engine.grade_response(run_id=run.id, response_id=response)
                await grading

        with_engine(twice)
    assert endpoint.calls == 2
    assert statuses_of(run) == ["answered", "answered"]


def open_attempt(run: Run, made: Set, *, number: int = 1) -> Attempt:
    """As a worker leaves it that was killed while the call was under way."""
    criterion = made.version.criteria.order_by("position", "id").first()
    assert criterion is not None
    return Attempt.objects.create(
        run=run,
        response=made.responses[0],
        criterion=criterion,
        number=number,
        request_sha256="0" * 64,
        sent_at=run.created_at,
    )


def test_a_call_of_a_dead_worker_is_unknown_and_made_again() -> None:
    made = make_set(conversations=1, criteria=2)
    with Endpoint() as endpoint:
        run = begin(made, endpoint)
        open_attempt(run, made)
        grade_now(run)
    assert state_of(run) == "completed"
    assert endpoint.calls == 2
    assert Counter(statuses_of(run)) == {"unknown": 1, "answered": 2}


def test_calls_that_always_break_off_have_a_cap_of_their_own() -> None:
    made = make_set(conversations=1, criteria=1)
    with Endpoint() as endpoint:
        run = begin(made, endpoint)
        for number in (1, 2, 3):
            attempt = open_attempt(run, made, number=number)
            if number < 3:
                Attempt.objects.filter(pk=attempt.pk).update(status="unknown", ended_at=run.created_at)
        grade_now(run, patience=Patience(broken_off=2))
    assert endpoint.calls == 0
    assert reasons_of(run) == {"outcome_unknown": 1}
    assert state_of(run) == "completed"


def test_an_answer_that_comes_after_another_worker_took_over_gives_no_grade() -> None:
    made = make_set(conversations=1, criteria=1)
    with Endpoint(latency=1.2) as endpoint:
        run = begin(made, endpoint)

        async def taken_over(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            late = {"status": "unknown", "ended_at": run.created_at}
            await beside(lambda: Attempt.objects.filter(run=run).update(**late))
            with pytest.raises(HeldElsewhere):
                await grading

        with_engine(taken_over)
    assert statuses_of(run) == ["unknown"]
    assert not Grade.objects.filter(run=run).exists()


def test_a_pair_has_one_open_attempt_and_one_grade_whoever_writes() -> None:
    made = make_set(conversations=1, criteria=1)
    with Endpoint() as endpoint:
        run = begin(made, endpoint)
        grade_now(run)
    graded = Grade.objects.get(run=run)
    with pytest.raises(DatabaseError, match="one_grade_a_run_response_criterion_and_repeat"):
        Grade.objects.create(run=run, response=graded.response, criterion=graded.criterion, verdict="met")
    open_attempt(run, made, number=8)
    with pytest.raises(DatabaseError, match="a_pair_has_one_open_attempt"):
        open_attempt(run, made, number=9)
    with pytest.raises(DatabaseError, match="UPDATE refused"):
        Attempt.objects.filter(run=run, number=1).update(problem="something else")


@pytest.mark.parametrize("whose", ["ledger", "session"])
def test_a_broken_connection_to_postgresql_costs_nothing(whose: str) -> None:
    made = make_set(conversations=6, criteria=4)
    with Endpoint(latency=0.05) as endpoint:
        run = begin(made, endpoint, concurrency=4)

        async def cut(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            for calls in (3, 10, 17):
                while endpoint.calls < calls:
                    await asyncio.sleep(0.005)
                await beside(lambda: end_connections(f"consilium grading {whose}"))
            await grading

        with_engine(cut)
    assert state_of(run) == "completed"
    assert set(endpoint.pairs.values()) == {1}
    assert Counter(statuses_of(run)) == {"answered": 24}


def end_connections(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE application_name = %s AND datname = current_database()",
            [name],
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def test_a_lock_that_another_worker_got_during_a_break_is_told_as_lost() -> None:
    made = make_set(conversations=1, criteria=3)
    with Endpoint(latency=1.5) as endpoint, psycopg.connect(**connector_params("default"), autocommit=True) as other:
        run = begin(made, endpoint)
        key = hold_key(run.id, made.responses[0].id)

        def take_over() -> None:
            end_connections("consilium grading session")
            for _ in range(200):
                row = other.execute("SELECT pg_try_advisory_lock(%s)", [key]).fetchone()
                if row and row[0]:
                    return
                time.sleep(0.001)
            raise AssertionError("the lock was never free")

        async def lose(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            async with engine.session._turn:  # it would be faster than this test
                await beside(take_over)
            await engine.session.rows("SELECT 1")
            with pytest.raises(HeldElsewhere):
                await grading

        with_engine(lose)
    assert endpoint.calls == 1, "no further call for a response that another worker holds"


# The ledger


def test_an_entry_that_cant_be_written_spoils_no_other() -> None:
    made = make_set(conversations=1, criteria=3)
    with Endpoint() as endpoint:
        run = begin(made, endpoint)
        criteria = list(made.version.criteria.order_by("position").values_list("id", flat=True))
        ended: list[object] = []

        async def write(engine: Engine) -> None:
            pairs = [PairKey(run.id, made.responses[0].id, criterion, 1) for criterion in criteria]
            ids = await asyncio.gather(*(engine.ledger.open(pair, number=1, request_sha256="0" * 64) for pair in pairs))
            statuses = ["answered", "nonsense that is too long for its column", "answered"]
            ended.extend(
                await asyncio.gather(
                    *(
                        engine.ledger.end(engine.ledger.ending(pair, attempt, status=status))
                        for pair, attempt, status in zip(pairs, ids, statuses, strict=True)
                    ),
                    return_exceptions=True,
                )
            )

        with_engine(write)
    assert [ended[0], ended[2]] == [True, True]
    assert isinstance(ended[1], Exception)
    assert sorted(statuses_of(run)) == ["answered", "answered", "open"]


def test_a_response_that_is_given_up_leaves_no_call_behind_that_goes_on() -> None:
    """Whoever takes the response over would ask the same: all of its calls end with the job, whichever it waits for."""

    async def give_up(engine: Engine) -> None:
        response = await beside(lambda: run.responses.values_list("response_id", flat=True).get())
        grading = asyncio.ensure_future(engine.grade_response(run_id=run.id, response_id=response))
        while endpoint.calls < 4:  # the first is asked again, beside the two others
            await asyncio.sleep(0.005)
        grading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await grading
        await asyncio.sleep(1.5)

    rubbish = Answer(content="So it goes.", latency=0.0)
    first_turn = (0, 1)
    with Endpoint(
        latency=1.0, script=lambda asked: rubbish if (point_of(asked), asked.turn) == first_turn else None
    ) as endpoint:
        run = begin(make_set(conversations=1, criteria=3), endpoint)
        with_engine(give_up)
    assert Counter(statuses_of(run)) == {"answered": 1, "open": 3}
