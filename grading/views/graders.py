"""Graders: what was registered, registering another, and trying one."""

from uuid import UUID

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from consilium.errors import RuleViolation
from consilium.pages import wants_fragment
from grading.forms import GraderForm
from grading.graders import register_grader
from grading.models import Grader
from grading.trying import try_grader


@study_page(Role.RESEARCHER, Role.ADMIN)
def graders(request: StudyRequest) -> HttpResponse:
    """The study's graders."""
    return render(request, "grading/graders.html", {"graders": _graders(request), "form": GraderForm()})


def _graders(request: StudyRequest) -> object:
    return Grader.objects.filter(study=request.study).annotate(number_of_runs=Count("runs")).order_by("name")


@study_page(Role.RESEARCHER)
def try_it(request: StudyRequest, grader_id: UUID) -> HttpResponse:
    """One call to a grader about a built-in case, and what it answered."""
    grader = Grader.objects.filter(study=request.study, pk=grader_id).first()
    if grader is None:
        raise Http404(gettext("The study has no such grader."))
    if request.method != "POST":
        return redirect("study_graders", slug=request.study.slug)
    tried = try_grader(grader)
    if wants_fragment(request):
        return render(request, "grading/_tried.html", {"tried": tried, "grader_id": grader.id})
    context = {"graders": _graders(request), "form": GraderForm(), "tried": tried, "tried_id": grader.id}
    return render(request, "grading/graders.html", context)


@study_page(Role.RESEARCHER)
def register(request: StudyRequest) -> HttpResponse:
    """Register a grader."""
    if request.method != "POST":
        return redirect("study_graders", slug=request.study.slug)
    form = GraderForm(request.POST)
    if form.is_valid():
        try:
            grader = register_grader(study=request.study, by=request.user, on_page=True, **form.cleaned_data)
        except RuleViolation as refusal:
            form.add_error(None, refusal.sentence)
        else:
            messages.success(request, gettext("{name} is registered.").format(name=grader.name))
            return redirect("study_graders", slug=request.study.slug)
    return render(request, "grading/graders.html", {"graders": _graders(request), "form": form}, status=422)
