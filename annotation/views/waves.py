"""The page of waves: what goes out when; planned, opened and dated by an admin."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Role, Wave
from annotation.named_conversations import find_conversations
from annotation.permissions import StudyRequest, study_page
from annotation.views.progress import crumbs
from annotation.wave_forms import ByHandForm, PlanForm, WaveDateForm
from annotation.waves import date_wave, open_wave, plan_waves, put_in_wave, still_to_plan, waves_of
from consilium.errors import RuleViolation


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def waves(request: StudyRequest) -> HttpResponse:
    """GET: the study's waves. POST: plan what isn't out anew."""
    form = PlanForm(request.POST if request.method == "POST" else None, initial={"is_pilot": True})
    if request.method == "POST" and form.is_valid():
        facts = form.cleaned_data
        made = plan_waves(study=request.study, **{**facts, "choice": Wave.Choice(facts["choice"])})
        count = "1 wave is" if len(made) == 1 else f"{len(made)} waves are"
        messages.success(request, f"{count} planned. Nobody sees them until they are opened.")
        return redirect("study_waves", slug=request.study.slug)
    return _answer(request, form=form)


@require_POST
@study_page(Role.ADMIN)
def by_hand(request: StudyRequest) -> HttpResponse:
    """Put conversations into a wave by their ids."""
    form = ByHandForm(request.POST)
    if not form.is_valid():
        return _answer(request, by_hand=form)
    try:
        chosen = find_conversations(request.study, form.cleaned_data["ids"])
        number = form.cleaned_data["number"]
        moved = put_in_wave(study=request.study, number=number, conversations=[this.id for this in chosen])
    except RuleViolation as refusal:
        form.add_error(None, refusal.sentence)
        return _answer(request, by_hand=form)
    where = "go out at once" if number is None else f"go out with wave {number}"
    messages.success(request, f"Of the conversations named, {moved:,} {where}.")
    return redirect("study_waves", slug=request.study.slug)


@require_POST
@study_page(Role.ADMIN)
def open_one(request: StudyRequest, number: int) -> HttpResponse:
    """Open a wave now."""
    wave = open_wave(study=request.study, number=number, by=request.user)
    messages.success(request, f"Wave {wave.number} is open: whoever is assigned sees its conversations.")
    return redirect("study_waves", slug=request.study.slug)


@require_POST
@study_page(Role.ADMIN)
def date_one(request: StudyRequest, number: int) -> HttpResponse:
    """Say when a wave opens of itself; without a date it waits for an admin."""
    form = WaveDateForm(request.POST)
    if not form.is_valid():
        return _answer(request, dated=form, number=number)
    wave = date_wave(study=request.study, number=number, opens_at=form.cleaned_data["opens_at"])
    until = f"opens on {wave.opens_at:%d %B %Y, %H:%M} UTC" if wave.opens_at else "waits until you open it"
    messages.success(request, f"Wave {wave.number} {until}.")
    return redirect("study_waves", slug=request.study.slug)


def _answer(
    request: StudyRequest,
    *,
    form: PlanForm | None = None,
    by_hand: ByHandForm | None = None,
    dated: WaveDateForm | None = None,
    number: int = 0,
) -> HttpResponse:
    study = request.study
    rows: list[Any] = []
    for seen in waves_of(study):
        date_form = WaveDateForm(initial={"opens_at": seen.wave.opens_at}, auto_id=f"id_%s_{seen.wave.number}")
        rows.append((seen, dated if dated is not None and seen.wave.number == number else date_form))
    context = {
        "rows": rows,
        "form": form or PlanForm(initial={"is_pilot": True}),
        "by_hand": by_hand or ByHandForm(auto_id="hand_%s"),
        "to_plan": still_to_plan(study).count(),
        "crumbs": crumbs(study, "Progress", "Waves"),
    }
    is_wrong = any(each is not None and each.errors for each in (form, by_hand, dated))
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_wrong else HTTPStatus.OK
    return render(request, "annotation/admin/waves.html", context, status=status)
