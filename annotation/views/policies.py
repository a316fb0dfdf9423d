"""The policy in force, in words with its consequences; and changing it, with a look at what would move first."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.changing_policy import PolicyPreview, change_policy, preview_policy, propose_policy
from annotation.consensus import PRESETS
from annotation.models import Role, Round
from annotation.permissions import StudyRequest, study_page
from annotation.policy_words import (
    PRESET_NAMES,
    policy_changes,
    policy_clauses,
    policy_consequences,
    policy_name,
    worked_cases,
)
from annotation.study_forms import PolicyForm, policy_initial
from annotation.views.progress import crumbs
from consilium.errors import RuleViolation

MOVES_SHOWN = 200


@require_GET
@study_page(Role.ADMIN)
def show_policy(request: StudyRequest) -> HttpResponse:
    """What a criterion needs to be in consensus, what follows for the panel, and some cases decided by the rule."""
    policy = request.study.policy
    context = {
        "policy": policy,
        "name": policy_name(policy),
        "clauses": policy_clauses(policy),
        "consequences": policy_consequences(policy),
        "cases": worked_cases(policy),
        "earlier": request.study.policies.exclude(pk=policy.pk).select_related("created_by").order_by("-version"),
        "crumbs": crumbs(request.study, "Progress", "Policy"),
    }
    return render(request, "annotation/admin/policy.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def edit_policy(request: StudyRequest) -> HttpResponse:
    """GET: the settings of the policy, or of a preset. POST: what would move; with ``confirm`` it comes into force."""
    study = request.study
    if request.method != "POST":
        preset = request.GET.get("preset", "")
        return _answer(request, PolicyForm(initial=policy_initial(study.policy, preset if preset in PRESETS else "")))
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return _answer(request, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    against = form.cleaned_data["against"]
    try:
        if "confirm" in request.POST:
            policy = change_policy(study=study, by=request.user, against=against, **form.facts)
            messages.success(request, f"Policy {policy.version} is in force.")
            return redirect("study_policy", slug=study.slug)
        preview = preview_policy(study=study, policy=propose_policy(study=study, against=against, **form.facts))
    except RuleViolation as refusal:
        again = PolicyForm(
            {**dict(form.data.items()), "blocks": form.cleaned_data["blocks"], "against": study.policy.version}
        )
        return _answer(request, again, refusal=refusal.sentence, status=HTTPStatus.CONFLICT)
    return _answer(request, form, preview=preview)


def _answer(
    request: StudyRequest,
    form: PolicyForm,
    *,
    preview: PolicyPreview | None = None,
    refusal: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    study, in_force = request.study, request.study.policy
    context: dict[str, Any] = {
        "form": form,
        "policy": in_force,
        "presets": list(PRESET_NAMES.items()),
        "refusal": refusal,
        "open_rounds": Round.objects.open().filter(conversation__study=study).count(),
        "crumbs": crumbs(study, "Progress", "Policy", "Change it"),
    }
    if preview is not None:
        moves = preview.moves
        context |= {
            "preview": preview,
            "changes": policy_changes(in_force, preview.policy),
            "moves": moves[:MOVES_SHOWN],
            "comes_in": sum(move.comes_in for move in moves),
            "goes_out": sum(move.goes_out for move in moves),
            "other": sum(not move.comes_in and not move.goes_out for move in moves),
            "hidden": [
                (field.html_name, value)
                for field in form
                for value in (form.data.getlist(field.html_name) if hasattr(form.data, "getlist") else [])
            ],
        }
    return render(request, "annotation/admin/change_policy.html", context, status=status)
