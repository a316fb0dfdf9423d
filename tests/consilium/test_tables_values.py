"""What a value is taken for, and what is said where it can't be."""

from collections.abc import Callable

import pytest

from consilium.tables import (
    Unreadable,
    as_choice,
    as_json,
    as_list,
    as_text,
    as_true_or_false,
    as_whole_number,
    normal_id,
)


@pytest.mark.parametrize("take", [as_text, as_whole_number, as_true_or_false, as_list, as_json])
def test_what_is_absent_is_none(take: Callable[[object], object]) -> None:
    assert take(None) is None
    assert take("  ") == ("  " if take is as_text else None)
    assert as_choice(" ", allowed=["a"]) is None


@pytest.mark.parametrize(
    ("value", "text"), [(" a ", " a "), ("", ""), (7, "7"), (7.0, "7"), (1.5, "1.5"), (10**14, "1" + "0" * 14)]
)
def test_text_is_kept_and_a_number_becomes_its_digits(value: object, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [(4, 4), (4.0, 4), ("4", 4), (" +4 ", 4), ("4.0", 4), ("-4", -4), ("\N{MINUS SIGN}4", -4), ("٤", 4), ("007", 7)],
)
def test_a_whole_number_may_be_written_in_many_ways(value: object, number: int) -> None:
    assert as_whole_number(value) == number


@pytest.mark.parametrize(
    "value",
    ["4.5", 4.5, "4,0", "four", "1e3", True, [4], {}, "- 4", "--4", "1_000", 2**63, "9" * 5000, float("inf")],
)
def test_what_is_no_whole_number_is_said(value: object) -> None:
    with pytest.raises(Unreadable, match="Expected a whole number"):
        as_whole_number(value)


@pytest.mark.parametrize("value", [True, 1, 1.0, "true", "TRUE", " Yes ", "y", "1"])
def test_yes_is_true(value: object) -> None:
    assert as_true_or_false(value) is True


@pytest.mark.parametrize("value", [False, 0, "false", "No", "n", "0"])
def test_no_is_false(value: object) -> None:
    assert as_true_or_false(value) is False


@pytest.mark.parametrize("value", [2, "maybe", "wahr", [True], {}])
def test_what_is_neither_true_nor_false_is_said(value: object) -> None:
    with pytest.raises(Unreadable, match="Expected true or false"):
        as_true_or_false(value)


@pytest.mark.parametrize("value", ["high_acuity", "High Acuity", " HIGH-ACUITY ", "high  acuity"])
def test_a_choice_is_found_in_any_spelling(value: str) -> None:
    assert as_choice(value, allowed=["non_acute", "high_acuity"]) == "high_acuity"


def test_a_choice_answers_with_the_word_that_is_allowed() -> None:
    assert as_choice("pt-br", allowed=iter(["pt-BR"])) == "pt-BR"
    assert as_choice(1, allowed=["1", "2"]) == "1"


@pytest.mark.parametrize("value", ["acute", True, ["agree"], 3])
def test_a_choice_that_is_not_allowed_names_those_that_are(value: object) -> None:
    with pytest.raises(Unreadable, match="Expected one of agree, object"):
        as_choice(value, allowed=["agree", "object"])


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("a|b; c | ", ["a", "b; c"]),
        ("a; b;;c", ["a", "b", "c"]),
        ("a, b", ["a, b"]),
        ('["a", "b|c"]', ["a", "b|c"]),
        ([], []),
        (["a", 7], ["a", "7"]),
        (2024, ["2024"]),
    ],
)
def test_a_list_is_json_or_parted_by_bars_or_semicolons(value: object, parts: list[str]) -> None:
    assert as_list(value) == parts


@pytest.mark.parametrize("value", [{"a": 1}, True, [None], [["a"]], "[1,", [True]])
def test_what_is_no_list_of_texts_is_said(value: object) -> None:
    with pytest.raises(Unreadable, match=r"^Expected"):
        as_list(value)


def test_json_in_a_cell_is_read_as_strictly_as_a_line() -> None:
    assert as_json(' [{"role": "user", "content": "Hello"}] ') == [{"role": "user", "content": "Hello"}]
    assert as_json({"a": 1}) == {"a": 1}
    assert as_json(5) == 5
    for text in ('{"a": 1, "a": 2}', "[NaN]", "hello", '["\\ud800"]'):
        with pytest.raises(Unreadable, match=r"^Expected JSON\."):
            as_json(text)


def test_a_text_that_should_be_one_is_said() -> None:
    values: list[object] = [True, [], {}]
    for value in values:
        with pytest.raises(Unreadable, match="Expected a text"):
            as_text(value)


def test_an_id_is_trimmed_and_composed_and_nothing_else() -> None:
    assert normal_id(" \tCafe\u0301 7\n") == "Café 7"
    assert normal_id("Ab") == "Ab"


def test_a_message_quotes_only_what_can_be_shown() -> None:
    with pytest.raises(Unreadable) as caught:
        as_whole_number("x\0\u202e" + "y" * 500)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 120
