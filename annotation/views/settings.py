"""A study's settings: its texts with a preview of their Markdown, its axes, and what its texts are."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.joining import AttestationMissing
from annotation.models import Role, Study
from annotation.permissions import StudyRequest, study_page
from annotation.setting_up import (
    CareLeadIsNoMember,
    SettingsChangedMeanwhile,
    basis_recorded,
    missing_before_start,
    set_up_study,
)
from annotation.study_forms import SettingsForm
from annotation.views.progress import crumbs


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN, consent=False)
def edit_settings(request: StudyRequest) -> HttpResponse:
    """GET: the settings. POST: with ``preview`` the texts as they would show, else they are saved."""
    study = request.study
    if request.method != "POST":
        return _answer(request, SettingsForm(study=study))
    form = SettingsForm(request.POST, study=study)
    if "preview" in request.POST or not form.is_valid():
        return _answer(request, form, previews="preview" in request.POST)
    try:
        changed = set_up_study(study=study, by=request.user, seen=form.seen_hashes, **form.facts)
    except AttestationMissing as refusal:
        form.add_error("attestation", refusal.sentence)
        return _answer(request, form)
    except CareLeadIsNoMember as refusal:
        form.add_error("care_lead", refusal.sentence)
        return _answer(request, form)
    except SettingsChangedMeanwhile as refusal:
        form.study = Study.objects.get(pk=study.pk)
        return _answer(request, form.after_conflict(refusal.fields), refusal=refusal.sentence)
    if changed:
        messages.success(request, "The settings are saved.")
    else:
        messages.info(request, "Nothing was changed.")
    if "consent_text" in changed and study.consent_text:
        messages.info(request, f"The consent text is version {study.consent_version}: everybody is asked for it.")
    return redirect("study_settings", slug=study.slug)


def _answer(request: StudyRequest, form: SettingsForm, *, previews: bool = False, refusal: str = "") -> HttpResponse:
    study = form.study
    context = {
        "form": form,
        "previews": form.previews if previews else [],
        "refusal": refusal,
        "missing": missing_before_start(study),
        "accepted": study.consents.filter(text_version=study.consent_version).count(),
        "consent_version": study.consent_version,
        "basis_recorded": basis_recorded(study.outside_endpoints_basis),
        "crumbs": crumbs(study, "Settings"),
    }
    status = HTTPStatus.OK
    if refusal:
        status = HTTPStatus.CONFLICT
    elif form.is_bound and form.errors and not previews:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, "annotation/admin/settings.html", context, status=status)
