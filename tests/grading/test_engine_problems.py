"""What an endpoint may do in place of an answer, and what the run makes of it. Each kind has an end of its own."""

import json
import logging
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest
from django.db import connection

from grading.models import Attempt, Grade, Run
from grading.runs import resume_run
from tests.grading.endpoint import Answer, Asked, Endpoint, point_of, verdict_as_reply
from tests.grading.making import (
    SOON,
    begin,
    empty_queue,
    grade_now,
    make_set,
    reasons_of,
    state_of,
    statuses_of,
    waiting_jobs,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue(transactional_db: None) -> None:
    empty_queue()


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


FAULTS = [
    Answer(status=500, error={"message": "oops"}),
    Answer(status=502, raw=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}),
    Answer(status=529, error={"type": "overloaded_error", "message": "overloaded"}),
    Answer(status=429, error={"message": "slow down"}, headers={"retry-after-ms": "5"}),
    Answer(status=429, error={"message": "slow down"}, headers={"retry-after": "soon"}),
    Answer(raw=b'{"error": {"code": 502, "message": "the provider is gone"}}'),
    Answer(is_cut=True),
    Answer(is_silent=True),
]


def test_a_fault_is_tried_again_and_the_answer_then_counts() -> None:
    """One criterion for each row of the table; what broke off may be billed."""
    with Endpoint(script=lambda asked: FAULTS[point_of(asked)] if asked.turn == 1 else None) as endpoint:
        run = begin(make_set(conversations=1, criteria=len(FAULTS)), endpoint)
        grade_now(run, call_seconds=1.5)
    assert state_of(run) == "completed"
    assert not reasons_of(run)
    assert set(endpoint.pairs.values()) == {2}
    ends = Attempt.objects.filter(run=run).order_by("criterion__position", "number").values_list("status", flat=True)
    expected = [["unknown" if fault.is_cut or fault.is_silent else "refused", "answered"] for fault in FAULTS]
    assert list(ends) == [status for row in expected for status in row]


def test_a_pair_whose_calls_all_fail_is_unscored_where_the_endpoint_answers_others() -> None:
    def script(asked: Asked) -> Answer | None:
        is_bad = asked.criterion.endswith("point 1.")
        return Answer(status=500, error={"message": "oops"}, latency=0.3) if is_bad else Answer(latency=0.5)

    with Endpoint(script=script) as endpoint:
        run = begin(make_set(conversations=1, criteria=4), endpoint)
        grade_now(run)
    assert state_of(run) == "completed"
    assert reasons_of(run) == {"endpoint_fault": 1}
    assert endpoint.calls == 3 + 4


def test_an_endpoint_that_only_fails_pauses_the_run_after_counted_tries() -> None:
    with Endpoint(script=lambda asked: Answer(status=500, error={"message": "oops"})) as endpoint:
        run = begin(make_set(conversations=1, criteria=3), endpoint)
        grade_now(run)
    stopped = Run.objects.get(pk=run.pk)
    assert (stopped.state, endpoint.calls) == ("paused", 4)
    assert "has a fault (500): oops" in stopped.stop_reason
    assert "resume the run when the grader is back" in stopped.stop_reason
    assert not waiting_jobs(run)


def test_an_endpoint_that_never_has_time_pauses_the_run_after_counted_tries() -> None:
    answer = Answer(status=429, error={"message": "slow down"}, headers={"retry-after": "0"})
    with Endpoint(script=lambda asked: answer) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        grade_now(run)
    assert (state_of(run), endpoint.calls) == ("paused", 6)


# Problems of the endpoint


UNUSABLE = [
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
]


def test_an_endpoint_that_cant_be_used_stops_the_run_at_once_and_says_why() -> None:
    made = make_set(conversations=6, criteria=3)
    for number, (answer, words) in enumerate(UNUSABLE):
        with Endpoint(script=lambda asked, answer=answer: answer) as endpoint:  # type: ignore[misc]
            run = begin(made, endpoint, name=f"grader {number}", concurrency=2)
            grade_now(run)
        stopped = Run.objects.get(pk=run.pk)
        assert stopped.state == "failed", answer
        assert words in stopped.stop_reason
        assert endpoint.calls <= 4, "calls under way, and no more"
        assert not waiting_jobs(run)


def test_a_run_that_stopped_goes_on_once_the_endpoint_can_be_used() -> None:
    with Endpoint(script=lambda asked: Answer(status=401, error={"message": "Incorrect key"})) as endpoint:
        run = begin(make_set(conversations=3, criteria=3), endpoint)
        grade_now(run)
        assert state_of(run) == "failed"
        endpoint.script = None
        resume_run(run=run)
        assert state_of(run) == "queued"
        grade_now(run)
    assert state_of(run) == "completed"
    assert Grade.objects.filter(run=run).count() == run.pairs == 9


def test_a_host_that_cant_be_reached_pauses_the_run_and_it_goes_on_later() -> None:
    endpoint = Endpoint()
    endpoint.start()
    endpoint.stop()
    run = begin(make_set(conversations=1, criteria=2), endpoint)
    grade_now(run)
    stopped = Run.objects.get(pk=run.pk)
    assert stopped.state == "paused"
    assert "can't be reached" in stopped.stop_reason
    with endpoint:
        resume_run(run=run)
        grade_now(run)
    assert state_of(run) == "completed"
    assert endpoint.calls == 2


@pytest.mark.parametrize("is_reached", [False, True])
def test_an_endpoint_that_is_restarted_is_waited_for_and_the_run_goes_on_by_itself(is_reached: bool) -> None:
    """Refused connections, and the 503 of a server that is still loading its model: more tries than a fault gets."""
    loading = Answer(status=503, error={"message": "Loading model"})
    tries = 3 * (SOON.faults + 1)
    endpoint = Endpoint(script=lambda asked: loading if endpoint.calls <= tries else None)
    endpoint.start()
    if not is_reached:
        endpoint.stop()
        endpoint.script = None

    def come_back() -> None:
        """Once it was asked in vain as often as that; each thread has a connection of its own."""
        until = time.monotonic() + 50
        while Attempt.objects.filter(status="refused").count() < tries and time.monotonic() < until:
            time.sleep(0.05)
        connection.close()
        if not is_reached:
            endpoint.start()

    made = make_set(conversations=2, criteria=2)
    run = begin(made, endpoint)
    back = threading.Thread(target=come_back)
    back.start()
    grade_now(run, patience=replace(SOON, seconds_away=60.0))
    back.join()
    endpoint.stop()
    assert state_of(run) == "completed"
    assert not reasons_of(run)
    assert statuses_of(run).count("refused") > SOON.faults + 1


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
