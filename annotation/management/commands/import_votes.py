"""Import votes that were taken elsewhere; what is complete after the last row is revealed."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.models import Study, User


class Command(ImportCommand):
    help = (
        "Import votes (criterion_id, reviewer, choice, points, reason, category, round). A clinician who was not "
        "assigned is assigned by the vote; with one file a clinician, run assign first."
    )
    rows_are = "votes"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_votes(study=study, source=source, file_name=file_name, by=by, check=check)
