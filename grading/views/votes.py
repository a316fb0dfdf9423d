"""Agreement among clinicians on their blind votes, and one clinician's own votes beside the others'."""

from django.http import HttpResponse
from django.shortcuts import render

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from grading.own_votes import report_own_votes
from grading.vote_agreement import When, report_votes
from grading.vote_words import (
    axes_table,
    categories_table,
    imported_sentence,
    open_sentence,
    own_open_sentence,
    own_table,
    rounds_table,
    sentences,
)


@study_page(Role.ADMIN, Role.RESEARCHER)
def agreement(request: StudyRequest) -> HttpResponse:
    """How far the clinicians agree on their votes, of revealed rounds alone, and never of fewer than five people."""
    report = report_votes(request.study)
    first = report.figures[When.FIRST]
    rounds = [When.FIRST, When.LAST] if report.voted_again else [When.FIRST]
    context = {
        "report": report,
        "sentences": sentences(report),
        "open": open_sentence(report.open_conversations),
        "imported": imported_sentence(first) if first else "",
        "first": first,
        "rounds": rounds_table(report),
        "axes": [axes_table(report, when) for when in rounds],
        "categories": categories_table(report),
    }
    return render(request, "grading/vote_agreement.html", context)


@study_page(Role.CLINICIAN)
def own(request: StudyRequest) -> HttpResponse:
    """A clinician's own votes beside the others': nobody else can open it."""
    report = report_own_votes(request.study, request.user)
    context = {"report": report, "open": own_open_sentence(report.open_conversations), "own": own_table(report)}
    return render(request, "grading/own_votes.html", context)
