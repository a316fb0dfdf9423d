"""Runs: starting one, watching it live, pausing, resuming and ending it."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django_htmx.http import reswap, retarget

from annotation.models import Role
from annotation.permissions import StudyRequest, has_role, study_page
from consilium.pages import wants_fragment
from grading.forms import RunForm
from grading.models import Run
from grading.permissions import status_for
from grading.runs import cancel_run, pause_run, resume_run, start_run, why_it_waits
from grading.told_again import problem_in_words, stop_in_words

ACTS = {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}
STOP_POLLING = 286
"""The status by which htmx ends a poll."""


def find_run(request: StudyRequest, run_id: UUID) -> Run:
    run = (
        Run.objects.visible_to(request.user)
        .filter(study=request.study, pk=run_id)
        .select_related("grader", "version", "study")
        .first()
    )
    if run is None:
        raise Http404(gettext("There is no such run."))
    return run


@study_page(Role.RESEARCHER, Role.ADMIN)
def runs(request: StudyRequest) -> HttpResponse:
    """The study's runs, the newest first, and a form to start one."""
    rows = Run.objects.filter(study=request.study).select_related("grader", "version").order_by("-created_at")
    context = {
        "page": Paginator(rows, 25).get_page(request.GET.get("page")),
        "form": RunForm(study=request.study),
        "may_start": has_role(request.membership, Role.RESEARCHER),
    }
    return render(request, "grading/runs.html", context)


@study_page(Role.RESEARCHER)
def start(request: StudyRequest) -> HttpResponse:
    """Start a run."""
    if request.method != "POST":
        return redirect("study_runs", slug=request.study.slug)
    form = RunForm(request.POST, study=request.study)
    if not form.is_valid():
        rows = Run.objects.filter(study=request.study).select_related("grader", "version").order_by("-created_at")
        context = {"page": Paginator(rows, 25).get_page(1), "form": form, "may_start": True}
        return render(request, "grading/runs.html", context, status=422)
    made = start_run(study=request.study, by=request.user, is_deliberate=False, **form.cleaned_data)
    return redirect("run", slug=request.study.slug, run_id=made.id)


@study_page(Role.RESEARCHER, Role.ADMIN)
def run(request: StudyRequest, run_id: UUID) -> HttpResponse:
    """One run: its progress, live, and the ways to its scores and its agreement.

    htmx gets the numbers alone as long as the state is the one that it names, so that no button is swapped from under
    a hand; with another state the whole section comes.
    """
    found = find_run(request, run_id)
    context = _progress(request, found)
    if not wants_fragment(request):
        return render(request, "grading/run.html", context)
    if request.GET.get("state") == found.state:
        return render(request, "grading/_run_numbers.html", context)
    answer = render(
        request, "grading/_run_progress.html", context, status=STOP_POLLING if found.has_ended else HTTPStatus.OK
    )
    return retarget(reswap(answer, "outerHTML"), "#run-progress")


def _progress(request: StudyRequest, run: Run) -> dict[str, object]:
    status = status_for(run, request.membership)
    return {
        "run": run,
        "status": status,
        "stop_reason": stop_in_words(run.stop_reason),
        "last_problem": problem_in_words(status["last_problem"]),
        "waits": why_it_waits(run),
        "may_act": has_role(request.membership, Role.RESEARCHER),
    }


def _done(act: str) -> str:
    return {"pause": gettext("Paused."), "resume": gettext("Going on."), "cancel": gettext("Cancelled.")}[act]


@study_page(Role.RESEARCHER)
def act(request: StudyRequest, run_id: UUID, act: str) -> HttpResponse:
    """Pause, resume or cancel a run."""
    found = find_run(request, run_id)
    if request.method == "POST":
        ACTS[act](run=found)
        if not wants_fragment(request):
            messages.info(request, _done(act))
    if wants_fragment(request):
        found.refresh_from_db()
        return render(request, "grading/_run_progress.html", _progress(request, found))
    return redirect("run", slug=request.study.slug, run_id=run_id)
