"""Figures that agreement statistics are checked against: published ones, computed without rounding, with
sources.

Two raters: `counts` has rows for the first rater (the grader), columns for the second. `expected` holds the
figures to full precision under the names that the tests look up.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TwoRaters:
    id: str
    source: str
    counts: list[list[int]]
    expected: dict[str, float]


@dataclass(frozen=True, slots=True)
class ManyRaters:
    """`counts` has a row for each unit: how many raters gave each category."""

    id: str
    source: str
    counts: list[list[int]]
    expected: dict[str, float]


@dataclass(frozen=True, slots=True)
class Coders:
    """`coders` has a row for each coder: its value for each unit, None where it gave none."""

    id: str
    source: str
    coders: list[list[int | None]]
    expected: dict[str, float]


TWO_RATERS = [
    TwoRaters(
        id="cohen_1960",
        source="Cohen 1960, Educational and Psychological Measurement 20:37-46",
        counts=[[88, 14, 18], [10, 40, 10], [2, 6, 12]],
        expected={"kappa": 0.49152542372881347, "po": 0.7},
    ),
    TwoRaters(
        id="fleiss_levin_paik_18_1",
        source="Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, ch. 18",
        counts=[[75, 1, 4], [5, 4, 1], [0, 0, 10]],
        expected={"kappa": 0.676470588235294, "po": 0.89},
    ),
    TwoRaters(
        id="sas_table10",
        source="SAS FREQ example in statsmodels' tests; the second rater never used the first category",
        counts=[[0, 4, 1], [0, 8, 0], [0, 1, 5]],
        expected={"kappa": 0.4841628959276017, "po": 0.6842105263157894},
    ),
    TwoRaters(
        id="gwet_2002_paradox",
        source="Gwet 2002, Kappa statistic is not satisfactory: 94 % agreement, kappa below zero",
        counts=[[118, 5], [2, 0]],
        expected={
            "po": 0.944,
            "kappa": -0.02339181286549608,
            "ac1": 0.9407763376087177,
            "mcc": -0.026028960314767677,
            "pos_agreement": 0.9711934156378601,
            "neg_agreement": 0.0,
        },
    ),
    TwoRaters(
        id="fc90_A",
        source="Feinstein and Cicchetti 1990, Journal of Clinical Epidemiology 43:543-549",
        counts=[[40, 9], [6, 45]],
        expected={
            "po": 0.85,
            "kappa": 0.699519230769231,
            "ac1": 0.7007481296758106,
            "mcc": 0.7007858361449263,
            "pos_agreement": 0.8421052631578947,
            "neg_agreement": 0.8571428571428571,
        },
    ),
    TwoRaters(
        id="fc90_C",
        source="Feinstein and Cicchetti 1990, Journal of Clinical Epidemiology 43:543-549",
        counts=[[45, 15], [25, 15]],
        expected={
            "po": 0.6,
            "kappa": 0.13043478260869554,
            "ac1": 0.26605504587155965,
            "mcc": 0.1336306209562122,
            "pos_agreement": 0.6923076923076923,
            "neg_agreement": 0.42857142857142855,
        },
    ),
    TwoRaters(
        id="epir_salmon",
        source="epiR, epi.kappa example 1",
        counts=[[19, 10], [6, 256]],
        expected={
            "po": 0.9450171821305842,
            "kappa": 0.6735838474481209,
            "ac1": 0.9338871139510116,
            "mcc": 0.6758378824921722,
            "pos_agreement": 0.7037037037037037,
            "neg_agreement": 0.9696969696969697,
        },
    ),
    TwoRaters(
        id="rao_phi_vs_kappa",
        source="arXiv:2606.00093",
        counts=[[40, 10], [20, 30]],
        expected={
            "po": 0.7,
            "kappa": 0.3999999999999999,
            "ac1": 0.40594059405940586,
            "mcc": 0.4082482904638631,
            "pos_agreement": 0.7272727272727273,
            "neg_agreement": 0.6666666666666666,
        },
    ),
]

# Rows: what the classifier said; columns: the truth; the positive class first.
CHICCO_JURMAN = [
    TwoRaters(
        id="chicco_A1",
        source="Chicco and Jurman 2020, BMC Genomics 21:6",
        counts=[[90, 9], [1, 0]],
        expected={
            "acc": 0.9,
            "f1": 0.9473684210526315,
            "mcc": -0.0316069770620507,
            "macro_f1": 0.47368421052631576,
            "precision_pos": 0.9090909090909091,
            "recall_pos": 0.989010989010989,
            "precision_neg": 0.0,
            "recall_neg": 0.0,
            "kappa": -0.018329938900203624,
        },
    ),
    TwoRaters(
        id="chicco_B1",
        source="Chicco and Jurman 2020, BMC Genomics 21:6",
        counts=[[47, 45], [3, 5]],
        expected={
            "acc": 0.52,
            "f1": 0.6619718309859155,
            "mcc": 0.07372097807744857,
            "macro_f1": 0.4171928120446819,
            "precision_pos": 0.5108695652173914,
            "recall_pos": 0.94,
            "precision_neg": 0.625,
            "recall_neg": 0.1,
            "kappa": 0.040000000000000036,
        },
    ),
    TwoRaters(
        id="chicco_C1",
        source="Chicco and Jurman 2020, BMC Genomics 21:6",
        counts=[[9, 89], [1, 1]],
        expected={
            "acc": 0.1,
            "f1": 0.16666666666666666,
            "mcc": -0.19047619047619047,
            "macro_f1": 0.09420289855072464,
            "precision_pos": 0.09183673469387756,
            "recall_pos": 0.9,
            "precision_neg": 0.5,
            "recall_neg": 0.011111111111111112,
            "kappa": -0.018099547511312153,
        },
    ),
]

MANY_RATERS = [
    ManyRaters(
        id="fleiss_1971_diagnoses",
        source="Fleiss 1971, Psychological Bulletin 76:378-382: 30 patients, 6 psychiatrists, 5 diagnoses",
        counts=[
            [0, 0, 0, 6, 0],
            [0, 3, 0, 0, 3],
            [0, 1, 4, 0, 1],
            [0, 0, 0, 0, 6],
            [0, 3, 0, 3, 0],
            [2, 0, 4, 0, 0],
            [0, 0, 4, 0, 2],
            [2, 0, 3, 1, 0],
            [2, 0, 0, 4, 0],
            [0, 0, 0, 0, 6],
            [1, 0, 0, 5, 0],
            [1, 1, 0, 4, 0],
            [0, 3, 3, 0, 0],
            [1, 0, 0, 5, 0],
            [0, 2, 0, 3, 1],
            [0, 0, 5, 0, 1],
            [3, 0, 0, 1, 2],
            [5, 1, 0, 0, 0],
            [0, 2, 0, 4, 0],
            [1, 0, 2, 0, 3],
            [0, 0, 0, 0, 6],
            [0, 1, 0, 5, 0],
            [0, 2, 0, 1, 3],
            [2, 0, 0, 4, 0],
            [1, 0, 0, 4, 1],
            [0, 5, 0, 1, 0],
            [4, 0, 0, 0, 2],
            [0, 2, 0, 4, 0],
            [1, 0, 5, 0, 0],
            [0, 0, 0, 0, 6],
        ],
        expected={"pa": 0.5555555555555555},
    ),
    ManyRaters(
        id="wikipedia_fleiss",
        source="Wikipedia, Fleiss' kappa: 10 subjects, 14 raters, 5 categories",
        counts=[
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        expected={"pa": 0.378021978021978},
    ),
]

CODERS = [
    Coders(
        id="krippendorff_4x12",
        source="Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, sections C and D",
        coders=[
            [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        ],
        expected={"nominal": 0.743421052631579},
    ),
    Coders(
        id="krippendorff_binary",
        source="Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section A",
        coders=[[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]],
        expected={"nominal": 0.09523809523809534},
    ),
    Coders(
        id="gwet_raw4raters",
        source="Gwet 2014, Handbook of Inter-Rater Reliability; irrCAC's raw4raters",
        coders=[
            [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        ],
        expected={"ac1": 0.775444068126995, "pa": 0.8181818181818182},
    ),
]


class HealthBenchMetaEvaluation:
    """Eight graded pairs with two or three physicians each; figures from the reference code of
    simple-evals."""

    id = "healthbench_meta_balanced_f1"
    grader = [True, True, False, True, False, True, False, False]
    physicians = [
        [("p1", True), ("p2", True)],
        [("p1", True), ("p3", False)],
        [("p2", False), ("p3", False)],
        [("p1", True), ("p2", True), ("p3", True)],
        [("p1", True), ("p2", False)],
        [("p2", False), ("p3", False)],
        [("p1", False), ("p3", False)],
        [("p1", True), ("p2", True)],
    ]
    category = ["A", "A", "A", "A", "B", "B", "B", "B"]
    f1_pos = 0.6666666666666666
    f1_neg = 0.625
    f1_balanced = 0.6458333333333333
    cluster_A_balanced = 0.8615384615384616
    cluster_B_balanced = 0.2727272727272727
    physician_f1_balanced = {"p1": 0.65, "p2": 0.8444444444444446, "p3": 0.8285714285714285}
