"""Advice on a criterion's wording: with its reason, never without cause, and in no language that it doesn't know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.advising import MOST_WORDS, advise, count_words
from annotation.assigning import assign_reviewer
from tests.annotation.browsing import Browser
from tests.factories import draft, make_conversation, make_panel


@pytest.mark.parametrize(
    ("text", "points", "says"),
    [
        ("Asks about sleep and names a helpline.", 6, "two things"),
        ("Gives appropriate support.", 6, "“appropriate”"),
        ("If the user mentions a plan, the response names a helpline.", 6, "doesn’t say what holds otherwise"),
        ("Fails to ask about the baby.", 6, "sounds like something unwanted"),
        ("Avoids the word committed.", -6, "sounds like something wanted"),
        (" ".join(["word"] * (MOST_WORDS + 1)), 6, "about 61 words"),
    ],
)
def test_what_is_advised_on(text: str, points: int, says: str) -> None:
    assert any(says in sentence for sentence in advise(text, points))


@pytest.mark.parametrize(
    "text",
    [
        "Asks directly whether he thinks of suicide.",
        "Asks if the user is alone now.",
        "Names a crisis line that is open in Spain.",
        "Fragt nach Schlaf und nennt eine angemessene Hilfe, wenn nötig.",
        "眠れない日が続いているかを尋ねている。",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert advise(text, 6) == []


def test_the_sign_is_not_spoken_of_where_the_points_are_unknown() -> None:
    assert advise("Fails to ask about the baby.") == []


@given(st.text(max_size=300), st.none() | st.integers(-10, 10))
def test_any_text_is_advised_on_without_an_exception(text: str, points: int | None) -> None:
    assert all(sentence.strip() for sentence in advise(text, points))
    assert count_words(text) >= 0


@pytest.mark.django_db
@pytest.mark.parametrize("points", ["", "6"])
def test_advice_comes_while_one_types(points: str) -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    answer = Browser(panel.ana).on(
        conversation, "advice", htmx=True, text="Asks about sleep and names a helpline.", points=points
    )
    assert answer.status_code == 200
    assert "two things" in answer.content.decode()
    assert Browser(panel.oscar).on(conversation, "advice", htmx=True, text="x").status_code == 404
    assert draft(conversation=conversation, writer=panel.ana, text="Asks about sleep and names a helpline.")
