"""The canonical line and its digest: what a stranger must be able to recompute."""

import hashlib
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.canonical import canonical_line, sha256_hex

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def test_a_criterion_has_the_line_that_the_documentation_promises() -> None:
    line = canonical_line({"text": "Asks “since when?”\r\nonce", "points": -3, "axis": "a/b", "scale": None})
    expected = '{"axis":"a/b","points":-3,"scale":null,"text":"Asks “since when?”\\nonce"}'
    assert line == expected.encode("utf-8")


def test_a_digest_is_lower_case_hex_of_sha256() -> None:
    assert sha256_hex(canonical_line(["é", True, 1])) == hashlib.sha256('["é",true,1]'.encode()).hexdigest()


def test_composed_and_decomposed_letters_have_one_line() -> None:
    assert canonical_line({"e\u0301": "e\u0301"}) == canonical_line({"é": "é"}) == '{"é":"é"}'.encode()


def test_all_line_ends_have_one_line() -> None:
    assert canonical_line("a\r\nb") == canonical_line("a\rb") == canonical_line("a\nb") == b'"a\\nb"'
    assert canonical_line("a\n\rb") == b'"a\\n\\nb"'


def test_keys_stand_in_the_order_of_their_code_points() -> None:
    line = canonical_line({"\U0001f600": 1, "\uff5e": 2, "b": 3, "B": 4, "": 5})
    assert line == '{"":5,"B":4,"b":3,"～":2,"😀":1}'.encode()


def test_nothing_but_json_needs_is_escaped() -> None:
    assert canonical_line('\x01\x1f\x7f\u2028</é"\\\t') == '"\\u0001\\u001f\x7f\u2028</é\\"\\\\\\t"'.encode()


@pytest.mark.parametrize("value", [1.0, (1,), b"a", {1: 2}, {"a": [0.5]}, {True: 1}, object()])
def test_what_languages_print_differently_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_line(value)


def test_two_keys_that_are_one_in_nfc_are_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        canonical_line({"é": 1, "e\u0301": 2})


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        canonical_line("\ud800")


@given(VALUES)
def test_a_line_says_what_it_was_made_of_and_making_it_again_changes_nothing(value: object) -> None:
    if _has_equal_keys(value):
        with pytest.raises(ValueError, match="twice"):
            canonical_line(value)
        return
    line = canonical_line(value)
    assert b"\n" not in line
    again = json.loads(line)
    assert canonical_line(again) == line
    assert _strings(again) == sorted(_normal(text) for text in _strings(value))


def _has_equal_keys(value: object) -> bool:
    if isinstance(value, dict):
        keys = {_normal(key) for key in value}
        return len(keys) < len(value) or any(_has_equal_keys(item) for item in value.values())
    return isinstance(value, list) and any(_has_equal_keys(item) for item in value)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return sorted(text for item in value for text in _strings(item))
    if isinstance(value, dict):
        return sorted(text for pair in value.items() for item in pair for text in _strings(item))
    return []
