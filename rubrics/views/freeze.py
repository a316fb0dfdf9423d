"""The freeze page: what goes in, what stays out and why, what changed since the last version; then the freeze.

Criteria that an admin leaves out by name are kept in that admin's session until the freeze; they count for nothing
before it. What the page showed is sent along: if something else would be frozen by then, the admin looks again.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import Acuity, Criterion, Role, Study
from annotation.permissions import StudyRequest, study_page
from annotation.trying import Applied
from consilium.errors import RuleViolation
from consilium.pages import respond_with_fragment
from rubrics.candidates import Place
from rubrics.cautions import Cautions
from rubrics.comparing import ChangeKind, counted
from rubrics.counting_words import counted_criteria
from rubrics.forms import FreezeForm, ReasonForm
from rubrics.freezing import Preview, freeze_version, mark_of, preview_freeze
from rubrics.permissions import Hidden, hidden_from, to_acknowledge
from rubrics.selecting import GoesIn, LeftOutKind, Selection, StaysOut
from rubrics.views.versions import address_of, way_to

CRITERIA_A_PAGE = 50
STAY_OUT_A_PAGE = 20
"""Few, because the last step stands below them."""


# Left out by name, until the freeze


def left_out_by_name(request: HttpRequest, study: Study) -> dict[UUID, str]:
    """The criteria that this admin leaves out of the next version, with the reason of each."""
    kept: dict[str, str] = request.session.get(f"left_out:{study.id}", {})
    if not kept:
        return {}
    still_there = Criterion.objects.own().filter(study=study, id__in=kept).values_list("id", flat=True)
    return {criterion_id: kept[str(criterion_id)] for criterion_id in still_there}


def keep_left_out(request: HttpRequest, study: Study, left_out: dict[UUID, str]) -> None:
    request.session[f"left_out:{study.id}"] = {str(key): reason for key, reason in left_out.items()}


# What the page shows


@dataclass(slots=True)
class ReasonCount:
    """How many criteria stay out for one kind of reason."""

    kind: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class AcknowledgedTogether:
    """Criteria of one conversation that stay out for one reason: the reason is read once, each is ticked by itself."""

    place: Place
    reason: str
    criteria: list[StaysOut]

    @property
    def is_emergent(self) -> bool:
        return self.place.acuity == Acuity.EMERGENT


@dataclass
class FreezeView:
    """What a freeze would do, as one admin may read it."""

    preview: Preview
    person_hidden: Hidden = field(default_factory=Hidden)

    @property
    def selection(self) -> Selection:
        return self.preview.selection

    @property
    def number(self) -> int:
        newest = self.preview.newest
        return (newest.number or 0) + 1 if newest else 1

    @property
    def total(self) -> int:
        return len(self.selection.goes_in) + len(self.selection.stays_out)

    @cached_property
    def conversations(self) -> int:
        return len({this.place.id for this in self.selection.goes_in})

    @cached_property
    def reasons(self) -> list[ReasonCount]:
        counts = Counter(this.kind for this in self.selection.stays_out)
        return [ReasonCount(kind.value, kind.label, counts[kind]) for kind in LeftOutKind if counts[kind]]

    @cached_property
    def change_counts(self) -> list[tuple[str, int]]:
        counts = counted(self.preview.changes)
        return [(kind.label, counts[kind.value]) for kind in ChangeKind if counts[kind.value]]

    @property
    def has_changed(self) -> bool:
        return self.preview.newest is None or bool(self.preview.changes)

    @property
    def may_freeze(self) -> bool:
        return bool(self.selection.goes_in) and self.has_changed

    @cached_property
    def to_acknowledge(self) -> list[StaysOut]:
        return to_acknowledge(self.selection, self.person_hidden)

    @property
    def acknowledged_together(self) -> list[AcknowledgedTogether]:
        """The same, by conversation and reason, in reading order."""
        groups: dict[tuple[UUID, str], AcknowledgedTogether] = {}
        for this in self.to_acknowledge:
            group = groups.setdefault(
                (this.place.id, this.reason), AcknowledgedTogether(this.place, this.reason, criteria=[])
            )
            group.criteria.append(this)
        return list(groups.values())

    @cached_property
    def seen(self) -> str:
        """A mark of what is shown as going in and staying out: another one means that something moved."""
        return mark_of(self.selection)


def open_freeze(request: StudyRequest) -> FreezeView:
    preview = preview_freeze(study=request.study, leave_out=left_out_by_name(request, request.study))
    out = [this.criterion.id for this in preview.selection.stays_out]
    return FreezeView(preview, hidden_from(request.user, request.study, out))


def freeze_form(view: FreezeView, data: Any = None) -> FreezeForm:
    return FreezeForm(
        data,
        number=view.number,
        to_acknowledge=[this.criterion.id for this in view.to_acknowledge],
        initial={"seen": view.seen},
    )


def _answer(
    request: StudyRequest, view: FreezeView, form: FreezeForm, *, status: int = HTTPStatus.OK, **shown: Any
) -> HttpResponse:
    chosen = request.GET.get("reason", "")
    stays_out = [this for this in view.selection.stays_out if not chosen or this.kind == chosen]
    context = {
        "view": view,
        "form": form,
        "page": Paginator(stays_out, STAY_OUT_A_PAGE).get_page(request.GET.get("page")),
        "hidden": view.person_hidden,
        "chosen": chosen,
        "crumbs": way_to(request.study, (f"Freeze version {view.number}", "")),
        **shown,
    }
    return respond_with_fragment(request, "rubrics/freeze.html", "rubrics/_stays_out.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def freeze(request: StudyRequest) -> HttpResponse:
    """GET: what a freeze would do; for htmx the list of what stays out. POST: freeze."""
    view = open_freeze(request)
    if request.method != "POST":
        return _answer(request, view, freeze_form(view))
    form = freeze_form(view, request.POST)
    if not form.is_valid():
        return _answer(request, view, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if form.cleaned_data["seen"] != view.seen:
        return _look_again(request, view)
    try:
        version = freeze_version(
            study=request.study,
            by=request.user,
            note=form.cleaned_data["note"],
            leave_out=left_out_by_name(request, request.study),
            acknowledged=form.acknowledged_ids,
        )
    except RuleViolation as refusal:
        return _answer(request, view, form, status=HTTPStatus.CONFLICT, refusal=refusal.sentence)
    keep_left_out(request, request.study, {})
    messages.success(
        request,
        f"Version {version.number} is frozen: {counted_criteria(version.criteria_count)}. Nothing of it changes now; "
        "what comes next stands below.",
    )
    return redirect(address_of(version))


def _look_again(request: StudyRequest, view: FreezeView) -> HttpResponse:
    """Something moved since the page was opened: the page as it is now, with the note that was written."""
    form = freeze_form(view)
    form.initial["note"] = request.POST.get("note", "")
    sentence = "Something changed since you opened this page: look again at what goes in and what stays out."
    return _answer(request, view, form, status=HTTPStatus.CONFLICT, refusal=sentence)


@require_GET
@study_page(Role.ADMIN)
def show_what_goes_in(request: StudyRequest) -> HttpResponse:
    """What a freeze would take, by conversation, each with a way to leave it out by name."""
    view = open_freeze(request)
    page = Paginator(view.selection.goes_in, CRITERIA_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "view": view,
        "page": page,
        "places": _by_place(list(page.object_list), view.preview.cautions),
        "crumbs": _way(request, view, "What goes in"),
    }
    return render(request, "rubrics/goes_in.html", context)


def _by_place(rows: Collection[GoesIn], cautions: Cautions) -> list[tuple[str, list[tuple[GoesIn, Applied | None]]]]:
    """Rows in reading order, by conversation, each with how it was applied where the panel differed."""
    applied = {this.goes_in.criterion.id: this.applied for this in cautions.applied_differently}
    places: dict[str, list[tuple[GoesIn, Applied | None]]] = {}
    for this in rows:
        places.setdefault(this.place.external_id, []).append((this, applied.get(this.criterion.id)))
    return list(places.items())


@require_GET
@study_page(Role.ADMIN)
def show_changes(request: StudyRequest) -> HttpResponse:
    """What would change since the newest version, criterion by criterion."""
    view = open_freeze(request)
    page = Paginator(view.preview.changes, CRITERIA_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "view": view,
        "page": page,
        "has_diff": any(ChangeKind.REWORDED in change.kinds for change in page.object_list),
        "crumbs": _way(request, view, "What changed"),
    }
    return render(request, "rubrics/changes.html", context)


def _way(request: StudyRequest, view: FreezeView, name: str) -> list[tuple[str, str]]:
    from_freeze = reverse("study_freeze", kwargs={"slug": request.study.slug})
    return way_to(request.study, (f"Freeze version {view.number}", from_freeze), (name, ""))


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def leave_out(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """GET: the criterion and a place for the reason. POST: leave it out of the next version."""
    criterion = _find_own(request.study, criterion_id)
    left_out = left_out_by_name(request, request.study)
    form = ReasonForm(request.POST or None, initial={"reason": left_out.get(criterion.id, "")})
    if request.method == "POST" and form.is_valid():
        keep_left_out(request, request.study, left_out | {criterion.id: form.cleaned_data["reason"]})
        messages.success(request, f"{criterion.external_id} stays out of the next version that you freeze.")
        return redirect("study_freeze", slug=request.study.slug)
    context = {
        "criterion": criterion,
        "form": form,
        "hidden": hidden_from(request.user, request.study, [criterion.id]),
        "crumbs": way_to(
            request.study, ("Freeze", reverse("study_freeze", kwargs={"slug": request.study.slug})), ("Leave out", "")
        ),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "rubrics/leave_out.html", context, status=status)


@require_POST
@study_page(Role.ADMIN)
def put_back(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Leave a criterion no longer out by name."""
    criterion = _find_own(request.study, criterion_id)
    left_out = left_out_by_name(request, request.study)
    if left_out.pop(criterion.id, None) is not None:
        keep_left_out(request, request.study, left_out)
        messages.success(request, f"{criterion.external_id} is no longer left out by name.")
    return redirect("study_freeze", slug=request.study.slug)


def _find_own(study: Study, criterion_id: UUID) -> Criterion:
    found = (
        Criterion.objects.own()
        .filter(study=study, pk=criterion_id)
        .select_related("current_revision", "conversation")
        .first()
    )
    if found is None:
        raise Http404("There is no such criterion in this study.")
    return found
