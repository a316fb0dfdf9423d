"""The tables and headline numbers of the agreement page, each with its coverage and a way to the pairs behind it."""

from collections.abc import Callable

from django.utils.translation import gettext, gettext_noop

from grading.agreement import AgreementReport, Figures
from grading.report_cells import NOT_GRADED_YET, Cell, Head, Notes, Row, Table, n_of_m
from grading.score_tables import axes_in_order, axis_words
from rubrics.models import FrozenCriterion

COEFFICIENTS = {
    "kappa": gettext_noop("Kappa"),
    "observed": gettext_noop("Agreement"),
    "macro_f1": gettext_noop("Macro F1"),
    "ac1": gettext_noop("AC1"),
}
Link = Callable[..., str]
"""Answers the address of the pairs that its keyword arguments name."""


def headline(report: AgreementReport) -> tuple[list[tuple[str, Cell]], Notes]:
    """The numbers on top, kappa first; percent agreement and AC1 flatter, and come last."""
    notes, overall = Notes(), report.overall
    if overall.is_too_few:
        said = Cell(n_of_m(overall.agreed, overall.n), gettext("pairs"), notes.counts_only().mark)
        return [(gettext("Said the same"), said)], notes
    over = gettext("over {n} of {m} verdicts").format(n=f"{overall.n:,}", m=f"{overall.judged:,}")
    numbers = overall.coefficients

    def of_units(units: int) -> str:
        return gettext("over {n} of {m} responses × criteria").format(n=f"{units:,}", m=f"{report.units:,}")

    return [
        (gettext("Kappa"), notes.cell(numbers["kappa"], over=over)),
        (gettext("Macro F1"), notes.cell(numbers["macro_f1"], over=over)),
        (
            gettext("Alpha, clinicians alone"),
            notes.cell(report.alpha_clinicians, over=of_units(report.alpha_clinicians_units)),
        ),
        (gettext("Alpha, with the grader"), notes.cell(report.alpha, over=of_units(report.alpha_units))),
        (gettext("AC1"), notes.cell(numbers["ac1"], over=over)),
        (gettext("Agreement"), notes.cell(numbers["observed"], over=over)),
    ], notes


def clinicians_table(report: AgreementReport, link: Link) -> Table:
    """The grader against each clinician, and that clinician against the others on the pairs that the grader graded."""
    notes = Notes()
    rows = []
    for email, figures in report.by_clinician.items():
        others = report.among_clinicians[email]
        row = [*_pairs(figures, link, reviewer=email), *_coefficients(figures, notes, list(COEFFICIENTS))]
        row += [_n_of_judged(others), *_coefficients(others, notes, ["kappa", "macro_f1"])]
        rows.append(Row(report.names[email], row, link(reviewer=email)))
    heads = [gettext("Clinician"), gettext("Pairs"), gettext("Differ"), *map(gettext, COEFFICIENTS.values())]
    heads += [gettext("Others: pairs"), gettext("Others: kappa"), gettext("Others: macro F1")]
    caption = gettext(
        "The grader against each clinician, and that clinician against the others on those of the same pairs that they "
        "judged too"
    )
    return Table("clinicians", caption, [Head(text) for text in heads], rows, notes)


def axes_table(report: AgreementReport, link: Link) -> Table:
    notes = Notes()
    rows = []
    for axis in axes_in_order(set(report.by_axis), report.run.version.axes):
        figures = report.by_axis[axis]
        row = [*_pairs(figures, link, axis=axis), *_coefficients(figures, notes, list(COEFFICIENTS))]
        rows.append(Row(axis_words(axis), row, link(axis=axis)))
    heads = [gettext("Axis"), gettext("Pairs"), gettext("Differ"), *map(gettext, COEFFICIENTS.values())]
    return Table("axes", gettext("By axis"), [Head(text) for text in heads], rows, notes)


def criteria_rows(report: AgreementReport, link: Link) -> list[tuple[FrozenCriterion, Figures, str]]:
    """The judged criteria, those first on which most pairs differ, and the address of each one's pairs."""
    found = sorted(report.by_criterion.items(), key=lambda row: (-row[1].differing, row[1].n == 0, row[1].n, row[0]))
    return [(report.criteria[name], figures, link(criterion=name)) for name, figures in found]


def _n_of_judged(figures: Figures) -> Cell:
    return Cell(n_of_m(figures.n, figures.judged))


def _pairs(figures: Figures, link: Link, **wanted: str) -> list[Cell]:
    """How many of the verdicts make a pair, and how many of the pairs differ, which opens those."""
    differing = Cell(f"{figures.differing:,}", href=link(**wanted, differ="yes") if figures.differing else "")
    return [_n_of_judged(figures), differing]


def _coefficients(figures: Figures, notes: Notes, names: list[str]) -> list[Cell]:
    if figures.is_waiting:
        return [Cell(gettext(NOT_GRADED_YET), is_word=True, span=len(names))]
    if figures.is_too_few:
        return [notes.counts_only(span=len(names))]
    return [notes.cell(figures.coefficients[name]) for name in names]
