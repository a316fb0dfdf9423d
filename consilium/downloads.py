"""A file to download: made whole before the first byte is sent, so that a refusal is a page and not half a file."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from typing import BinaryIO

from django.http import FileResponse

from consilium.errors import RuleViolation
from consilium.tables import Unwritable

CONTENT_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
"""By how the file's name ends."""


class CantBeWritten(RuleViolation):
    """It can't be written in this format: {why}"""


class FileCantBeWritten(RuleViolation):
    """{file} can't be written: {why}."""


class TooLargeForAWorkbook(RuleViolation):
    """It has more rows than a sheet of a workbook holds. Take another format."""


def as_download(write: Callable[[BinaryIO], object], *, name: str) -> FileResponse:
    """What ``write`` writes to an open file, as an attachment of this name.

    Raises CantBeWritten where a cell can't hold a value, and what ``write`` raises.
    """
    with ExitStack() as closing:
        file = closing.enter_context(tempfile.TemporaryFile())
        try:
            write(file)
        except Unwritable as misfit:
            raise CantBeWritten(why=str(misfit)) from misfit
        file.seek(0)
        closing.pop_all()  # the answer closes it, once it is sent
    return FileResponse(file, as_attachment=True, filename=name, content_type=CONTENT_TYPES[name.rsplit(".", 1)[1]])
