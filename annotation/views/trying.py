"""*Try it*: a criterion beside the pilot responses of its conversation, each with its three buttons."""

from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.desk import find_criterion, find_revision
from annotation.drafting import StaleRevision
from annotation.models import Criterion, PilotMark, PilotResponse
from annotation.permissions import StudyRequest, study_page
from annotation.trying import lay_out_trial, mark_pilot_response
from annotation.views.desk import as_uuid, open_desk, own_part
from consilium.pages import respond_with_fragment, wants_fragment


@require_http_methods(["GET", "HEAD", "POST"])
@study_page()
def try_criterion(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """GET: the responses with the own marks. POST: mark one of them."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    if request.method != "POST":
        return _answer(request, criterion)
    response = find_pilot_response(criterion, as_uuid(request.POST.get("response")))
    seen = find_revision(criterion, as_uuid(request.POST.get("seen")))
    mark = request.POST.get("mark", "")
    if mark not in PilotMark.Mark.values:
        raise BadRequest("A mark is met, not met or can't tell.")
    try:
        mark_pilot_response(
            criterion=criterion, seen=seen, response=response, by=request.user, mark=PilotMark.Mark(mark)
        )
    except StaleRevision as stale:
        return _answer(request, criterion, status=HTTPStatus.CONFLICT, refusal=stale.sentence)
    if wants_fragment(request):
        return _answer(request, criterion, said="Saved.", marked=response.number)
    address = reverse("try_criterion", kwargs={"slug": request.study.slug, "criterion_id": criterion.id})
    return HttpResponseRedirect(f"{address}#response-{response.number}", status=HTTPStatus.SEE_OTHER)


def find_pilot_response(criterion: Criterion, response_id: UUID | None) -> PilotResponse:
    """A pilot response of the criterion's conversation; Http404 else."""
    here = PilotResponse.objects.filter(conversation=criterion.conversation_id)
    found = here.filter(pk=response_id).first() if response_id else None
    if found is None:
        raise Http404("There is no such response here.")
    return found


def _answer(
    request: StudyRequest, criterion: Criterion, *, status: int = HTTPStatus.OK, said: str = "", **shown: object
) -> HttpResponse:
    desk = open_desk(request, criterion.conversation)
    desk.at = sheet = desk.sheet(criterion.id)
    if sheet is None:
        raise Http404("There is no such criterion, or it isn't yours to see.")
    trial = lay_out_trial(reader=request.user, criterion=sheet.criterion)
    context = {"desk": desk, "conversation": desk.conversation, "sheet": sheet, "trial": trial, "said": said, **shown}
    if not wants_fragment(request):
        context |= own_part(desk)
        return render(request, "annotation/trying.html", context, status=status)
    return respond_with_fragment(request, "annotation/trying.html", "annotation/_trying.html", context, status=status)
