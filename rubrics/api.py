"""The REST API of rubric versions, why a criterion is in or out, and imports: the same acts as the pages."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import ByRandomId, PagedView, StudyView, checked
from annotation.api_shapes import FileInput
from annotation.desk import find_criterion
from annotation.models import FileImport, Role
from rubrics.api_shapes import (
    FileImportShape,
    FreezeInput,
    FrozenConversationShape,
    LeaveOutInput,
    LeftOutShape,
    PreviewShape,
    ReportShape,
    VersionShape,
    WholeVersionShape,
    WhyShape,
    WithdrawInput,
)
from rubrics.downloading import download_of
from rubrics.explaining import explain
from rubrics.freezing import (
    ChangedSinceSeen,
    NotAcknowledged,
    freeze_version,
    mark_of,
    preview_freeze,
    withdraw_version,
)
from rubrics.models import FrozenConversation, FrozenCriterion, FrozenLeftOut, RubricVersion
from rubrics.permissions import find_version_of, hidden_from, to_acknowledge
from rubrics.standings import standings_of
from rubrics.uploading import UPLOADS, take_file_in

OVERSEERS = (Role.ADMIN, Role.RESEARCHER)


class Versions(PagedView):
    """The study's versions, own and external. POST freezes the next own one."""

    roles_for = {"POST": (Role.ADMIN,)}

    @extend_schema(operation_id="versions_list", responses=VersionShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = RubricVersion.objects.filter(study=self.study).select_related("frozen_by", "withdrawal")
        return self.page(rows, VersionShape)

    @extend_schema(operation_id="versions_freeze", request=FreezeInput, responses={201: WholeVersionShape})
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(FreezeInput(data=request.data))
        acknowledged = set(facts["acknowledged"])
        selection = preview_freeze(study=self.study, leave_out=facts["leave_out"]).selection
        if facts["seen"] != mark_of(selection):
            raise ChangedSinceSeen
        hidden = hidden_from(self.person, self.study, [this.criterion.id for this in selection.stays_out])
        asked = to_acknowledge(selection, hidden)
        missing = [this for this in asked if this.criterion.id not in acknowledged]
        if missing:
            raise NotAcknowledged(missing)
        version = freeze_version(
            study=self.study,
            by=self.person,
            note=facts["note"],
            leave_out=facts["leave_out"],
            acknowledged=acknowledged,
            seen=facts["seen"],
        )
        return Response(WholeVersionShape(version).data, status=status.HTTP_201_CREATED)


class FreezePreview(StudyView):
    """What a freeze would do now: what goes in, what stays out and why, what changed since the newest version.

    POST the same with criteria left out by name; nothing is kept. A freeze brings ``seen`` and the same ``leave_out``.
    """

    roles_for = {"GET": (Role.ADMIN,), "POST": (Role.ADMIN,)}

    @extend_schema(operation_id="freeze_preview", responses=PreviewShape)
    def get(self, request: Request, slug: str) -> Response:
        return self._answer({})

    @extend_schema(operation_id="freeze_preview_without", request=LeaveOutInput, responses={200: PreviewShape})
    def post(self, request: Request, slug: str) -> Response:
        return self._answer(checked(LeaveOutInput(data=request.data))["leave_out"])

    def _answer(self, leave_out: dict[UUID, str]) -> Response:
        preview = preview_freeze(study=self.study, leave_out=leave_out)
        selection, newest = preview.selection, preview.newest
        hidden = hidden_from(self.person, self.study, [this.criterion.id for this in selection.stays_out])
        told = {
            "next_version": (newest.number or 0) + 1 if newest else 1,
            "seen": mark_of(selection),
            "goes_in": selection.goes_in,
            "stays_out": selection.stays_out,
            "changes": preview.changes,
            "cautions": preview.cautions,
        }
        context = {"to_acknowledge": {this.criterion.id for this in to_acknowledge(selection, hidden)}}
        return Response(PreviewShape(told, context=context).data)


class VersionView(StudyView):
    """What views of one version share: finding it by its number or name."""

    def find_version(self, address: str) -> RubricVersion:
        return find_version_of(self.study, address)


class OneVersion(VersionView):
    """A version with its digests, its policy in words and its note."""

    @extend_schema(operation_id="versions_retrieve", responses=WholeVersionShape)
    def get(self, request: Request, slug: str, address: str) -> Response:
        return Response(WholeVersionShape(self.find_version(address)).data)


class VersionCriteria(VersionView, PagedView):
    """A version's criteria by conversation."""

    @extend_schema(operation_id="versions_criteria_list", responses=FrozenConversationShape(many=True))
    def get(self, request: Request, slug: str, address: str) -> Response:
        rows = FrozenConversation.objects.filter(version=self.find_version(address))
        paginator = ByRandomId()
        found: list[FrozenConversation] = paginator.paginate_queryset(rows, request, view=self) or []
        criteria: dict[UUID, list[FrozenCriterion]] = defaultdict(list)
        for criterion in FrozenCriterion.objects.filter(frozen_conversation__in=found).order_by("position"):
            criteria[criterion.frozen_conversation_id].append(criterion)
        shaped = FrozenConversationShape(found, many=True, context={"criteria": criteria})
        return paginator.get_paginated_response(shaped.data)


class VersionLeftOut(VersionView, PagedView):
    """What stayed out of a version and why: for admins and researchers."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(operation_id="versions_left_out_list", responses=LeftOutShape(many=True))
    def get(self, request: Request, slug: str, address: str) -> Response:
        rows = FrozenLeftOut.objects.filter(version=self.find_version(address)).select_related("criterion")
        paginator = ByRandomId()
        found: list[FrozenLeftOut] = paginator.paginate_queryset(rows, request, view=self) or []
        hidden = hidden_from(self.person, self.study, [row.criterion_id for row in found])
        return paginator.get_paginated_response(LeftOutShape(found, many=True, context={"hidden": hidden}).data)


class VersionFile(VersionView):
    """A version as a file, the same bytes whenever it is made again: for admins and researchers."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(
        operation_id="versions_file",
        parameters=[
            OpenApiParameter(
                "file_format",
                OpenApiTypes.STR,
                OpenApiParameter.PATH,
                enum=["healthbench", "mentalhealthbench", "csv", "xlsx"],
            )
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, address: str, file_format: str) -> FileResponse:
        return download_of(self.find_version(address), file_format)


class Withdrawal(VersionView):
    """POST marks a version withdrawn, with a reason; the version itself stays as it was."""

    roles_for = {"POST": (Role.ADMIN,)}

    @extend_schema(operation_id="versions_withdraw", request=WithdrawInput, responses=WholeVersionShape)
    def post(self, request: Request, slug: str, address: str) -> Response:
        version = self.find_version(address)
        facts = checked(WithdrawInput(data=request.data))
        withdraw_version(version=version, by=self.person, reason=facts["reason"])
        return Response(WholeVersionShape(self.find_version(address)).data)


class Why(StudyView):
    """Why a criterion is in a version, or not; without ``version``, whether the next freeze would take it."""

    @extend_schema(
        operation_id="criteria_why",
        parameters=[OpenApiParameter("version", OpenApiTypes.STR, description="The number or name of a version.")],
        responses=WhyShape,
    )
    def get(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = find_criterion(self.person, self.study, criterion_id)
        address = request.query_params.get("version", "")
        version = find_version_of(self.study, address) if address else None
        told = explain(criterion=criterion, version=version, reader=self.person)
        facts = {
            "state": told.state,
            "standing": told.standing,
            "versions": standings_of(criterion),
            "revisions": told.revisions,
            "rounds": told.rounds,
        }
        return Response(WhyShape(facts).data)


class ImportsList(PagedView):
    """Every file that was taken in: what it was, its digest, by whom and when."""

    roles_for = {"GET": (Role.ADMIN,)}

    @extend_schema(operation_id="imports_list", responses=FileImportShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.page(FileImport.objects.filter(study=self.study).select_related("imported_by"), FileImportShape)


class Imports(StudyView):
    """POST takes a file of conversations, criteria, votes or people in, whole; with ``check`` it writes nothing."""

    roles_for = {"POST": (Role.ADMIN,)}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="imports_create",
        parameters=[OpenApiParameter("kind", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(UPLOADS))],
        request={"multipart/form-data": FileInput},
        responses={200: ReportShape, 422: ReportShape},
    )
    def post(self, request: Request, slug: str, kind: str) -> Response:
        upload = UPLOADS.get(kind)
        if upload is None:
            raise Http404("There is no such kind of file.")
        given: dict[str, Any] = checked(FileInput(data=request.data))
        report = take_file_in(
            upload, study=self.study, file=given["file"], by=self.person, check=given["check"], given=given
        )
        code = status.HTTP_422_UNPROCESSABLE_ENTITY if report.errors else status.HTTP_200_OK
        return Response(report.as_plain(), status=code)
