"""Responses: what there is by respondent, and taking files in."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from grading.forms import UploadForm
from grading.importing.responses import import_responses
from grading.importing.verdicts import import_verdicts
from grading.models import Respondent, Response, ReviewerVerdict

IMPORTS = {"responses": import_responses, "verdicts": import_verdicts}


@study_page(Role.RESEARCHER, Role.ADMIN)
def responses(request: StudyRequest) -> HttpResponse:
    """The respondents of the study with their responses in numbers."""
    respondents = (
        Respondent.objects.filter(study=request.study)
        .annotate(
            number=Count("responses"),
            failed=Count("responses", filter=Q(responses__is_failed=True)),
            refusals=Count("responses", filter=Q(responses__is_refusal=True)),
            conversations=Count("responses__conversation", distinct=True),
        )
        .order_by("name")
    )
    context = {
        "respondents": respondents,
        "verdicts": ReviewerVerdict.objects.filter(study=request.study).count(),
        "responses_count": Response.objects.filter(study=request.study).count(),
        "form": UploadForm(),
    }
    return render(request, "grading/responses.html", context)


@study_page(Role.RESEARCHER)
def take_in(request: StudyRequest) -> HttpResponse:
    """Check a file, or take it in whole; every bad row is named with its line and column."""
    if request.method != "POST":
        return redirect("study_responses", slug=request.study.slug)
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "grading/take_in.html", {"form": form}, status=422)
    upload = form.cleaned_data["file"]
    is_check = "check" in request.POST
    report = IMPORTS[form.cleaned_data["kind"]](
        study=request.study, source=upload.file, file_name=upload.name, by=request.user, check=is_check
    )
    if not report.errors and not is_check:
        messages.success(request, f"{report.created:,} taken in, {report.unchanged:,} were there already.")
        return redirect("study_responses", slug=request.study.slug)
    context = {
        "form": form,
        "report": report,
        "is_check": is_check,
        "errors": report.errors[:200],
        "warnings": report.warnings[:200],
        "file_name": upload.name,
    }
    return render(request, "grading/take_in.html", context, status=422 if report.errors else 200)
