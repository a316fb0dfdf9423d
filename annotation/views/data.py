"""The study's data as files: the page that says what each holds, and the files themselves."""

from typing import cast

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.raw_data import RAW_TABLES, RawFormat, file_name_of, write_raw_table
from consilium.downloads import as_download


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def show_data(request: StudyRequest) -> HttpResponse:
    return render(request, "annotation/data.html", {"tables": list(RAW_TABLES.values()), "formats": list(RawFormat)})


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def download(request: StudyRequest, kind: str, format: str) -> HttpResponse:
    """One table as a file; a refusal is a page."""
    if kind not in RAW_TABLES or format not in RawFormat.values:
        raise Http404("There is no such file.")
    answer = as_download(
        lambda file: write_raw_table(
            study=request.study, kind=kind, format=RawFormat(format), file=file, reader=request.user
        ),
        name=file_name_of(request.study, kind, format),
    )
    return cast("HttpResponse", answer)  # a file's answer is one in all but its type
