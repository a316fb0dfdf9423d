"""What becomes of a response's pairs, against an endpoint on a socket: each ends with one grade, or says why not."""

import asyncio
import json
import logging
import time
from collections import Counter
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from grading.engine import Engine, Patience
from grading.ledger import PairKey
from grading.models import Attempt, Grade, Run
from grading.queueing import HeldElsewhere, hold_key
from grading.runs import pause_run, resume_run, run_status, start_run
from tests.grading.endpoint import Answer, Asked, Endpoint, default_rule, verdict_as_reply
from tests.grading.making import SOON, Set, empty_queue, grade_now, make_grader, make_set, with_engine

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue(transactional_db: None) -> None:
    empty_queue()


def begin(made: Set, endpoint: Endpoint, *, concurrency: int = 8, **facts: object) -> Run:
    grader = make_grader(study=made.study, url=endpoint.url, concurrency=concurrency, **facts)
    return start_run(study=made.study, version=made.version, grader=grader, by=None)


def state_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


def reasons_of(run: Run) -> Counter[str]:
    return Counter(Grade.objects.filter(run=run, verdict="unscored").values_list("reason", flat=True))


def statuses_of(run: Run) -> list[str]:
    return list(Attempt.objects.filter(run=run).order_by("id").values_list("status", flat=True))


# The way of a call


def test_every_pair_gets_the_verdict_of_its_reply_by_one_call() -> None:
    made = make_set(conversations=3, criteria=4, respondents=2)
    with Endpoint() as endpoint:
        run = begin(made, endpoint)
        grade_now(run)
    assert state_of(run) == "completed"
    assert endpoint.calls == run.pairs == made.pairs == 24
    assert set(endpoint.pairs.values()) == {1}
    for grade in Grade.objects.filter(run=run).select_related("criterion", "response"):
        assert grade.criterion.text is not None
        assert grade.verdict == default_rule(grade.criterion.text, grade.response.text)
        assert grade.explanation == "By the rule."
    status = run_status(run)
    assert (status["met"] + status["not_met"], status["unscored"], status["attempts"]) == (24, 0, 24)
    assert status["prompt_tokens"] > status["cached_tokens"] > 0
    assert status["completion_tokens"] > 0


def test_an_attempt_keeps_what_the_endpoint_said() -> None:
    with Endpoint(script=lambda asked: Answer(model="stand-in-1-of-may", latency=0.05)) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    attempt = Attempt.objects.get(run=run)
    assert (attempt.status, attempt.number, attempt.http_status) == ("answered", 1, 200)
    assert (attempt.model_returned, attempt.finish_reason, attempt.problem) == ("stand-in-1-of-may", "stop", "")
    assert json.loads(bytes(attempt.raw_reply or b""))["choices"][0]["message"]["content"].startswith("{")
    assert attempt.latency_ms is not None
    assert attempt.latency_ms >= 50
    assert attempt.ended_at is not None
    assert attempt.sent_at <= attempt.ended_at
    assert len(attempt.request_sha256) == 64


def test_an_attempt_is_committed_before_its_call_is_sent() -> None:
    seen: list[list[str]] = []

    async def look(engine: Engine, run: Run) -> None:
        grading = asyncio.ensure_future(grade_all(engine, run))
        while not endpoint.calls:
            await asyncio.sleep(0.005)
        # another connection sees it while the endpoint has not answered
        seen.append(await sync_to_async(statuses_of)(run))
        await grading

    with Endpoint(latency=0.3) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        with_engine(lambda engine: look(engine, run))
    assert seen == [["open"]]
    assert statuses_of(run) == ["answered"]


async def grade_all(engine: Engine, run: Run) -> None:
    responses = await sync_to_async(lambda: list(run.responses.values_list("response_id", flat=True)))()
    await asyncio.gather(*(engine.grade_response(run_id=run.id, response_id=response) for response in responses))


def test_the_first_criterion_of_a_response_is_asked_alone_and_the_rest_together() -> None:
    with Endpoint(latency=0.15) as endpoint:
        run = begin(make_set(conversations=1, criteria=5), endpoint)
        grade_now(run)
    first, *rest = endpoint.asked
    assert first.criterion.endswith("point 0.")
    assert min(asked.at for asked in rest) - first.at >= 0.15
    assert endpoint.most_in_flight == 4


def test_the_call_holds_the_texts_and_nothing_else_of_the_study() -> None:
    made = make_set(conversations=2, criteria=2, slug="hidden-slug")
    with Endpoint() as endpoint:
        run = begin(made, endpoint, name="hidden-grader", parameters={"temperature": 0.5, "top_k": 3, "seed": 7})
        grade_now(run)
    for asked in endpoint.asked:
        sent = json.dumps(asked.body) + json.dumps(asked.headers)
        assert asked.body["temperature"] == 0.5
        assert (asked.body["top_k"], asked.body["seed"]) == (3, 7)
        assert asked.body["response_format"]["type"] == "json_schema"
        assert asked.body["messages"][-1]["content"].count(" CRITERION\n") == 1
        # no points, no other criterion, no author, respondent, canary or name of the study
        others = {criterion.text for criterion in made.version.criteria.all()} - {asked.criterion}
        for hidden in [*others, "points", "model-0", "hidden-", made.study.canary_string, "accuracy", str(run.id)]:
            assert str(hidden) not in sent, hidden
    codes = {asked.prompt.split("\n", 1)[0]: asked.response for asked in endpoint.asked}
    assert len(codes) == 2, "one code a response"


# Replies


def test_a_reply_that_cant_be_read_is_asked_again_twice_and_then_unscored_with_its_reason() -> None:
    with Endpoint(script=lambda asked: Answer(content="Hard to say, really.")) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    assert endpoint.calls == 3
    assert statuses_of(run) == ["answered"] * 3
    assert reasons_of(run) == {"no_verdict": 1}
    assert all(b"Hard to say" in bytes(attempt.raw_reply or b"") for attempt in Attempt.objects.filter(run=run))
    assert state_of(run) == "completed"
    assert run_status(run)["reasons"] == {"The grader's reply gives no verdict.": 1}


def test_the_second_reply_counts_when_the_first_cant_be_read() -> None:
    with Endpoint(script=lambda asked: Answer(content="{") if asked.turn == 1 else None) as endpoint:
        run = begin(make_set(conversations=1, criteria=2), endpoint)
        grade_now(run)
    assert endpoint.calls == 4
    assert not reasons_of(run)


def test_cannot_assess_is_an_answer_and_not_asked_again() -> None:
    with Endpoint(rule=lambda criterion, response: None) as endpoint:
        run = begin(make_set(conversations=1, criteria=2), endpoint)
        grade_now(run)
    assert endpoint.calls == 2
    assert reasons_of(run) == {"cannot_assess": 2}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(message={"content": None, "refusal": "I won't judge this."}), "refusal"),
        (Answer(content="", finish_reason="content_filter"), "content_filter"),
        (Answer(status=400, error={"code": "content_filter", "message": "The prompt was filtered."}), "content_filter"),
        (Answer(content='{"explanation": "It', finish_reason="length"), "truncated"),
        (Answer(raw=b"<html>Welcome</html>", headers={"content-type": "text/html"}), "unreadable"),
        (Answer(raw=b'{"choices": []}'), "unreadable"),
        (Answer(raw=b'{"choices": [{"message": {"content": "{\\"criteria_met\\": tr'), "unreadable"),
        (Answer(content="\x00\ud800 {}".encode("utf-8", "replace").decode()), "no_verdict"),
    ],
)
def test_what_gives_no_verdict_ends_unscored_with_its_reason(answer: Answer, reason: str) -> None:
    with Endpoint(script=lambda asked: answer) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    assert reasons_of(run) == {reason: 1}
    assert endpoint.calls == 3
    assert state_of(run) == "completed"


def test_texts_that_the_model_cant_hold_are_unscored_and_never_cut() -> None:
    error = {"code": "context_length_exceeded", "message": "This model's maximum context length is 512 tokens."}
    with Endpoint(script=lambda asked: Answer(status=400, error=error)) as endpoint:
        run = begin(make_set(conversations=1, criteria=2), endpoint)
        grade_now(run)
    assert endpoint.calls == 2
    assert reasons_of(run) == {"context_exceeded": 2}
    assert state_of(run) == "completed"


def test_quotes_are_looked_up_in_the_response() -> None:
    reply = json.dumps(
        {
            "explanation": "It says so.",
            "quotes": ["Response 0", "never said"],
            "condition_absent": True,
            "criteria_met": True,
        }
    )
    with Endpoint(script=lambda asked: Answer(content=reply)) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    grade = Grade.objects.get(run=run)
    assert grade.quotes == [{"text": "Response 0", "is_found": True}, {"text": "never said", "is_found": False}]
    assert grade.condition_absent is True


# Problems of the moment


def test_a_call_that_came_too_soon_waits_as_long_as_the_endpoint_says_and_keeps_no_place() -> None:
    def script(asked: Asked) -> Answer | None:
        is_first = asked.criterion.endswith("point 0.") and "Response 0 to" in asked.response and asked.turn == 1
        return Answer(status=429, error={"message": "slow down"}, headers={"retry-after": "0.6"}) if is_first else None

    made = make_set(conversations=2, criteria=2)
    with Endpoint(script=script) as endpoint:
        run = begin(made, endpoint, concurrency=1)
        grade_now(run)
    waited = [asked for asked in endpoint.asked if asked.turn == 2]
    assert len(waited) == 2
    for again in waited:
        refused = next(
            a for a in endpoint.asked if (a.criterion, a.response, a.turn) == (again.criterion, again.response, 1)
        )
        assert again.at - refused.at >= 0.6
    assert state_of(run) == "completed"
    assert Counter(statuses_of(run)) == {"refused": 2, "answered": 4}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500, error={"message": "oops"}),
        Answer(status=502, raw=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}),
        Answer(status=529, error={"type": "overloaded_error", "message": "overloaded"}),
        Answer(status=429, error={"message": "slow down"}, headers={"retry-after-ms": "5"}),
        Answer(status=429, error={"message": "slow down"}, headers={"retry-after": "soon"}),
        Answer(raw=b'{"error": {"code": 502, "message": "the provider is gone"}}'),
        Answer(is_cut=True),
        Answer(is_silent=True),
    ],
)
def test_a_fault_is_tried_again_and_the_answer_then_counts(answer: Answer) -> None:
    with Endpoint(script=lambda asked: answer if asked.turn == 1 else None) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run, call_seconds=0.5)
    assert endpoint.calls == 2
    assert not reasons_of(run)
    is_possibly_billed = answer.is_cut or answer.is_silent
    assert statuses_of(run) == ["unknown" if is_possibly_billed else "refused", "answered"]
    assert state_of(run) == "completed"


def test_a_pair_whose_calls_all_fail_is_unscored_where_the_endpoint_answers_others() -> None:
    def script(asked: Asked) -> Answer | None:
        is_bad = asked.criterion.endswith("point 1.")
        return Answer(status=500, error={"message": "oops"}, latency=0.02) if is_bad else Answer(latency=0.2)

    with Endpoint(script=script) as endpoint:
        run = begin(make_set(conversations=1, criteria=4), endpoint)
        grade_now(run)
    assert state_of(run) == "completed"
    assert reasons_of(run) == {"endpoint_fault": 1}
    assert endpoint.calls == 3 + 4


def test_an_endpoint_that_only_fails_stops_the_run_after_counted_tries() -> None:
    with Endpoint(script=lambda asked: Answer(status=500, error={"message": "oops"})) as endpoint:
        run = begin(make_set(conversations=1, criteria=3), endpoint)
        grade_now(run)
    stopped = Run.objects.get(pk=run.pk)
    assert (stopped.state, endpoint.calls) == ("failed", 4)
    assert "has a fault (500): oops" in stopped.stop_reason


def test_an_endpoint_that_never_has_time_stops_the_run_after_counted_tries() -> None:
    answer = Answer(status=429, error={"message": "slow down"}, headers={"retry-after": "0"})
    with Endpoint(script=lambda asked: answer) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    assert (state_of(run), endpoint.calls) == ("failed", 6)


# Problems of the endpoint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=401, error={"code": "invalid_api_key", "message": "Incorrect key"}), "refuses the key (401)"),
        (Answer(status=403, error={"message": "no access"}), "does not allow this key to use the model (403)"),
        (Answer(status=402, error={"message": "Payment required"}), "has no credit left for this key (402)"),
        (
            Answer(status=429, error={"code": "insufficient_quota", "message": "You exceeded your current quota"}),
            "has no credit left for this key (429)",
        ),
        (
            Answer(status=404, error={"code": "model_not_found", "message": "The model `x` does not exist"}),
            "does not know the model (404)",
        ),
        (Answer(status=404, raw=b"nothing here"), "has no chat completions at this address (404)"),
        (Answer(status=307, headers={"location": "http://127.0.0.1:9/v1"}), "sends the call to another address"),
        (Answer(status=400, error={"message": "Unsupported value: 'temperature'"}), "does not accept the call (400)"),
    ],
)
def test_an_endpoint_that_cant_be_used_stops_the_run_at_once_and_says_why(answer: Answer, words: str) -> None:
    with Endpoint(script=lambda asked: answer) as endpoint:
        run = begin(make_set(conversations=6, criteria=3), endpoint, concurrency=2)
        grade_now(run)
        stopped = Run.objects.get(pk=run.pk)
        assert stopped.state == "failed"
        assert words in stopped.stop_reason
        assert endpoint.calls <= 4, "calls under way, and no more"
        endpoint.script = None
        resume_run(run=run)
        grade_now(run)
    assert state_of(run) == "completed"
    assert Grade.objects.filter(run=run).count() == run.pairs


def test_a_host_that_cant_be_reached_stops_the_run_and_it_goes_on_later() -> None:
    endpoint = Endpoint()
    endpoint.start()
    endpoint.stop()
    run = begin(make_set(conversations=1, criteria=2), endpoint)
    grade_now(run)
    stopped = Run.objects.get(pk=run.pk)
    assert stopped.state == "failed"
    assert "can't be reached" in stopped.stop_reason
    with endpoint:
        resume_run(run=run)
        grade_now(run)
    assert state_of(run) == "completed"
    assert endpoint.calls == 2


def test_an_endpoint_without_schemas_is_asked_in_plain_text() -> None:
    def script(asked: Asked) -> Answer | None:
        has_schema = "response_format" in asked.body
        error = {"message": "response_format is not supported by this model"}
        return Answer(status=400, error=error) if has_schema else None

    with Endpoint(script=script) as endpoint:
        run = begin(make_set(conversations=1, criteria=3), endpoint)
        grade_now(run)
    assert state_of(run) == "completed"
    assert endpoint.calls == 4


def test_a_call_that_alone_is_not_accepted_is_unscored() -> None:
    def script(asked: Asked) -> Answer | None:
        is_bad = asked.criterion.endswith("point 2.")
        return Answer(status=422, error={"message": "can't be parsed"}) if is_bad else None

    with Endpoint(script=script) as endpoint:
        run = begin(make_set(conversations=1, criteria=3), endpoint)
        grade_now(run)
    assert reasons_of(run) == {"not_accepted": 1}
    assert state_of(run) == "completed"


# Keys


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "planted-key-0123456789"
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "another-secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "another-organisation")

    def script(asked: Asked) -> Answer | None:
        if asked.turn == 1:
            return Answer(status=500, error={"message": f"what is {key}?"})
        return Answer(content=verdict_as_reply("met", explanation=f"I was given {key}."))

    with caplog.at_level(logging.DEBUG), Endpoint(script=script) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint, api_key_variable="GRADER_KEY")
        grade_now(run, environment={"GRADER_KEY": f"{key}\n"})
        assert {asked.headers["authorization"] for asked in endpoint.asked} == {f"Bearer {key}"}
        assert "another" not in json.dumps([asked.headers for asked in endpoint.asked])
        endpoint.script = lambda asked: Answer(status=401, error={"message": f"{key} is no key"})
        other = begin(make_set(conversations=1, criteria=1), endpoint, api_key_variable="GRADER_KEY")
        grade_now(other, environment={"GRADER_KEY": key})
    assert state_of(run) == "completed"
    assert "[key] is no key" in Run.objects.get(pk=other.pk).stop_reason
    assert key not in caplog.text
    assert key not in everything_stored()


def everything_stored() -> str:
    """All rows of all tables, as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT coalesce(string_agg(given::text, chr(10)), '') FROM \"{table}\" AS given")
            row = cursor.fetchone()
            found.append(row[0] if row else "")
        cursor.execute("SELECT coalesce(string_agg(encode(raw_reply, 'escape'), chr(10)), '') FROM grading_attempt")
        row = cursor.fetchone()
        found.append(row[0] if row else "")
    return "\n".join(found)


def test_a_key_that_isnt_set_stops_the_run_before_any_call() -> None:
    with Endpoint() as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint, api_key_variable="GRADER_KEY")
        grade_now(run, environment={})
    stopped = Run.objects.get(pk=run.pk)
    assert (stopped.state, endpoint.calls) == ("failed", 0)
    assert "GRADER_KEY" in stopped.stop_reason


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
            await sync_to_async(pause_run)(run=run)
            after.append(endpoint.calls)
            async with asyncio.timeout(2):
                await grading

        with_engine(pause_soon)
        assert endpoint.calls <= after[0] + 2, "only what had begun"
        assert state_of(run) == "paused"
        assert Grade.objects.filter(run=run).count() == endpoint.calls, "calls under way are heard to their end"
        resume_run(run=run)
        grade_now(run)
    assert state_of(run) == "completed"
    assert set(endpoint.pairs.values()) == {1}
    assert Grade.objects.filter(run=run).count() == run.pairs == 20


# Workers that die, and those that only seem to


def test_a_response_is_held_by_one_worker_at_a_time() -> None:
    made = make_set(conversations=1, criteria=2)
    with Endpoint(latency=0.2) as endpoint:
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
    with Endpoint(latency=0.3) as endpoint:
        run = begin(made, endpoint)

        async def taken_over(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            await sync_to_async(Attempt.objects.filter(run=run).update)(status="unknown", ended_at=run.created_at)
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
                await sync_to_async(end_connections)(f"consilium grading {whose}")
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
    with Endpoint(latency=0.3) as endpoint:
        run = begin(made, endpoint)
        key = hold_key(run.id, made.responses[0].id)

        def take_over() -> None:
            end_connections("consilium grading session")
            with connection.cursor() as cursor:
                for _ in range(200):
                    cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
                    row = cursor.fetchone()
                    if row and row[0]:
                        return
                    time.sleep(0.001)
                raise AssertionError("the lock was never free")

        async def lose(engine: Engine) -> None:
            grading = asyncio.ensure_future(grade_all(engine, run))
            while not endpoint.calls:
                await asyncio.sleep(0.01)
            engine.session._watch.cancel()  # type: ignore[union-attr] # it would be faster than this test
            await sync_to_async(take_over)()
            await engine.session.rows("SELECT 1")
            with pytest.raises(HeldElsewhere):
                await grading

        try:
            with_engine(lose)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_all()")
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
