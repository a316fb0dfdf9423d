"""The agreement report of a run: the grader against every clinician, and the clinicians against each other.

A pair is one grade and one clinician's verdict on the same response and wording. *Can't tell* and *unscored* make no
pair; they are counted in the coverage. A verdict given after its owner had opened the grades isn't blind: it stays
out, and the report says how many. What can't be computed is undefined with its reason. Very few pairs get counts in
place of coefficients wherever people read them (`is_too_few`); JSON keeps the numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext

from grading.models import Grade, ReviewerVerdict, Run, RunResponse
from grading.statistics import nominal
from grading.statistics.tables import PairTable, count_units, pair_each_with_others, pair_ratings
from grading.statistics.undefined import Coefficient
from grading.told_again import reason_in_words
from rubrics.models import FrozenCriterion

CATEGORIES = ("met", "not_met")
FEW_CONVERSATIONS = 10
"""Below it the report says that there is too little to conclude from: conversations, not pairs, are independent."""
FEWEST_PAIRS, FEWEST_CONVERSATIONS = 10, 3
TOO_FEW = (
    f"Counts only: fewer than {FEWEST_PAIRS} pairs, or from fewer than {FEWEST_CONVERSATIONS} conversations, "
    "are too few for a coefficient."
)


def is_too_few(*, n: int, conversations: int) -> bool:
    """Whether so many pairs from so many conversations get counts only. No pair at all is *undefined* instead."""
    return n > 0 and (n < FEWEST_PAIRS or conversations < FEWEST_CONVERSATIONS)


@dataclass(frozen=True, slots=True)
class Judged:
    """One clinician's verdict beside the grader's on the same pair; None where it is no verdict.

    ``unit`` is (response, frozen criterion), ``reviewer`` an address, ``name`` what the person is called.
    ``is_graded`` is also true of a grade that is unscored.
    """

    verdict_id: UUID
    unit: tuple[UUID, UUID]
    reviewer: str
    name: str
    clinician: str | None
    grader: str | None
    is_graded: bool
    criterion: FrozenCriterion
    comment: str

    @property
    def is_pair(self) -> bool:
        return self.clinician is not None and self.grader is not None

    @property
    def differs(self) -> bool:
        return self.is_pair and self.clinician != self.grader


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement over some pairs: ``n`` pairs of ``judged`` verdicts, the table, and the coefficients by name.

    ``graded`` of the verdicts meet a grade, scored or not; ``conversations`` are those of the n pairs.
    """

    n: int
    judged: int
    graded: int
    conversations: int
    table: PairTable
    coefficients: dict[str, Coefficient]

    @property
    def agreed(self) -> int:
        """Pairs on which both said the same."""
        return int(self.table.counts.trace())

    @property
    def differing(self) -> int:
        return self.n - self.agreed

    @property
    def is_too_few(self) -> bool:
        return is_too_few(n=self.n, conversations=self.conversations)

    @property
    def is_waiting(self) -> bool:
        """Verdicts are there and none of them meets a grade yet."""
        return self.judged > 0 and self.graded == 0

    def shown(self, name: str) -> float | None:
        """A coefficient where people may read one; None where it is undefined or its pairs are too few."""
        return None if self.is_too_few else self.coefficients[name].value

    @property
    def coverage(self) -> float | None:
        """Pairs / verdicts given, 0 to 1; None where none was given."""
        return self.n / self.judged if self.judged else None

    def as_data(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "judged": self.judged,
            "coverage": self.coverage,
            "conversations": self.conversations,
            **{name: number.value for name, number in self.coefficients.items()},
            "confusion": nominal.confusion(self.table),
            "undefined": {name: number.reason.value for name, number in self.coefficients.items() if number.reason},
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All that a run's agreement page shows. Clinicians are keyed by their address; ``names`` says what to call them.

    ``graded`` of the run's pairs have a grade, scored or not. Of ``units`` (response x criterion) with a verdict,
    ``alpha_units`` and ``alpha_clinicians_units`` have the two ratings or more that an alpha takes.
    """

    run: Run
    graded: int
    overall: Figures
    alpha: Coefficient
    alpha_clinicians: Coefficient
    units: int
    alpha_units: int
    alpha_clinicians_units: int
    by_clinician: dict[str, Figures]
    among_clinicians: dict[str, Figures]
    by_axis: dict[str, Figures]
    by_criterion: dict[str, Figures]
    not_blind: int
    criteria: dict[str, FrozenCriterion] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def conversations(self) -> int:
        return self.overall.conversations

    @property
    def is_unfinished(self) -> bool:
        return self.graded < self.run.pairs


def judged_pairs(run: Run) -> tuple[list[Judged], int]:
    """The clinicians' verdicts on the run's pairs beside its grades, and how many were left out as not blind.

    Three queries: the version's criteria, the verdicts, the grades of the responses that have verdicts.
    """
    frozen = FrozenCriterion.objects.filter(version=run.version_id).select_related("frozen_conversation")
    criteria = {criterion.wording_id: criterion for criterion in frozen.defer("frozen_conversation__messages")}
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
        grade = grades.get((verdict.response_id, criterion.id))
        judged.append(
            Judged(
                verdict_id=verdict.id,
                unit=(verdict.response_id, criterion.id),
                reviewer=verdict.reviewer.email,
                name=str(verdict.reviewer),
                clinician=_known(verdict.verdict),
                grader=_known(grade),
                is_graded=grade is not None,
                criterion=criterion,
                comment=verdict.comment,
            )
        )
    return judged, not_blind


def _known(verdict: str | None) -> str | None:
    """Met or not met; can't tell, unscored and no grade yet are no verdicts."""
    return verdict if verdict in CATEGORIES else None


def names_of(judged: Iterable[Judged]) -> dict[str, str]:
    """What to call each clinician, by address: the name, with the address where two share it or there is none."""
    people = {pair.reviewer: pair.name for pair in judged}
    shared = Counter(people.values())
    return {email: name if shared[name] == 1 else f"{name} ({email})" for email, name in people.items()}


def report_agreement(run: Run) -> AgreementReport:
    """The agreement of a run's grader with the clinicians, as it is now."""
    judged, not_blind = judged_pairs(run)
    units: dict[tuple[UUID, UUID], list[Judged]] = defaultdict(list)
    for pair in judged:
        units[pair.unit].append(pair)
    alone = [[pair.clinician for pair in pairs] for pairs in units.values()]
    beside = [[pairs[0].grader, *(pair.clinician for pair in pairs)] for pairs in units.values()]
    return AgreementReport(
        run=run,
        graded=Grade.objects.filter(run=run).count(),
        overall=_figures(judged),
        alpha=_alpha(beside),
        alpha_clinicians=_alpha(alone),
        units=len(units),
        alpha_units=_rated_twice(beside),
        alpha_clinicians_units=_rated_twice(alone),
        by_clinician={name: _figures(pairs) for name, pairs in _grouped(judged, "reviewer").items()},
        among_clinicians=_among_clinicians(units.values()),
        by_axis={name: _figures(pairs) for name, pairs in _grouped(judged, "axis").items()},
        by_criterion={name: _figures(pairs) for name, pairs in _grouped(judged, "criterion").items()},
        not_blind=not_blind,
        criteria={pair.criterion.external_id: pair.criterion for pair in judged},
        names=names_of(judged),
    )


def finding(report: AgreementReport) -> str:
    """The report in one sentence, from kappa: never from percent agreement or AC1 alone."""
    kappa = report.overall.coefficients["kappa"]
    if kappa.value is None:
        assert kappa.reason is not None
        why = reason_in_words(kappa.reason.sentence)
        return gettext("Agreement beyond chance can't be told: {why}").format(why=why)
    if report.overall.is_too_few:
        return ngettext(
            "Too few to tell: the grader and the clinicians say the same on {agreed} of {n} pairs, from one "
            "conversation.",
            "Too few to tell: the grader and the clinicians say the same on {agreed} of {n} pairs, from "
            "{conversations} conversations.",
            report.conversations,
        ).format(agreed=report.overall.agreed, n=report.overall.n, conversations=report.conversations)
    among = [value for figures in report.among_clinicians.values() if (value := figures.shown("kappa")) is not None]
    sentence = gettext("The grader's kappa with the clinicians is {kappa}")
    if report.conversations < FEW_CONVERSATIONS:
        sentence = ngettext(
            "From one conversation, too little to conclude from: the grader's kappa with the clinicians is {kappa}",
            "From only {conversations} conversations, too little to conclude from: the grader's kappa with the "
            "clinicians is {kappa}",
            report.conversations,
        )
    said = sentence.format(kappa=_said(kappa.value), conversations=report.conversations)
    if not among:
        return gettext("{said}; the clinicians have too few pairs in common to compare with.").format(said=said)
    low, high = _said(min(among)), _said(max(among))
    if low == high:
        return gettext("{said}; that of each clinician with the others is {kappa}.").format(said=said, kappa=low)
    span = gettext("{said}; that of each clinician with the others runs from {low} to {high}.")
    return span.format(said=said, low=low, high=high)


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
    return _of_table(
        table,
        judged=len(judged),
        graded=sum(pair.is_graded for pair in judged),
        conversations=len({pair.criterion.frozen_conversation_id for pair in judged if pair.is_pair}),
    )


def _of_table(table: PairTable, *, judged: int, graded: int, conversations: int) -> Figures:
    return Figures(
        n=int(table.n),
        judged=judged,
        graded=graded,
        conversations=conversations,
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


def _rated_twice(units: Iterable[Sequence[str | None]]) -> int:
    return sum(sum(rating is not None for rating in unit) >= 2 for unit in units)


def _among_clinicians(units: Iterable[Sequence[Judged]]) -> dict[str, Figures]:
    """Each clinician against the others on the pairs that the grader graded: the human benchmark, on the same pairs.

    ``judged`` counts every verdict of a clinician with every other's on the same response and criterion.
    """
    units = list(units)
    tables = pair_each_with_others(
        [[(pair.reviewer, pair.clinician if pair.grader else None) for pair in unit] for unit in units],
        categories=CATEGORIES,
    )
    judged, graded = Counter[str](), Counter[str]()
    conversations: dict[str, set[UUID]] = defaultdict(set)
    for unit in units:
        known = sum(pair.is_pair for pair in unit)
        for pair in unit:
            judged[pair.reviewer] += len(unit) - 1
            graded[pair.reviewer] += (len(unit) - 1) * pair.is_graded
            if pair.is_pair and known > 1:
                conversations[pair.reviewer].add(pair.criterion.frozen_conversation_id)
    return {
        name: _of_table(table, judged=judged[name], graded=graded[name], conversations=len(conversations[name]))
        for name, table in tables.items()
    }


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
        "state": report.run.state,
        "pairs": report.run.pairs,
        "graded": report.graded,
        **overall,
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
        "judged": figures.judged,
        "coverage": figures.coverage,
        "observed": figures.coefficients["observed"].value,
        "confusion": nominal.confusion(figures.table),
    }
