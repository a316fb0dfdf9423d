"""Members of a study, as an admin sees them: who is in it with which roles; adding a person; somebody leaves."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.admin_forms import MemberForm
from annotation.joining import add_member, leave_study
from annotation.members import members_of
from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.views.progress import crumbs

MEMBERS_A_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def list_members(request: StudyRequest) -> HttpResponse:
    """GET: the members, and a form for one more. POST: add a person, or a role to a member."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        membership = add_member(study=request.study, **form.cleaned_data)
        roles = " and ".join(Role(role).label for role in membership.roles)
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


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def let_leave(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """GET: what it means that this person leaves. POST: the person leaves."""
    membership = members_of(request.study).filter(pk=membership_id).first()
    if membership is None:
        raise Http404("There is no such member in this study.")
    if request.method == "POST":
        leave_study(study=request.study, person=membership.user)
        messages.success(request, f"{membership.user} has left the study.")
        is_oneself = membership.user_id == request.user.pk
        return redirect("my_studies") if is_oneself else redirect("study_members", slug=request.study.slug)
    other_admins = (
        request.study.memberships.filter(left_at=None).exclude(pk=membership.pk).filter(roles__contains=[Role.ADMIN])
    )
    context = {
        "member": membership,
        "is_oneself": membership.user_id == request.user.pk,
        "is_last_admin": Role.ADMIN in membership.roles and not other_admins.exists(),
        "crumbs": crumbs(request.study, "Members", str(membership.user)),
    }
    return render(request, "annotation/admin/leave.html", context)
