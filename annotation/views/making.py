"""Making a study on pages, in a few steps. What is typed is kept in the session from step to step, back and forth.

Nothing is written before the last step: then the study is there whole, or the step that keeps it from being made shows.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotation.consensus import PRESETS
from annotation.copying_a_study import copy_study
from annotation.joining import SlugIsTaken, preset_policy
from annotation.making_a_study import make_study
from annotation.making_forms import CopyForm, RuleForm, StartForm, StepForm, TextsForm, WordsForm, short_name
from annotation.models import Study, TextClass, User
from annotation.permissions import administered_by, may_make_studies
from annotation.policy_words import policy_clauses, policy_consequences, policy_name
from consilium.pages import signed_in

KEPT = "new_study"
"""Where the session keeps what was typed, by step."""
STEPS: dict[str, tuple[Any, type[StepForm]]] = {
    "start": (_("Name"), StartForm),
    "texts": (_("Texts"), TextsForm),
    "rule": (_("Rule"), RuleForm),
    "words": (_("What people read"), WordsForm),
}
COPY_STEPS: dict[str, tuple[Any, type[StepForm]]] = {"start": (_("Name"), StartForm), "copy": (_("Copy"), CopyForm)}
INITIAL: dict[str, dict[str, Any]] = {
    "texts": {"text_class": TextClass.SYNTHETIC.value},
    "rule": {"preset": "three-agree"},
}


class _Making:
    """What one person has typed so far, and the steps that it takes."""

    def __init__(self, request: HttpRequest) -> None:
        assert isinstance(request.user, User)
        self.person = request.user
        self.typed: dict[str, dict[str, str]] = request.session.get(KEPT, {})
        slug = self.typed.get("start", {}).get("source", "")
        self.source: Study | None = administered_by(self.person).filter(slug=slug).first() if slug else None
        self.steps = COPY_STEPS if self.source else STEPS

    def form(self, step: str, *, data: Mapping[str, Any] | None = None) -> StepForm:
        """A step's form: of what was just sent, else with what was typed before."""
        initial = self.typed.get(step, INITIAL.get(step, {}))
        return self.steps[step][1](data, person=self.person, source=self.source, initial=initial)

    def keep(self, request: HttpRequest, step: str) -> None:
        """Keep what was typed in a step, readable or not."""
        names = self.form(step).fields
        self.typed[step] = {name: request.POST[name] for name in names if name in request.POST}
        request.session[KEPT] = self.typed

    def beside(self, step: str, *, by: int) -> str:
        """The step before or after; '' where there is none."""
        names = list(self.steps)
        at = names.index(step) + by
        return names[at] if 0 <= at < len(names) else ""

    def first_unready(self, until: str = "") -> tuple[str, StepForm] | None:
        """The first step (before ``until``, else of all) whose words can't be taken, with its form."""
        for step in self.steps:
            if step == until:
                return None
            form = self.form(step, data=self.typed.get(step, {}))
            if not form.is_valid():
                return step, form
        return None

    def made_already(self) -> Study | None:
        """The study that this person made of the same words, where they are sent once more."""
        typed = self.typed.get("start", {})
        name = typed.get("name", "").strip()
        mine = administered_by(self.person).filter(created_by=self.person, name=name)
        return mine.filter(slug__iexact=short_name(typed.get("slug", ""), name)).first()

    def facts(self) -> dict[str, Any]:
        """What the act takes, of all steps."""
        facts: dict[str, Any] = {}
        for step in self.steps:
            form = self.form(step, data=self.typed.get(step, {}))
            form.is_valid()
            facts |= form.cleaned_data
        facts.pop("source", None)
        return facts


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_study(request: HttpRequest, step: str = "start") -> HttpResponse:
    """GET: a step with what was typed. POST: keep it, then back, on, or at the last step make the study."""
    making = _Making(request)
    if not may_make_studies(making.person):
        raise PermissionDenied(gettext("New studies are made by admins of a study. Ask one of yours."))
    if step not in STEPS and step not in COPY_STEPS:
        raise Http404(gettext("There is no such step."))
    if step not in making.steps:
        return _to("start")
    if request.method != "POST":
        unready = making.first_unready(until=step)
        if unready is None:
            return _answer(request, making, step, making.form(step))
        return _answer(request, making, *unready) if unready[0] in making.typed else _to(unready[0])
    if request.POST.get("act") == "anew":
        request.session.pop(KEPT, None)
        return _to("start")
    if step != "start" and not making.typed:  # the last step sent twice, or a session that ended
        return redirect("my_studies")
    making.keep(request, step)
    if request.POST.get("act") == "back":
        return _to(making.beside(step, by=-1))
    making = _Making(request)  # whether it is a copy decides which steps follow
    form = making.form(step, data=request.POST)
    if not form.is_valid():
        return _answer(request, making, step, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    following = making.beside(step, by=1)
    return _to(following) if following else _make(request, making)


def _make(request: HttpRequest, making: _Making) -> HttpResponse:
    made = making.made_already()
    if made:
        request.session.pop(KEPT, None)
        return redirect("study", slug=made.slug)
    unready = making.first_unready()
    if unready:
        return _answer(request, making, *unready, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        if making.source:
            study = copy_study(source=making.source, by=making.person, **making.facts())
        else:
            study = make_study(by=making.person, **making.facts())
    except SlugIsTaken as refusal:  # somebody took it since the first step was looked at
        form = making.form("start", data=making.typed["start"])
        form.is_valid()
        form.add_error("slug", refusal.sentence)
        return _answer(request, making, "start", form, status=HTTPStatus.CONFLICT)
    request.session.pop(KEPT, None)
    told = gettext("{study} is there, and you are its admin. Next: its people and its conversations.")
    messages.success(request, told.format(study=study))
    return redirect("study", slug=study.slug)


def _to(step: str) -> HttpResponse:
    return redirect("new_study") if step in ("", "start") else redirect("new_study_step", step=step)


def _answer(
    request: HttpRequest, making: _Making, step: str, form: StepForm, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    names = list(making.steps)
    context = {
        "form": form,
        "step": step,
        "number": names.index(step) + 1,
        "steps": [(name, words) for name, (words, _form) in making.steps.items()],
        "is_last": step == names[-1],
        "source": making.source,
        "has_typed": bool(making.typed),
        "rules": _rules() if step == "rule" else [],
    }
    return render(request, "annotation/new_study.html", context, status=status)


def _rules() -> list[tuple[str, list[str], list[str]]]:
    """Each known rule with its name, what it asks and what follows from it."""
    policies = [preset_policy(preset) for preset in PRESETS]
    return [(policy_name(policy), policy_clauses(policy), policy_consequences(policy)) for policy in policies]
