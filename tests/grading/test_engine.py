"""What becomes of a response's pairs, against an endpoint on a socket: each ends with one grade, or says why not."""

import asyncio
import itertools
import json

import pytest

from grading.engine import Engine
from grading.models import Attempt, Grade, Run
from grading.runs import run_status
from tests.grading.endpoint import Answer, Endpoint, default_rule, point_of
from tests.grading.making import (
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
        seen.append(await beside(lambda: statuses_of(run)))
        await grading

    with Endpoint(latency=0.3) as endpoint:
        run = begin(make_set(conversations=1, criteria=1), endpoint)
        with_engine(lambda engine: look(engine, run))
    assert seen == [["open"]]
    assert statuses_of(run) == ["answered"]


def test_the_first_criterion_of_a_response_is_asked_alone_and_the_rest_together() -> None:
    with Endpoint(latency=0.8) as endpoint:
        run = begin(make_set(conversations=1, criteria=5), endpoint)
        grade_now(run)
    first, *rest = endpoint.asked
    assert first.criterion.endswith("point 0.")
    assert min(asked.at for asked in rest) - first.at >= 0.8
    assert endpoint.most_in_flight == 4


def test_a_responses_calls_follow_each_other_while_others_wait() -> None:
    """The endpoint holds one prefix: whoever comes between throws it out, and it is read and paid for again."""
    with Endpoint(latency=0.01, keeps_calls=True) as endpoint:
        run = begin(make_set(conversations=5, criteria=4), endpoint, concurrency=1)
        grade_now(run)
    asked = [call.response for call in endpoint.asked]
    assert len(asked) == 20
    changes = sum(one != other for one, other in itertools.pairwise(asked))
    assert changes == 4, "each response once, whole"


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


WITHOUT_VERDICT = [
    (Answer(message={"content": None, "refusal": "I won't judge this."}), "refusal"),
    (Answer(content="", finish_reason="content_filter"), "content_filter"),
    (Answer(status=400, error={"code": "content_filter", "message": "The prompt was filtered."}), "content_filter"),
    (Answer(content='{"explanation": "It', finish_reason="length"), "truncated"),
    (Answer(raw=b"<html>Welcome</html>", headers={"content-type": "text/html"}), "unreadable"),
    (Answer(raw=b'{"choices": []}'), "unreadable"),
    (Answer(raw=b'{"choices": [{"message": {"content": "{\\"criteria_met\\": tr'), "unreadable"),
    (Answer(content="\x00 {} \ufffe"), "no_verdict"),
    (Answer(content=""), "empty_reply"),
    (Answer(content='{"explanation": "a\x00b", "criteria_met": "perhaps"}'), "unknown_verdict"),
]


def test_what_gives_no_verdict_is_asked_twice_more_and_ends_unscored_with_its_reason() -> None:
    """One criterion for each row of the table."""
    with Endpoint(script=lambda asked: WITHOUT_VERDICT[point_of(asked)][0]) as endpoint:
        run = begin(make_set(conversations=1, criteria=len(WITHOUT_VERDICT)), endpoint)
        grade_now(run)
    found = Grade.objects.filter(run=run, verdict="unscored").order_by("criterion__position")
    assert list(found.values_list("reason", flat=True)) == [reason for _, reason in WITHOUT_VERDICT]
    assert set(endpoint.pairs.values()) == {3}
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
