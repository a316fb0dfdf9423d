"""Specific agreement and the spread of weights: against hand computation, and what must hold for any ratings."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.statistics.nominal import f1_by_class, observed_many, specific_agreement
from grading.statistics.tables import PairTable
from grading.statistics.undefined import Reason, defined, undefined
from grading.statistics.weights import median_difference

CLOSE = 1e-12


@pytest.fixture(autouse=True)
def numpy_warnings_are_errors() -> Iterator[None]:
    """A division by zero inside a formula would warn before it became NaN."""
    with np.errstate(all="raise"):
        yield


ratings = st.lists(st.lists(st.sampled_from(["agree", "object"]), max_size=6), min_size=1, max_size=8)


def counted(units: list[list[str]]) -> list[list[int]]:
    return [[unit.count("agree"), unit.count("object")] for unit in units]


def by_hand(units: list[list[str]], category: str) -> Fraction | None:
    """Over single ordered pairs of raters: who gave the category, and whether the other did too."""
    met = [second for unit in units for first, second in itertools.permutations(unit, 2) if first == category]
    return Fraction(met.count(category), len(met)) if met else None


def test_two_raters_have_positive_and_negative_agreement() -> None:
    """a = 40 both agree, b + c = 5 + 3 differ, d = 2 both object: 2a/(2a+b+c) = 80/88, 2d/(2d+b+c) = 4/12."""
    counts, times = [[2, 0], [1, 1], [0, 2]], [40, 8, 2]
    agree, objecting = specific_agreement(counts, times=times)
    assert agree.value == pytest.approx(80 / 88, abs=CLOSE)
    assert objecting.value == pytest.approx(4 / 12, abs=CLOSE)
    table = PairTable(categories=("agree", "object"), counts=np.array([[40, 5], [3, 2]]))
    assert [agree, objecting] == list(f1_by_class(table).values()), "which is the F1 of the two"


def test_three_raters_by_pairs() -> None:
    """(3,0): 6 of 6 ordered pairs from agreeing. (2,1): 2 of 4, and 0 of 2 from objecting. (1,2): 0 of 2; 2 of 4."""
    agree, objecting = specific_agreement([[3, 0], [2, 1], [1, 2]])
    assert (agree, objecting) == (defined(8 / 12), defined(2 / 6))


def test_where_nearly_all_agree_objecting_tells_what_percent_agreement_hides() -> None:
    counts, times = [[3, 0], [2, 1]], [95, 5]
    agree, objecting = specific_agreement(counts, times=times)
    assert agree.value == pytest.approx(580 / 590, abs=CLOSE)
    assert objecting == defined(0.0)


def test_what_nobody_gave_or_nobody_met_is_undefined_with_its_reason() -> None:
    assert specific_agreement([[2, 0]]) == [defined(1.0), undefined(Reason.CLASS_ABSENT)]
    assert specific_agreement([[1, 0], [0, 1]]) == [undefined(Reason.NO_PAIRS)] * 2
    assert specific_agreement([[2, 0], [0, 1]]) == [defined(1.0), undefined(Reason.CLASS_ABSENT)], "met by nobody"
    assert specific_agreement([[2, 1]], times=[0]) == [undefined(Reason.NO_PAIRS)] * 2


@given(ratings)
def test_it_is_what_single_pairs_give_and_lies_within_bounds(units: list[list[str]]) -> None:
    for category, found in zip(("agree", "object"), specific_agreement(counted(units)), strict=True):
        expected = by_hand(units, category)
        if expected is None:
            assert found.reason in (Reason.NO_PAIRS, Reason.CLASS_ABSENT)
        else:
            assert found.value == pytest.approx(float(expected), abs=CLOSE)
            assert 0 <= (found.value or 0) <= 1


@given(ratings, st.data())
def test_neither_the_order_of_raters_nor_that_of_units_matters(units: list[list[str]], data: st.DataObject) -> None:
    mixed = [data.draw(st.permutations(unit)) for unit in data.draw(st.permutations(units))]
    found, again = specific_agreement(counted(units)), specific_agreement(counted(mixed))
    assert [(one.value is None, one.reason) for one in found] == [(one.value is None, one.reason) for one in again]
    assert [one.value or 0 for one in found] == pytest.approx([one.value or 0 for one in again], abs=CLOSE)


@given(ratings)
def test_swapping_the_categories_swaps_the_agreements(units: list[list[str]]) -> None:
    swapped = [[objecting, agreeing] for agreeing, objecting in counted(units)]
    assert specific_agreement(swapped) == specific_agreement(counted(units))[::-1]


@given(ratings, st.integers(1, 4))
def test_units_that_stand_several_times_are_so_many_units(units: list[list[str]], times: int) -> None:
    weighted = specific_agreement(counted(units), times=[times] * len(units))
    assert [one.value for one in weighted] == [one.value for one in specific_agreement(counted(units) * times)]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_with_as_many_raters_everywhere_observed_agreement_lies_between_the_two(agreed: list[int]) -> None:
    counts = [[number, 4 - number] for number in agreed]
    values = [one.value for one in specific_agreement(counts) if one.value is not None]
    observed = observed_many(counts).value
    assert observed is not None
    assert min(values) - CLOSE <= observed <= max(values) + CLOSE


# Weights


def test_the_median_difference_by_hand() -> None:
    """{2, 5, 9}: 3, 7, 4. {6, 6}, twice: 0, 0. Sorted 0 0 3 4 7."""
    assert median_difference([((2, 5, 9), 1), ((6, 6), 2)]) == defined(3.0)
    assert median_difference([((2, 5), 1), ((6, 10), 1)]) == defined(3.5)
    assert median_difference([((-4, 3), 1)]) == defined(7.0)
    assert median_difference([((5,), 9), ((), 2)]) == undefined(Reason.NO_PAIRS)


@given(st.lists(st.tuples(st.lists(st.integers(-10, 10), max_size=5), st.integers(1, 3)), max_size=6))
def test_the_median_difference_is_that_of_all_pairs(units: list[tuple[list[int], int]]) -> None:
    pairs = [
        abs(one - other)
        for weights, times in units
        for one, other in itertools.combinations(weights, 2)
        for _ in range(times)
    ]
    expected = defined(median(pairs)) if pairs else undefined(Reason.NO_PAIRS)
    assert median_difference([(tuple(weights), times) for weights, times in units]) == expected
