"""Members of a study, as an admin sees them: who is in it, adding a person, changing roles, somebody leaves."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.admin_forms import ChangeMemberForm, MemberForm
from annotation.joining import add_member, is_last_admin, leave_study
from annotation.members import change_member, members_of
from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.views.progress import crumbs
from consilium.errors import RuleViolation

MEMBERS_A_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def list_members(request: StudyRequest) -> HttpResponse:
    """GET: the members, and a form for one more. POST: add a person, or a role to a member."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        membership = add_member(study=request.study, **form.cleaned_data)
        roles = " and ".join(str(Role(role).label) for role in membership.roles)
        messages.success(request, f"{membership.user} is in the study, as {roles}.")
        return redirect("study_members", slug=request.study.slug)
    page = Paginator(members_of(request.study), MEMBERS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "left": request.study.memberships.exclude(left_at=None).select_related("user").order_by("user__name"),
        "asks_for_consent": bool(request.study.consent_text.strip()),
        "crumbs": crumbs(request.study, "Members"),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "annotation/admin/members.html", context, status=status)


def _find(request: StudyRequest, membership_id: UUID) -> Any:
    membership = members_of(request.study).filter(pk=membership_id).first()
    if membership is None:
        raise Http404("There is no such member in this study.")
    return membership


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def edit_member(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """GET: a member's roles, and a name for who has none. POST: change them."""
    member = _find(request, membership_id)
    form = ChangeMemberForm(request.POST or None, member=member)
    refusal, status = "", HTTPStatus.OK
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_member(study=request.study, person=member.user, **form.facts)
        except RuleViolation as violation:
            refusal, status = violation.sentence, HTTPStatus.CONFLICT
            member = _find(request, membership_id)
            form = ChangeMemberForm(member=member)
        else:
            roles = " and ".join(str(Role(role).label) for role in changed.roles)
            messages.success(request, f"{changed.user} is {roles} here.")
            is_admin_still = changed.user_id != request.user.pk or Role.ADMIN in changed.roles
            return redirect("study_members" if is_admin_still else "study", slug=request.study.slug)
    elif form.errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    context = {
        "member": member,
        "form": form,
        "refusal": refusal,
        "is_last_admin": is_last_admin(member),
        "crumbs": crumbs(request.study, "Members", str(member.user)),
    }
    return render(request, "annotation/admin/member.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def let_leave(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """GET: what it means that this person leaves. POST: the person leaves. The last admin can't."""
    membership = _find(request, membership_id)
    if request.method == "POST":
        leave_study(study=request.study, person=membership.user)
        messages.success(request, f"{membership.user} has left the study.")
        is_oneself = membership.user_id == request.user.pk
        return redirect("my_studies") if is_oneself else redirect("study_members", slug=request.study.slug)
    context = {
        "member": membership,
        "is_oneself": membership.user_id == request.user.pk,
        "is_last_admin": is_last_admin(membership),
        "crumbs": crumbs(request.study, "Members", str(membership.user)),
    }
    return render(request, "annotation/admin/leave.html", context)
