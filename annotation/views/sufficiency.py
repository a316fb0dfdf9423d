"""The sufficiency question on the desk: a reviewer says whether all that is in consensus is enough."""

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from annotation.forms import SufficiencyForm
from annotation.models import Role
from annotation.permissions import StudyRequest, find_conversation, study_page
from annotation.sufficiency import SomethingElseIsInConsensus, answer_sufficiency
from annotation.unsent import SUFFICIENCY, sent_sufficiency
from annotation.views.desk import after_act, answer_desk, asked_of, keep_refused, keep_typing, open_desk


@require_POST
@study_page(Role.CLINICIAN)
def answer(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Say whether a response that meets all of it would be safe and good."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    conversation.study = request.study
    form = SufficiencyForm(request.POST, auto_id="sufficiency-%s")
    if not form.is_valid():
        keep_refused(request, conversation, SUFFICIENCY)
        desk = open_desk(request, conversation)
        form = keep_typing(form, desk, SUFFICIENCY)
        return answer_desk(request, desk, status=HTTPStatus.UNPROCESSABLE_ENTITY, sufficiency_form=form)
    said = form.cleaned_data
    try:
        answer_sufficiency(
            conversation=conversation,
            by=request.user,
            seen=said["seen"],
            is_sufficient=said["answer"] == "yes",
            missing=said["missing"],
            contradicts=said["contradicts"],
        )
    except SomethingElseIsInConsensus as refusal:
        return _show_what_changed(request, conversation_id, refusal)
    sent_sufficiency(reviewer=request.user, conversation=conversation)
    return after_act(request, conversation, said="Your answer is there.", shows="sufficiency")


def _show_what_changed(
    request: StudyRequest, conversation_id: UUID, refusal: SomethingElseIsInConsensus
) -> HttpResponse:
    """What is in consensus by now, above the answer that was written, which is kept in the form."""
    conversation = find_conversation(request.user, request.study, conversation_id)
    keep_refused(request, conversation, SUFFICIENCY)
    desk = open_desk(request, conversation)
    kept = request.POST.copy()
    kept["seen"] = asked_of(desk).seen
    form = keep_typing(SufficiencyForm(kept, auto_id="sufficiency-%s"), desk, SUFFICIENCY)
    return answer_desk(
        request, desk, status=HTTPStatus.CONFLICT, sufficiency_form=form, sufficiency_refusal=refusal.sentence
    )
