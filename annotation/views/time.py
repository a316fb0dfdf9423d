"""Time sheets: each declares and corrects the own hours; admins see and download totals by person and month."""

from functools import partial
from http import HTTPStatus
from typing import cast

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from annotation.declaring_time import declare_time, own_time, time_sheet, write_time_sheet
from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.time_forms import TimeForm
from annotation.time_zones import local_now
from annotation.views.progress import crumbs
from consilium.downloads import as_download
from consilium.errors import RuleViolation


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(consent=False)
def declare(request: StudyRequest) -> HttpResponse:
    """GET: what one has declared, and a form. POST: declare a day, or correct it."""
    form = TimeForm(request.POST or None, initial={"day": local_now(request.user).date()})
    status = HTTPStatus.OK
    if request.method == "POST" and form.is_valid():
        try:
            declare_time(study=request.study, person=request.user, **form.facts)
        except RuleViolation as refusal:
            form.add_error(None, refusal.sentence)
            status = HTTPStatus.CONFLICT
        else:
            messages.success(request, gettext("Your hours are saved."))
            return redirect("study_time", slug=request.study.slug)
    elif form.errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    days = own_time(request.study, request.user)
    context = {"form": form, "days": days, "total": sum(each.standing.minutes for each in days) / 60}
    return render(request, "annotation/time.html", context, status=status)


@require_safe
@study_page(Role.ADMIN)
def show_sheet(request: StudyRequest) -> HttpResponse:
    """Totals by person and month."""
    context = {"rows": time_sheet(request.study), "crumbs": crumbs(request.study, gettext("Time sheet"))}
    return render(request, "annotation/admin/time_sheet.html", context)


@require_safe
@study_page(Role.ADMIN)
def download_sheet(request: StudyRequest) -> HttpResponse:
    """The same as a workbook."""
    answer = as_download(partial(write_time_sheet, request.study), name=f"{request.study.slug}-time.xlsx")
    return cast("HttpResponse", answer)  # a file's answer is one in all but its type
