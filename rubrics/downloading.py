"""A version as a file to download: made whole before the first byte is sent, and named after its study and number."""

import tempfile
from contextlib import ExitStack

from django.http import FileResponse, Http404

from consilium.errors import RuleViolation
from consilium.tables import Unwritable
from rubrics.exporting import ENDINGS, ExportFormat, export_version
from rubrics.models import RubricVersion

CONTENT_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class CantBeWritten(RuleViolation):
    """This version can't be written in this format: {why}"""


def download_of(version: RubricVersion, format: str) -> FileResponse:
    """A version as an attachment. Http404 for no such format; CantBeWritten where a cell can't hold a text."""
    if format not in ExportFormat.values:
        raise Http404("There is no such format.")
    with ExitStack() as closing:
        file = closing.enter_context(tempfile.TemporaryFile())
        try:
            export_version(version=version, format=ExportFormat(format), file=file)
        except Unwritable as misfit:
            raise CantBeWritten(why=str(misfit)) from misfit
        file.seek(0)
        closing.pop_all()  # the answer closes it, once it is sent
    return FileResponse(
        file, as_attachment=True, filename=file_name_of(version, format), content_type=CONTENT_TYPES[ENDINGS[format]]
    )


def file_name_of(version: RubricVersion, format: str) -> str:
    """How a download is called: consilium-<study>-v<n>.xlsx; the two JSON Lines shapes are told apart by the ending."""
    name = f"v{version.number}" if version.number is not None else version.name
    ending = ENDINGS[format]
    return f"consilium-{version.study.slug}-{name}." + (f"{format}.{ending}" if ending == "jsonl" else ending)
