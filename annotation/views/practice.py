"""Practice: a clinician's pages of it, one example a screen, and the admin's pages that write it."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import PracticeExample, Role
from annotation.permissions import StudyRequest, study_page
from annotation.practice_forms import AnswerForm, ExampleForm
from annotation.practising import Exercise, answer_example, begin_anew, practice_of, skip_practice
from annotation.views.desk import as_uuid, show_what_is_missing
from annotation.views.progress import crumbs
from annotation.writing_practice import (
    ExampleChanged,
    ExampleIsFaulty,
    add_example,
    change_example,
    move_example,
    remove_example,
)
from consilium.errors import RuleViolation
from consilium.pages import wants_fragment

# A clinician's


@require_GET
@study_page(Role.CLINICIAN)
def show_practice(request: StudyRequest) -> HttpResponse:
    """The example that ``example`` names, else the first without an answer; where none is left, the end."""
    practice = practice_of(request.study, request.user)
    asked = practice.exercise(as_uuid(request.GET.get("example")))
    exercise = asked or practice.next(after=as_uuid(request.GET.get("after")))
    context: dict[str, Any] = {"practice": practice, "at": exercise}
    if exercise is None:
        return render(request, "annotation/practice_end.html", context)
    context["form"] = AnswerForm(exercise)
    context["shows_answer"] = asked is not None and exercise.answer is not None and "again" not in request.GET
    return render(request, "annotation/practice.html", context)


@require_POST
@study_page(Role.CLINICIAN)
def answer(request: StudyRequest, example_id: UUID) -> HttpResponse:
    """Answer an example; what the guidelines say comes with the answer to it."""
    practice = practice_of(request.study, request.user)
    exercise = practice.exercise(example_id)
    if exercise is None:
        raise Http404(gettext("This practice example is no longer here."))
    form = AnswerForm(exercise, request.POST)
    if not form.is_valid():
        context = {"practice": practice, "at": exercise, "form": form, "shows_answer": False}
        name = "annotation/_practice_side.html" if wants_fragment(request) else "annotation/practice.html"
        return show_what_is_missing(render(request, name, context, status=HTTPStatus.UNPROCESSABLE_ENTITY))
    answer_example(example=exercise.example, by=request.user, **form.facts)
    if not wants_fragment(request):
        address = reverse("practice", kwargs={"slug": request.study.slug})
        return HttpResponseRedirect(f"{address}?example={example_id}#work", status=HTTPStatus.SEE_OTHER)
    practice = practice_of(request.study, request.user)
    answered = practice.exercise(example_id) or exercise
    context = {"practice": practice, "at": answered, "form": AnswerForm(answered), "shows_answer": True}
    return render(request, "annotation/_practice_side.html", context)


@require_POST
@study_page(Role.CLINICIAN)
def skip(request: StudyRequest) -> HttpResponse:
    """Go on without practice, for good unless the person comes back."""
    skip_practice(study=request.study, by=request.user)
    return redirect("study_continue", slug=request.study.slug)


@require_POST
@study_page(Role.CLINICIAN)
def again(request: StudyRequest) -> HttpResponse:
    """Begin the practice anew."""
    begin_anew(study=request.study, by=request.user)
    return redirect("practice", slug=request.study.slug)


# An admin's


@require_GET
@study_page(Role.ADMIN)
def list_examples(request: StudyRequest) -> HttpResponse:
    """The examples in their order, each as the guidelines answer it."""
    examples = PracticeExample.objects.standing().filter(study=request.study)
    context = {
        "exercises": [Exercise(this, None, number) for number, this in enumerate(examples, start=1)],
        "crumbs": crumbs(request.study, "Settings", gettext("Practice")),
    }
    return render(request, "annotation/admin/practice.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def new_example(request: StudyRequest) -> HttpResponse:
    """Write one more example."""
    form = ExampleForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _show_form(request, form)
    try:
        add_example(study=request.study, facts=form.facts, by=request.user)
    except RuleViolation as refusal:
        return _show_refused(request, form, refusal)
    messages.success(request, gettext("The example is there, as the last one."))
    return redirect("practice_examples", slug=request.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def edit_example(request: StudyRequest, example_id: UUID) -> HttpResponse:
    """Write an example anew, or see how it stands."""
    example = find_example(request, example_id)
    form = ExampleForm(request.POST if request.method == "POST" else None, example=example)
    if request.method != "POST" or not form.is_valid():
        return _show_form(request, form, example)
    try:
        change_example(example=example, seen=form.cleaned_data["seen"] or 0, facts=form.facts, by=request.user)
    except RuleViolation as refusal:
        return _show_refused(request, form, refusal, example)
    messages.success(request, gettext("The example is saved."))
    return redirect("practice_examples", slug=request.study.slug)


@require_POST
@study_page(Role.ADMIN)
def move(request: StudyRequest, example_id: UUID) -> HttpResponse:
    """Put an example one place earlier, or later."""
    move_example(example=find_example(request, example_id), earlier=request.POST.get("to") == "earlier")
    return redirect("practice_examples", slug=request.study.slug)


@require_POST
@study_page(Role.ADMIN)
def remove(request: StudyRequest, example_id: UUID) -> HttpResponse:
    """Take an example out of the practice."""
    remove_example(example=find_example(request, example_id), by=request.user)
    messages.success(request, gettext("The example is removed."))
    return redirect("practice_examples", slug=request.study.slug)


def find_example(request: StudyRequest, example_id: UUID) -> PracticeExample:
    rows = PracticeExample.objects.standing().filter(study=request.study)
    found = rows.select_related("study").filter(pk=example_id).first()
    if found is None:
        raise Http404(gettext("This practice example is no longer here."))
    return found


def _show_refused(
    request: StudyRequest, form: ExampleForm, refusal: RuleViolation, example: PracticeExample | None = None
) -> HttpResponse:
    """The form again: with what is wrong beside its fields, or, where another edition stands by now, above that."""
    if isinstance(refusal, ExampleIsFaulty):
        form.take_faults(refusal.facts["faults"])
        return _show_form(request, form, example)
    if isinstance(refusal, ExampleChanged) and example is not None:
        example.refresh_from_db()
        kept = request.POST.copy()
        kept["seen"] = str(example.edition)
        form = ExampleForm(kept, example=example)
        return _show_form(request, form, example, refusal=refusal.sentence, meanwhile=Exercise(example, None, 0))
    return _show_form(request, form, example, refusal=refusal.sentence)


def _show_form(
    request: StudyRequest,
    form: ExampleForm,
    example: PracticeExample | None = None,
    *,
    refusal: str = "",
    meanwhile: Exercise | None = None,
) -> HttpResponse:
    is_faulty = form.is_bound and bool(form.errors)
    status = HTTPStatus.CONFLICT if refusal else HTTPStatus.UNPROCESSABLE_ENTITY if is_faulty else HTTPStatus.OK
    title = gettext("Practice example") if example else gettext("A new practice example")
    context: dict[str, Any] = {
        "form": form,
        "example": example,
        "title": title,
        "refusal": refusal,
        "meanwhile": meanwhile,
        "crumbs": crumbs(request.study, "Settings", title),
    }
    return render(request, "annotation/admin/practice_example.html", context, status=status)
