"""The desk: a conversation beside its criteria, in the state in which it is, and how every act on it answers.

htmx gets the side that changes, one element; a browser without JavaScript gets a redirect to the page (303), which
says the same.
"""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from annotation.assigning import recuse_from_conversation
from annotation.desk import Desk, Sheet, lay_out
from annotation.forms import CriterionForm, ObjectionForm, VoteForm, WordingForm, criterion_facts
from annotation.models import Conversation, Role, User
from annotation.permissions import StudyRequest, find_conversation, study_page
from annotation.workload import next_conversation, shares
from consilium.pages import wants_fragment


def desk_address(conversation: Conversation, *, side: bool = False, **query: object) -> str:
    """The address of a conversation's desk; ``side``: with the criteria in view on a narrow screen."""
    address = reverse("desk", kwargs={"slug": conversation.study.slug, "conversation_id": conversation.id})
    return address + (f"?{urlencode(query)}" if query else "") + ("#work" if side else "")


def criterion_form(desk: Desk, sheet: Sheet | None = None, data: Any = None, **initial: Any) -> CriterionForm:
    """The form for a new criterion, or for a revision of ``sheet``."""
    facts = criterion_facts(sheet.revision) if sheet else {}
    if sheet and not sheet.shows_points:
        # a reviewer who may revise without having seen the author's weight gives the own
        facts |= {"weight": None, "points": None}
    return CriterionForm(
        data,
        study=desk.study,
        turns=len(desk.conversation.messages),
        initial=facts | initial,
        auto_id=f"criterion-{sheet.id if sheet else 'new'}-%s",
    )


def vote_forms(desk: Desk) -> dict[str, Any]:
    """The forms of the criterion under decision, with what the person said in this round."""
    sheet = desk.at
    if desk.mode != "voting" or sheet is None or not sheet.votes_here:
        return {}
    vote = sheet.vote
    seen = {"seen": sheet.revision.id}
    given = sheet.given if sheet.given is not None else sheet.preset
    wording = vote.better_wording if vote and vote.better_wording else sheet.revision.text
    objected = {"category": vote.category, "reason": vote.reason} if vote and vote.category else {}
    return {
        "vote_form": VoteForm(initial=seen | {"points": sheet.between}, auto_id="vote-%s"),
        "wording_form": WordingForm(initial=seen | {"points": given, "better_wording": wording}, auto_id="wording-%s"),
        "objection_form": ObjectionForm(initial=seen | objected, auto_id="objection-%s"),
    }


def desk_context(desk: Desk, **shown: Any) -> dict[str, Any]:
    """What the desk's templates take; ``shown`` replaces forms by those that came back with something missing."""
    context: dict[str, Any] = {"desk": desk, "conversation": desk.conversation, **vote_forms(desk)}
    if desk.mode in {"drafting", "discussion"}:
        context["new_form"] = criterion_form(desk)
    if desk.assignment is not None and desk.at is None:
        context["next_conversation"] = next_conversation(desk.reader, desk.study, after=desk.conversation)
    return context | shown


def open_desk(request: StudyRequest, conversation: Conversation) -> Desk:
    return lay_out(reader=request.user, study=request.study, conversation=conversation)


def answer_desk(request: HttpRequest, desk: Desk, *, status: int = HTTPStatus.OK, **shown: Any) -> HttpResponse:
    """The desk as it stands: its changing side for htmx, else the whole page."""
    context = desk_context(desk, **shown)
    if wants_fragment(request):
        return render(request, "annotation/_desk_side.html", context, status=status)
    assert isinstance(request.user, User)
    context["share"] = shares(request.user, [desk.study]).get(desk.study.id)
    return render(request, "annotation/desk.html", context, status=status)


def after_act(request: StudyRequest, conversation: Conversation, *, said: str = "", **query: object) -> HttpResponse:
    """The answer to an act: the side as it is now for htmx, else a redirect to the desk.

    ``query``: ``criterion`` to lie on the desk, or ``after`` to go on from. ``said`` is told to a listener.
    """
    if not wants_fragment(request):
        return HttpResponseRedirect(desk_address(conversation, side=True, **query), status=HTTPStatus.SEE_OTHER)
    desk = open_desk(request, conversation)
    turn_to(desk, {key: str(value) for key, value in query.items()})
    return answer_desk(request, desk, said=said)


def turn_to(desk: Desk, query: Any) -> None:
    """Lay on the desk what an address asks for; while a round is open, else the next one without a vote."""
    if desk.mode == "voting":
        desk.turn_to(as_uuid(query.get("criterion")), after=as_uuid(query.get("after")))
    else:
        desk.at = desk.sheet(as_uuid(query.get("criterion")))


def as_uuid(value: str | None) -> UUID | None:
    try:
        return UUID(value) if value else None
    except ValueError:
        return None


@study_page()
def show_desk(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation with its criteria, as the person may see them now."""
    desk = open_desk(request, find_conversation(request.user, request.study, conversation_id))
    turn_to(desk, request.GET)
    return answer_desk(request, desk)


@study_page()
def show_rounds(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """The revealed rounds of a conversation, the last one first."""
    desk = open_desk(request, find_conversation(request.user, request.study, conversation_id))
    rounds = [
        (
            this,
            [(sheet, tally) for sheet in desk.sheets for tally in sheet.tallies if tally.outcome.round_id == this.id],
        )
        for this in reversed(desk.revealed)
    ]
    return render(
        request, "annotation/rounds.html", {"desk": desk, "conversation": desk.conversation, "rounds": rounds}
    )


@study_page(Role.CLINICIAN)
def recuse(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Leave a conversation, without a reason, after a page that says what it means."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    conversation.study = request.study
    if request.method == "POST":
        recuse_from_conversation(conversation=conversation, by=request.user)
        address = reverse("study_conversations", kwargs={"slug": request.study.slug})
        return HttpResponseRedirect(f"{address}?recused=1", status=HTTPStatus.SEE_OTHER)
    return render(request, "annotation/recuse.html", {"conversation": conversation})
