"""Drafting: write, revise and withdraw criteria, and finish."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from annotation.advising import advise
from annotation.desk import Desk, Sheet, find_criterion, find_objection, find_revision, lay_out
from annotation.discussing import accept_objection
from annotation.drafting import (
    StaleRevision,
    draft_criterion,
    finish_drafting,
    resume_drafting,
    revise_criterion,
    withdraw_criterion,
)
from annotation.finding_alike import find_similar
from annotation.forms import LONGEST, CriterionForm, PointsField
from annotation.models import Criterion, Revision, Role, Vote
from annotation.permissions import StudyRequest, find_conversation, study_page
from annotation.unsent import DRAFT, revision_place, sent_draft, sent_revision
from annotation.views.desk import (
    after_act,
    answer_desk,
    as_uuid,
    criterion_form,
    keep_refused,
    open_desk,
    own_part,
    show_what_is_missing,
    turn_to,
)
from consilium.pages import respond_with_fragment, wants_fragment


@require_POST
@study_page(Role.CLINICIAN)
def draft(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Write a new criterion: while drafting, or in the discussion."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    desk = open_desk(request, conversation)
    form = criterion_form(desk, data=request.POST)
    if not form.is_valid():
        keep_refused(request, conversation, DRAFT)
        turn_to(desk, {})
        return answer_desk(request, desk, status=HTTPStatus.UNPROCESSABLE_ENTITY, new_form=form)
    criterion = draft_criterion(conversation=conversation, writer=request.user, **form.facts)
    sent_draft(writer=request.user, conversation=conversation)
    return after_act(request, conversation, said="Saved.", criterion=criterion.id)


@require_POST
@study_page(Role.CLINICIAN)
def advice(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """What could make a text clearer while it is typed, and criteria that are like it. Nothing is kept or refused."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    conversation.study = request.study
    text = request.POST.get("text", "")[:LONGEST].replace("\x00", "")
    context = {
        "advice": advise(text, _points_typed(request)),
        "similar": find_similar(
            reader=request.user,
            conversation=conversation,
            text=text,
            apart_from=as_uuid(request.POST.get("criterion")),
        ),
    }
    return render(request, "annotation/_advice.html", context)


def _points_typed(request: StudyRequest) -> int | None:
    """The weight in the form so far: a typed number goes before a word; None where there is none yet."""
    try:
        typed = request.POST.get("points", "").strip() or request.POST.get("weight", "")
        points: int | None = PointsField().clean(typed)
    except ValidationError:
        return None
    return points


@study_page(Role.CLINICIAN)
def revise(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Revise a criterion against the revision that was seen; a stale one comes back with both texts (409)."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    return _revise(request, criterion, wording=_offered_wording(criterion, request.GET.get("wording", "")))


def _offered_wording(criterion: Criterion, vote_id: str) -> str:
    """The better wording that a vote of a revealed round offered; '' where none was asked for."""
    try:
        key = UUID(vote_id)
    except ValueError:
        return ""
    vote = Vote.objects.filter(pk=key, wording__criterion=criterion, round__revealed_at__isnull=False).first()
    return vote.better_wording if vote else ""


@study_page(Role.CLINICIAN)
def accept(request: StudyRequest, criterion_id: UUID, vote_id: UUID) -> HttpResponse:
    """Accept an objection of a revealed round: a revision that answers it."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    return _revise(request, criterion, answers=find_objection(criterion, vote_id))


def _revise(
    request: StudyRequest, criterion: Criterion, *, answers: Vote | None = None, wording: str = ""
) -> HttpResponse:
    desk = open_desk(request, criterion.conversation)
    sheet = desk.sheet(criterion.id)
    assert sheet is not None
    desk.at = sheet
    place = revision_place(sheet.id, answers.id if answers else None)
    if request.method != "POST":
        form = criterion_form(desk, sheet, place=place)
        if wording:
            form.initial["text"] = wording
        return _show_form(request, desk, sheet, form, answers=answers)
    form = criterion_form(desk, sheet, data=request.POST, place=place)
    if not form.is_valid():
        keep_refused(request, criterion.conversation, place)
        return _show_form(request, desk, sheet, form, answers=answers, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    against = find_revision(criterion, form.cleaned_data["against"])
    try:
        _write_revision(request, criterion, against, form, answers)
    except StaleRevision as stale:
        keep_refused(request, criterion.conversation, place)
        return _show_stale(request, criterion, stale, form, against, answers)
    sent_revision(by=request.user, criterion=criterion, accepts=answers.id if answers else None)
    return after_act(request, criterion.conversation, said="Saved.", criterion=criterion.id)


def _write_revision(
    request: StudyRequest, criterion: Criterion, against: Revision, form: CriterionForm, answers: Vote | None
) -> Revision:
    if answers is None:
        return revise_criterion(criterion=criterion, against=against, by=request.user, **form.facts)
    facts = form.facts
    facts.pop("anchors")  # an accepted objection keeps the turns that were cited
    return accept_objection(vote=answers, against=against, by=request.user, **facts)


def _show_form(
    request: StudyRequest, desk: Desk, sheet: Sheet, form: CriterionForm, *, status: int = HTTPStatus.OK, **shown: Any
) -> HttpResponse:
    context = {"desk": desk, "conversation": desk.conversation, "sheet": sheet, "form": form, **shown}
    if not wants_fragment(request):
        context |= own_part(desk)
    answer = respond_with_fragment(
        request, "annotation/revise.html", "annotation/_revision.html", context, status=status
    )
    return show_what_is_missing(answer)


def _show_stale(
    request: StudyRequest,
    criterion: Criterion,
    stale: StaleRevision,
    form: CriterionForm,
    against: Revision,
    answers: Vote | None,
) -> HttpResponse:
    """Both texts side by side, and the own one in a form again, now against what stands."""
    desk = lay_out(reader=request.user, study=request.study, conversation=criterion.conversation)
    sheet = desk.sheet(criterion.id)
    if sheet is None:
        raise stale
    desk.at = sheet
    kept = request.POST.copy()
    kept["against"] = str(stale.current.id)
    return _show_form(
        request,
        desk,
        sheet,
        criterion_form(desk, sheet, data=kept),
        answers=answers,
        stale=stale,
        seen=against,
        yours=form.cleaned_data["text"],
        status=HTTPStatus.CONFLICT,
    )


@study_page(Role.CLINICIAN)
def withdraw(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Withdraw a criterion that one wrote, after a page that says what it means."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    if request.method == "POST":
        withdraw_criterion(criterion=criterion, by=request.user)
        return after_act(request, criterion.conversation, said="Withdrawn.")
    desk = open_desk(request, criterion.conversation)
    desk.at = desk.sheet(criterion.id)
    context = {"desk": desk, "conversation": desk.conversation, "sheet": desk.at}
    if not wants_fragment(request):
        context |= own_part(desk)
    return respond_with_fragment(request, "annotation/withdraw.html", "annotation/_withdrawal.html", context)


@require_POST
@study_page(Role.CLINICIAN)
def finish(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Say that one has finished drafting here."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    finish_drafting(conversation=conversation, by=request.user)
    conversation.refresh_from_db()
    return after_act(request, conversation, said="You have finished drafting here.")


@require_POST
@study_page(Role.CLINICIAN)
def resume(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Take *finished* back while drafting is open."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    resume_drafting(conversation=conversation, by=request.user)
    return after_act(request, conversation, said="You are drafting again.")
