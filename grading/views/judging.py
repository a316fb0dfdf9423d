"""Judging by hand: the conversation and one response beside the criteria, one key a verdict.

Shown are the conversation, the response and the criteria; never who wrote the response, its points' worth to a score,
what a grader said or what colleagues judged.
"""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from consilium.pages import redirect_or_fragment, respond_with_fragment
from grading.forms import VerdictForm
from grading.judging import (
    ToJudge,
    find_to_judge,
    give_verdict,
    judging_progress,
    next_to_judge,
    responses_to_judge,
)
from grading.models import Response, ReviewerVerdict
from rubrics.models import RubricVersion


@study_page(Role.CLINICIAN)
def judging(request: StudyRequest) -> HttpResponse:
    """The versions whose responses can be judged, with what is left."""
    rows = []
    for version in RubricVersion.objects.filter(study=request.study, withdrawal=None).order_by("kind", "-number"):
        done, pairs = judging_progress(version, request.user)
        if pairs:
            rows.append((version, done, pairs))
    return render(request, "grading/judging.html", {"rows": rows})


def find_version(request: StudyRequest, version: str) -> RubricVersion:
    """A version by its number or name."""
    versions = RubricVersion.objects.filter(study=request.study)
    found = versions.filter(number=int(version)) if version.isdigit() else versions.filter(name__iexact=version)
    one = found.first()
    if one is None:
        raise Http404("The study has no such version.")
    return one


@study_page(Role.CLINICIAN)
def go_on(request: StudyRequest, version: str) -> HttpResponse:
    """The next response with something left to judge."""
    found = find_version(request, version)
    response = next_to_judge(found, request.user)
    if response is None:
        return redirect("study_judging", slug=request.study.slug)
    return redirect("judge", slug=request.study.slug, version=found.address, response_id=response.id)


@study_page(Role.CLINICIAN)
def judge(request: StudyRequest, version: str, response_id: UUID) -> HttpResponse:
    """One response to judge; POST gives a verdict on one criterion and shows the next."""
    found = find_version(request, version)
    response = responses_to_judge(found).filter(pk=response_id).first()
    if response is None:
        raise Http404("There is no such response to judge.")
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
                slug=request.study.slug,
                version=found.address,
                response_id=response.id,
            )
        status = 422
    context = _context(request, found, response, chosen=request.GET.get("criterion"))
    return respond_with_fragment(request, "grading/judge.html", "grading/_judging.html", context, status=status)


def _judge(request: StudyRequest, version: RubricVersion, response: Response, form: VerdictForm) -> UUID:
    criterion = (
        version.criteria.select_related("frozen_conversation", "version__study")
        .filter(pk=form.cleaned_data["criterion"])
        .first()
    )
    if criterion is None:
        raise Http404("This version has no such criterion.")
    give_verdict(
        response=response,
        criterion=criterion,
        reviewer=request.user,
        verdict=ReviewerVerdict.Verdict(form.cleaned_data["verdict"]),
        comment=form.cleaned_data["comment"],
    )
    return criterion.id


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
    return {
        "version": version,
        "response": response,
        "conversation": response.conversation,
        "this": this,
        "current": current,
        "current_number": criteria.index(current) + 1 if current else None,
        "current_verdict": this.verdicts.get(current.wording_id) if current else None,
        "criteria": [(each, this.verdicts.get(each.wording_id)) for each in criteria],
        "choices": [("1", "met", "Met"), ("2", "not_met", "Not met"), ("3", "cannot_tell", "Can't tell")],
        "done": done,
        "pairs": pairs,
    }
