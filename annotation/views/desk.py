"""The desk: a conversation beside its criteria, in the state in which it is, and how every act on it answers.

htmx gets the side that changes, one element; a browser without JavaScript gets a redirect to the page (303), which
says the same.
"""

import json
import re
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import BadRequest
from django.forms import Textarea
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.assigning import recuse_from_conversation
from annotation.desk import Desk, Sheet, lay_out
from annotation.drafting import is_in_discussion
from annotation.forms import (
    CriterionForm,
    KeptForm,
    ObjectionForm,
    SufficiencyForm,
    VoteForm,
    WordingForm,
    criterion_facts,
)
from annotation.merging import offered_pairs
from annotation.models import Conversation, PilotResponse, Role
from annotation.permissions import StudyRequest, find_conversation, study_page
from annotation.states import CriterionState
from annotation.sufficiency import Sufficiency, sufficiency_of
from annotation.trying import how_applied
from annotation.unsent import DRAFT, SUFFICIENCY, TooLongToKeep, keep_unsent, revision_place
from annotation.workload import parts_of
from consilium.pages import wants_fragment

AnyForm = TypeVar("AnyForm", bound=KeptForm)
KEPT_FIELDS = {
    *("text", "weight", "points", "axis", "rationale", "anchors", "against"),
    *("better_wording", "category", "reason", "answer", "missing", "contradicts"),
}
PLACE = re.compile(r"draft|sufficiency|(revise|accept|object|wording|comment)-[0-9a-f-]{36}")


def desk_address(conversation: Conversation, *, side: str = "", **query: object) -> str:
    """The address of a conversation's desk; ``side``: what of the criteria is in view."""
    address = reverse("desk", kwargs={"slug": conversation.study.slug, "conversation_id": conversation.id})
    return address + (f"?{urlencode(query)}" if query else "") + (f"#{side}" if side else "")


def criterion_form(desk: Desk, sheet: Sheet | None = None, data: Any = None, place: str = "") -> CriterionForm:
    """The form for a new criterion, or for a revision of ``sheet``."""
    place = place or (revision_place(sheet.id) if sheet else DRAFT)
    facts = criterion_facts(sheet.revision) if sheet else {}
    if sheet and not sheet.shows_points:
        # a reviewer who may revise without having seen the author's weight gives the own
        facts |= {"weight": None, "points": None}
    form = CriterionForm(
        data,
        study=desk.study,
        turns=len(desk.conversation.messages),
        initial=facts | unsent_values(desk, place),
        auto_id=f"criterion-{sheet.id if sheet else 'new'}-%s",
    )
    return keep_typing(form, desk, place)


def unsent_values(desk: Desk, place: str) -> dict[str, Any]:
    """What the person typed into a form and did not send, as its initial values."""
    kept = desk.unsent.get(place, {})
    return {name: values if name == "anchors" else values[-1] for name, values in kept.items() if values}


def keep_typing(form: AnyForm, desk: Desk, place: str) -> AnyForm:
    """Let the form's texts be kept as they are typed."""
    address = reverse("keep_unsent", kwargs={"slug": desk.study.slug, "conversation_id": desk.conversation.id})
    for field in form.fields.values():
        if isinstance(field.widget, Textarea):
            field.widget.attrs |= {
                "hx-post": address,
                "hx-trigger": "input changed delay:1s",
                "hx-include": "closest form",
                "hx-vals": json.dumps({"place": place}),
                # what is kept while its form is being sent would come after the sending
                "hx-sync": "closest form:abort",
                "hx-target": "next .kept",
                "hx-swap": "innerHTML",
            }
    form.is_kept = place in desk.unsent
    return form


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
    typed_wording, typed_objection = (unsent_values(desk, f"{kind}-{sheet.id}") for kind in ("wording", "object"))
    wording_form = WordingForm(
        initial={"points": given, "better_wording": wording} | typed_wording | seen, auto_id="wording-%s"
    )
    objection_form = ObjectionForm(initial=objected | typed_objection | seen, auto_id="objection-%s")
    return {
        "vote_form": VoteForm(initial=seen | {"points": sheet.between}, auto_id="vote-%s"),
        "wording_form": keep_typing(wording_form, desk, f"wording-{sheet.id}"),
        "objection_form": keep_typing(objection_form, desk, f"object-{sheet.id}"),
        "is_wording_begun": bool(typed_wording) and not sheet.vote,
        "is_objection_begun": bool(typed_objection) and not sheet.vote,
    }


def desk_context(desk: Desk, **shown: Any) -> dict[str, Any]:
    """What the desk's templates take; ``shown`` replaces forms by those that came back with something missing."""
    context: dict[str, Any] = {"desk": desk, "conversation": desk.conversation, **vote_forms(desk)}
    if desk.mode in {"drafting", "discussion"}:
        context |= {"new_form": criterion_form(desk), "pairs": offered_pairs(desk)}
    if desk.revealed and not desk.open_round:
        context["sufficiency"] = asked = asked_of(desk)
        if asked.is_asked:
            context["sufficiency_form"] = sufficiency_form(desk, asked)
    if PilotResponse.objects.filter(conversation=desk.conversation).exists():
        context["has_pilots"] = True
        if desk.revealed and not desk.open_round:
            applied = how_applied([sheet.revision.wording_id for sheet in desk.standing])
            for sheet in desk.standing:
                sheet.applied = applied.get(sheet.revision.wording_id)
    return context | shown


def asked_of(desk: Desk) -> Sufficiency:
    """Whether what is in consensus on the desk is enough, as its reader may read it."""
    held = [sheet.revision.wording_id for sheet in desk.standing if sheet.state == CriterionState.IN_CONSENSUS]
    return sufficiency_of(
        reader=desk.reader,
        conversation=desk.conversation,
        wordings=held,
        is_round_open=desk.open_round is not None,
        is_reviewer=desk.assignment is not None,
    )


def sufficiency_form(desk: Desk, asked: Sufficiency) -> SufficiencyForm:
    """The question's form, with the reader's own answer in it, and what was typed and not sent."""
    own = asked.own
    said = {"missing": own.missing, "contradicts": own.contradicts} if own else {}
    if own and asked.own_is_current:
        said["answer"] = "yes" if own.is_sufficient else "no"
    seen = {"seen": asked.seen}
    form = SufficiencyForm(initial=said | unsent_values(desk, SUFFICIENCY) | seen, auto_id="sufficiency-%s")
    return keep_typing(form, desk, SUFFICIENCY)


def open_desk(request: StudyRequest, conversation: Conversation) -> Desk:
    desk = lay_out(reader=request.user, study=request.study, conversation=conversation)
    if getattr(conversation, "is_locked", False):
        desk.assignment = None  # an admin who reviews it reads it like the others
    return desk


def answer_desk(request: HttpRequest, desk: Desk, *, status: int = HTTPStatus.OK, **shown: Any) -> HttpResponse:
    """The desk as it stands: its changing side for htmx, else the whole page."""
    context = desk_context(desk, **shown)
    is_fragment = wants_fragment(request)
    if desk.at is None or request.method == "POST" or not is_fragment:
        context |= own_part(desk)
    if is_fragment:
        return show_what_is_missing(render(request, "annotation/_desk_side.html", context, status=status))
    return render(request, "annotation/desk.html", context, status=status)


def own_part(desk: Desk) -> dict[str, Any]:
    """How far the reviewer is in the study, and which conversation comes next."""
    if desk.assignment is None:
        return {}
    part = parts_of(desk.reader, [desk.study])[desk.study.id]
    return {"part": part, "next_id": part.next(after=desk.conversation.id)}


def show_what_is_missing(response: HttpResponse) -> HttpResponse:
    """Let htmx bring what is missing into view, where a form comes back; else the top of what it swaps is shown."""
    if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        response["HX-Reswap"] = "outerHTML show:#what-is-missing:top"
    return response


def after_act(
    request: StudyRequest, conversation: Conversation, *, said: str = "", shows: str = "", **query: object
) -> HttpResponse:
    """The answer to an act: the side as it is now for htmx, else a redirect to the desk.

    ``query``: ``criterion`` to lie on the desk, or ``after`` to go on from. ``said`` is shown for a moment and told
    to a listener. ``shows`` is the part to bring into view, where it is not the top or that criterion.
    """
    if not wants_fragment(request):
        is_a_card = "criterion" in query and is_in_discussion(conversation)
        side = f"criterion-{query['criterion']}" if is_a_card else "criteria"
        return HttpResponseRedirect(desk_address(conversation, side=side, **query), status=HTTPStatus.SEE_OTHER)
    desk = open_desk(request, conversation)
    turn_to(desk, {key: str(value) for key, value in query.items()})
    return answer_desk(request, desk, said=said, shows=shows)


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


@require_POST
@study_page(Role.CLINICIAN)
def keep(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Keep what is being typed into one form of the desk, for its writer alone."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    place = request.POST.get("place", "")
    if not PLACE.fullmatch(place):
        raise BadRequest("This form is none of a conversation's.")
    keep_unsent(person=request.user, conversation=conversation, place=place, fields=_typed(request))
    return HttpResponse("Kept as you type, not sent yet.", content_type="text/plain; charset=utf-8")


def _typed(request: StudyRequest) -> dict[str, list[str]]:
    return {name: request.POST.getlist(name) for name in KEPT_FIELDS if name in request.POST}


def keep_refused(request: StudyRequest, conversation: Conversation, place: str) -> None:
    """Keep the whole form that was sent and comes back: it is there after a walk to another page, too."""
    with suppress(TooLongToKeep):  # the form itself says what is too long
        keep_unsent(person=request.user, conversation=conversation, place=place, fields=_typed(request))
