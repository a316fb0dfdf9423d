"""Assigning reviewers: all at once after a preview, or one by hand; and an admin's page of one conversation."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.acting_on_many import acts_for
from annotation.admin_forms import AssignForm, AssignOneForm
from annotation.assigning import PlanChanged, assign_reviewer, assign_reviewers, unassign_reviewer
from annotation.before_the_start import reach_by_language
from annotation.caring_seen import care_of_conversation
from annotation.models import Conversation, Criterion, Role, Study, User
from annotation.overseeing import conversations_to_oversee, oversee, recused_from
from annotation.permissions import StudyRequest, study_page, visible_criteria
from annotation.previewing_assignment import loads_of, preview_assignment
from annotation.reaching import out_of_reach
from annotation.rounds import due_for_next_round
from annotation.states import CriterionState, with_criterion_state
from annotation.views.progress import crumbs

PLANNED_A_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def assign(request: StudyRequest) -> HttpResponse:
    """GET: how the load lies, and with a number what assigning so many would do. POST: assign as was shown."""
    study = request.study
    is_asked = request.method == "POST" or "reviewers" in request.GET
    data = request.POST if request.method == "POST" else request.GET
    form = AssignForm(data if is_asked else None, initial={"reviewers": study.policy.reviewers_per_conversation})
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            return _carry_out(request, form)
        except PlanChanged as changed:
            refusal = changed.sentence
    preview = preview_assignment(study, form.cleaned_data["reviewers"]) if is_asked and form.is_valid() else None
    context = {
        "form": form,
        "refusal": refusal,
        "preview": preview,
        "page": Paginator(preview.plan.filled if preview else [], PLANNED_A_PAGE).get_page(request.GET.get("page")),
        "loads": preview.loads if preview else loads_of(study),
        "out_of_reach": preview.out_of_reach if preview else out_of_reach(study),
        "needed": study.policy.min_reviewed,
        "reaches": reach_by_language(study),
        "crumbs": crumbs(study, "Progress", "Assign"),
    }
    status = HTTPStatus.CONFLICT if refusal else HTTPStatus.OK
    return render(
        request,
        "annotation/admin/assign.html",
        context,
        status=HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else status,
    )


def _carry_out(request: StudyRequest, form: AssignForm) -> HttpResponse:
    study, reviewers = request.study, form.cleaned_data["reviewers"]
    result = assign_reviewers(study=study, reviewers=reviewers, plan=form.cleaned_data["plan"])
    _say(request, len(result.made), len({this.conversation_id for this in result.made}), len(result.out_of_reach))
    shortfall = preview_assignment(study, reviewers).shortfall
    if shortfall:
        messages.warning(request, shortfall)
    return redirect("study_progress", slug=study.slug)


def _say(request: StudyRequest, made: int, conversations: int, unreachable: int) -> None:
    if made:
        messages.success(
            request,
            f"{made:,} {'assignment' if made == 1 else 'assignments'} made in {conversations:,} "
            f"{'conversation' if conversations == 1 else 'conversations'}.",
        )
    else:
        messages.info(request, "Nothing was to assign.")
    if unreachable:
        are = "1 conversation is" if unreachable == 1 else f"{unreachable:,} conversations are"
        messages.warning(request, f"{are} out of reach: too few reviewers can be found.")


# One conversation


def find_own_conversation(study: Study, conversation_id: UUID) -> Any:
    """One of the study's own conversations, as the progress list knows it; Http404 else."""
    found = conversations_to_oversee(study).filter(pk=conversation_id).first()
    if found is None:
        raise Http404("There is no such conversation in this study.")
    return found


@require_GET
@study_page(Role.ADMIN)
def show_conversation(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Where one conversation stands: reviewers, criteria, what it waits for, and the acts on it."""
    return _answer(request, conversation_id)


@require_POST
@study_page(Role.ADMIN)
def assign_one(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Assign one clinician to one conversation."""
    conversation = find_own_conversation(request.study, conversation_id)
    conversation.study = request.study
    form = AssignOneForm(request.POST, conversation=conversation)
    if not form.is_valid():
        return _answer(request, conversation_id, form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    person = form.cleaned_data["reviewer"]
    assign_reviewer(conversation=conversation, reviewer=person)
    messages.success(request, f"{person} reviews this conversation now.")
    return redirect("admin_conversation", slug=request.study.slug, conversation_id=conversation.id)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def unassign_one(request: StudyRequest, conversation_id: UUID, reviewer_id: UUID) -> HttpResponse:
    """GET: what taking a conversation from a reviewer does. POST: take it."""
    conversation = find_own_conversation(request.study, conversation_id)
    conversation.study = request.study
    assignment = (
        conversation.assignments.filter(reviewer=reviewer_id, recused_at=None).select_related("reviewer").first()
    )
    if assignment is None:
        raise Http404("This person does not review this conversation.")
    if request.method != "POST":
        context = {
            "conversation": conversation,
            "reviewer": assignment.reviewer,
            "crumbs": [
                *crumbs(request.study, "Progress", "")[:-1],
                (
                    conversation.external_id,
                    reverse(
                        "admin_conversation",
                        kwargs={"slug": request.study.slug, "conversation_id": conversation.id},
                    ),
                ),
                ("Take it from a reviewer", ""),
            ],
        }
        return render(request, "annotation/admin/unassign.html", context)
    unassign_reviewer(conversation=conversation, reviewer=assignment.reviewer, by=request.user)
    messages.success(request, f"{assignment.reviewer} doesn't review this conversation any more.")
    return redirect("admin_conversation", slug=request.study.slug, conversation_id=conversation.id)


def _answer(
    request: StudyRequest, conversation_id: UUID, *, form: AssignOneForm | None = None, status: int = HTTPStatus.OK
) -> HttpResponse:
    study = request.study
    row = find_own_conversation(study, conversation_id)
    row.study = study
    unreachable = {this.id for this in out_of_reach(study)}
    [overseen] = oversee(study, [row], out_of_reach=unreachable)
    has_round_left = overseen.last_round < study.policy.max_rounds
    care = care_of_conversation(row)
    due = due_for_next_round([row.id], by_admin=True)[row.id] if overseen.is_in_discussion and has_round_left else {}
    context = {
        "overseen": overseen,
        "conversation": row,
        "criteria": _criteria(request.user, row),
        "recused": recused_from(row),
        "due_count": len(due),
        "has_round_left": has_round_left,
        "acts": []
        if care.standing
        else acts_for(
            overseen.state,
            is_drafting_open=overseen.is_drafting_open,
            has_round_left=has_round_left,
            is_unsettled=bool(due),
        ),
        "care": care,
        "assign_form": form or AssignOneForm(conversation=row),
        "needed": study.policy.min_reviewed,
        "reaches": reach_by_language(study),
        "crumbs": crumbs(study, "Progress", row.external_id),
    }
    return render(request, "annotation/admin/conversation.html", context, status=status)


def _criteria(user: User, conversation: Conversation) -> list[Any]:
    """The conversation's criteria that the person may read now, with their states."""
    ids = [criterion.id for criterion in visible_criteria(user, conversation)]
    rows = with_criterion_state(Criterion.objects.filter(id__in=ids)).select_related("current_revision")
    found: list[Any] = list(rows.order_by("position", "id"))
    for row in found:
        row.state_in_words = CriterionState(row.state).label
        row.may_be_adjudicated = row.state in {CriterionState.DISCUSSION, CriterionState.NO_CONSENSUS}
    return found
