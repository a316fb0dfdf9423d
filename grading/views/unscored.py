"""A run's unscored pairs, opened as its other grades are."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render

from annotation.models import Role
from annotation.permissions import StudyRequest, has_role, study_page
from grading.models import Run
from grading.permissions import sees_respondents
from grading.unscored import reasons_of, show_unscored, unscored_grades
from grading.views.reports import opens_grades

PAIRS_A_PAGE = 25


@study_page(Role.RESEARCHER, Role.ADMIN)
@opens_grades
def unscored(request: StudyRequest, run: Run) -> HttpResponse:
    """Which pairs have no verdict and why; a researcher sees what the grader replied."""
    reasons = reasons_of(run)
    asked = request.GET.get("reason", "")
    chosen = next((reason for reason in reasons if reason[0] == asked), None)
    page = Paginator(unscored_grades(run, reason=chosen[0] if chosen else ""), PAIRS_A_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "run": run,
        "reasons": reasons,
        "chosen": chosen,
        "page": page,
        "pairs": show_unscored(run, list(page), with_replies=has_role(request.membership, Role.RESEARCHER)),
        "sees_respondents": sees_respondents(request.membership),
    }
    return render(request, "grading/unscored.html", context)
