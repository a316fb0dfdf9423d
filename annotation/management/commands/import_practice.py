"""Import practice examples from a file: by which a study's clinicians try its guidelines out."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.practice import import_practice
from annotation.importing.report import Report
from annotation.models import Study, User


class Command(ImportCommand):
    help = (
        "Import practice examples (messages, criterion, wanted, answer, points_low, points_high, categories, feedback; "
        "id, language). One that is there already is changed; none is removed; no study data is made."
    )
    rows_are = "practice examples"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_practice(study=study, source=source, file_name=file_name, by=by, check=check)
