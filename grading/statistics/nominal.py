"""Agreement over categories without an order (met and not met are two of them).

Two raters are given as a PairTable: rows the grader, columns the clinician. Any number of raters, with gaps,
are given as `counts` of shape (units, k): how many raters gave each category to each unit; `times`, of shape
(units,), says how often each unit stands, a whole number (1 where it is None), so that a resample of units
needs no copied rows.

Symbols: n pairs, k categories (K where k counts them), n_ij the table's cells, r_i and c_i its row and column
sums; m_u ratings of unit u, m_uk of them in category k. All coefficients are without unit; 1 is full
agreement. Each is undefined with a reason (`undefined.Reason`) where its formula has no value. ValueError is
raised only for counts that are none (another shape, negative, not finite).

Chance-corrected coefficients are computed as 1 - observed / expected disagreement. A disagreement is a sum
over unequal categories, without a subtraction, so it is zero exactly where a coefficient is undefined, also
with weights.
"""

import math

import numpy as np
import numpy.typing as npt

from grading.statistics.tables import Counts, PairTable, checked_counts
from grading.statistics.undefined import Coefficient, Reason, defined, undefined

# Two raters


def confusion(table: PairTable) -> dict[str, dict[str, int | float]]:
    """{grader's category: {clinician's category: pairs}}, each with every category, in the table's order."""
    rows: list[list[int | float]] = table.counts.tolist()
    return {
        category: dict(zip(table.categories, row, strict=True))
        for category, row in zip(table.categories, rows, strict=True)
    }


def observed(table: PairTable) -> Coefficient:
    """Percent agreement as a proportion: p_o = sum_i n_ii / n, in [0, 1].

    Undefined: no_pairs.
    """
    if table.n == 0:
        return undefined(Reason.NO_PAIRS)
    return defined(np.trace(table.counts) / table.n)


def cohen_kappa(table: PairTable) -> Coefficient:
    """Cohen's kappa = (p_o - p_e) / (1 - p_e) with p_e = sum_i r_i c_i / n^2; in [-1, 1].

    One constant rater gives 0, which is its value. Undefined: no_pairs; single_class (both raters gave one
    class to every unit). Source: Cohen 1960, Educational and Psychological Measurement 20:37-46.
    """
    if table.n == 0:
        return undefined(Reason.NO_PAIRS)
    rows, columns = _margins(table)
    expected = _between_classes(np.outer(rows, columns))
    if expected == 0:
        return undefined(Reason.SINGLE_CLASS)
    return defined(1 - rows.sum() * _between_classes(table.counts) / expected)


def gwet_ac1(table: PairTable) -> Coefficient:
    """Gwet's AC1 of two raters = (p_o - p_e) / (1 - p_e), p_e = sum_i q_i (1 - q_i) / (k - 1), q_i = (r_i +
    c_i) / 2n.

    The fixed list of k categories is part of the value, also of those that nobody used; so agreement on a
    single class is 1. Undefined: no_pairs; single_class only where the list itself has one category. Source:
    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48.
    """
    if table.n == 0:
        return undefined(Reason.NO_PAIRS)
    rows, columns = _margins(table)
    return _ac1(agreement=np.trace(table.counts) / table.n, prevalence=(rows + columns) / (2 * rows.sum()))


def matthews_correlation(table: PairTable) -> Coefficient:
    """Matthews' correlation: for two classes phi = (n_11 n_22 - n_12 n_21) / sqrt(r_1 r_2 c_1 c_2), for more
    Gorodkin's R_K = (n sum_i n_ii - sum_i r_i c_i) / sqrt((n^2 - sum_i r_i^2) (n^2 - sum_i c_i^2)); in [-1,
    1].

    Undefined: no_pairs; single_class; constant_rater (one rater gave one class to every unit). Source:
    Gorodkin 2004, Computational Biology and Chemistry 28:367-374.
    """
    if table.n == 0:
        return undefined(Reason.NO_PAIRS)
    rows, columns = _margins(table)
    expected = _between_classes(np.outer(rows, columns))
    if expected == 0:
        return undefined(Reason.SINGLE_CLASS)
    row_spread = _between_classes(np.outer(rows, rows))
    column_spread = _between_classes(np.outer(columns, columns))
    if row_spread == 0 or column_spread == 0:
        return undefined(Reason.CONSTANT_RATER)
    covariance = expected - rows.sum() * _between_classes(table.counts)
    return defined(covariance / math.sqrt(row_spread) / math.sqrt(column_spread))


def precision_by_class(table: PairTable) -> dict[str, Coefficient]:
    """Of the pairs where the grader gave the class, the share where the clinician gave it too: n_ii / r_i.

    Undefined for a class: class_absent (neither side gave it), class_not_given (the grader never gave it).
    """
    rows, columns = _margins(table)
    return _shares_by_class(table, of=rows, beside=columns)


def recall_by_class(table: PairTable) -> dict[str, Coefficient]:
    """Of the pairs where the clinician gave the class, the share where the grader gave it too: n_ii / c_i.

    Undefined for a class: class_absent (neither side gave it), class_not_given (the clinician never gave it).
    """
    rows, columns = _margins(table)
    return _shares_by_class(table, of=columns, beside=rows)


def f1_by_class(table: PairTable) -> dict[str, Coefficient]:
    """F1 of each class = 2 n_ii / (r_i + c_i), the harmonic mean of its precision and recall; in [0, 1].

    A class that only one side gave has F1 = 0: leaving it out would flatter a grader that says *met* to
    everything. Undefined for a class: class_absent (neither side gave it). Over HealthBench's pairs
    (`tables.pair_with_others`) this is the F1 of its meta-evaluation, whose code leaves a class given by one
    side out instead.
    """
    rows, columns = _margins(table)
    diagonal = np.diagonal(table.counts)
    return {
        category: defined(2 * diagonal[index] / (rows[index] + columns[index]))
        if rows[index] + columns[index] > 0
        else undefined(Reason.CLASS_ABSENT)
        for index, category in enumerate(table.categories)
    }


def macro_f1(table: PairTable) -> Coefficient:
    """The mean of F1 over the classes that have one (`f1_by_class` says which have none); in [0, 1].

    Undefined: no_pairs. Source: "balanced F1" of HealthBench's meta-evaluation, Arora et al. 2025.
    """
    values = [f1.value for f1 in f1_by_class(table).values() if f1.value is not None]
    if not values:
        return undefined(Reason.NO_PAIRS)
    return defined(math.fsum(values) / len(values))


# Any number of raters, with gaps


def observed_many(counts: npt.ArrayLike, *, times: npt.ArrayLike | None = None) -> Coefficient:
    """Observed agreement p_a: the mean, over units with two or more ratings, of the share of pairs of ratings
    that agree, sum_k m_uk (m_uk - 1) / (m_u (m_u - 1)); in [0, 1].

    Undefined: no_pairs (no unit has two ratings). Source: Fleiss 1971, Psychological Bulletin 76:378-382,
    with gaps as in Gwet 2014, Handbook of Inter-Rater Reliability.
    """
    units, weights = _units(counts, times)
    pairable = units.sum(axis=1) >= 2
    return _observed_many(units[pairable], weights[pairable])


def gwet_ac1_many(counts: npt.ArrayLike, *, times: npt.ArrayLike | None = None) -> Coefficient:
    """Gwet's AC1 of any number of raters = (p_a - p_e) / (1 - p_e), p_a as in `observed_many`, p_e = sum_k
    q_k (1 - q_k) / (K - 1), q_k the mean of m_uk / m_u over all units with a rating, also a single one.

    K is the number of categories, used or not. Undefined: no_pairs; single_class only where K is 1. Source:
    Gwet 2008 and 2014 (Handbook of Inter-Rater Reliability), as his irrCAC computes it.
    """
    units, weights = _units(counts, times)
    ratings = units.sum(axis=1)
    agreement = _observed_many(units[ratings >= 2], weights[ratings >= 2])
    if agreement.value is None:
        return agreement
    rated = ratings >= 1
    shares = units[rated] / ratings[rated, np.newaxis]
    return _ac1(agreement=agreement.value, prevalence=weights[rated] @ shares / weights[rated].sum())


def krippendorff_alpha(counts: npt.ArrayLike, *, times: npt.ArrayLike | None = None) -> Coefficient:
    """Krippendorff's alpha for nominal data = 1 - D_o / D_e over units with two or more ratings,
    D_o = sum_u (m_u^2 - sum_k m_uk^2) / (m_u - 1) / N, D_e = (N^2 - sum_k N_k^2) / (N (N - 1)),
    N = sum_u m_u, N_k = sum_u m_uk; at most 1, below 0 when worse than chance.

    Undefined: no_pairs (no unit has two ratings); single_class (all of those ratings are one class). Source:
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    units, weights = _units(counts, times)
    pairable = (units.sum(axis=1) >= 2) & (weights > 0)
    units, weights = units[pairable], weights[pairable]
    if len(units) == 0:
        return undefined(Reason.NO_PAIRS)
    by_class = weights @ units
    expected = _between_classes(np.outer(by_class, by_class))
    if expected == 0:
        return undefined(Reason.SINGLE_CLASS)
    ratings = units.sum(axis=1)
    disagreeing = weights @ ((ratings * ratings - (units * units).sum(axis=1)) / (ratings - 1))
    return defined(1 - (by_class.sum() - 1) * disagreeing / expected)


def specific_agreement(counts: npt.ArrayLike, *, times: npt.ArrayLike | None = None) -> list[Coefficient]:
    """Specific agreement of each category, in their order: of the pairs of ratings of one unit in which a rater
    gave the category, the share in which the other gave it too; in [0, 1].

    With any number of raters sum_u m_uk (m_uk - 1) / sum_u m_uk (m_u - 1): every pair of ratings weighs the same,
    seen from either side, so a unit with more ratings weighs more. Two raters: 2 n_kk / (r_k + c_k), which for two
    categories are positive and negative agreement. Undefined: no_pairs (no unit has two ratings); class_absent
    (nobody gave the category to a unit that another rated too). Source: Cicchetti & Feinstein 1990, Journal of
    Clinical Epidemiology 43:551-558; for many raters by pairs, as Fleiss 1971 (Psychological Bulletin 76:378-382)
    has agreement on one category, here with gaps.
    """
    units, weights = _units(counts, times)
    pairable = (units.sum(axis=1) >= 2) & (weights > 0)
    units, weights = units[pairable], weights[pairable]
    if len(units) == 0:
        return [undefined(Reason.NO_PAIRS)] * units.shape[1]
    agreeing = weights @ (units * (units - 1))
    met = weights @ (units * (units.sum(axis=1, keepdims=True) - 1))
    return [
        defined(same / pairs) if pairs > 0 else undefined(Reason.CLASS_ABSENT)
        for same, pairs in zip(agreeing.tolist(), met.tolist(), strict=True)
    ]


def _margins(table: PairTable) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Row and column sums as floats: products of two are exact up to 90 million pairs, and beyond can't
    overflow."""
    return table.counts.sum(axis=1).astype(np.float64), table.counts.sum(axis=0).astype(np.float64)


def _between_classes(matrix: Counts) -> float:
    """The sum of a square matrix without its diagonal."""
    total: float = matrix[~np.eye(len(matrix), dtype=bool)].sum().item()
    return total


def _ac1(*, agreement: float, prevalence: npt.NDArray[np.float64]) -> Coefficient:
    size = len(prevalence)
    if size == 1:
        return undefined(Reason.SINGLE_CLASS)
    expected = float(prevalence @ (1 - prevalence)) / (size - 1)
    return defined((agreement - expected) / (1 - expected))


def _shares_by_class(
    table: PairTable, *, of: npt.NDArray[np.float64], beside: npt.NDArray[np.float64]
) -> dict[str, Coefficient]:
    diagonal = np.diagonal(table.counts)
    shares: dict[str, Coefficient] = {}
    for index, category in enumerate(table.categories):
        if of[index] > 0:
            shares[category] = defined(diagonal[index] / of[index])
        else:
            shares[category] = undefined(Reason.CLASS_NOT_GIVEN if beside[index] > 0 else Reason.CLASS_ABSENT)
    return shares


def _units(
    counts: npt.ArrayLike, times: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The counts of shape (units, k) and how often each unit stands, both as floats and checked."""
    units = checked_counts(counts)
    if units.ndim != 2 or units.shape[1] == 0:
        raise ValueError(f"Counts of units have the shape (units, categories), not {units.shape}.")
    if (units != np.floor(units)).any():
        raise ValueError("A unit's counts are whole numbers of raters.")
    weights: Counts = np.ones(len(units)) if times is None else checked_counts(times)
    if weights.shape != (len(units),):
        raise ValueError(f"There are {len(units)} units and times of shape {weights.shape}.")
    if (weights != np.floor(weights)).any():
        raise ValueError("A unit stands a whole number of times.")
    return units.astype(np.float64), weights.astype(np.float64)


def _observed_many(units: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> Coefficient:
    total = weights.sum()
    if total == 0:
        return undefined(Reason.NO_PAIRS)
    ratings = units.sum(axis=1)
    agreeing = (units * (units - 1)).sum(axis=1) / (ratings * (ratings - 1))
    return defined(weights @ agreeing / total)
