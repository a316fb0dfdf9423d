"""Why is this criterion in version n, or not: one page from its draft to each freeze, for whoever may read it."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.desk import find_criterion
from annotation.permissions import StudyRequest, sees_points, study_page
from rubrics.explaining import explain
from rubrics.permissions import find_version_of
from rubrics.standings import standings_of
from rubrics.views.versions import name_of, way_to


@require_GET
@study_page()
def show_why(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """``?version=`` asks about one version; without it, whether the next freeze would take the criterion."""
    criterion = find_criterion(request.user, request.study, criterion_id)
    address = request.GET.get("version", "")
    version = find_version_of(request.study, address) if address else None
    told = explain(criterion=criterion, version=version, reader=request.user)
    revisions = list(zip([None, *told.revisions], told.revisions, strict=False))
    context = {
        "criterion": criterion,
        "conversation": criterion.conversation,
        "told": told,
        "revisions": revisions,
        "version": version,
        "shows_points": criterion.id in sees_points(request.user, [criterion]),
        "versions": standings_of(criterion),
        "question": f"Why is it{' ' if told.standing.is_in else ' not '}in {name_of(version).lower()}?"
        if version
        else f"Would the next version{' ' if told.standing.is_in else ' not '}take it?",
        "crumbs": way_to(request.study, (criterion.external_id, "")),
    }
    return render(request, "rubrics/why.html", context)
