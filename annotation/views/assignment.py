"""Assigning reviewers: all at once after a preview, or one by hand; and an admin's page of one conversation."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.acting_on_many import acts_for
from annotation.admin_forms import AssignForm, AssignOneForm
from annotation.assigning import assign_reviewer, assign_reviewers, out_of_reach
from annotation.before_the_start import reach_by_language
from annotation.caring_seen import care_of_conversation
from annotation.models import Conversation, Criterion, Role, Study, User
from annotation.overseeing import conversations_to_oversee, oversee, recused_from
from annotation.permissions import StudyRequest, study_page, visible_criteria
from annotation.previewing_assignment import loads_of, preview_assignment
from annotation.rounds import due_for_next_round
from annotation.states import CriterionState, with_criterion_state
from annotation.views.progress import crumbs


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def assign(request: StudyRequest) -> HttpResponse:
    """GET: how the load lies, and with a number what assigning so many would do. POST: assign."""
    study = request.study
    is_asked = request.method == "POST" or "reviewers" in request.GET
    data = request.POST if request.method == "POST" else request.GET
    form = AssignForm(data if is_asked else None, initial={"reviewers": study.policy.reviewers_per_conversation})
    if request.method == "POST" and form.is_valid():
        shortfall = preview_assignment(study, form.cleaned_data["reviewers"]).shortfall
        result = assign_reviewers(study=study, reviewers=form.cleaned_data["reviewers"])
        _say(request, len(result.made), len({this.conversation_id for this in result.made}), len(result.out_of_reach))
        if shortfall:
            messages.warning(request, shortfall)
        return redirect("study_progress", slug=study.slug)
    preview = preview_assignment(study, form.cleaned_data["reviewers"]) if is_asked and form.is_valid() else None
    context = {
        "form": form,
        "preview": preview,
        "loads": preview.loads if preview else loads_of(study),
        "out_of_reach": preview.out_of_reach if preview else out_of_reach(study),
        "needed": study.policy.min_reviewed,
        "reaches": reach_by_language(study),
        "crumbs": crumbs(study, "Progress", "Assign"),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "annotation/admin/assign.html", context, status=status)


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
