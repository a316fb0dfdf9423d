"""The file of an import: opened, taken in by one act, known to be the one that was checked, recorded by its digest."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from annotation.importing.report import Report
from annotation.importing.rows import Columns
from annotation.locks import hold_study
from annotation.models import FileImport, Study, User
from annotation.rounds import settle_if_due
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


@contextmanager
def one_act(study: Study, *, check: bool) -> Iterator[None]:
    """The transaction of an import: it holds the study alone, so that two of the same file never double a row.

    What is due by its date is settled first. With ``check`` nothing waits for it, and all is rolled back.
    """
    with transaction.atomic():
        if not check:
            hold_study(study.id)
        settle_if_due(study)
        yield
        if check:
            transaction.set_rollback(True)


def must_be_as_checked(table: Table, *, written: int, expected: int) -> None:
    """Raise FileWasChanged where the second reading found other rows than the first."""
    if table.problems or written != expected:
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
