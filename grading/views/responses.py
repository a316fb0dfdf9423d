"""Responses: what there is by respondent, and taking files in."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from grading.models import Response, ReviewerVerdict
from grading.respondents import respondents_of
from grading.uploading import UPLOADS
from rubrics.forms import FileForm
from rubrics.views.imports import FilePages, answer_example, bring_file, find_upload

PAGES = FilePages("take_in", "take_in_example", "study_responses", _("Responses"))


@study_page(Role.RESEARCHER, Role.ADMIN)
def responses(request: StudyRequest) -> HttpResponse:
    """The respondents of the study with their responses in numbers."""
    context = {
        "respondents": respondents_of(request.study).order_by("name"),
        "verdicts": ReviewerVerdict.objects.filter(study=request.study).count(),
        "responses_count": Response.objects.filter(study=request.study).count(),
        "uploads": list(UPLOADS.values()),
    }
    return render(request, "grading/responses.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.RESEARCHER)
def take_in(request: StudyRequest, kind: str) -> HttpResponse:
    """Bring a file of responses or of reviewer verdicts, in the manner of all imports."""
    return bring_file(request, find_upload(UPLOADS, kind), FileForm, PAGES)


@require_GET
@study_page(Role.RESEARCHER)
def show_example(request: StudyRequest, kind: str) -> HttpResponse:
    return answer_example(find_upload(UPLOADS, kind))
