"""Judging by hand: the conversation and one response beside the criteria, one key a verdict.

Shown are the conversation, the response and the criteria; never who wrote the response, its points' worth to a score,
what a grader said or what colleagues judged.
"""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from annotation.care_locks import refuse_if_locked
from annotation.joining import must_consent
from annotation.matching import reads
from annotation.models import Role
from annotation.permissions import StudyRequest, has_role, study_page
from annotation.views.desk import as_uuid
from consilium.pages import redirect_or_fragment, respond_with_fragment, wants_fragment
from grading.forms import VerdictForm
from grading.judging import (
    ToJudge,
    find_all_to_judge,
    find_to_judge,
    give_verdict,
    judging_progress,
    next_to_judge,
    own_languages_first,
    responses_to_judge,
    shared_wordings,
    take_back_verdict,
    versions_to_judge,
    waiting_to_judge,
)
from grading.models import Response, ReviewerVerdict
from grading.permissions import find_version_to_judge
from rubrics.models import FrozenCriterion, RubricVersion

RESPONSES_A_PAGE = 50


@study_page(Role.CLINICIAN)
def judging(request: StudyRequest) -> HttpResponse:
    """The versions whose responses can be judged, with what is left, and the responses of one of them."""
    versions = []
    for version in versions_to_judge(request.study).order_by("kind", "-number"):
        done, pairs = judging_progress(version, request.user)
        if pairs:
            versions.append((version, done, pairs))
    shared = shared_wordings([version for version, _, _ in versions])
    context: dict[str, object] = {"rows": [(*row, shared[row[0].id]) for row in versions]}
    if versions:
        wanted = request.GET.get("version")
        chosen = next((version for version, _, _ in versions if version.address == wanted), versions[0][0])
        page = Paginator(own_languages_first(responses_to_judge(chosen), request.user), RESPONSES_A_PAGE).get_page(
            request.GET.get("page")
        )
        context |= {"chosen": chosen, "page": page, "responses": _rows(request, chosen, list(page))}
    return render(request, "grading/judging.html", context)


def _rows(
    request: StudyRequest, version: RubricVersion, responses: Sequence[Response]
) -> list[tuple[ToJudge, int, int, bool]]:
    """(response with what is judged, its number, of how many of its conversation, whether the person reads it)."""
    siblings: dict[UUID, list[UUID]] = defaultdict(list)
    conversations = {response.conversation_id for response in responses}
    for conversation_id, response_id in (
        responses_to_judge(version)
        .filter(conversation__in=conversations)
        .order_by("id")
        .values_list("conversation_id", "id")
    ):
        siblings[conversation_id].append(response_id)
    rows = []
    for this in find_all_to_judge(version, request.user, responses):
        among = siblings[this.response.conversation_id]
        is_read = reads(request.user, this.response.conversation.language)
        rows.append((this, among.index(this.response.id) + 1, len(among), is_read))
    return rows


@study_page(consent=False)
def waiting(request: StudyRequest) -> HttpResponse:
    """A fragment for pages of lower apps: how many responses wait for a clinician's judgement; 204 for none."""
    if not wants_fragment(request):
        return redirect("study_judging", slug=request.study.slug)
    is_asked = has_role(request.membership, Role.CLINICIAN) and not must_consent(request.study, request.user)
    number = waiting_to_judge(request.study, request.user) if is_asked else 0
    if not number:
        return HttpResponse(status=204)
    return render(request, "grading/_waiting_to_judge.html", {"number": number})


@study_page(Role.CLINICIAN)
def go_on(request: StudyRequest, version: str) -> HttpResponse:
    """The next response with something left to judge; ``after``: the one that is left for later."""
    found = find_version_to_judge(request.study, version)
    response = next_to_judge(found, request.user, after=as_uuid(request.GET.get("after")))
    if response is None:
        return redirect("study_judging", slug=request.study.slug)
    return redirect("judge", slug=request.study.slug, version=found.address, response_id=response.id)


@study_page(Role.CLINICIAN)
def judge(request: StudyRequest, version: str, response_id: UUID) -> HttpResponse:
    """One response to judge; POST gives a verdict on one criterion and shows the next."""
    found = find_version_to_judge(request.study, version)
    response = responses_to_judge(found).filter(pk=response_id).first()
    if response is None:
        _refuse_if_locked(found, response_id)
        raise Http404(gettext("There is no such response to judge."))
    form = VerdictForm(request.POST or None)
    status = 200
    at: UUID | None = None
    if request.method == "POST":
        if form.is_valid():
            at = _judge(request, found, response, form)
            context = _context(request, found, response, after=at)
            return redirect_or_fragment(
                request,
                "judge",
                "grading/_judging.html",
                context,
                anchor="work",
                slug=request.study.slug,
                version=found.address,
                response_id=response.id,
            )
        status = 422
    context = _context(request, found, response, chosen=request.GET.get("criterion"))
    return respond_with_fragment(request, "grading/judge.html", "grading/_judging.html", context, status=status)


def _judge(request: StudyRequest, version: RubricVersion, response: Response, form: VerdictForm) -> UUID:
    criterion = _find_criterion(version, form.cleaned_data["criterion"])
    give_verdict(
        response=response,
        criterion=criterion,
        reviewer=request.user,
        verdict=ReviewerVerdict.Verdict(form.cleaned_data["verdict"]),
        comment=form.cleaned_data["comment"],
    )
    return criterion.id


@study_page(Role.CLINICIAN)
def take_back(request: StudyRequest, version: str, response_id: UUID) -> HttpResponse:
    """Undo: the verdict on one criterion is taken back, and the criterion is asked about again."""
    found = find_version_to_judge(request.study, version)
    response = responses_to_judge(found).filter(pk=response_id).first()
    if response is None:
        _refuse_if_locked(found, response_id)
        raise Http404(gettext("There is no such response to judge."))
    page = reverse("judge", kwargs={"slug": request.study.slug, "version": found.address, "response_id": response.id})
    if request.method != "POST":
        return redirect(page)
    criterion = _find_criterion(found, as_uuid(request.POST.get("criterion")))
    take_back_verdict(response=response, criterion=criterion, reviewer=request.user)
    if not wants_fragment(request):
        return redirect(f"{page}?criterion={criterion.id}#work")
    context = _context(request, found, response, chosen=str(criterion.id))
    return render(request, "grading/_judging.html", context)


def _refuse_if_locked(version: RubricVersion, response_id: UUID) -> None:
    """Raise ConversationIsLocked where a response is not to be judged only because its conversation is locked."""
    locked = Response.objects.filter(study=version.study_id, pk=response_id).values_list("conversation_id", flat=True)
    for conversation_id in locked:
        refuse_if_locked(conversation_id)


def _find_criterion(version: RubricVersion, criterion_id: UUID | None) -> FrozenCriterion:
    criteria = version.criteria.select_related("frozen_conversation", "version__study")
    found = criteria.filter(pk=criterion_id).first() if criterion_id else None
    if found is None:
        raise Http404(gettext("This version has no such criterion."))
    return found


def _context(
    request: StudyRequest,
    version: RubricVersion,
    response: Response,
    *,
    after: UUID | None = None,
    chosen: str | None = None,
) -> dict[str, object]:
    this: ToJudge = find_to_judge(version, request.user, response)
    criteria = this.criteria
    current = next((each for each in criteria if str(each.id) == chosen), None)
    if current is None:
        # After a verdict the next one that is left, from there on and around.
        start = next((index + 1 for index, each in enumerate(criteria) if each.id == after), 0)
        around = criteria[start:] + criteria[:start]
        current = next((each for each in around if each.wording_id not in this.verdicts), None)
    done, pairs = judging_progress(version, request.user)
    verdict = this.verdicts.get(current.wording_id) if current else None
    return {
        "version": version,
        "response": response,
        "conversation": response.conversation,
        "this": this,
        "current": current,
        "current_number": criteria.index(current) + 1 if current else None,
        "current_verdict": verdict,
        "stands": verdict is not None and verdict.is_blind and not this.is_blind,
        "last_judged": this.last_judged,
        "criteria": [(each, this.verdicts.get(each.wording_id)) for each in criteria],
        "choices": [
            ("1", "met", gettext("Met")),
            ("2", "not_met", gettext("Not met")),
            ("3", "cannot_tell", gettext("Can't tell")),
        ],
        "done": done,
        "pairs": pairs,
    }
