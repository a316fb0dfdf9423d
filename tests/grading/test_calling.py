"""What a refusal means, how long to wait, and what a body says: pure, without any endpoint."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from grading.calling import LONGEST_RETRY_AFTER, KeyIsMissing, Kind, kind_of, read_key, read_retry_after
from grading.completions import Complaint, Usage, read_complaint, read_completion
from grading.patience import Patience
from grading.reasons import NoReplyReason, sentence_for
from grading.replies import UnscoredReason


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, Complaint("Incorrect API key provided"), Kind.UNUSABLE),
        (403, Complaint("Forbidden"), Kind.UNUSABLE),
        (402, Complaint(), Kind.UNUSABLE),
        (404, Complaint("The model `x` does not exist", "model_not_found"), Kind.UNUSABLE),
        (400, Complaint("The model `x` does not exist"), Kind.UNUSABLE),
        (404, Complaint(), Kind.UNUSABLE),
        (301, Complaint(), Kind.UNUSABLE),
        # no money is no rate limit
        (429, Complaint("You exceeded your current quota", "insufficient_quota"), Kind.UNUSABLE),
        (429, Complaint("Your credit balance is too low"), Kind.UNUSABLE),
        (429, Complaint("Rate limit reached for requests", "rate_limit_exceeded"), Kind.TOO_MANY),
        (429, Complaint(), Kind.TOO_MANY),
        (400, Complaint("", "context_length_exceeded"), Kind.TOO_LONG),
        (
            400,
            Complaint("the request exceeds the available context size", "", "exceed_context_size_error"),
            Kind.TOO_LONG,
        ),
        (400, Complaint("prompt is too long: 210000 tokens > 200000 maximum"), Kind.TOO_LONG),
        (413, Complaint(), Kind.TOO_LONG),
        (400, Complaint("The response was filtered", "content_filter"), Kind.FILTERED),
        (400, Complaint("response_format is not supported"), Kind.NO_SCHEMA),
        (422, Complaint("json_schema: unknown field"), Kind.NO_SCHEMA),
        (400, Complaint("Unsupported value: temperature"), Kind.NOT_ACCEPTED),
        # a message may quote the study's texts: of money, for instance
        (400, Complaint("Invalid input: 'I can't pay my billing statements'"), Kind.NOT_ACCEPTED),
        (500, Complaint("billing service down"), Kind.FAULT),
        (500, Complaint(), Kind.FAULT),
        (503, Complaint("Loading model"), Kind.FAULT),
        (529, Complaint("Overloaded"), Kind.FAULT),
        (408, Complaint(), Kind.FAULT),
        (418, Complaint(), Kind.NOT_ACCEPTED),
    ],
)
def test_what_a_refusal_means(status: int, said: Complaint, kind: Kind) -> None:
    assert kind_of(status, said) is kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "31536000"}, LONGEST_RETRY_AFTER),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 01 Jan 9999 00:00:00 GMT"}, LONGEST_RETRY_AFTER),
    ],
)
def test_how_long_an_endpoint_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_a_date_to_wait_for_is_read_as_seconds_from_now() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    seconds = read_retry_after({"retry-after": at})
    assert seconds is not None
    assert 17 < seconds <= 20


def test_pauses_grow_to_a_longest_one_and_are_never_the_same() -> None:
    patience = Patience(first_pause=1.0, longest_pause=30.0)
    for tries, base in ((1, 1), (2, 2), (3, 4), (4, 8), (9, 30), (60, 30)):
        pauses = {patience.pause(tries) for _ in range(20)}
        assert len(pauses) == 20
        assert all(0.7 * base <= pause <= 1.3 * base for pause in pauses)


@pytest.mark.parametrize("value", ["", "  ", "two words", "schlüssel-0123", "line\nbreak"])
def test_what_is_no_key(value: str) -> None:
    with pytest.raises(KeyIsMissing) as problem:
        read_key("GRADER_KEY", {"GRADER_KEY": value})
    assert "GRADER_KEY" in str(problem.value)
    assert not value.strip() or value not in str(problem.value)


def test_a_key_is_read_without_the_line_end_that_files_add() -> None:
    assert read_key("GRADER_KEY", {"GRADER_KEY": "abc-123\n"}) == "abc-123"
    assert read_key("", {}) == ""


# Bodies


def body(message: object, **facts: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "model": "m", **facts}).encode()


def test_a_completion_is_read_with_what_servers_leave_out_or_add() -> None:
    plain = read_completion(body({"content": "yes"}, usage={"prompt_tokens": 5, "completion_tokens": 2}))
    assert plain is not None
    assert (plain.text, plain.finish_reason, plain.model) == ("yes", "stop", "m")
    assert plain.usage == Usage(5, None, 2, None)
    parts = read_completion(body({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}))
    assert parts is not None
    assert parts.text == "ab"
    refusal = read_completion(body({"content": None, "refusal": "No."}))
    assert refusal is not None
    assert (refusal.text, refusal.finish_reason) == ("No.", "refusal")
    silent = read_completion(b'{"choices": [{"message": {"content": null, "reasoning_content": "Hm"}}]}')
    assert silent is not None
    assert (silent.text, silent.finish_reason, silent.usage) == ("", "", Usage())


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 3}}, 3),
        ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": 4}, 4),
        ({"cache_read_input_tokens": 5}, 5),
        ({"prompt_tokens_details": {"cached_tokens": 0}}, 0),
        ({"prompt_tokens_details": {"cached_tokens": True}}, None),
        ({"prompt_tokens_details": {"cached_tokens": -1}}, None),
        ({"prompt_tokens_details": {"cached_tokens": 2**40}}, None),
        ({}, None),
    ],
)
def test_cached_tokens_are_found_where_servers_say_them(usage: dict[str, object], cached: int | None) -> None:
    found = read_completion(body({"content": ""}, usage=usage))
    assert found is not None
    assert found.usage.cached_tokens == cached


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'{"choices": []}',
        b'{"choices": [7]}',
        b'{"choices": [{}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion(raw: bytes) -> None:
    assert read_completion(raw) is None
    assert read_complaint(raw) is None


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"error": {"message": "no", "code": "c", "type": "t"}}, Complaint("no", "c", "t")),
        ({"error": {"message": "no", "code": 404}}, Complaint("no", "", "", 404)),
        ({"error": "no"}, Complaint("no")),
        ({"detail": "Not Found"}, Complaint("Not Found")),
        (
            {"object": "error", "message": "no", "code": 400, "type": "BadRequestError"},
            Complaint("no", "", "BadRequestError", 400),
        ),
        ([{"error": {"message": "no", "code": 429}}], Complaint("no", "", "", 429)),
        (
            {"error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
            Complaint("no", "", "ResponsibleAIPolicyViolation"),
        ),
    ],
)
def test_a_complaint_is_read_in_the_shapes_that_servers_give_it(raw: object, said: Complaint) -> None:
    assert read_complaint(json.dumps(raw).encode()) == said


def test_every_reason_has_a_sentence() -> None:
    for reason in [*UnscoredReason, *NoReplyReason]:
        assert sentence_for(reason.value).endswith("."), reason
    assert not {reason.value for reason in UnscoredReason} & {reason.value for reason in NoReplyReason}
    assert sentence_for("something_older") == "something_older"
