"""Import responses by models, humans and reference answers."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.report import Report
from annotation.models import Study, User
from grading.importing.responses import import_responses


class Command(ImportCommand):
    help = "Import responses (conversation_id, respondent, sample, text, finish_reason, prompt_style, kind)."
    rows_are = "responses"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_responses(study=study, source=source, file_name=file_name, by=by, check=check)
