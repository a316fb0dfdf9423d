"""Files that are brought: checked first, which writes nothing, then taken in. An admin's are conversations, criteria
and votes; the app above brings its own kinds through ``bring_file``.

What a file did is told once, on the page after it; its warnings wait in the person's session until then.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
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


@dataclass(frozen=True, slots=True)
class FilePages:
    """Where kinds of files are brought: the names of the page's address, the example's, and the page's above it."""

    page: str
    example: str
    above: str
    above_words: str | Promise


IMPORTS = FilePages("study_import", "study_import_example", "study_imports", "Imports")


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def take_in(request: StudyRequest, kind: str) -> HttpResponse:
    """Bring a file of conversations, criteria or votes."""
    return bring_file(request, find_upload(UPLOADS, kind), FILE_FORMS[kind], IMPORTS)


@require_GET
@study_page(Role.ADMIN)
def show_example(request: StudyRequest, kind: str) -> HttpResponse:
    return answer_example(find_upload(UPLOADS, kind))


def find_upload(uploads: Mapping[str, Upload], kind: str) -> Upload:
    upload = uploads.get(kind)
    if upload is None:
        raise Http404("There is no such kind of file.")
    return upload


def answer_example(upload: Upload) -> HttpResponse:
    """The example of a kind of file, to be saved and filled in."""
    ending, content = upload.shape.example_file()
    answer = HttpResponse(content, content_type="text/csv" if ending == "csv" else "application/jsonl")
    answer.headers["Content-Disposition"] = f'attachment; filename="example-{upload.kind.value}.{ending}"'
    return answer


def bring_file(request: StudyRequest, upload: Upload, form_class: type[FileForm], pages: FilePages) -> HttpResponse:
    """GET: the form. POST with ``act=check``: the report, nothing written; else the file is taken in, whole."""
    if request.method != "POST":
        return _answer(request, upload, form_class(), pages, **_told(request, upload))
    is_check = request.POST.get("act") == "check"
    form = form_class(request.POST, request.FILES)
    if not form.is_valid():
        return _answer(request, upload, form, pages, status=HTTPStatus.UNPROCESSABLE_ENTITY)
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
        return _answer(request, upload, form, pages, status=HTTPStatus.CONFLICT, refusal=refusal.sentence)
    shown = {"report": shown_report(report), "is_check": is_check, "file_name": form.cleaned_data["file"].name}
    if report.errors:
        return _answer(request, upload, form, pages, status=HTTPStatus.UNPROCESSABLE_ENTITY, **shown)
    if is_check or wants_fragment(request):
        return _answer(request, upload, form, pages, **shown)
    request.session[_key(request, upload)] = shown
    return redirect(pages.page, slug=request.study.slug, kind=upload.kind.value)


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
    request: StudyRequest,
    upload: Upload,
    form: FileForm,
    pages: FilePages,
    *,
    status: int = HTTPStatus.OK,
    **shown: Any,
) -> HttpResponse:
    slug = {"slug": request.study.slug}
    kind = {**slug, "kind": upload.kind.value}
    context = {
        "upload": upload,
        "form": form,
        "import_url": reverse(pages.page, kwargs=kind),
        "example_url": reverse(pages.example, kwargs=kind),
        "crumbs": [
            (request.study.name, reverse("study", kwargs=slug)),
            (pages.above_words, reverse(pages.above, kwargs=slug)),
            (upload.words, ""),
        ],
        **shown,
    }
    # A form that lacks something comes back whole, so that its fields say what; a report stands beside it alone.
    name = "rubrics/_report.html" if wants_fragment(request) else "rubrics/import.html"
    return render(request, name, context, status=status)
