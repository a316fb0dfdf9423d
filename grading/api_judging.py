"""The REST API of judging by hand: what is left for you, blind, and your verdicts."""

from uuid import UUID

from django.db.models import Q
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from annotation.api_access import ByRandomId, PagedView, StudyView, checked
from annotation.models import FileImport, Role
from grading.api import FILE_SCHEMA, ImportView
from grading.api_shapes import JudgingShape, ToJudgeShape, VerdictInput, VerdictShape
from grading.judging import (
    find_all_to_judge,
    find_to_judge,
    give_verdict,
    judging_progress,
    left_to_judge,
    responses_to_judge,
    versions_to_judge,
)
from grading.models import Response, ReviewerVerdict
from grading.permissions import find_version_to_judge
from rubrics.models import FrozenCriterion, RubricVersion


class Judging(StudyView):
    """The versions whose responses you can judge by hand, with how much of each you have judged."""

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(operation_id="judging_list", responses=JudgingShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        rows = []
        for version in versions_to_judge(self.study).order_by("kind", "-number"):
            judged, pairs = judging_progress(version, self.person)
            if pairs:
                rows.append({"version": version.address, "judged": judged, "pairs": pairs})
        return Answer(JudgingShape(rows, many=True).data)


class ToJudgeList(PagedView):
    """A version's responses with something left for you to judge, each with its conversation and criteria.

    Neither respondents nor grades nor colleagues' verdicts. ``judged=true``: also those that you have judged.
    """

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(
        operation_id="judging_to_judge_list",
        parameters=[OpenApiParameter("judged", OpenApiTypes.BOOL, description="Also those that you have judged.")],
        responses=ToJudgeShape(many=True),
    )
    def get(self, request: Request, slug: str, address: str) -> Answer:
        version = find_version_to_judge(self.study, address)
        with_judged = request.query_params.get("judged", "").lower() in {"true", "1"}
        rows = responses_to_judge(version) if with_judged else left_to_judge(version, self.person)
        paginator = ByRandomId()
        found: list[Response] = paginator.paginate_queryset(rows, request, view=self) or []
        shaped = ToJudgeShape(find_all_to_judge(version, self.person, found), many=True)
        return paginator.get_paginated_response(shaped.data)


class OneToJudge(StudyView):
    """One response to judge, with its conversation and criteria and your own verdicts."""

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(operation_id="judging_to_judge_retrieve", responses=ToJudgeShape)
    def get(self, request: Request, slug: str, address: str, response_id: UUID) -> Answer:
        version = find_version_to_judge(self.study, address)
        response = find_response_to_judge(version, response_id)
        return Answer(ToJudgeShape(find_to_judge(version, self.person, response)).data)


def find_response_to_judge(version: RubricVersion, response_id: UUID) -> Response:
    response = responses_to_judge(version).filter(pk=response_id).first()
    if response is None:
        raise Http404("There is no such response to judge.")
    return response


class Verdicts(PagedView):
    """Your own verdicts. POST gives or changes one; you see neither respondent nor grade."""

    roles_for = {"GET": (Role.CLINICIAN,), "POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="verdicts_list", responses=VerdictShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        rows = ReviewerVerdict.objects.filter(study=self.study, reviewer=self.person).select_related("wording")
        return self.page(rows, VerdictShape)

    @extend_schema(operation_id="verdicts_create", request=VerdictInput, responses={201: VerdictShape})
    def post(self, request: Request, slug: str) -> Answer:
        facts = checked(VerdictInput(data=request.data))
        criterion = self._find_criterion(facts["criterion"], facts["version"])
        given = give_verdict(
            response=find_response_to_judge(criterion.version, facts["response"]),
            criterion=criterion,
            reviewer=self.person,
            verdict=ReviewerVerdict.Verdict(facts["verdict"]),
            comment=facts["comment"],
        )
        return Answer(VerdictShape(given).data, status=status.HTTP_201_CREATED)

    def _find_criterion(self, criterion_id: UUID, address: str) -> FrozenCriterion:
        """A criterion of a version by its own id or the version's; without a version by the latter alone."""
        criteria = FrozenCriterion.objects.select_related("frozen_conversation", "version__study")
        if address:
            version = find_version_to_judge(self.study, address)
            found = criteria.filter(Q(pk=criterion_id) | Q(criterion=criterion_id), version=version).first()
        else:
            found = criteria.filter(pk=criterion_id, version__in=versions_to_judge(self.study)).first()
        if found is None:
            raise Http404("There is no such criterion to judge by. A criterion's own id comes with its version.")
        return found


class VerdictsImport(ImportView):
    """POST takes a file of reviewer verdicts given elsewhere in, whole; with ``check`` it writes nothing."""

    kind = FileImport.Kind.VERDICTS

    @extend_schema(operation_id="verdicts_import", **FILE_SCHEMA)
    def post(self, request: Request, slug: str) -> Answer:
        return self.take_in(request)
