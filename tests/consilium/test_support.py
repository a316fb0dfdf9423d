"""Somebody to talk to: the lines of the reader's country first, what is for everybody next, the others behind."""

import pytest

from consilium.support import Support, support_for

TEXT = "Maya, extension 12\nGB: Samaritans, 116 123\nDE: TelefonSeelsorge, 0800 111 0 111"


@pytest.mark.parametrize(
    ("country", "first", "others"),
    [
        ("GB", "Samaritans, 116 123\nMaya, extension 12", "DE: TelefonSeelsorge, 0800 111 0 111"),
        ("de", "TelefonSeelsorge, 0800 111 0 111\nMaya, extension 12", "GB: Samaritans, 116 123"),
        ("BR", "Maya, extension 12", "GB: Samaritans, 116 123\nDE: TelefonSeelsorge, 0800 111 0 111"),
        ("", "Maya, extension 12", "GB: Samaritans, 116 123\nDE: TelefonSeelsorge, 0800 111 0 111"),
    ],
)
def test_the_own_country_comes_first(country: str, first: str, others: str) -> None:
    assert support_for(TEXT, country) == Support(first, others)


def test_a_text_without_countries_stays_as_it_is() -> None:
    text = "Duty lead: +49 30 1234\n\nDr. Who: never"
    assert support_for(text, "DE") == Support(text)
    assert support_for("", "DE") == Support("")


def test_where_nothing_would_come_first_nothing_is_put_behind() -> None:
    assert support_for("GB: 116 123\nDE: 0800", "FR") == Support("GB: 116 123\nDE: 0800")


def test_a_country_may_have_many_lines_and_another_name() -> None:
    assert support_for("UK: one\n  GB :  two \nIE: three", "GB") == Support("one\ntwo", "IE: three")
    assert support_for("GB: one", "UK") == Support("one")
