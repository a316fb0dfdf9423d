"""The tables of the scores page: by respondent, by acuity and by axis in both published ways, with coverage."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotation.models import Acuity
from consilium.templatetags.consilium_text import decimals, in_words
from grading.report_cells import Cell, Head, Notes, Row, Table, n_of_m
from grading.score_report import ScoreReport, Slice
from grading.scoring import UNKNOWN_ACUITY, AcuityScores, AxisScores, RespondentScores
from grading.statistics.undefined import Coefficient, Reason, undefined

ACUITIES = [*Acuity.values, UNKNOWN_ACUITY]
FORMULAS = {"healthbench": "HealthBench", "mentalhealthbench": "MentalHealthBench"}


def acuity_words(acuity: str) -> str:
    """An acuity as every page says it."""
    return str(dict(Acuity.choices).get(acuity, gettext("Acuity not known")))


def axis_words(axis: str) -> str:
    return in_words(axis) or gettext("No axis")


def axes_in_order(axes: set[str], order: Sequence[str]) -> list[str]:
    """A version's axes in its own order, others after them by name, no axis last."""
    known = [axis for axis in order if axis in axes]
    return sorted(axes, key=lambda axis: (not axis, known.index(axis) if axis in known else len(known), axis))


def respondents_table(report: ScoreReport) -> Table:
    """One row a respondent; the most useful columns first, since a narrow screen shows only those."""
    notes = Notes()
    scorable = {scores.scorable for scores in report.respondents}
    rows = []
    for scores in report.respondents:
        is_waiting = Slice(scores.respondent) in report.waiting
        over = _over(scores.averaged, scores.scorable)
        rows.append(
            Row(
                scores.respondent,
                [
                    notes.cell(scores.healthbench, over=over, is_waiting=is_waiting),
                    _bounds(scores, notes, says_how_many=len(scorable) > 1),
                    notes.cell(scores.mentalhealthbench, over=over, is_waiting=is_waiting),
                    Cell(n_of_m(scores.scored_pairs, scores.pairs)),
                    Cell(n_of_m(scores.critical_failures, scores.n)),
                ],
            )
        )
        if scores.without_positive_points:
            said = gettext(
                "{respondent}: {n} of {m} responses have no criterion with positive points and can't be scored; their "
                "pairs count in the coverage alone."
            )
            notes.mark(said.format(respondent=scores.respondent, n=scores.without_positive_points, m=scores.n))
    over_all = gettext("Bounds over all")
    if len(scorable) == 1:
        over_all = gettext("Bounds over all {n}").format(n=scorable.pop())
    heads = [gettext("Respondent"), "HealthBench", over_all, "MentalHealthBench"]
    heads += [gettext("Pairs scored"), gettext("Critical failures")]
    return Table("scores", gettext("Scores by respondent"), [Head(text) for text in heads], rows, notes)


def acuity_tables(report: ScoreReport) -> list[Table]:
    found = {acuity for scores in report.respondents for acuity in scores.by_acuity}
    tables = []
    for formula, name in FORMULAS.items():
        notes = Notes()
        rows = [
            Row(
                acuity_words(acuity),
                [
                    _acuity_cell(
                        scores.by_acuity.get(acuity),
                        formula,
                        notes,
                        is_waiting=Slice(scores.respondent, acuity=acuity) in report.waiting,
                    )
                    for scores in report.respondents
                ],
            )
            for acuity in ACUITIES
            if acuity in found
        ]
        heads = [Head(gettext("Acuity")), *(Head(scores.respondent) for scores in report.respondents)]
        tables.append(Table(f"acuity-{formula}", name, heads, rows, notes))
    return tables


def axis_tables(report: ScoreReport) -> list[Table]:
    axes = {axis for scores in report.respondents for axis in scores.by_axis}
    about = {
        "healthbench": gettext("Over each axis' own positive points, clipped to 0 to 1 at the end."),
        "mentalhealthbench": gettext(
            "Over all positive points of the conversation, not clipped: an axis that a conversation lacks adds 0, and "
            "the axes add up."
        ),
    }
    tables = []
    for formula, name in FORMULAS.items():
        notes = Notes()
        rows = [
            Row(
                axis_words(axis),
                [
                    _axis_cell(
                        scores.by_axis.get(axis),
                        formula,
                        notes,
                        is_waiting=Slice(scores.respondent, axis=axis) in report.waiting,
                    )
                    for scores in report.respondents
                ],
            )
            for axis in axes_in_order(axes, report.run.version.axes)
        ]
        heads = [
            # MentalHealthBench's mean is over the same responses on every axis: said once, in the head.
            Head(scores.respondent, _over(scores.averaged, scores.scorable) if formula != "healthbench" else "")
            for scores in report.respondents
        ]
        tables.append(Table(f"axis-{formula}", name, [Head(gettext("Axis")), *heads], rows, notes, about[formula]))
    return tables


def _over(averaged: int, scorable: int) -> str:
    return gettext("over {n} of {m}").format(n=f"{averaged:,}", m=f"{scorable:,}")


def _bounds(scores: RespondentScores, notes: Notes, *, says_how_many: bool) -> Cell:
    if scores.bounds is None:
        return notes.cell(undefined(Reason.NO_POSITIVE_POINTS))
    low, high = decimals(scores.bounds.low), decimals(scores.bounds.high)
    text = gettext("{low} to {high}").format(low=low, high=high)
    return Cell(text, gettext("over {n}").format(n=f"{scores.scorable:,}") if says_how_many else "")


def _acuity_cell(scores: AcuityScores | None, formula: str, notes: Notes, *, is_waiting: bool) -> Cell:
    if scores is None:
        return notes.cell(undefined(Reason.NO_RESPONSES))
    number: Coefficient = getattr(scores, formula)
    return notes.cell(number, over=_over(scores.averaged, scores.scorable), is_waiting=is_waiting)


def _axis_cell(scores: AxisScores | None, formula: str, notes: Notes, *, is_waiting: bool) -> Cell:
    if scores is None:
        return notes.cell(undefined(Reason.NO_RESPONSES))
    number: Coefficient = getattr(scores, formula)
    over = _over(scores.averaged, scores.scorable) if formula == "healthbench" else ""
    return notes.cell(number, over=over, is_waiting=is_waiting)
