"""Each coefficient computed a second way: fractions over single pairs and ratings, in naive loops."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.statistics.nominal import (
    cohen_kappa,
    confusion,
    f1_by_class,
    gwet_ac1,
    gwet_ac1_many,
    krippendorff_alpha,
    macro_f1,
    matthews_correlation,
    observed,
    observed_many,
    precision_by_class,
    recall_by_class,
)
from grading.statistics.tables import PairTable, count_units
from grading.statistics.undefined import Coefficient, Reason, undefined

CLOSE = 1e-12
OF_TABLES = (observed, cohen_kappa, gwet_ac1, matthews_correlation, macro_f1)
OF_UNITS = (observed_many, gwet_ac1_many, krippendorff_alpha)


@pytest.fixture(autouse=True)
def numpy_warnings_are_errors() -> Iterator[None]:
    """A division by zero inside a formula would warn before it became NaN."""
    with np.errstate(all="raise"):
        yield


def close(figure: float) -> Any:
    return pytest.approx(figure, rel=0, abs=CLOSE)


def table_of(counts: npt.ArrayLike) -> PairTable:
    array = np.asarray(counts)
    return PairTable(categories=tuple(f"c{index}" for index in range(len(array))), counts=array)


@st.composite
def tables(draw: st.DrawFn) -> PairTable:
    size = draw(st.integers(1, 4))
    cells = st.integers(0, 12) | st.just(0)
    return table_of(draw(st.lists(st.lists(cells, min_size=size, max_size=size), min_size=size, max_size=size)))


@st.composite
def unit_counts(draw: st.DrawFn) -> npt.NDArray[np.int64]:
    size = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 3), min_size=size, max_size=size)
    rows = draw(st.lists(row, max_size=8))
    return np.array(rows, dtype=np.int64).reshape(len(rows), size)


def single_pairs(table: PairTable) -> list[tuple[str, str]]:
    return [
        (grader, clinician)
        for grader, row in confusion(table).items()
        for clinician, count in row.items()
        for _ in range(int(count))
    ]


def assert_same(coefficient: Coefficient, exact: Fraction | Reason) -> None:
    if isinstance(exact, Reason):
        assert coefficient == undefined(exact)
    else:
        assert coefficient.reason is None
        assert coefficient.value == close(float(exact))


def chance_corrected(agreement: Fraction, expected: Fraction) -> Fraction:
    return (agreement - expected) / (1 - expected)


@given(tables())
def test_kappa_equals_the_textbook_over_single_pairs(table: PairTable) -> None:
    pairs = single_pairs(table)
    if not pairs:
        return assert_same(cohen_kappa(table), Reason.NO_PAIRS)
    if len({verdict for pair in pairs for verdict in pair}) == 1:
        return assert_same(cohen_kappa(table), Reason.SINGLE_CLASS)
    n = len(pairs)
    of_grader, of_clinician = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    expected = sum(Fraction(of_grader[c], n) * Fraction(of_clinician[c], n) for c in table.categories)
    agreement = Fraction(sum(one == other for one, other in pairs), n)
    assert_same(observed(table), agreement)
    return assert_same(cohen_kappa(table), chance_corrected(agreement, Fraction(expected)))


@given(tables())
def test_ac1_equals_the_textbook_over_single_pairs(table: PairTable) -> None:
    pairs = single_pairs(table)
    if not pairs:
        return assert_same(gwet_ac1(table), Reason.NO_PAIRS)
    if len(table.categories) == 1:
        return assert_same(gwet_ac1(table), Reason.SINGLE_CLASS)
    given_verdicts = [verdict for pair in pairs for verdict in pair]
    shares = [Fraction(given_verdicts.count(category), len(given_verdicts)) for category in table.categories]
    expected = sum(share * (1 - share) for share in shares) / (len(shares) - 1)
    agreement = Fraction(sum(one == other for one, other in pairs), len(pairs))
    return assert_same(gwet_ac1(table), chance_corrected(agreement, Fraction(expected)))


@given(tables())
def test_matthews_correlation_is_the_correlation_of_indicators(table: PairTable) -> None:
    pairs = single_pairs(table)
    constant = [len({pair[side] for pair in pairs}) == 1 for side in (0, 1)]
    if not pairs:
        return assert_same(matthews_correlation(table), Reason.NO_PAIRS)
    if len({verdict for pair in pairs for verdict in pair}) == 1:
        return assert_same(matthews_correlation(table), Reason.SINGLE_CLASS)
    if any(constant):
        return assert_same(matthews_correlation(table), Reason.CONSTANT_RATER)
    sides = [
        np.array([[pair[side] == category for category in table.categories] for pair in pairs], dtype=float)
        for side in (0, 1)
    ]
    one, other = (side - side.mean(axis=0) for side in sides)
    correlation = (one * other).sum() / math.sqrt((one * one).sum() * (other * other).sum())
    assert matthews_correlation(table).value == close(correlation)
    return None


@given(tables())
def test_f1_is_the_harmonic_mean_of_precision_and_recall(table: PairTable) -> None:
    pairs = single_pairs(table)
    exact: list[Fraction] = []
    for category in table.categories:
        said = [other == category for one, other in pairs if one == category]
        meant = [one == category for one, other in pairs if other == category]
        precision = Fraction(sum(said), len(said)) if said else None
        recall = Fraction(sum(meant), len(meant)) if meant else None
        why = Reason.CLASS_NOT_GIVEN if said or meant else Reason.CLASS_ABSENT
        assert_same(precision_by_class(table)[category], why if precision is None else precision)
        assert_same(recall_by_class(table)[category], why if recall is None else recall)
        if why is Reason.CLASS_ABSENT:
            assert_same(f1_by_class(table)[category], why)
            continue
        harmonic = 2 / (1 / precision + 1 / recall) if precision and recall else Fraction(0)
        assert_same(f1_by_class(table)[category], harmonic)
        exact.append(harmonic)
    assert_same(macro_f1(table), sum(exact, Fraction(0)) / len(exact) if exact else Reason.NO_PAIRS)


def ratings_of(counts: npt.NDArray[np.int64]) -> list[list[int]]:
    return [[category for category, count in enumerate(row) for _ in range(count)] for row in counts.tolist()]


@given(unit_counts())
def test_alpha_equals_disagreement_of_single_ratings_within_and_across_units(
    counts: npt.NDArray[np.int64],
) -> None:
    units = [unit for unit in ratings_of(counts) if len(unit) >= 2]
    values = [value for unit in units for value in unit]
    if not values:
        return assert_same(krippendorff_alpha(counts), Reason.NO_PAIRS)
    if len(set(values)) == 1:
        return assert_same(krippendorff_alpha(counts), Reason.SINGLE_CLASS)
    within = sum(
        (Fraction(one != other, len(unit) - 1) for unit in units for one, other in itertools.permutations(unit, 2)),
        Fraction(0),
    )
    across = sum(one != other for one, other in itertools.permutations(values, 2))
    n = len(values)
    return assert_same(krippendorff_alpha(counts), 1 - (within / n) / Fraction(across, n * (n - 1)))


@given(unit_counts())
def test_alpha_equals_the_one_of_the_coincidence_matrix(counts: npt.NDArray[np.int64]) -> None:
    size = counts.shape[1]
    coincidences = [[Fraction(0)] * size for _ in range(size)]
    for row in counts.tolist():
        for one, other in itertools.product(range(size), repeat=2):
            if sum(row) >= 2:
                coincidences[one][other] += Fraction(row[one] * (row[other] - (one == other)), sum(row) - 1)
    margins = [sum(row) for row in coincidences]
    n = sum(margins)
    chance = sum(margin * (margin - 1) for margin in margins)
    if n and n * (n - 1) != chance:
        diagonal = sum(coincidences[index][index] for index in range(size))
        exact = Fraction((n - 1) * diagonal - chance) / (n * (n - 1) - chance)
        assert_same(krippendorff_alpha(counts), exact)
    else:
        assert krippendorff_alpha(counts).value is None


@given(unit_counts())
def test_many_raters_equal_the_textbook_over_single_ratings(counts: npt.NDArray[np.int64]) -> None:
    units = ratings_of(counts)
    agreeing = [
        Fraction(sum(one == other for one, other in itertools.permutations(unit, 2)), len(unit) * (len(unit) - 1))
        for unit in units
        if len(unit) >= 2
    ]
    if not agreeing:
        assert_same(observed_many(counts), Reason.NO_PAIRS)
        return assert_same(gwet_ac1_many(counts), Reason.NO_PAIRS)
    agreement = sum(agreeing, Fraction(0)) / len(agreeing)
    assert_same(observed_many(counts), agreement)
    size = counts.shape[1]
    if size == 1:
        return assert_same(gwet_ac1_many(counts), Reason.SINGLE_CLASS)
    rated = [unit for unit in units if unit]
    shares = [sum(Fraction(unit.count(k), len(unit)) for unit in rated) / len(rated) for k in range(size)]
    expected = sum(share * (1 - share) for share in shares) / (size - 1)
    return assert_same(gwet_ac1_many(counts), chance_corrected(agreement, Fraction(expected)))


# How the coefficients hang together


@given(tables())
def test_with_two_raters_and_no_gaps_the_many_rater_forms_are_the_two_rater_ones(table: PairTable) -> None:
    counts = count_units(single_pairs(table), categories=table.categories)
    for many, two in ((observed_many, observed), (gwet_ac1_many, gwet_ac1)):
        assert many(counts).reason == two(table).reason
        if two(table).value is not None:
            assert many(counts).value == pytest.approx(two(table).value, rel=0, abs=CLOSE)


@given(tables())
def test_agreement_is_the_same_seen_from_either_side(table: PairTable) -> None:
    turned = PairTable(categories=table.categories, counts=table.counts.T)
    for coefficient in OF_TABLES:
        assert coefficient(table).reason == coefficient(turned).reason
        if coefficient(table).value is not None:
            assert coefficient(table).value == pytest.approx(coefficient(turned).value, rel=0, abs=CLOSE)
    assert precision_by_class(table) == recall_by_class(turned)


@given(tables(), st.floats(1e-3, 1e6))
def test_weights_of_one_size_change_no_coefficient_of_a_table(table: PairTable, weight: float) -> None:
    weighted = PairTable(categories=table.categories, counts=np.multiply(table.counts, weight, dtype=np.float64))
    for coefficient in OF_TABLES:
        assert coefficient(table).reason == coefficient(weighted).reason
        if coefficient(table).value is not None:
            assert coefficient(table).value == pytest.approx(coefficient(weighted).value, rel=0, abs=1e-9)


@given(unit_counts(), st.data())
def test_a_unit_that_stands_several_times_counts_like_its_copies(
    counts: npt.NDArray[np.int64], data: st.DataObject
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts)))
    copied = np.repeat(counts, times, axis=0)
    for coefficient in OF_UNITS:
        assert coefficient(counts, times=times).reason == coefficient(copied).reason
        if coefficient(copied).value is not None:
            assert coefficient(counts, times=times).value == pytest.approx(coefficient(copied).value, abs=CLOSE)


@given(tables(), unit_counts())
def test_every_coefficient_stays_in_its_range(table: PairTable, counts: npt.NDArray[np.int64]) -> None:
    for coefficient in [*(of(table) for of in OF_TABLES), *(of(counts) for of in OF_UNITS)]:
        assert (coefficient.value is None) != (coefficient.reason is None)
        assert coefficient.value is None or -1 - CLOSE <= coefficient.value <= 1 + CLOSE
