"""A run's reports: scores, agreement, and the pairs behind every number.

Who opens them is no longer a blind judge of the run's pairs, and is told so before; the opening is recorded.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Role
from annotation.permissions import StudyRequest, has_role, study_page
from grading.agreement import finding, judged_pairs, report_agreement
from grading.judging import has_opened, open_grades
from grading.models import Grade, Response, Run
from grading.score_report import report_scores
from grading.statistics import nominal
from grading.views.runs import find_run

P = ParamSpec("P")


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
            if has_role(request.membership, Role.CLINICIAN):
                return render(request, "grading/open_grades.html", {"run": run})
            open_grades(run=run, by=request.user)
        return view(request, run, *args, **kwargs)

    return cast("Callable[Concatenate[StudyRequest, P], HttpResponse]", opened)


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def scores(request: StudyRequest, run: Run) -> HttpResponse:
    """The scores of a run by respondent."""
    report = report_scores(run)
    axes = sorted({axis for scores in report.respondents for axis in scores.by_axis})
    acuities = sorted({acuity for scores in report.respondents for acuity in scores.by_acuity})
    context = {
        "run": run,
        "report": report,
        "by_axis": [(axis, [scores.by_axis.get(axis) for scores in report.respondents]) for axis in axes],
        "by_acuity": [(name, [scores.by_acuity.get(name) for scores in report.respondents]) for name in acuities],
    }
    return render(request, "grading/scores.html", context)


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def agreement(request: StudyRequest, run: Run) -> HttpResponse:
    """The agreement of the run's grader with the clinicians, beside the clinicians' own."""
    report = report_agreement(run)
    # By address; a clinician whom nobody else met has an empty table there.
    people = [(name, figures, report.among_clinicians.get(name)) for name, figures in report.by_clinician.items()]
    weakest = sorted(
        ((name, figures, report.criteria[name]) for name, figures in report.by_criterion.items() if figures.n),
        key=lambda row: (row[1].coefficients["observed"].value or 0.0, -row[1].n),
    )
    context = {
        "run": run,
        "report": report,
        "people": people,
        "weakest": weakest[:15],
        "finding": finding(report),
        "has_chart": any(figures.coefficients["kappa"].value is not None for _, figures, _ in people),
        "front": [
            ("Kappa", report.overall.coefficients["kappa"]),
            ("Macro F1", report.overall.coefficients["macro_f1"]),
            ("Alpha, clinicians alone", report.alpha_clinicians),
            ("Alpha, with the grader", report.alpha),
            ("AC1", report.overall.coefficients["ac1"]),
            ("Agreement", report.overall.coefficients["observed"]),
        ],
        "confusion": [(grader, list(row.items())) for grader, row in nominal.confusion(report.overall.table).items()],
    }
    return render(request, "grading/agreement.html", context)


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def chart(request: StudyRequest, run: Run) -> HttpResponse:
    """The figure of the agreement page."""
    # altair takes a second to import; only this picture needs it
    from grading.charts import kappa_by_clinician

    return HttpResponse(kappa_by_clinician(report_agreement(run)), content_type="image/svg+xml")


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def pairs(request: StudyRequest, run: Run) -> HttpResponse:
    """The pairs behind a number: by criterion, axis, clinician, and what either side said."""
    judged, _ = judged_pairs(run)
    wanted = {key: request.GET.get(key, "") for key in ("criterion", "axis", "reviewer", "grader", "clinician")}
    chosen = [
        pair
        for pair in judged
        if (not wanted["criterion"] or pair.criterion.external_id == wanted["criterion"])
        and (not wanted["axis"] or pair.criterion.axis == wanted["axis"])
        and (not wanted["reviewer"] or pair.reviewer == wanted["reviewer"])
        and (not wanted["grader"] or pair.grader == wanted["grader"])
        and (not wanted["clinician"] or pair.clinician == wanted["clinician"])
    ]
    page = Paginator(chosen, 20).get_page(request.GET.get("page"))
    units = [pair.unit for pair in page]
    grades = {
        (grade.response_id, grade.criterion_id): grade
        for grade in Grade.objects.filter(run=run, repeat=1, response__in=[response for response, _ in units])
    }
    responses = Response.objects.select_related("respondent", "conversation").in_bulk([r for r, _ in units])
    rows = [(pair, responses[pair.unit[0]], grades.get(pair.unit)) for pair in page]
    return render(request, "grading/pairs.html", {"run": run, "page": page, "rows": rows, "wanted": wanted})


@study_page(Role.RESEARCHER, Role.ADMIN)
def open_them(request: StudyRequest, run_id: UUID) -> HttpResponse:
    """Open a run's grades, after being told what that ends."""
    run = find_run(request, run_id)
    if request.method == "POST":
        open_grades(run=run, by=request.user)
    return redirect("run_agreement", slug=request.study.slug, run_id=run.id)
