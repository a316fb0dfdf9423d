"""Import clinicians' own verdicts on responses."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.report import Report
from annotation.models import Study, User
from grading.importing.verdicts import import_verdicts


class Command(ImportCommand):
    help = (
        "Import reviewer verdicts (conversation_id, respondent, sample, criterion_id, reviewer, verdict, comment). "
        "They are on the criteria's current texts."
    )
    rows_are = "verdicts"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_verdicts(study=study, source=source, file_name=file_name, by=by, check=check)
