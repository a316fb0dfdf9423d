"""Discussion after a reveal: comments, another vote, nothing to add; and a criterion's history."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from annotation.desk import find_criterion, find_revision
from annotation.discussing import add_comment, end_discussion, request_vote
from annotation.forms import CommentForm
from annotation.merging import keep_both, merge_criteria
from annotation.models import Criterion, Revision, Role, User
from annotation.permissions import StudyRequest, find_conversation, study_page
from annotation.unsent import sent_comment
from annotation.views.desk import after_act, answer_desk, as_uuid, desk_context, keep_refused, open_desk, own_part
from consilium.pages import wants_fragment


@require_POST
@study_page(Role.CLINICIAN)
def comment(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Say something about a criterion."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    form = CommentForm(request.POST)
    form.criterion_id = criterion.id
    if not form.is_valid():
        keep_refused(request, criterion.conversation, f"comment-{criterion.id}")
        return _answer_criterion(request, criterion, comment_form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    add_comment(criterion=criterion, author=request.user, text=form.cleaned_data["text"])
    sent_comment(author=request.user, criterion=criterion)
    return _answer_criterion(request, criterion, said="Your comment is there.")


@require_POST
@study_page(Role.CLINICIAN)
def ask_for_vote(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Ask for another vote on a criterion in the next round."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    request_vote(criterion=criterion, by=request.user)
    return _answer_criterion(request, criterion, said="It comes to a vote in the next round.")


def _answer_criterion(
    request: StudyRequest, criterion: Criterion, *, said: str = "", status: int = HTTPStatus.OK, **shown: Any
) -> HttpResponse:
    """The one criterion for htmx, beside it what the next round asks; else the desk, or a redirect to the criterion."""
    if not wants_fragment(request) and status == HTTPStatus.OK:
        return after_act(request, criterion.conversation, criterion=criterion.id)
    desk = open_desk(request, criterion.conversation)
    desk.at = sheet = desk.sheet(criterion.id)
    if not wants_fragment(request):
        return answer_desk(request, desk, status=status, **shown)
    context = desk_context(desk, said=said, sheet=sheet, **own_part(desk), **shown)
    return render(request, "annotation/_discussed_alone.html", context, status=status)


@require_POST
@study_page(Role.CLINICIAN)
def end(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Say that one has nothing to add to this discussion."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    conversation.study = request.study
    end_discussion(conversation=conversation, by=request.user)
    return after_act(request, conversation, said="You have nothing to add here.", shows="end")


@require_POST
@study_page(Role.CLINICIAN)
def merge(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Merge one criterion into another that is like it."""
    kept, merged = (_named(request, conversation_id, name) for name in ("kept", "merged"))
    merge_criteria(
        kept=kept,
        kept_seen=find_revision(kept, as_uuid(request.POST.get("kept_seen"))),
        merged=merged,
        merged_seen=find_revision(merged, as_uuid(request.POST.get("merged_seen"))),
        by=request.user,
    )
    return after_act(request, kept.conversation, said="Merged. It comes to a vote again.", criterion=kept.id)


@require_POST
@study_page(Role.CLINICIAN)
def keep_both_of_a_pair(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Say that two criteria are both kept, however alike."""
    one, other = (_named(request, conversation_id, name) for name in ("one", "other"))
    keep_both(one=one, other=other, by=request.user)
    return after_act(request, one.conversation, said="Both are kept.")


def _named(request: StudyRequest, conversation_id: UUID, name: str) -> Criterion:
    """The criterion of the conversation that a field of the form names; Http404 else."""
    criterion_id = as_uuid(request.POST.get(name))
    if criterion_id is not None:
        criterion = find_criterion(request.user, request.study, criterion_id)
        if criterion.conversation_id == conversation_id:
            return criterion
    raise Http404("This conversation has no such criterion.")


@study_page()
def show_history(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """A criterion's revisions with what changed, and its revealed rounds."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    desk = open_desk(request, criterion.conversation)
    desk.at = sheet = desk.sheet(criterion.id)
    revisions = list(criterion.revisions.select_related("answers_vote").order_by("number"))
    steps = list(zip([None, *revisions], revisions, strict=False))
    context = {"desk": desk, "conversation": desk.conversation, "sheet": sheet, "steps": steps}
    context["your_part"] = _part_in_wording(request.user, revisions) if sheet and sheet.is_yours else ""
    return render(request, "annotation/history.html", context)


def _part_in_wording(person: User, revisions: list[Revision]) -> str:
    """How a person became one of a criterion's writers, in words."""
    if revisions[0].created_by_id == person.id:
        return "written by you"
    if any(revision.created_by_id == person.id for revision in revisions):
        return "revised by you"
    return "with words of yours"
