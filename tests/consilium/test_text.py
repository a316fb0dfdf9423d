"""How texts are shown: nothing that people wrote becomes markup, and differences are said in words too."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.languages_and_countries import COUNTRIES
from consilium.templatetags.consilium_text import (
    ALLOWED_TAGS,
    country_name,
    diff_words,
    in_words,
    language_direction,
    language_name,
    markdown,
    shortened,
    signed,
    speaker,
)


def test_markdown_of_guidelines_is_shown_and_anything_dangerous_is_not() -> None:
    shown = markdown(
        "# One\n\n**two** <script>alert(1)</script> [a](javascript:alert(1)) [b](https://example.org) <img src=x>"
    )
    assert "<h2>One</h2>" in shown
    assert "<strong>two</strong>" in shown
    assert 'href="https://example.org"' in shown
    assert "<script" not in shown
    assert "<img" not in shown
    assert 'href="javascript' not in shown


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_markdown_never_lets_a_script_or_a_handler_through(text: str) -> None:
    tags = re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)>", markdown(text + '<a onclick="x">&<svg onload=x>'))
    assert all(name in ALLOWED_TAGS for name, _ in tags)
    assert not any(re.search(r"\son\w+=", attributes) for _, attributes in tags)


def test_a_difference_is_by_word_and_said_aloud() -> None:
    shown = diff_words("Asks if he sleeps.", "Asks whether he sleeps.")
    assert '<del><span class="visually-hidden">removed: </span>if</del>' in shown
    assert '<ins><span class="visually-hidden">added: </span>whether</ins>' in shown
    assert shown.startswith("Asks ")
    assert shown.endswith(" he sleeps.")


def test_a_difference_in_letter_case_is_a_difference() -> None:
    """SAD is a disorder, sad is a mood."""
    assert "removed: </span>SAD" in diff_words("SAD", "sad")


def test_a_difference_in_a_script_without_spaces_is_by_character() -> None:
    assert re.findall(r"</span>(.)</ins>", diff_words("直接问自杀", "直接问过自杀")) == ["过"]


texts = st.text(alphabet=st.sampled_from("ab <>&\"'\n意مر."), max_size=30)


@given(texts, texts)
def test_a_difference_holds_both_texts_and_no_markup_of_theirs(old: str, new: str) -> None:
    shown = diff_words(old, new).replace('<span class="visually-hidden">removed: </span>', "")
    shown = shown.replace('<span class="visually-hidden">added: </span>', "")
    shown = shown.replace(' class="whole"', "")
    without_added = re.sub(r"<ins>.*?</ins>", "", shown, flags=re.DOTALL)
    without_removed = re.sub(r"<del>.*?</del>", "", shown, flags=re.DOTALL)
    assert html.unescape(re.sub(r"</?del>", "", without_added)) == old
    assert html.unescape(re.sub(r"</?ins>", "", without_removed)) == new


def test_a_text_written_anew_stands_whole_below_the_old_one() -> None:
    old = "Asks whether the person sleeps at night and eats."
    new = "Names a helpline that is open now, in the person's language."
    shown = diff_words(old, new)
    assert re.findall(r'<(\w+) class="whole">', shown) == ["del", "ins"]
    assert f"removed: </span>{old}</del>" in shown
    assert f"added: </span>{html.escape(new)}</ins>" in shown
    assert "whole" not in diff_words(old, "Asks whether the person sleeps at night, and how much she eats.")


@pytest.mark.parametrize(
    ("code", "name"), [("ZA", "South Africa"), ("nz", "New Zealand"), ("BA", "Bosnia and Herzegovina"), ("QQ", "QQ")]
)
def test_a_country_has_its_name_or_its_letters(code: str, name: str) -> None:
    assert country_name(code) == name


def test_every_country_that_may_be_named_has_a_name() -> None:
    assert [code for code in COUNTRIES if country_name(code) == code] == []
    assert country_name(None) == ""


@pytest.mark.parametrize(("points", "shown"), [(6, "+6"), (-8, "\u22128"), (0, "0"), (None, "")])
def test_points_carry_their_sign(points: int | None, shown: str) -> None:
    assert signed(points) == shown


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("en", "English"),
        ("pt-BR", "Brazilian Portuguese"),
        ("de-CH-1996", "German (de-CH-1996)"),
        ("tlh", "tlh"),
        (None, "Language not known"),
    ],
)
def test_a_language_has_its_name_or_its_tag(tag: str | None, name: str) -> None:
    assert language_name(tag) == name


@pytest.mark.parametrize(
    ("tag", "direction"),
    [
        ("ar-EG", "rtl"),
        ("he", "rtl"),
        ("ur", "rtl"),
        ("en", "ltr"),
        ("az-Arab", "rtl"),
        ("ar-Latn", "ltr"),
        ("", "auto"),
    ],
)
def test_a_language_runs_as_its_script_does(tag: str, direction: str) -> None:
    assert language_direction(tag) == direction


def test_who_speaks_is_said_in_words() -> None:
    assert speaker("user", "caregiver") == "Caregiver"
    assert speaker("user", None) == "Person"
    assert speaker("assistant", "teen") == "Assistant"


def test_names_become_words_and_long_texts_end_in_an_ellipsis() -> None:
    assert in_words("communication_and_writing") == "Communication and writing"
    assert shortened("one two three four", 3) == "one two three …"
    assert shortened("one two", 3) == "one two"
