"""What looks like a person's is told of; helplines, dates, doses and numbers kept for fiction are not."""

import time

import pytest

from annotation.importing.personal_data import find_personal_data


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("call me 617-234-5678", "a telephone number"),
        ("(617) 234-5678", "a telephone number"),
        ("my number is 6172345678", "a telephone number"),
        ("+49 30 1234567", "a telephone number"),
        ("030/1234567", "a telephone number"),
        ("06 12 34 56 78", "a telephone number"),
        ("07700 900123", "a telephone number"),
        ("13812345678", "a telephone number"),
        ("+91 98765 43210", "a telephone number"),
        ("write to jo.doe@gmail.com.", "an e-mail address"),
        ("at 7 Elm Street", "a postal address"),
        ("12 rue de la Paix", "a postal address"),
        ("Hauptstraße 12", "a postal address"),
        ("Calle de Alcalá, 42", "a postal address"),
        ("Rua das Flores, 123", "a postal address"),
        ("MRN: 4456789", "a record number"),
        ("123-45-6789", "a record number"),
        ("case 2023-1234", "a record number"),
        ("NHS number 943 476 5919", "a record number"),
    ],
)
def test_what_looks_like_a_persons_is_found(text: str, what: str) -> None:
    assert what in set(find_personal_data(text))


@pytest.mark.parametrize(
    "text",
    [
        "988, 911 or 999",
        "text 741741",
        "116 123",
        "+44 116 123",
        "1-800-273-8255",
        "1-800-273-TALK (8255)",
        "+1 800 273 8255",
        "0800 111 0 111",
        "+49 800 1110111",
        "0808 800 5000",
        "13 11 14",
        "12/05/2023",
        "09-05-23 14:30",
        "2023-05-12 14:30",
        "in 2023-2024",
        "120/80 130/85 125/82",
        "10 20 30 40 50",
        "1.000.000.000",
        "50 mg 3 times, 100-200 mg",
        "1 2 3 4 5 6 7 8 9 10",
        "555-0123, 202-555-0147",
        "jo@example.org",
        "case 3 of 10,000 people",
    ],
)
def test_what_is_nobodys_is_passed_over(text: str) -> None:
    assert list(find_personal_data(text)) == []


@pytest.mark.parametrize("part", ["0", "1 ", "A ", "+1 ", "a@", "a.", "A-", "0 ", "De ", "12 Aa ", "patient 1 "])
def test_no_text_makes_the_scan_slow(part: str) -> None:
    start = time.perf_counter()
    list(find_personal_data("9" + part * 20_000 + "@"))
    assert time.perf_counter() - start < 2
