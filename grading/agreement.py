"""The agreement report of a run: the grader against every clinician, and the clinicians against each other.

A pair is one grade and one clinician's verdict on the same response and wording. *Can't tell* and *unscored* make no
pair; they are counted in the coverage. A verdict given after its owner had opened the grades isn't blind: it stays
out, and the report says how many. What can't be computed is undefined with its reason.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from grading.models import Grade, ReviewerVerdict, Run, RunResponse
from grading.statistics import nominal
from grading.statistics.tables import PairTable, count_units, pair_each_with_others, pair_ratings
from grading.statistics.undefined import Coefficient
from rubrics.models import FrozenCriterion

CATEGORIES = ("met", "not_met")
FEW_CONVERSATIONS = 10
"""Below it the report says that there is too little to conclude from: conversations, not pairs, are independent."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One clinician's verdict beside the grader's on the same pair; None where it is no verdict."""

    unit: tuple[UUID, UUID]
    reviewer: str
    clinician: str | None
    grader: str | None
    criterion: FrozenCriterion


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement over some pairs: ``n`` pairs of ``judged`` verdicts, the table, and the coefficients by name."""

    n: int
    judged: int
    table: PairTable
    coefficients: dict[str, Coefficient]

    @property
    def agreed(self) -> int:
        """Pairs on which both said the same."""
        return int(self.table.counts.trace())

    @property
    def coverage(self) -> float | None:
        """Pairs / verdicts given, 0 to 1; None where none was given."""
        return self.n / self.judged if self.judged else None

    def as_data(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "coverage": self.coverage,
            **{name: number.value for name, number in self.coefficients.items()},
            "confusion": nominal.confusion(self.table),
            "undefined": {name: number.reason.value for name, number in self.coefficients.items() if number.reason},
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All that a run's agreement page shows."""

    run: Run
    overall: Figures
    alpha: Coefficient
    alpha_clinicians: Coefficient
    by_clinician: dict[str, Figures]
    among_clinicians: dict[str, Figures]
    by_axis: dict[str, Figures]
    by_criterion: dict[str, Figures]
    not_blind: int
    conversations: int
    criteria: dict[str, FrozenCriterion] = field(default_factory=dict)


def judged_pairs(run: Run) -> tuple[list[Judged], int]:
    """The clinicians' verdicts on the run's pairs beside its grades, and how many were left out as not blind.

    Three queries: the version's criteria, the verdicts, the grades of the responses that have verdicts.
    """
    criteria = {criterion.wording_id: criterion for criterion in FrozenCriterion.objects.filter(version=run.version_id)}
    responses = RunResponse.objects.filter(run=run, is_failed=False).values("response_id")
    verdicts = list(
        ReviewerVerdict.objects.filter(response__in=responses, wording__in=criteria)
        .select_related("reviewer")
        .order_by("reviewer__email", "response_id", "wording_id")
    )
    grades = {
        (response_id, criterion_id): verdict
        for response_id, criterion_id, verdict in Grade.objects.filter(
            run=run, repeat=1, response__in={verdict.response_id for verdict in verdicts}
        ).values_list("response_id", "criterion_id", "verdict")
    }
    judged, not_blind = [], 0
    for verdict in verdicts:
        if not verdict.is_blind:
            not_blind += 1
            continue
        criterion = criteria[verdict.wording_id]
        judged.append(
            Judged(
                unit=(verdict.response_id, criterion.id),
                reviewer=verdict.reviewer.email,
                clinician=_known(verdict.verdict),
                grader=_known(grades.get((verdict.response_id, criterion.id))),
                criterion=criterion,
            )
        )
    return judged, not_blind


def _known(verdict: str | None) -> str | None:
    """Met or not met; can't tell, unscored and no grade yet are no verdicts."""
    return verdict if verdict in CATEGORIES else None


def report_agreement(run: Run) -> AgreementReport:
    """The agreement of a run's grader with the clinicians, as it is now."""
    judged, not_blind = judged_pairs(run)
    units: dict[tuple[UUID, UUID], list[Judged]] = defaultdict(list)
    for pair in judged:
        units[pair.unit].append(pair)
    return AgreementReport(
        run=run,
        overall=_figures(judged),
        alpha=_alpha([pairs[0].grader, *(pair.clinician for pair in pairs)] for pairs in units.values()),
        alpha_clinicians=_alpha([pair.clinician for pair in pairs] for pairs in units.values()),
        by_clinician={name: _figures(pairs) for name, pairs in _grouped(judged, "reviewer").items()},
        among_clinicians=_among_clinicians(units.values()),
        by_axis={name: _figures(pairs) for name, pairs in _grouped(judged, "axis").items()},
        by_criterion={name: _figures(pairs) for name, pairs in _grouped(judged, "criterion").items()},
        not_blind=not_blind,
        conversations=len({pair.criterion.frozen_conversation_id for pair in judged if pair.grader and pair.clinician}),
        criteria={pair.criterion.external_id: pair.criterion for pair in judged},
    )


def finding(report: AgreementReport) -> str:
    """The report in one sentence, from kappa: never from percent agreement or AC1 alone."""
    kappa = report.overall.coefficients["kappa"]
    if kappa.value is None:
        assert kappa.reason is not None
        return f"Agreement beyond chance can't be told: {kappa.reason.sentence}"
    among = [
        figures.coefficients["kappa"].value
        for figures in report.among_clinicians.values()
        if figures.coefficients["kappa"].value is not None
    ]
    sentence = f"The grader's kappa with the clinicians is {_said(kappa.value)}"
    if report.conversations < FEW_CONVERSATIONS:
        few = "one conversation" if report.conversations == 1 else f"only {report.conversations} conversations"
        sentence = f"From {few}, too little to conclude from: t{sentence[1:]}"
    if not among:
        return f"{sentence}; the clinicians have too few pairs in common to compare with."
    return f"{sentence}; that of each clinician with the others runs from {_said(min(among))} to {_said(max(among))}."


def _said(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def _grouped(judged: Iterable[Judged], by: str) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for pair in judged:
        key = {"reviewer": pair.reviewer, "axis": pair.criterion.axis, "criterion": pair.criterion.external_id}[by]
        groups[key].append(pair)
    return dict(sorted(groups.items()))


def _figures(judged: Sequence[Judged]) -> Figures:
    table = pair_ratings(
        grader=[pair.grader for pair in judged],
        clinician=[pair.clinician for pair in judged],
        categories=CATEGORIES,
    )
    return _of_table(table, len(judged))


def _of_table(table: PairTable, judged: int) -> Figures:
    return Figures(
        n=int(table.n),
        judged=judged,
        table=table,
        coefficients={
            "observed": nominal.observed(table),
            "kappa": nominal.cohen_kappa(table),
            "ac1": nominal.gwet_ac1(table),
            "macro_f1": nominal.macro_f1(table),
        },
    )


def _alpha(units: Iterable[Sequence[str | None]]) -> Coefficient:
    return nominal.krippendorff_alpha(count_units(units, categories=CATEGORIES))


def _among_clinicians(units: Iterable[Sequence[Judged]]) -> dict[str, Figures]:
    """Each clinician against the other clinicians on the same pairs: the human benchmark."""
    units = list(units)
    tables = pair_each_with_others(
        [[(pair.reviewer, pair.clinician) for pair in unit] for unit in units], categories=CATEGORIES
    )
    possible: Counter[str] = Counter()
    for unit in units:
        for pair in unit:
            possible[pair.reviewer] += len(unit) - 1
    return {name: _of_table(table, possible[name]) for name, table in tables.items()}


def agreement_as_data(report: AgreementReport) -> dict[str, Any]:
    """The report as plain data, for the API and ``agreement --json``."""
    overall = report.overall.as_data()
    undefined = overall.pop("undefined")
    alphas = {"alpha": report.alpha, "alpha_clinicians": report.alpha_clinicians}
    return {
        "run": str(report.run.id),
        "grader": report.run.grader.name,
        "grader_digest": report.run.grader.digest,
        "version": report.run.version.address,
        **overall,
        "conversations": report.conversations,
        **{name: number.value for name, number in alphas.items()},
        "undefined": {**undefined, **{name: number.reason.value for name, number in alphas.items() if number.reason}},
        "clinicians": [{"reviewer": name, **figures.as_data()} for name, figures in report.by_clinician.items()],
        "among_clinicians": [
            {"reviewer": name, **figures.as_data()} for name, figures in report.among_clinicians.items()
        ],
        "by_criterion": {name: _counts(figures) for name, figures in report.by_criterion.items()},
        "by_axis": {name: figures.as_data() for name, figures in report.by_axis.items()},
        "not_blind": report.not_blind,
    }


def _counts(figures: Figures) -> dict[str, Any]:
    """A single criterion has one conversation: counts, the observed share, and no coefficient beyond it."""
    return {
        "n": figures.n,
        "coverage": figures.coverage,
        "observed": figures.coefficients["observed"].value,
        "confusion": nominal.confusion(figures.table),
    }
