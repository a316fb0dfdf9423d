"""Agreement against published figures, and what is said where there is none."""

import csv
import itertools
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

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
from grading.statistics.tables import (
    PairTable,
    count_units,
    pair_each_with_others,
    pair_ratings,
    pair_with_others,
)
from grading.statistics.undefined import Coefficient, Reason, defined, undefined
from tests.grading import vectors

CLOSE = 1e-12
REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
BINARY = ("met", "not_met")
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


def verdict_of(met: bool) -> str:
    return "met" if met else "not_met"


# Published figures


@pytest.mark.parametrize("vector", vectors.TWO_RATERS, ids=lambda vector: vector.id)
def test_two_raters_agree_as_published(vector: vectors.TwoRaters) -> None:
    table = table_of(vector.counts)
    f1 = f1_by_class(table)
    computed = {
        "po": observed(table).value,
        "kappa": cohen_kappa(table).value,
        "ac1": gwet_ac1(table).value,
        "mcc": matthews_correlation(table).value,
        "pos_agreement": f1["c0"].value,
        "neg_agreement": f1["c1"].value,
    }
    for name, figure in vector.expected.items():
        assert computed[name] == close(figure), name


@pytest.mark.parametrize("vector", vectors.CHICCO_JURMAN, ids=lambda vector: vector.id)
def test_precision_recall_and_f1_are_as_published(vector: vectors.TwoRaters) -> None:
    table = table_of(vector.counts)
    precision, recall = precision_by_class(table), recall_by_class(table)
    computed = {
        "acc": observed(table).value,
        "f1": f1_by_class(table)["c0"].value,
        "mcc": matthews_correlation(table).value,
        "macro_f1": macro_f1(table).value,
        "precision_pos": precision["c0"].value,
        "recall_pos": recall["c0"].value,
        "precision_neg": precision["c1"].value,
        "recall_neg": recall["c1"].value,
        "kappa": cohen_kappa(table).value,
    }
    assert computed == {name: close(figure) for name, figure in vector.expected.items()}


@pytest.mark.parametrize("vector", vectors.MANY_RATERS, ids=lambda vector: vector.id)
def test_many_raters_agree_as_published(vector: vectors.ManyRaters) -> None:
    assert observed_many(vector.counts).value == close(vector.expected["pa"])


@pytest.mark.parametrize("vector", vectors.CODERS, ids=lambda vector: vector.id)
def test_coders_with_gaps_agree_as_published(vector: vectors.Coders) -> None:
    counts = count_units(
        [[None if value is None else str(value) for value in unit] for unit in zip(*vector.coders, strict=True)],
        categories=sorted({str(value) for coder in vector.coders for value in coder if value is not None}),
    )
    computed = {
        "nominal": krippendorff_alpha(counts).value,
        "ac1": gwet_ac1_many(counts).value,
        "pa": observed_many(counts).value,
    }
    for name, figure in vector.expected.items():
        assert computed[name] == close(figure), name


def test_healthbench_pairs_the_grader_with_every_physician() -> None:
    meta = vectors.HealthBenchMetaEvaluation
    selves = [verdict_of(met) for met in meta.grader]
    others = [[verdict_of(met) for _, met in row] for row in meta.physicians]
    table = pair_with_others(selves=selves, others=others, categories=BINARY)
    assert table.n == 17
    f1 = {category: coefficient.value for category, coefficient in f1_by_class(table).items()}
    assert f1 == {"met": close(meta.f1_pos), "not_met": close(meta.f1_neg)}
    assert macro_f1(table).value == close(meta.f1_balanced)

    for category, figure in (("A", meta.cluster_A_balanced), ("B", meta.cluster_B_balanced)):
        kept = [index for index, name in enumerate(meta.category) if name == category]
        part = pair_with_others(
            selves=[selves[index] for index in kept],
            others=[others[index] for index in kept],
            categories=BINARY,
        )
        assert macro_f1(part).value == close(figure)


def test_healthbench_pairs_each_physician_with_the_others() -> None:
    meta = vectors.HealthBenchMetaEvaluation
    tables = pair_each_with_others(
        [[(physician, verdict_of(met)) for physician, met in row] for row in meta.physicians],
        categories=BINARY,
    )
    assert list(tables) == ["p1", "p2", "p3"]
    computed = {physician: macro_f1(table).value for physician, table in tables.items()}
    assert computed == {physician: close(figure) for physician, figure in meta.physician_f1_balanced.items()}


def test_healthbench_s_own_example_of_precision_and_recall() -> None:
    table = pair_with_others(
        selves=["met", "not_met", "met"],
        others=[["met", "met", "not_met"], ["met", "not_met"], ["not_met"]],
        categories=BINARY,
    )
    assert precision_by_class(table) == {"met": defined(2 / 4), "not_met": defined(1 / 2)}
    assert recall_by_class(table) == {"met": defined(2 / 3), "not_met": defined(1 / 3)}
    assert confusion(table) == {"met": {"met": 2, "not_met": 2}, "not_met": {"met": 1, "not_met": 1}}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not beside this repository")
def test_the_copied_figures_are_those_of_the_shared_file() -> None:
    shared = {
        vector["id"]: vector
        for vector in json.loads((SHARED / "agreement_vectors.json").read_text(encoding="utf-8"))["vectors"]
    }

    def assert_figures(identifier: str, expected: dict[str, float]) -> None:
        figures = shared[identifier]["expected_full_precision"]
        assert expected == {name: figures[name] for name in expected}

    for vector in vectors.TWO_RATERS:
        assert vector.counts == shared[vector.id]["data"]["table"]
        assert_figures(vector.id, vector.expected)
    for vector in vectors.CHICCO_JURMAN:
        data = shared[vector.id]["data"]
        assert vector.counts == [[data["tp"], data["fp"]], [data["fn"], data["tn"]]]
        assert_figures(vector.id, vector.expected)
    for many in vectors.MANY_RATERS:
        assert many.counts == shared[many.id]["data"]["counts"]
        assert_figures(many.id, many.expected)
    for coders in vectors.CODERS:
        assert coders.coders == shared[coders.id]["data"]["coders_x_units"]
        assert_figures(coders.id, coders.expected)

    meta = vectors.HealthBenchMetaEvaluation
    data = shared[meta.id]["data"]
    assert meta.grader == data["grader"]
    assert meta.category == data["category"]
    assert [[met for _, met in row] for row in meta.physicians] == data["physician_labels"]
    assert [[physician for physician, _ in row] for row in meta.physicians] == data["physician_ids"]
    figures = (
        "f1_pos",
        "f1_neg",
        "f1_balanced",
        "cluster_A_balanced",
        "cluster_B_balanced",
        "physician_f1_balanced",
    )
    assert {name: getattr(meta, name) for name in figures} == shared[meta.id]["expected_full_precision"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not beside this repository")
def test_three_clinicians_on_83_real_items_agree_as_their_source_says() -> None:
    by_unit: dict[str, dict[str, str]] = defaultdict(dict)
    with (SHARED / "votes" / "three_clinicians_83_items.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            by_unit[row["review_id"]][row["reviewer"]] = row["is_mental_health"]
    counts = count_units([unit.values() for unit in by_unit.values()], categories=("Y", "N"))
    assert counts.shape == (83, 2)
    assert krippendorff_alpha(counts).value == pytest.approx(0.6339, abs=5e-5)
    assert observed_many(counts).value == pytest.approx(0.8554, abs=5e-5)
    kappas = [
        cohen_kappa(
            pair_ratings(
                grader=[unit.get(one) for unit in by_unit.values()],
                clinician=[unit.get(other) for unit in by_unit.values()],
                categories=("Y", "N"),
            )
        ).value
        for one, other in itertools.combinations(("R1", "R2", "R3"), 2)
    ]
    assert sorted(kappa for kappa in kappas if kappa is not None) == pytest.approx([0.598, 0.647, 0.657], abs=5e-4)


# Where there is no value


def test_one_class_from_both_raters_leaves_kappa_undefined_and_ac1_whole() -> None:
    table = table_of([[7, 0], [0, 0]])
    assert cohen_kappa(table) == undefined(Reason.SINGLE_CLASS)
    assert matthews_correlation(table) == undefined(Reason.SINGLE_CLASS)
    assert krippendorff_alpha([[2, 0]] * 7) == undefined(Reason.SINGLE_CLASS)
    assert table.n == 7
    assert observed(table) == gwet_ac1(table) == defined(1.0)
    assert observed_many([[2, 0]] * 7) == gwet_ac1_many([[2, 0]] * 7) == defined(1.0)
    assert macro_f1(table) == defined(1.0)


def test_one_constant_rater_has_kappa_zero_and_no_correlation() -> None:
    table = table_of([[6, 4], [0, 0]])
    assert cohen_kappa(table) == defined(0.0)
    assert matthews_correlation(table) == undefined(Reason.CONSTANT_RATER)


def test_two_constant_raters_who_never_agree_have_kappa_zero_and_no_correlation() -> None:
    table = table_of([[0, 5], [0, 0]])
    assert cohen_kappa(table) == defined(0.0)
    assert matthews_correlation(table) == undefined(Reason.CONSTANT_RATER)


def test_without_a_pair_everything_is_undefined() -> None:
    table = pair_ratings(grader=["met", None], clinician=[None, "not_met"], categories=BINARY)
    assert table.n == 0
    for of_table in OF_TABLES:
        assert of_table(table) == undefined(Reason.NO_PAIRS)
    lonely = count_units([["met", None], [None, "not_met"], [None, None]], categories=BINARY)
    nobody = count_units([], categories=BINARY)
    for of_units in OF_UNITS:
        assert of_units(lonely) == of_units(nobody) == undefined(Reason.NO_PAIRS)


def test_a_class_that_nobody_gave_has_no_f1_and_leaves_the_mean() -> None:
    table = table_of([[3, 1, 0], [1, 5, 0], [0, 0, 0]])
    f1 = f1_by_class(table)
    assert f1["c2"] == undefined(Reason.CLASS_ABSENT)
    assert macro_f1(table).value == close((6 / 8 + 10 / 12) / 2)


def test_a_grader_that_says_met_to_everything_gets_f1_zero_for_not_met() -> None:
    table = pair_ratings(grader=["met"] * 4, clinician=["met", "met", "met", "not_met"], categories=BINARY)
    assert f1_by_class(table)["not_met"] == defined(0.0)
    assert precision_by_class(table)["not_met"] == undefined(Reason.CLASS_NOT_GIVEN)
    assert recall_by_class(table)["not_met"] == defined(0.0)
    assert macro_f1(table).value == close(6 / 7 / 2)


def test_a_missing_verdict_is_never_counted_as_not_met() -> None:
    table = pair_ratings(
        grader=["met", None, "not_met", None], clinician=["met", "not_met", None, None], categories=BINARY
    )
    assert confusion(table) == {"met": {"met": 1, "not_met": 0}, "not_met": {"met": 0, "not_met": 0}}


def test_a_category_that_nobody_used_still_counts_for_ac1() -> None:
    two, three = table_of([[4, 1], [2, 3]]), table_of([[4, 1, 0], [2, 3, 0], [0, 0, 0]])
    assert gwet_ac1(two) != gwet_ac1(three)
    assert cohen_kappa(two) == cohen_kappa(three)


# What is no data


@pytest.mark.parametrize(
    "counts",
    [[[1, 2]], [[1, -1], [0, 0]], [[1.0, math.nan], [0, 0]], [[1.0, math.inf], [0, 0]], [["1", "2"]] * 2],
)
def test_a_table_of_no_counts_is_refused(counts: Any) -> None:
    with pytest.raises(ValueError, match=r"table of 2|count is|Counts are"):
        PairTable(categories=BINARY, counts=np.asarray(counts))


def test_a_table_needs_each_category_once() -> None:
    with pytest.raises(ValueError, match="at least one category"):
        PairTable(categories=("met", "met"), counts=np.zeros((2, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="at least one category"):
        PairTable(categories=(), counts=np.zeros((0, 0), dtype=np.int64))


@pytest.mark.parametrize("coefficient", OF_UNITS)
def test_units_of_no_counts_are_refused(coefficient: Callable[..., Coefficient]) -> None:
    with pytest.raises(ValueError, match="shape"):
        coefficient([1, 2])
    with pytest.raises(ValueError, match="whole numbers of raters"):
        coefficient([[0.5, 1.5]])
    with pytest.raises(ValueError, match="times of shape"):
        coefficient([[1, 1]], times=[1, 1])
    with pytest.raises(ValueError, match="whole number of times"):
        coefficient([[1, 1]], times=[0.5])


def test_a_verdict_outside_the_categories_is_refused_and_not_dropped() -> None:
    with pytest.raises(ValueError, match="'cannot_tell' is none of the categories met, not_met"):
        pair_ratings(grader=["met"], clinician=["cannot_tell"], categories=BINARY)
    with pytest.raises(ValueError, match="'unscored' is none of"):
        count_units([["unscored", "met"]], categories=BINARY)
    with pytest.raises(ValueError, match="zip"):
        pair_ratings(grader=["met"], clinician=[], categories=BINARY)


def test_a_table_keeps_its_counts_when_the_caller_s_array_changes() -> None:
    counts = np.array([[1, 0], [0, 1]])
    table = table_of(counts)
    counts[0, 1] = 9
    assert observed(table) == defined(1.0)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 1] = 9


@pytest.mark.parametrize(
    ("value", "reason"),
    [(None, None), (1.0, Reason.NO_PAIRS), (math.nan, None), (math.inf, None), (-math.inf, None)],
)
def test_a_coefficient_is_a_finite_number_or_a_reason(value: float | None, reason: Reason | None) -> None:
    with pytest.raises(ValueError, match="A coefficient"):
        Coefficient(value=value, reason=reason)


def test_every_reason_has_its_sentence() -> None:
    sentences = [reason.sentence for reason in Reason]
    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def test_statistics_and_scoring_import_no_django() -> None:
    modules = "grading.statistics.nominal, grading.statistics.tables, grading.scoring"
    found = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; print('django' in sys.modules)"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "False"
