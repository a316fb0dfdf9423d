"""Import pilot responses: what the panel tries its criteria on."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.importing.report import Report
from annotation.models import Study, User


class Command(ImportCommand):
    help = (
        "Import pilot responses (conversation_id, text; id and source if there are any). Reviewers mark their criteria "
        "on two a conversation, and never see the source."
    )
    rows_are = "pilot responses"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_pilot_responses(study=study, source=source, file_name=file_name, by=by, check=check)
