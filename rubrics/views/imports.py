"""Files that an admin brings: conversations, criteria, votes; checked first, which writes nothing, then taken in.

What a file did is told once, on the page after it; its warnings wait in the admin's session until then.
"""

from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.importing.report import Report
from annotation.models import FileImport, Role
from annotation.permissions import StudyRequest, study_page
from consilium.errors import RuleViolation
from consilium.pages import wants_fragment
from rubrics.forms import FILE_FORMS, FileForm
from rubrics.uploading import UPLOADS, Upload, take_file_in

IMPORTS_A_PAGE = 50
SHOWN_FINDINGS = 500
"""So many errors and warnings are shown, the others are counted."""


@require_GET
@study_page(Role.ADMIN)
def list_imports(request: StudyRequest) -> HttpResponse:
    """What can be taken in, and every file that was, the newest first."""
    rows = FileImport.objects.filter(study=request.study).select_related("imported_by").order_by("-imported_at")
    page = Paginator(rows, IMPORTS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "rubrics/imports.html", {"page": page, "uploads": list(UPLOADS.values())})


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def take_in(request: StudyRequest, kind: str) -> HttpResponse:
    """GET: the form. POST with ``act=check``: the report, nothing written; else the file is taken in, whole."""
    upload = UPLOADS.get(kind)
    if upload is None:
        raise Http404("There is no such kind of file.")
    if request.method != "POST":
        return _answer(request, upload, FILE_FORMS[kind](), **_told(request, upload))
    is_check = request.POST.get("act") == "check"
    form = FILE_FORMS[kind](request.POST, request.FILES)
    if not form.is_valid():
        return _answer(request, upload, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        report = take_file_in(
            upload,
            study=request.study,
            file=form.cleaned_data["file"],
            by=request.user,
            check=is_check,
            given=form.cleaned_data,
        )
    except RuleViolation as refusal:
        return _answer(request, upload, form, status=HTTPStatus.CONFLICT, refusal=refusal.sentence)
    shown = {"report": shown_report(report), "is_check": is_check, "file_name": form.cleaned_data["file"].name}
    if report.errors:
        return _answer(request, upload, form, status=HTTPStatus.UNPROCESSABLE_ENTITY, **shown)
    if is_check or wants_fragment(request):
        return _answer(request, upload, form, **shown)
    request.session[_key(request, upload)] = shown
    return redirect("study_import", slug=request.study.slug, kind=kind)


def _key(request: StudyRequest, upload: Upload) -> str:
    return f"taken_in:{request.study.id}:{upload.kind.value}"


def _told(request: StudyRequest, upload: Upload) -> dict[str, Any]:
    """What the last file did, told once."""
    told: dict[str, Any] = request.session.pop(_key(request, upload), {})
    return told


def shown_report(report: Report) -> dict[str, Any]:
    """A report as the page shows it: counts, and the first findings with how many there are."""
    plain = report.as_plain()
    return {
        **plain,
        "errors": plain["errors"][:SHOWN_FINDINGS],
        "errors_count": len(plain["errors"]),
        "warnings": plain["warnings"][:SHOWN_FINDINGS],
        "warnings_count": len(plain["warnings"]),
    }


def _answer(
    request: StudyRequest, upload: Upload, form: FileForm, *, status: int = HTTPStatus.OK, **shown: Any
) -> HttpResponse:
    slug = {"slug": request.study.slug}
    context = {
        "upload": upload,
        "form": form,
        "crumbs": [
            (request.study.name, reverse("study", kwargs=slug)),
            ("Imports", reverse("study_imports", kwargs=slug)),
            (upload.words, ""),
        ],
        **shown,
    }
    # A form that lacks something comes back whole, so that its fields say what; a report stands beside it alone.
    name = "rubrics/_report.html" if wants_fragment(request) else "rubrics/import.html"
    return render(request, name, context, status=status)
