"""Dates of many conversations: until when drafting, a round or the discussion goes on."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.models import Role
from annotation.overseeing import oversee
from annotation.permissions import StudyRequest, study_page
from annotation.setting_dates import Dated, DateOf, set_dates
from annotation.study_forms import DatesForm
from annotation.views.progress import CONVERSATIONS_A_PAGE, chosen_by, crumbs, say_passed_over


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def edit_dates(request: StudyRequest) -> HttpResponse:
    """GET: the conversations chosen, and what may get a date. POST: those that can take it get it."""
    study = request.study
    data = request.POST if request.method == "POST" else request.GET
    chosen = chosen_by(study, data)
    form = DatesForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and chosen and form.is_valid():
        done = set_dates(
            study=study,
            of=form.cleaned_data["of"],
            until=form.cleaned_data["until"],
            conversations=[this.id for this in chosen],
        )
        _say(request, form, done)
        return redirect("study_progress", slug=study.slug)
    context = {
        "form": form,
        "chosen": chosen,
        "rows": oversee(study, chosen[:CONVERSATIONS_A_PAGE]),
        "all": data.get("all"),
        "filter": {name: data.get(name, "") for name in ("state", "reviewer", "words")},
        "crumbs": crumbs(study, "Progress", "Set a date"),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    return render(request, "annotation/admin/dates.html", context, status=status)


def _say(request: StudyRequest, form: DatesForm, done: Dated) -> None:
    of, until = DateOf(form.cleaned_data["of"]).label, form.cleaned_data["until"]
    if done.dated:
        count = len(done.dated)
        where = f"conversation {done.dated[0].external_id}" if count == 1 else f"{count:,} conversations"
        when = f"goes on until {until:%-d %B %Y, %H:%M} UTC" if until else "has no date any more"
        messages.success(request, f"{of[:1].upper()}{of[1:]} of {where} {when}.")
    say_passed_over(request, done.passed_over)
