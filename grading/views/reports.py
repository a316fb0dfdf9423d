"""A run's reports: scores, agreement, and the pairs behind every number.

Who opens them is no longer a blind judge of the run's pairs, and is told so before; the opening is recorded.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from grading.agreement import finding, judged_pairs, names_of, report_agreement
from grading.agreement_tables import Link, axes_table, clinicians_table, criteria_rows, headline
from grading.judging import has_opened, open_grades
from grading.models import Run
from grading.pair_cards import group_by_unit, heading, lay_out, summary
from grading.pairs import Asked
from grading.permissions import must_be_told_first
from grading.score_report import report_scores
from grading.score_tables import acuity_tables, axis_tables, respondents_table
from grading.statistics import nominal
from grading.views.runs import find_run

P = ParamSpec("P")
MOST_DIFFERING = 15
CRITERIA_A_PAGE = 50
CARDS_A_PAGE = 10


def opens_grades(
    view: Callable[Concatenate[StudyRequest, Run, P], HttpResponse],
) -> Callable[Concatenate[StudyRequest, P], HttpResponse]:
    """Record that the person opened the run's grades; a clinician is asked first, since it ends blind judging."""

    @wraps(view)
    def opened(request: StudyRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        run_id = kwargs.pop("run_id")
        assert isinstance(run_id, UUID)
        run = find_run(request, run_id)
        if not has_opened(run, request.user):
            if must_be_told_first(run, request.membership):
                return render(request, "grading/open_grades.html", {"run": run})
            open_grades(run=run, by=request.user)
        return view(request, run, *args, **kwargs)

    return cast("Callable[Concatenate[StudyRequest, P], HttpResponse]", opened)


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def scores(request: StudyRequest, run: Run) -> HttpResponse:
    """The scores of a run by respondent, acuity and axis."""
    report = report_scores(run)
    context = {
        "run": run,
        "report": report,
        "respondents": respondents_table(report),
        "acuities": acuity_tables(report),
        "axes": axis_tables(report),
    }
    return render(request, "grading/scores.html", context)


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def agreement(request: StudyRequest, run: Run) -> HttpResponse:
    """The agreement of the run's grader with the clinicians, beside the clinicians' own."""
    report, link = report_agreement(run), pairs_of(run)
    numbers, notes = headline(report)
    context = {
        "run": run,
        "report": report,
        "finding": finding(report),
        "has_chart": any(
            of.shown("kappa") is not None for of in (*report.by_clinician.values(), *report.among_clinicians.values())
        ),
        "numbers": numbers,
        "notes": notes,
        "clinicians": clinicians_table(report, link),
        "axes": axes_table(report, link),
        "differing": [row for row in criteria_rows(report, link) if row[1].differing][:MOST_DIFFERING],
        "confusion": [
            (grader, [(said, number, link(grader=grader, clinician=said)) for said, number in row.items()])
            for grader, row in nominal.confusion(report.overall.table).items()
        ],
    }
    return render(request, "grading/agreement.html", context)


def pairs_of(run: Run) -> Link:
    """Answers the address of the run's pairs that its keyword arguments name."""
    address = reverse("run_pairs", kwargs={"slug": run.study.slug, "run_id": run.id})
    return lambda **wanted: f"{address}?{urlencode(wanted)}"


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def criteria(request: StudyRequest, run: Run) -> HttpResponse:
    """Every judged criterion with its counts, those first on which most pairs differ."""
    rows = criteria_rows(report_agreement(run), pairs_of(run))
    page = Paginator(rows, CRITERIA_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "grading/criteria.html", {"run": run, "page": page})


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def chart(request: StudyRequest, run: Run) -> HttpResponse:
    """The figure of the agreement page, for a colour scheme and a width."""
    # altair takes a second to import; only this picture needs it
    from grading.charts import Scheme, kappa_by_clinician

    scheme = Scheme.DARK if request.GET.get("scheme") == Scheme.DARK else Scheme.LIGHT
    svg = kappa_by_clinician(report_agreement(run), scheme=scheme, width=request.GET.get("width", "wide"))
    return HttpResponse(svg, content_type="image/svg+xml")


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def pairs(request: StudyRequest, run: Run) -> HttpResponse:
    """The pairs behind a number: by criterion, axis, clinician, and what either side said."""
    asked, (judged, _) = Asked.of(request.GET), judged_pairs(run)
    names = names_of(judged)
    units = group_by_unit(judged, asked)
    page = Paginator(units, CARDS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "run": run,
        "page": page,
        "cards": lay_out(run, list(page), asked, names),
        "heading": heading(asked, names),
        "summary": summary([pair for pair in judged if asked.holds(pair)], len(units)),
    }
    return render(request, "grading/pairs.html", context)


@study_page(Role.RESEARCHER, Role.ADMIN)
def open_them(request: StudyRequest, run_id: UUID) -> HttpResponse:
    """Open a run's grades, after being told what that ends."""
    run = find_run(request, run_id)
    if request.method == "POST":
        open_grades(run=run, by=request.user)
    return redirect("run_agreement", slug=request.study.slug, run_id=run.id)
