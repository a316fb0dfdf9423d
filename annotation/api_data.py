"""The REST API of the study's data as files: for admins and researchers."""

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from annotation.api_access import StudyView
from annotation.models import Role
from annotation.raw_data import RAW_TABLES, RawFormat, file_name_of, write_raw_table
from consilium.downloads import as_download


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
        if kind not in RAW_TABLES or file_format not in RawFormat.values:
            raise Http404("There is no such file.")
        return as_download(
            lambda file: write_raw_table(
                study=self.study, kind=kind, format=RawFormat(file_format), file=file, reader=self.person
            ),
            name=file_name_of(self.study, kind, file_format),
        )
