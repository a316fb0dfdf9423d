"""Why is this criterion in version n, or not: one page from its draft to each freeze, for whoever may read it."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.desk import find_criterion
from annotation.models import Criterion
from annotation.permissions import StudyRequest, study_page
from rubrics.explaining import Standing, explain
from rubrics.models import FrozenCriterion, FrozenLeftOut, RubricVersion
from rubrics.permissions import find_version_of
from rubrics.views.versions import name_of, way_to


def standings_of(criterion: Criterion) -> list[Standing]:
    """Where a criterion stands in each of its study's own versions, the newest first. Three queries."""
    versions = RubricVersion.objects.consensus().filter(study=criterion.study_id).order_by("-number")
    frozen = {this.version_id: this for this in FrozenCriterion.objects.filter(criterion=criterion)}
    left_out = {this.version_id: this for this in FrozenLeftOut.objects.filter(criterion=criterion)}
    return [_standing(version, frozen.get(version.id), left_out.get(version.id)) for version in versions]


def _standing(version: RubricVersion, frozen: FrozenCriterion | None, left_out: FrozenLeftOut | None) -> Standing:
    if frozen is not None:
        return Standing(True, frozen.sentence, version, frozen)
    if left_out is not None:
        return Standing(False, left_out.reason, version, is_acknowledged=left_out.is_acknowledged)
    return Standing(False, "It was written after this version was frozen.", version)


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
        "versions": [] if criterion.external_name else standings_of(criterion),
        "question": f"Why is it{' ' if told.standing.is_in else ' not '}in {name_of(version).lower()}?"
        if version
        else f"Would the next version{' ' if told.standing.is_in else ' not '}take it?",
        "crumbs": way_to(request.study, (criterion.external_id, "")),
    }
    return render(request, "rubrics/why.html", context)
