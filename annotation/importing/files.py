"""The file of an import: opened, known to be the one that was checked, and recorded with its digest."""

from pathlib import Path
from typing import BinaryIO

from annotation.importing.report import Report
from annotation.importing.rows import Columns
from annotation.models import FileImport, Study, User
from consilium.errors import RuleViolation
from consilium.tables import Table, open_table


class FileCantBeRead(RuleViolation):
    """The file {name} can't be read: {why}."""


class FileWasChanged(RuleViolation):
    """The file was changed while it was being imported. Nothing was written; start again."""


def open_file(source: Path | BinaryIO, *, columns: Columns) -> Table:
    """Open a file of rows. Raises FileCantBeRead where the machine can't read it at all."""
    try:
        return open_table(source, known_columns=columns.known)
    except OSError as error:
        raise FileCantBeRead(name=str(source), why=(error.strerror or str(error)).lower()) from error


def must_be_as_checked(table: Table) -> None:
    """Raise FileWasChanged where the second reading found what the first did not."""
    if table.problems:
        raise FileWasChanged


def record_import(
    *, study: Study, kind: FileImport.Kind, file_name: str, table: Table, report: Report, by: User | None
) -> FileImport:
    """Record that a file was taken in: its name, its digest, how much it made. To be called in the import's act."""
    return FileImport.objects.create(
        study=study,
        kind=kind,
        file_name=Path(file_name).name[-255:],
        sha256=table.sha256,
        created=report.created,
        unchanged=report.unchanged,
        imported_by=by,
    )
