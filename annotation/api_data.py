"""The REST API of the study's data as files: for admins and researchers."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from annotation.api_access import StudyView
from annotation.models import Role
from annotation.raw_data import RAW_TABLES, RawFormat, download_of


class DataFile(StudyView):
    """One table of the study's data: criteria, votes after their reveal, rounds, or the discussion."""

    roles_for = {"GET": (Role.ADMIN, Role.RESEARCHER)}

    @extend_schema(
        operation_id="data_file",
        parameters=[
            OpenApiParameter("kind", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(RAW_TABLES)),
            OpenApiParameter("file_format", OpenApiTypes.STR, OpenApiParameter.PATH, enum=RawFormat.values),
        ],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, kind: str, file_format: str) -> FileResponse:
        return download_of(self.study, kind=kind, format=file_format, reader=self.person)
