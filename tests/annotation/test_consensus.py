"""The rule of consensus: its clauses, its two presets, and the properties that hold for every set of votes."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.consensus import (
    ALL_CATEGORIES,
    PRESETS,
    THREE_AGREE,
    TWO_OF_THREE,
    Ballot,
    Clause,
    Decision,
    Result,
    Rule,
    decide,
)

VOTERS = ["ben", "chloe", "dev", "eva", "finn", "gita"]


def agree(reviewer: str, points: int = 6, wording: str = "w") -> Ballot:
    return Ballot(reviewer, wording, "agree", points)


def objection(reviewer: str, category: str = "ambiguous", wording: str = "w") -> Ballot:
    return Ballot(reviewer, wording, "object", None, category)


def decided(*votes: Ballot, rule: Rule = THREE_AGREE, writers: tuple[str, ...] = ("ana",)) -> Decision:
    return decide(rule, writers=writers, wording="w", eligible=VOTERS, votes=votes)


def test_three_who_agree_on_a_weight_are_a_consensus_at_its_median() -> None:
    decision = decided(agree("ben", 6), agree("chloe", 7), agree("dev", 8))
    assert (decision.result, decision.points) == (Result.IN_CONSENSUS, 7)
    assert decision.sentence == "In consensus at +7: 3 agreed."


@pytest.mark.parametrize(
    ("weights", "points"),
    [((5, 6, 7, 8), 6), ((-5, -6, -7, -8), -6), ((7, 7, 8, 8), 7), ((-8, -8, -7, -7), -7)],
)
def test_a_half_is_rounded_to_the_milder_weight(weights: tuple[int, ...], points: int) -> None:
    assert decided(*(agree(who, w) for who, w in zip(VOTERS, weights, strict=False))).points == points


def test_two_agreements_do_not_suffice() -> None:
    decision = decided(agree("ben"), agree("chloe"))
    assert decision.failing == (Clause.REVIEWED, Clause.AGREED)
    assert "2 agreed, 3 are needed" in decision.sentence


def test_abstaining_counts_as_reviewing_and_never_as_agreeing() -> None:
    decision = decided(agree("ben"), agree("chloe"), Ballot("dev", "w", "abstain"))
    assert decision.failing == (Clause.AGREED,)


def test_recusing_counts_nowhere() -> None:
    decision = decided(agree("ben"), agree("chloe"), Ballot("dev", "w", "recuse"))
    assert Clause.REVIEWED in decision.failing


def test_three_of_four_reach_the_ratio_exactly_and_three_of_five_do_not() -> None:
    three = (agree("ben"), agree("chloe"), agree("dev"))
    assert decided(*three, objection("eva")).is_in_consensus
    assert decided(*three, objection("eva"), objection("finn")).failing == (Clause.RATIO,)


@pytest.mark.parametrize("category", ["unsafe", "clinically_wrong"])
def test_one_blocking_objection_stops_a_consensus(category: str) -> None:
    decision = decided(agree("ben"), agree("chloe"), agree("dev"), agree("eva"), objection("finn", category))
    assert decision.failing == (Clause.BLOCKED,)
    assert category.replace("_", " ") in decision.sentence


def test_weights_of_two_signs_are_no_consensus() -> None:
    assert Clause.SIGN in decided(agree("ben", 1), agree("chloe", 1), agree("dev", -1)).failing


def test_weights_too_far_from_their_median_fail_on_rule_4_alone() -> None:
    decision = decided(agree("ben", 2), agree("chloe", 6), agree("dev", 10))
    assert decision.failing == (Clause.SPREAD,)
    assert decision.fails_on_weights_alone
    near_enough = decided(agree("ben", 2), agree("chloe", 6), agree("dev", 6), agree("eva", 8))
    assert near_enough.is_in_consensus


def test_three_objections_and_no_agreement_put_it_out() -> None:
    objections = [objection(who) for who in VOTERS[:3]]
    assert decided(*objections).result is Result.OUT
    assert decided(*objections, agree("eva")).result is Result.UNSETTLED


def test_two_of_three_is_enough_where_none_contradicts() -> None:
    two = (agree("ben"), agree("chloe"))
    assert decided(*two, Ballot("dev", "w", "abstain"), rule=TWO_OF_THREE).is_in_consensus
    assert not decided(*two, rule=TWO_OF_THREE).is_in_consensus
    for category in ALL_CATEGORIES:
        assert not decided(*two, objection("dev", category), rule=TWO_OF_THREE).is_in_consensus


def test_a_vote_on_an_old_wording_does_not_count() -> None:
    assert not decided(agree("ben"), agree("chloe"), agree("dev", wording="old")).is_in_consensus


def test_nobody_counts_twice_whatever_the_letter_case_of_the_address() -> None:
    votes = [agree("Ben@Example.org"), agree("ben@example.org"), agree(" BEN@example.org")]
    decision = decide(THREE_AGREE, writers=[], wording="w", eligible=["ben@example.org"], votes=votes)
    assert decision.agreed == 1


def test_a_rule_in_which_an_objection_could_help_is_refused() -> None:
    with pytest.raises(ValueError, match="every category"):
        Rule(min_agree=2)
    with pytest.raises(ValueError, match="above one half"):
        Rule(min_ratio=Fraction(1, 2))


weights = st.integers(-10, 10).filter(bool)
ballots = st.builds(
    lambda who, choice, points, category, wording: Ballot(
        who,
        wording,
        choice,
        points if choice == "agree" else None,
        category if choice == "object" else "",
    ),
    st.sampled_from([*VOTERS, "ana"]),
    st.sampled_from(["agree", "agree", "agree", "object", "abstain", "recuse"]),
    weights,
    st.sampled_from(ALL_CATEGORIES),
    st.sampled_from(["w", "w", "w", "old"]),
)
one_each = st.lists(ballots, max_size=7, unique_by=lambda ballot: ballot.reviewer)
rules = st.sampled_from(list(PRESETS.values()))


@settings(max_examples=400, deadline=None)
@given(rules, st.lists(ballots, max_size=9), st.randoms())
def test_the_order_of_votes_never_matters(rule: Rule, votes: list[Ballot], random: object) -> None:
    shuffled = list(votes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert decided(*votes, rule=rule) == decided(*shuffled, rule=rule)


@settings(max_examples=400, deadline=None)
@given(rules, one_each, st.sampled_from(ALL_CATEGORIES))
def test_an_added_objection_never_helps(rule: Rule, votes: list[Ballot], category: str) -> None:
    eligible = [*VOTERS, "newcomer"]
    before = decide(rule, writers=["ana"], wording="w", eligible=eligible, votes=votes)
    after = decide(
        rule, writers=["ana"], wording="w", eligible=eligible, votes=[*votes, objection("newcomer", category)]
    )
    assert not (after.is_in_consensus and not before.is_in_consensus)


@settings(max_examples=400, deadline=None)
@given(rules, one_each, st.sampled_from(ALL_CATEGORIES))
def test_an_agreement_turned_into_an_objection_never_helps(rule: Rule, votes: list[Ballot], category: str) -> None:
    before = decided(*votes, rule=rule)
    for index, ballot in enumerate(votes):
        if ballot.choice == "agree":
            turned = [*votes[:index], objection(str(ballot.reviewer), category), *votes[index + 1 :]]
            assert before.is_in_consensus or not decided(*turned, rule=rule).is_in_consensus or _spread_only(before)


def _spread_only(decision: Decision) -> bool:
    """Taking an outlying weight away may mend the spread: that is rule 4's doing, not the objection's."""
    return decision.fails_on_weights_alone


@settings(max_examples=400, deadline=None)
@given(rules, one_each, ballots)
def test_a_writers_vote_never_counts(rule: Rule, votes: list[Ballot], vote: Ballot) -> None:
    others = [ballot for ballot in votes if ballot.reviewer != "ana"]
    assert decided(*others, rule=rule) == decided(*others, replace(vote, reviewer="ana"), rule=rule)


@settings(max_examples=300, deadline=None)
@given(rules, one_each)
def test_nobody_counts_twice(rule: Rule, votes: list[Ballot]) -> None:
    doubled = [*votes, *(replace(ballot, reviewer=str(ballot.reviewer).upper()) for ballot in votes)]
    assert decided(*doubled, rule=rule) == decided(*votes, rule=rule)


@settings(max_examples=300, deadline=None)
@given(rules, one_each)
def test_silence_never_passes_and_consensus_has_the_numbers_it_needs(rule: Rule, votes: list[Ballot]) -> None:
    decision = decided(*votes, rule=rule)
    if decision.is_in_consensus:
        assert decision.agreed >= rule.min_agree
        assert decision.points is not None
        assert min(decision.weights) <= decision.points <= max(decision.weights)
        assert decision.points != 0
    else:
        assert decision.points is None
        assert decision.failing
