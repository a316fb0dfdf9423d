"""Import conversations: a study's own, or a published set with its criteria."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.report import Report
from annotation.models import Study, User
from rubrics.importing import import_conversations


class Command(ImportCommand):
    help = (
        "Import conversations (id, messages, language, country, acuity, user_profile, has_prior_context, tags, source, "
        "canary_string; or one row a turn: id, turn, role, content). A file in HealthBench's or MentalHealthBench's "
        "shape, and a CSV file or a workbook that is an export of a version, becomes an external version with its "
        "criteria."
    )
    rows_are = "conversations"

    def add_more_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", help="A published set's name in the study (default: that of its shape).")

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_conversations(
            study=study, source=source, file_name=file_name, by=by, check=check, name=options["name"]
        )
