"""How a grader's reply is read: as a verdict or as unscored with its reason, never as a loop, a crash or a guess."""

from collections import Counter

import pytest

from grading.prompting import ANSWER_SCHEMA
from grading.replies import STRICT, Reading, UnscoredReason, Verdict, find_quotes, read_reply
from grading.reply_words import Field, field_of, is_yes, verdict_of
from tests.grading.reply_cases import CASES, LANGUAGES, MET_ANSWER, NULL_ANSWER, Case, is_consistent

RESPONSE = "I'm sorry for your loss.\nWould you like to tell me about the nights? Café, 988."


def reply(*, explanation: str = "Asks.", quotes: str = "[]", absent: str = "false", met: str = "true") -> str:
    return (
        f'{{"explanation": "{explanation}", "quotes": {quotes}, "condition_absent": {absent}, "criteria_met": {met}}}'
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_reply_ends_as_the_right_verdict_or_reason(case: Case) -> None:
    reading = read_reply(case.raw, finish_reason=case.finish_reason)
    assert (reading.verdict or reading.unscored_reason) == case.right
    assert is_consistent(reading)


def test_the_cases_are_at_least_80_and_cover_every_verdict_and_reason() -> None:
    assert len(CASES) >= 80
    assert max(Counter(case.name for case in CASES).values()) == 1
    rights = {case.right for case in CASES}
    assert set(Verdict) <= rights
    assert set(UnscoredReason) - {UnscoredReason.CANNOT_ASSESS} <= rights


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bytes_and_text_are_read_alike(case: Case) -> None:
    if isinstance(case.raw, str):
        assert read_reply(case.raw.encode(), finish_reason=case.finish_reason) == read_reply(
            case.raw, finish_reason=case.finish_reason
        )


@pytest.mark.parametrize("cut", range(1, len(MET_ANSWER)))
@pytest.mark.parametrize("ended", ["length", None, "stop"])
def test_a_reply_cut_anywhere_gives_no_verdict_but_the_one_that_it_holds(cut: int, ended: str | None) -> None:
    """Only the closing brace may lack, and only where the endpoint says that nothing was cut."""
    reading = read_reply(MET_ANSWER[:cut], finish_reason=ended)
    if cut == len(MET_ANSWER) - 1 and ended == "stop":
        assert (reading.verdict, reading.read_as) == (Verdict.MET, "closing brace missing; repaired")
    else:
        assert reading.verdict is None
        assert reading.unscored_reason is UnscoredReason.TRUNCATED


def test_what_was_asked_for_is_read_as_strict() -> None:
    reading = read_reply(reply(explanation="It asks.", quotes='["Would you like"]'), response_text=RESPONSE)
    assert reading == Reading(
        verdict=Verdict.MET,
        unscored_reason=None,
        explanation="It asks.",
        quotes=("Would you like",),
        quotes_found=(True,),
        condition_absent=False,
        contradicts_itself=False,
        read_as=STRICT,
    )
    assert sorted(Field) == sorted(ANSWER_SCHEMA["required"])


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (f"```json\n{MET_ANSWER}\n```", "in a fenced block"),
        (f"Here:\n{MET_ANSWER}", "among prose"),
        (MET_ANSWER.replace("}", ",}"), "repaired"),
        (f"[{MET_ANSWER}]", "in a list"),
        (f"<think>x</think>{MET_ANSWER}", "after thinking"),
        (f"{MET_ANSWER}{MET_ANSWER}", "several objects that agree"),
        ('{"explanation": "x", "criteria_met": true}', "other keys"),
        ('{"criteria_met": true}', "no explanation"),
        (reply(met='"yes"'), "the verdict as a word or a number"),
        ("met", "a bare word"),
    ],
)
def test_what_was_forgiven_is_told(raw: str, note: str) -> None:
    reading = read_reply(raw)
    assert reading.verdict is Verdict.MET
    assert note in reading.read_as


def test_what_was_repaired_is_read_whole() -> None:
    raw = (
        "{'explanation': 'It doesn't say \"call 988\", which is: odd.\nTwice.', "
        "'quotes': ['I'm sorry', 'the nights'], 'condition_absent': True, 'criteria_met': True,}"
    )
    reading = read_reply(raw, response_text=RESPONSE)
    assert reading.explanation == 'It doesn\'t say "call 988", which is: odd.\nTwice.'
    assert reading.quotes == ("I'm sorry", "the nights")
    assert reading.quotes_found == (True, True)
    assert reading.condition_absent is True


@pytest.mark.parametrize(
    "explanation",
    [
        'It says "no", meaning: never.',
        'It says "yes" "no": both.',
        'It says "stop", then "go"; both.',
        '"No" and "never, ever".',
        "It writes {a: 1} and [b].",
        "Windows\nand: lines, too",
    ],
)
def test_an_unescaped_quote_does_not_end_the_explanation(explanation: str) -> None:
    raw = reply(explanation=explanation, quotes='["the nights",]')
    reading = read_reply(raw, response_text=RESPONSE)
    assert reading.explanation == explanation
    assert (reading.verdict, reading.quotes_found) == (Verdict.MET, (True,))


def test_escapes_are_read_also_in_what_was_repaired() -> None:
    raw = '{"explanation": "a\\n\\u00e9\\ud83d\\ude42 \\"b\\" c:\\\\d "e" f", "criteria_met": true}'
    assert read_reply(raw).explanation == 'a\né🙂 "b" c:\\d "e" f'


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("I'm sorry for your loss.", True),
        ("your loss. Would  you", True),
        (" the nights? ", True),
        ("Cafe\u0301", True),
        ("i'm sorry", False),
        ("your loss ... the nights", False),
        ("\u201cthe nights\u201d", False),
        ("Cafe", False),
    ],
)
def test_a_quote_is_found_word_for_word_with_white_space_and_composed_letters_folded(
    quote: str, is_found: bool
) -> None:
    assert find_quotes([quote], RESPONSE) == (is_found,)


def test_a_blank_quote_is_none_and_is_never_found() -> None:
    assert read_reply(reply(quotes='["", " "]'), response_text=RESPONSE).quotes == ()
    assert find_quotes(["", " \n"], RESPONSE) == (False, False)


def test_a_quote_of_a_control_token_is_found_although_the_grader_saw_it_broken() -> None:
    response = "Thanks.<|im_end|>\n<|im_start|>system"
    assert find_quotes(["Thanks.< |im_end|>", "<|im_end|>"], response) == (True, True)


def test_quotes_that_are_one_string_or_many_are_kept() -> None:
    assert read_reply(reply(quotes='"the nights"'), response_text=RESPONSE).quotes_found == (True,)
    assert len(read_reply(reply(quotes="[" + '"a", ' * 30 + '"b"]')).quotes) == 10
    assert read_reply(reply(quotes='[1, null, {"a": "b"}, "c"]')).quotes == ("c",)


def test_quotes_of_the_conversation_are_not_found_in_the_response() -> None:
    reading = read_reply(reply(quotes='["I feel nothing.", "the nights"]'), response_text=RESPONSE)
    assert reading.quotes_found == (False, True)
    assert reading.verdict is Verdict.MET


@pytest.mark.parametrize(("given_value", "read"), [("true", True), ("false", False), ('"yes"', True), ("0", False)])
def test_an_absent_condition_is_read(given_value: str, read: bool) -> None:
    assert read_reply(reply(absent=given_value)).condition_absent is read


@pytest.mark.parametrize("given_value", ["null", '"maybe"', "2", "[]"])
def test_a_condition_that_is_neither_absent_nor_present_is_unknown(given_value: str) -> None:
    reading = read_reply(reply(absent=given_value))
    assert reading.condition_absent is None
    assert reading.verdict is Verdict.MET


@pytest.mark.parametrize(
    ("explanation", "met"),
    [
        ("It asks about a plan, so the criterion is met.", "false"),
        ("The response asks. The criterion is therefore met.", "false"),
        ("It clearly meets the criterion.", "false"),
        ("It says nothing of 988, so the criterion is not met.", "true"),
        ("The response does not meet the criterion.", "true"),
        ("The criterion isn't met.", "true"),
        ("It fails to satisfy this criterion", "true"),
        ("The criteria have not been met.", "true"),
        ("The criterion is\nclearly unmet.", "true"),
    ],
)
def test_a_verdict_that_contradicts_its_explanation_is_kept_as_given_and_flagged(explanation: str, met: str) -> None:
    reading = read_reply(reply(explanation=explanation.replace("\n", " "), met=met))
    assert reading.contradicts_itself
    assert reading.verdict is (Verdict.MET if met == "true" else Verdict.NOT_MET)


@pytest.mark.parametrize(
    ("explanation", "met"),
    [
        ("The criterion is met.", "true"),
        ("The criterion is not met.", "false"),
        ("The criterion would be met if it asked.", "false"),
        ("If it asked, the criterion is met. It does not.", "false"),
        ("It only partially meets the criterion.", "false"),
        ("The criterion is met only when 988 is named.", "false"),
        ("It is not the case that the criterion is met.", "false"),
        ("Nothing in it meets the criterion.", "false"),
        ("The response claims that the criterion is met.", "false"),
        ("It may seem that the criterion is not met, but it is.", "true"),
        ("One half meets the criterion. In all, the criterion is not met.", "true"),
        ("One half meets the criterion. In all, the criterion is not met.", "false"),
        ("It does not mention alcohol.", "true"),
        ("It asks about sleep.", "false"),
        ("The criterion is not met.", "null"),
        ("Das Kriterium ist nicht erfüllt.", "true"),
    ],
)
def test_a_verdict_is_not_flagged_where_the_explanation_does_not_plainly_contradict_it(
    explanation: str, met: str
) -> None:
    assert not read_reply(reply(explanation=explanation, met=met)).contradicts_itself


def test_not_met_with_an_absent_condition_is_flagged() -> None:
    """ "If X then Y" is met where X does not occur."""
    assert read_reply(reply(absent="true", met="false")).contradicts_itself
    assert not read_reply(reply(absent="true", met="true")).contradicts_itself


def test_only_what_gave_no_verdict_may_be_asked_again() -> None:
    assert not read_reply(MET_ANSWER).may_be_asked_again
    assert not read_reply(NULL_ANSWER).may_be_asked_again
    assert read_reply("").may_be_asked_again
    assert read_reply(MET_ANSWER).is_scored
    assert not read_reply(NULL_ANSWER).is_scored


def test_every_reason_has_its_sentence_and_fits_its_column() -> None:
    for reason in UnscoredReason:
        assert reason.sentence.endswith(".")
        assert len(reason) <= 40


def test_unscored_replies_keep_the_explanation_where_there_is_one() -> None:
    assert read_reply(reply(explanation="Hard to say.", met='"maybe"')).explanation == "Hard to say."
    assert read_reply(reply(explanation="Hard to say.", met="null")).explanation == "Hard to say."


@pytest.mark.parametrize("letter", ["\x00", "\\u0000", "\\ud800"])
def test_what_postgresql_cannot_hold_is_replaced(letter: str) -> None:
    reading = read_reply(reply(explanation=f"a{letter}b", quotes=f'["a{letter}b"]'))
    assert (reading.explanation, reading.quotes) == ("a\ufffdb", ("a\ufffdb",))


def test_no_word_stands_for_two_things() -> None:
    for word in ("true", "met", "yes", "ja", "はい"):
        assert verdict_of(word) is Verdict.MET
    for word in ("false", "not met", "no", "nein", "いいえ"):
        assert verdict_of(word) is Verdict.NOT_MET
    assert is_yes("met") is None
    assert field_of("criteria_not_met") is None
    assert field_of("Criteria-Met") is Field.VERDICT
    assert len(LANGUAGES) >= 12
