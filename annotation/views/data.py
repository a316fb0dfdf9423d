"""The study's data as files: the page that says what each holds, and the files themselves."""

from typing import cast

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.raw_data import RAW_TABLES, RawFormat, download_of


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def show_data(request: StudyRequest) -> HttpResponse:
    return render(request, "annotation/data.html", {"tables": list(RAW_TABLES.values()), "formats": list(RawFormat)})


@require_GET
@study_page(Role.ADMIN, Role.RESEARCHER)
def download(request: StudyRequest, kind: str, format: str) -> HttpResponse:
    """One table as a file; a refusal is a page."""
    answer = download_of(request.study, kind=kind, format=format, reader=request.user)
    return cast("HttpResponse", answer)  # a file's answer is one in all but its type
