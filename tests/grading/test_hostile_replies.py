"""Replies that are hostile or damaged: read in time, never raised for, never turned into another verdict."""

import json
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grading.replies import Verdict, find_quotes, read_reply
from tests.grading.reply_cases import MET_ANSWER, NOT_MET_ANSWER, NULL_ANSWER, is_consistent

ONE_MEGABYTE = 1_000_000
WITHIN = 6.0
"""Seconds of this process; what goes wrong here takes minutes, and a busy machine counts half as fast."""
HOSTILE = [
    "{", "}", '{"', '{"a":', '{"a":[', '"', '\\"', "{ ", "[", '{"explanation":"', '{"explanation": "x" ', "<think>",
    "\n<think>", "</think>", "<think></think>", "`", "``` ", " `", " ", "\n", "“", "{“a”：", "{a:", '{"a":"b"',
    '{"a":1}', '{"criteria_met":true}', '"criteria_met":true ', '"a":"b",', "{'a': 'b ", "\u0301\u0323", '"}', '" ',
    '",', '", "a": ', "I am sorry ", "\x00", '{"a":{"b":[1,', "1", "{x", '{"quotes":["a","b" ', "criteria_met: ", "｛",
    '{"note":"', '{q: w ', '{"k":[[[[[[["', "the criterion is met ", "\\", '{"explanation":"a"}',
]  # fmt: skip
AROUND = {
    "alone": ("", ""),
    "in an explanation": ('{"explanation": "', '", "criteria_met": true}'),
    "after an answer": (NOT_MET_ANSWER, ""),
    "in a quote": ('{"explanation": "x", "quotes": ["', '"], "criteria_met": true}'),
    "after thinking": ("<think>", "</think>" + MET_ANSWER),
    "as a key": ('{"explanation": "x", "criteria_met": true, "', '": 1}'),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND.keys())
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_anything_is_read_within_seconds(unit: str, around: tuple[str, str]) -> None:
    before, after = around
    size = ONE_MEGABYTE - len(before) - len(after)
    raw = before + (unit * (size // len(unit) + 1))[:size] + after
    began = time.process_time()
    reading = read_reply(raw, response_text="é" + "\u0301\u0323" * 1_000)
    assert time.process_time() - began < WITHIN
    assert is_consistent(reading)


def test_a_hundred_thousand_keys_are_read_within_seconds() -> None:
    for keys in ('"a":1,' * 150_000, '"criteria_met":1,' * 50_000, '"quotes":["a"],' * 60_000):
        began = time.process_time()
        read_reply(f'{{{keys} "explanation": "x", "criteria_met": true}}', response_text="the nights")
        assert time.process_time() - began < WITHIN


def test_deep_nesting_before_a_long_tail_is_read_within_seconds() -> None:
    began = time.process_time()
    reading = read_reply('{"a":' * 500 + "[" + "1," * 480_000)
    assert time.process_time() - began < WITHIN
    assert reading.verdict is None


def test_a_response_of_combining_marks_is_searched_within_seconds() -> None:
    """Composing them naively takes time in the square of their number: minutes."""
    marks = "e" + "\u0301\u0323" * 400_000
    began = time.process_time()
    find_quotes([marks, "x"], marks)
    assert time.process_time() - began < WITHIN


ENDED = st.sampled_from([None, "stop", "length", "content_filter", "refusal", "tool_calls", "nonsense"])
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            MET_ANSWER, NOT_MET_ANSWER, NULL_ANSWER, "{", "}", "[", "]", '"', "'", "“", "”", ",", ":", "：", "\\",
            "\n", '"explanation"', '"criteria_met"', "true", "false", "null", "yes", "maybe", "<think>", "</think>",
            "```json", "```", "I can't", "\x00", "\ud800", "\ufeff", '"quotes": ["a', "satisfaction", "1", " ", "｛",
            "符合标准",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(st.binary() | st.text() | FRAGMENTS, ENDED)
@example(b"\xff\xfe\x00", None)
@example("9" * 5_000, None)
@example('{"criteria_met": ' + "9" * 5_000 + "}", None)
@example("[" * 100_000, None)
@settings(max_examples=700, deadline=None)
def test_no_reply_raises_or_ends_as_nothing(raw: bytes | str, ended: str | None) -> None:
    reading = read_reply(raw, finish_reason=ended, response_text="true")
    assert is_consistent(reading)
    assert len(reading.quotes) == len(reading.quotes_found)
    assert "\x00" not in reading.explanation


@given(FRAGMENTS, FRAGMENTS)
@settings(max_examples=700, deadline=None)
def test_a_verdict_needs_to_be_stated_and_no_other_beside_it(before: str, after: str) -> None:
    """Whatever stands around two whole answers that differ, neither is taken."""
    raw = f"{before}\n{MET_ANSWER}\n{after}\n{NOT_MET_ANSWER}\n"
    if "think" not in raw:
        assert read_reply(raw, finish_reason="stop").verdict is None


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 3), st.text(alphabet="\"'“”{}[],:：\\\n `｛x", max_size=3)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([(MET_ANSWER, Verdict.NOT_MET), (NOT_MET_ANSWER, Verdict.MET)]),
    st.sampled_from([None, "stop", "length"]),
)
@settings(max_examples=1500, deadline=None)
def test_no_damage_turns_a_verdict_into_its_contrary(
    damages: list[tuple[int, int, str]], case: tuple[str, Verdict], ended: str | None
) -> None:
    raw, contrary = case
    for position, deleted, inserted in damages:
        raw = raw[:position] + inserted + raw[position + deleted :]
    reading = read_reply(raw, finish_reason=ended)
    assert reading.verdict is not contrary


@given(st.text(), st.lists(st.text(min_size=1), max_size=2), st.booleans(), st.sampled_from([True, False, None]))
@settings(max_examples=300, deadline=None)
def test_any_answer_in_json_is_read_as_it_was_written(
    explanation: str, quotes: list[str], absent: bool, met: bool | None
) -> None:
    answer = {
        "explanation": explanation,
        "quotes": quotes,
        "condition_absent": absent,
        "criteria_met": met,
    }
    right = {True: Verdict.MET, False: Verdict.NOT_MET, None: Verdict.CANNOT_ASSESS}[met]
    for raw in (json.dumps(answer), json.dumps(answer, ensure_ascii=False, indent=2)):
        assert read_reply(raw).verdict is right
        assert read_reply(raw).condition_absent is absent
