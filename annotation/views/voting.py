"""Voting: one act a criterion, blind; the next criterion comes with the answer."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from annotation.desk import find_criterion, find_revision
from annotation.drafting import StaleRevision, same_wording
from annotation.forms import ObjectionForm, VoteForm, WordingForm
from annotation.models import Criterion, Revision, Role, Vote
from annotation.permissions import StudyRequest, study_page
from annotation.unsent import sent_vote
from annotation.views.desk import after_act, answer_desk, keep_refused, open_desk
from annotation.voting import Ballot, cast_vote, take_back_vote

FORMS: dict[str, tuple[type[VoteForm], str]] = {
    "object": (ObjectionForm, "objection"),
    "wording": (WordingForm, "wording"),
}


@require_POST
@study_page(Role.CLINICIAN)
def vote(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Agree with a weight, agree with a better wording, object, abstain or recuse from the criterion.

    ``act`` names which; a weight without it is agreeing.
    """
    criterion = find_criterion(request.user, request.study, criterion_id)
    act = request.POST.get("act", "agree")
    kind, name = FORMS.get(act, (VoteForm, "vote"))
    form = kind(request.POST, auto_id=f"{name}-%s")
    form.fields["points"].required = act in {"agree", "wording"}
    if not form.is_valid():
        _keep_refused(request, criterion, act)
        return _answer_again(request, criterion, HTTPStatus.UNPROCESSABLE_ENTITY, **{f"{name}_form": form})
    seen = find_revision(criterion, form.cleaned_data["seen"])
    try:
        cast_vote(criterion=criterion, seen=seen, reviewer=request.user, ballot=_ballot(act, form.cleaned_data, seen))
    except StaleRevision as stale:
        _keep_refused(request, criterion, act)
        return _answer_stale(request, criterion, stale, seen, name, kind)
    sent_vote(reviewer=request.user, criterion=criterion, choice=act, has_wording=act == "wording")
    return after_act(request, criterion.conversation, said="Saved.", after=criterion.id)


def _keep_refused(request: StudyRequest, criterion: Criterion, act: str) -> None:
    if act in FORMS:
        keep_refused(request, criterion.conversation, f"{act}-{criterion.id}")


def _ballot(act: str, data: dict[str, Any], seen: Revision) -> Ballot:
    if act == "object":
        return Ballot(Vote.Choice.OBJECT, category=data["category"], reason=data["reason"])
    if act in {"abstain", "recuse"}:
        return Ballot(Vote.Choice(act))
    better = data.get("better_wording", "")
    if same_wording(better, seen.text):
        better = ""
    return Ballot(Vote.Choice.AGREE, points=data["points"], better_wording=better)


def _answer_again(request: StudyRequest, criterion: Criterion, status: int, **shown: Any) -> HttpResponse:
    desk = open_desk(request, criterion.conversation)
    desk.at = desk.sheet(criterion.id)
    return answer_desk(request, desk, status=status, **shown)


def _answer_stale(
    request: StudyRequest, criterion: Criterion, stale: StaleRevision, seen: Revision, name: str, kind: type[VoteForm]
) -> HttpResponse:
    """The wording changed meanwhile: both wordings, and what was written against the old one in its form again."""
    kept = request.POST.copy()
    kept["seen"] = str(stale.current.id)
    form = kind(kept, auto_id=f"{name}-%s")
    return _answer_again(
        request, criterion, HTTPStatus.CONFLICT, stale=stale, seen=seen, stale_form=name, **{f"{name}_form": form}
    )


@require_POST
@study_page(Role.CLINICIAN)
def take_back(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Undo: take the own vote back while the round is open."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    take_back_vote(criterion=criterion, reviewer=request.user)
    return after_act(request, criterion.conversation, said="Your vote is taken back.", criterion=criterion.id)
