"""A version as a file to download, named after its study and number."""

from django.http import FileResponse, Http404

from consilium.downloads import as_download
from rubrics.exporting import ENDINGS, ExportFormat, export_version
from rubrics.models import RubricVersion


def download_of(version: RubricVersion, format: str) -> FileResponse:
    """A version as an attachment. Http404 for no such format; CantBeWritten where a cell can't hold a text."""
    if format not in ExportFormat.values:
        raise Http404("There is no such format.")
    return as_download(
        lambda file: export_version(version=version, format=ExportFormat(format), file=file),
        name=file_name_of(version, format),
    )


def file_name_of(version: RubricVersion, format: str) -> str:
    """How a download is called: consilium-<study>-v<n>.xlsx; the two JSON Lines shapes are told apart by the ending."""
    name = f"v{version.number}" if version.number is not None else version.name
    ending = ENDINGS[format]
    return f"consilium-{version.study.slug}-{name}." + (f"{format}.{ending}" if ending == "jsonl" else ending)
