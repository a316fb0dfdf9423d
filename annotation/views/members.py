"""Members of a study, as an admin sees them: who is in it, adding and inviting people, roles, pauses, leaving."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.admin_forms import ChangeMemberForm, MemberFactsForm, MemberForm, PauseForm
from annotation.invitations import Invitation
from annotation.inviting import invite_everybody, invite_member
from annotation.joining import add_member, is_last_admin, leave_study
from annotation.member_facts import describe_member, pause_member
from annotation.members import change_member, members_of
from annotation.models import Membership, Role
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
        facts = {**form.cleaned_data}
        is_invited = facts.pop("invite")
        membership = add_member(study=request.study, by=request.user, **facts)
        roles = " and ".join(str(Role(role).label) for role in membership.roles)
        if is_invited:
            _invite_newcomer(request, membership)
        messages.success(request, f"{membership.user} is in the study, as {roles}.")
        return redirect("study_members", slug=request.study.slug)
    members: QuerySet[Any, Any] = members_of(request.study)
    page = Paginator(members, MEMBERS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "not_invited": members.filter(invitation=Invitation.NOT_INVITED).count(),
        "invitations": Invitation,
        "today": timezone.now().date(),
        "left": request.study.memberships.exclude(left_at=None).select_related("user").order_by("user__name"),
        "asks_for_consent": bool(request.study.consent_text.strip()),
        "crumbs": crumbs(request.study, "Members"),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "annotation/admin/members.html", context, status=status)


def _invite_newcomer(request: StudyRequest, membership: Membership) -> None:
    """The person is in the study whether a mail can be sent or not."""
    try:
        invite_member(membership=membership, by=request.user)
    except RuleViolation as violation:
        messages.warning(request, violation.sentence)


def _find(request: StudyRequest, membership_id: UUID) -> Any:
    membership = members_of(request.study).filter(pk=membership_id).first()
    if membership is None:
        raise Http404("There is no such member in this study.")
    return membership


def _show(request: StudyRequest, member: Any, *, refusal: str = "", **forms: Any) -> HttpResponse:
    """A member's page, with a form that was not taken, or the refusal of one."""
    is_faulty = any(form.errors for form in forms.values())
    context = {
        "member": member,
        "form": ChangeMemberForm(member=member),
        "facts_form": MemberFactsForm(member=member),
        "pause_form": PauseForm(initial={"until": member.paused_until}),
        **forms,
        "refusal": refusal,
        "is_last_admin": is_last_admin(member),
        "crumbs": crumbs(request.study, "Members", str(member.user)),
    }
    status = HTTPStatus.CONFLICT if refusal else HTTPStatus.UNPROCESSABLE_ENTITY if is_faulty else HTTPStatus.OK
    return render(request, "annotation/admin/member.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def edit_member(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """GET: a member's roles, and what else admins say of a member. POST: other roles, a name for who has none."""
    member = _find(request, membership_id)
    if request.method != "POST":
        return _show(request, member)
    form = ChangeMemberForm(request.POST, member=member)
    if not form.is_valid():
        return _show(request, member, form=form)
    try:
        changed = change_member(study=request.study, person=member.user, **form.facts)
    except RuleViolation as violation:
        return _show(request, _find(request, membership_id), refusal=violation.sentence)
    roles = " and ".join(str(Role(role).label) for role in changed.roles)
    messages.success(request, f"{changed.user} is {roles} here.")
    is_admin_still = changed.user_id != request.user.pk or Role.ADMIN in changed.roles
    return redirect("study_members" if is_admin_still else "study", slug=request.study.slug)


@require_http_methods(["POST"])
@study_page(Role.ADMIN)
def describe(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """Write down conflicts of interest, and whether the licence was checked."""
    member = _find(request, membership_id)
    form = MemberFactsForm(request.POST, member=member)
    if not form.is_valid():
        return _show(request, member, facts_form=form)
    try:
        describe_member(study=request.study, person=member.user, by=request.user, **form.cleaned_data)
    except RuleViolation as violation:
        return _show(request, _find(request, membership_id), refusal=violation.sentence)
    messages.success(request, f"What assigning asks for is saved for {member.user}.")
    return redirect("member", slug=request.study.slug, membership_id=member.id)


@require_http_methods(["POST"])
@study_page(Role.ADMIN)
def pause(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """Nothing new is assigned until a day, or again at once."""
    member = _find(request, membership_id)
    form = PauseForm(request.POST)
    if not form.is_valid():
        return _show(request, member, pause_form=form)
    try:
        paused = pause_member(study=request.study, person=member.user, until=form.cleaned_data["until"])
    except RuleViolation as violation:
        form.add_error("until", violation.sentence)
        return _show(request, member, pause_form=form)
    until = paused.paused_until
    told = f"gets nothing new until {until:%Y-%m-%d}." if until else "gets new conversations."
    messages.success(request, f"{member.user} {told}")
    return redirect("member", slug=request.study.slug, membership_id=member.id)


@require_http_methods(["POST"])
@study_page(Role.ADMIN)
def invite(request: StudyRequest, membership_id: UUID) -> HttpResponse:
    """Invite a member by mail, for the first time or again."""
    member = _find(request, membership_id)
    try:
        invite_member(membership=member, by=request.user)
    except RuleViolation as violation:
        return _show(request, member, refusal=violation.sentence)
    messages.success(request, f"{member.user} is invited by mail.")
    return redirect("member", slug=request.study.slug, membership_id=member.id)


@require_http_methods(["POST"])
@study_page(Role.ADMIN)
def invite_all(request: StudyRequest) -> HttpResponse:
    """Invite whoever has never signed in and was never invited."""
    invited = invite_everybody(study=request.study, by=request.user)
    people = "1 person is" if invited == 1 else f"{invited} people are"
    messages.success(request, f"{people} invited. The mails go out one after the other.")
    return redirect("study_members", slug=request.study.slug)


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
