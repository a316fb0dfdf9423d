"""Stored decisions are found again by the patterns that they were made from, whatever the votes were."""

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from annotation.consensus import PRESETS, Ballot, decide
from annotation.decision_words import DECISIONS, REASONS, decision_in_words
from consilium.retelling import find_pattern

PEOPLE = list(range(6))
BALLOTS = st.builds(
    lambda choice, points, category: Ballot(
        reviewer=0,
        choice=choice,
        points=points if choice == "agree" else None,
        category=category if choice == "object" else "",
        wording="w",
    ),
    st.sampled_from(["agree", "object", "abstain", "recuse"]),
    st.integers(-10, 10).filter(bool),
    st.sampled_from(["unsafe", "clinically_wrong", "ambiguous"]),
)


@given(st.lists(BALLOTS, max_size=6), st.sampled_from(sorted(PRESETS)))
def test_every_decision_is_told_by_a_pattern(ballots: list[Ballot], preset: str) -> None:
    votes = [
        Ballot(reviewer=number, choice=b.choice, points=b.points, category=b.category, wording=b.wording)
        for number, b in enumerate(ballots)
    ]
    decision = decide(PRESETS[preset], writers=[], wording="w", eligible=PEOPLE, votes=votes)
    found = find_pattern(decision.sentence, DECISIONS)
    assert found is not None
    pattern, values = found
    if pattern.startswith("Not in consensus"):
        reasons = values["reasons"].split("; ")
        assert len(reasons) == len(decision.failing)
        assert all(find_pattern(reason, REASONS) for reason in reasons)
    else:
        assert values["objected" if decision.result == "out" else "agreed"].isdigit()


def test_in_english_it_stays_as_it_was_stored() -> None:
    assert decision_in_words("Out: 3 objected and nobody agreed.") == "Out: 3 objected and nobody agreed."


@pytest.mark.parametrize("language", ["es", "ar"])
def test_what_no_pattern_fits_is_shown_as_it_was_stored(language: str) -> None:
    with translation.override(language):
        assert decision_in_words("Something else.") == "Something else."
