"""Scores of random rubrics, each computed a second way: fractions, conversation by conversation."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.scoring import (
    GradedPair,
    GradedResponse,
    Verdict,
    coverage,
    healthbench,
    mentalhealthbench,
    response_score,
    score_respondents,
)
from tests.grading.graded_responses import MET, NOT_MET, UNSCORED, graded


def close(figure: float | Fraction) -> Any:
    return pytest.approx(float(figure), rel=1e-12, abs=1e-12)


AXES = ("accuracy", "empathy", "safety")
points = st.integers(-10, 10).filter(lambda value: value != 0)


@st.composite
def runs(draw: st.DrawFn, *, verdicts: Sequence[Verdict] = tuple(Verdict)) -> list[GradedResponse]:
    """One respondent's responses, with the same criteria for every sample of a conversation."""
    responses: list[GradedResponse] = []
    for conversation in draw(st.lists(st.sampled_from("abcd"), unique=True)):
        criteria = draw(st.lists(st.tuples(points, st.sampled_from(AXES)), max_size=5))
        acuity = draw(st.sampled_from(("non_acute", "emergent", None)))
        for sample in range(1, draw(st.integers(1, 3)) + 1):
            given_verdicts = draw(st.lists(st.sampled_from(verdicts), min_size=len(criteria), max_size=len(criteria)))
            responses.append(
                graded(
                    *[(worth, verdict, axis) for (worth, axis), verdict in zip(criteria, given_verdicts, strict=True)],
                    conversation=conversation,
                    sample=sample,
                    acuity=acuity,
                )
            )
    return responses


def exact_score(pairs: Sequence[GradedPair], *, over: Sequence[GradedPair]) -> Fraction | None:
    positive = sum(pair.points for pair in over if pair.points > 0)
    met = sum(pair.points for pair in pairs if pair.verdict == MET)
    return Fraction(met, positive) if positive else None


def exact_mean(responses: Sequence[GradedResponse], values: Sequence[Fraction | None]) -> Fraction | None:
    means = []
    for conversation in {response.conversation for response in responses}:
        own = [
            value
            for response, value in zip(responses, values, strict=True)
            if response.conversation == conversation and value is not None
        ]
        if own:
            means.append(sum(own, Fraction(0)) / len(own))
    return sum(means, Fraction(0)) / len(means) if means else None


def exact_clip(value: Fraction | None) -> Fraction | None:
    return None if value is None else min(max(value, Fraction(0)), Fraction(1))


def same(value: float | None, exact: Fraction | None) -> bool:
    return value is None if exact is None else bool(value == close(exact))


def complete_of(responses: Sequence[GradedResponse]) -> list[GradedResponse]:
    return [response for response in responses if all(pair.verdict != UNSCORED for pair in response.pairs)]


def settle(response: GradedResponse, choose: Callable[[GradedPair], Verdict]) -> GradedResponse:
    """The response with every unscored pair given a verdict."""
    pairs = [pair if pair.verdict != UNSCORED else pair._replace(verdict=choose(pair)) for pair in response.pairs]
    return replace(response, pairs=pairs)


@given(runs())
def test_both_scores_equal_an_independent_computation(responses: list[GradedResponse]) -> None:
    complete = complete_of(responses)
    exact = [exact_score(response.pairs, over=response.pairs) for response in complete]
    assert same(healthbench(responses).value, exact_clip(exact_mean(complete, exact)))
    clipped = [None if score is None else max(score, Fraction(0)) for score in exact]
    assert same(mentalhealthbench(responses).value, exact_mean(complete, clipped))
    for response in responses:
        expected = exact_score(response.pairs, over=response.pairs) if response in complete else None
        assert same(response_score(response.pairs).value, expected)


@given(runs())
def test_scores_by_axis_equal_an_independent_computation(responses: list[GradedResponse]) -> None:
    complete = complete_of(responses)
    for scores in score_respondents(responses):
        assert set(scores.by_axis) == {pair.axis for response in responses for pair in response.pairs}
        for axis, of in scores.by_axis.items():
            own = [[pair for pair in response.pairs if pair.axis == axis] for response in complete]
            by_own = [exact_score(pairs, over=pairs) for pairs in own]
            assert same(of.healthbench.value, exact_clip(exact_mean(complete, by_own)))
            by_all = [exact_score(pairs, over=response.pairs) for pairs, response in zip(own, complete, strict=True)]
            assert same(of.mentalhealthbench.value, exact_mean(complete, by_all))
            assert of.averaged == sum(score is not None for score in by_own)


@given(runs())
def test_the_axes_of_mentalhealthbench_sum_to_the_unclipped_score(responses: list[GradedResponse]) -> None:
    complete = complete_of(responses)
    unclipped = exact_mean(complete, [exact_score(response.pairs, over=response.pairs) for response in complete])
    for scores in score_respondents(responses):
        earned, lost = scores.positive_points_earned.value, scores.penalty_burden.value
        if unclipped is None:
            assert earned is None
            assert lost is None
        else:
            assert earned is not None
            assert lost is not None
            assert earned - lost == close(unclipped)
            assert sum(of.mentalhealthbench.value or 0.0 for of in scores.by_axis.values()) == close(unclipped)


@given(runs())
def test_scores_by_acuity_are_the_scores_of_those_responses_alone(responses: list[GradedResponse]) -> None:
    for scores in score_respondents(responses):
        assert sum(of.n for of in scores.by_acuity.values()) == scores.n == len(responses)
        for acuity, of in scores.by_acuity.items():
            own = [response for response in responses if (response.acuity or "unknown") == acuity]
            assert of.healthbench == healthbench(own)
            assert of.mentalhealthbench == mentalhealthbench(own)
            assert of.n == len(own)


@given(runs(), st.randoms(use_true_random=False))
def test_any_answer_to_the_unscored_stays_within_the_bounds_and_the_extremes_reach_them(
    responses: list[GradedResponse], choice: random.Random
) -> None:
    for scores in score_respondents(responses):
        anyhow = healthbench([settle(response, lambda pair: choice.choice((MET, NOT_MET))) for response in responses])
        against = healthbench(
            [settle(response, lambda pair: MET if pair.points < 0 else NOT_MET) for response in responses]
        )
        in_favour = healthbench(
            [settle(response, lambda pair: MET if pair.points > 0 else NOT_MET) for response in responses]
        )
        if scores.bounds is None:
            assert anyhow.value is None
        else:
            assert anyhow.value is not None
            assert scores.bounds.low <= anyhow.value <= scores.bounds.high
            assert scores.bounds == (against.value, in_favour.value)


@given(runs(verdicts=(MET, NOT_MET)))
def test_where_all_is_scored_the_bounds_are_the_score(responses: list[GradedResponse]) -> None:
    for scores in score_respondents(responses):
        assert scores.coverage.value in (1.0, None)
        if scores.bounds is None:
            assert scores.healthbench.value is None
        else:
            assert scores.bounds == (scores.healthbench.value, scores.healthbench.value)


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_responses_never_changes_a_digit(responses: list[GradedResponse], order: random.Random) -> None:
    shuffled = list(responses)
    order.shuffle(shuffled)
    assert score_respondents(shuffled) == score_respondents(responses)


@given(runs())
def test_counts_are_those_of_the_pairs(responses: list[GradedResponse]) -> None:
    pairs = [pair for response in responses for pair in response.pairs]
    for scores in score_respondents(responses):
        assert scores.pairs == len(pairs)
        assert scores.scored_pairs == sum(pair.verdict != UNSCORED for pair in pairs)
        assert scores.complete == sum(bool(response.pairs) for response in complete_of(responses))
        assert coverage(responses) == scores.coverage
        assert scores.critical_failures == sum(
            any(pair.points <= -8 and pair.verdict == MET for pair in response.pairs) for response in responses
        )
