"""The study's rubric versions: the list, one version, what stayed out of it, its exports, and withdrawing it."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import Acuity, Conversation, Role, Study, UserProfile
from annotation.permissions import StudyRequest, has_role, oversees, study_page
from annotation.policy_words import policy_clauses, policy_title
from consilium.pages import respond_with_fragment
from rubrics.downloading import download_of
from rubrics.exporting import ExportFormat
from rubrics.finding import newest_own_version
from rubrics.forms import ReasonForm
from rubrics.freezing import withdraw_version
from rubrics.models import FrozenConversation, FrozenCriterion, FrozenLeftOut, RubricVersion
from rubrics.permissions import find_version_of, hidden_from
from rubrics.selecting import LeftOutKind

CONVERSATIONS_A_PAGE = 20
LEFT_OUT_A_PAGE = 50


def way_to(study: Study, *steps: tuple[str, str]) -> list[tuple[str, str]]:
    """The way to a page about versions: the study, the versions, then ``steps``; the last has no address."""
    slug = {"slug": study.slug}
    return [(study.name, reverse("study", kwargs=slug)), ("Versions", reverse("study_versions", kwargs=slug)), *steps]


def address_of(version: RubricVersion) -> str:
    return reverse("version", kwargs={"slug": version.study.slug, "address": version.address})


@require_GET
@study_page()
def list_versions(request: StudyRequest) -> HttpResponse:
    """The study's own versions, the newest first, and beside them the published sets it took in."""
    versions = RubricVersion.objects.filter(study=request.study).select_related("frozen_by", "withdrawal")
    context = {
        "own": list(versions.filter(kind=RubricVersion.Kind.CONSENSUS).order_by("-number")),
        "external": list(versions.filter(kind=RubricVersion.Kind.EXTERNAL).order_by("name")),
        "may_freeze": has_role(request.membership, Role.ADMIN),
    }
    return render(request, "rubrics/versions.html", context)


@require_GET
@study_page()
def show_version(request: StudyRequest, address: str) -> HttpResponse:
    """One version: what it is, by which rule, its digests, and its criteria by conversation."""
    version = find_version_of(request.study, address)
    page = Paginator(
        FrozenConversation.objects.filter(version=version).order_by("position"), CONVERSATIONS_A_PAGE
    ).get_page(request.GET.get("page"))
    withdrawal = getattr(version, "withdrawal", None)
    context = {
        "version": version,
        "page": page,
        "rubrics": rubrics_on(page, request),
        "withdrawal": withdrawal,
        "is_newest": withdrawal is None and version == newest_own_version(request.study),
        "policy_title": policy_title(version.policy) if version.policy else "",
        "policy_clauses": policy_clauses(version.policy) if version.policy else [],
        "axes": criteria_by_axis(version),
        "left_out_count": FrozenLeftOut.objects.filter(version=version).count(),
        "formats": list(ExportFormat),
        "oversees": oversees(request.membership),
        "may_withdraw": has_role(request.membership, Role.ADMIN),
        "crumbs": way_to(request.study, (name_of(version), "")),
    }
    return respond_with_fragment(request, "rubrics/version.html", "rubrics/_criteria.html", context)


def name_of(version: RubricVersion) -> str:
    """How a page calls a version: "Version 3", or the name of an external one."""
    return f"Version {version.number}" if version.number is not None else version.name


@dataclass(frozen=True, slots=True)
class RubricShown:
    """One conversation of a version with its criteria. Its messages show to those who may read the conversation."""

    frozen: FrozenConversation
    criteria: list[FrozenCriterion]
    may_read: bool

    @property
    def acuity(self) -> str:
        return str(dict(Acuity.choices).get(self.frozen.acuity or "", ""))

    @property
    def user_profile(self) -> str:
        return str(dict(UserProfile.choices).get(self.frozen.user_profile or "", ""))


def rubrics_on(page: "Page[FrozenConversation]", request: StudyRequest) -> list[RubricShown]:
    """The conversations of a page with their criteria. Two queries."""
    criteria: dict[UUID, list[FrozenCriterion]] = defaultdict(list)
    for criterion in FrozenCriterion.objects.filter(frozen_conversation__in=page.object_list).order_by("position"):
        criteria[criterion.frozen_conversation_id].append(criterion)
    readable = set(
        Conversation.objects.visible_to(request.user)
        .filter(id__in=[this.conversation_id for this in page.object_list])
        .values_list("id", flat=True)
    )
    return [RubricShown(this, criteria[this.id], this.conversation_id in readable) for this in page.object_list]


def criteria_by_axis(version: RubricVersion) -> list[dict[str, Any]]:
    """Of each axis of a version how many criteria are wanted and unwanted, in the version's order of axes."""
    rows: QuerySet[Any, Any] = FrozenCriterion.objects.filter(version=version).order_by().values("axis")
    counts = {
        row["axis"]: row
        for row in rows.annotate(
            wanted=Count("pk", filter=Q(points__gt=0)),
            unwanted=Count("pk", filter=Q(points__lt=0)),
            number=Count("pk"),
        )
    }
    order = [*version.axes, *sorted(counts.keys() - set(version.axes))]
    return [counts[axis] for axis in dict.fromkeys(order) if axis in counts]


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def show_left_out(request: StudyRequest, address: str) -> HttpResponse:
    """What stayed out of a version and why, one sentence each."""
    version = find_version_of(request.study, address)
    rows = FrozenLeftOut.objects.filter(version=version)
    counts = Counter(dict(rows.order_by().values_list("kind").annotate(number=Count("pk"))))
    chosen = request.GET.get("reason", "")
    if chosen:
        rows = rows.filter(kind=chosen)
    rows = rows.select_related("criterion__current_revision", "criterion__conversation").order_by(
        "criterion__conversation__position",
        "criterion__conversation__external_id",
        "criterion__position",
        "criterion__external_id",
    )
    page = Paginator(rows, LEFT_OUT_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "version": version,
        "page": page,
        "hidden": hidden_from(request.user, request.study, [row.criterion_id for row in page.object_list]),
        "reasons": [(kind.value, kind.label, counts[kind]) for kind in LeftOutKind if counts[kind]],
        "chosen": chosen,
        "total": counts.total(),
        "crumbs": way_to(request.study, (name_of(version), address_of(version)), ("What stayed out", "")),
    }
    return respond_with_fragment(request, "rubrics/left_out.html", "rubrics/_left_out.html", context)


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def download(request: StudyRequest, address: str, format: str) -> HttpResponse:
    """A version as a file: the same bytes whenever it is made again."""
    version = find_version_of(request.study, address)
    return cast("HttpResponse", download_of(version, format))  # a file's answer is one in all but its type


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def withdraw(request: StudyRequest, address: str) -> HttpResponse:
    """Mark a version as withdrawn, with a reason that its readers see."""
    version = find_version_of(request.study, address)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        withdraw_version(version=version, by=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"{name_of(version)} is marked withdrawn.")
        return redirect(address_of(version))
    context = {
        "version": version,
        "form": form,
        "withdrawal": getattr(version, "withdrawal", None),
        "crumbs": way_to(request.study, (name_of(version), address_of(version)), ("Withdraw", "")),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "rubrics/withdraw.html", context, status=status)
