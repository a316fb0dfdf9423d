"""Import draft criteria; drafting of the conversations that the file names closes."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.criteria import import_criteria
from annotation.importing.report import Report
from annotation.models import Study, User


class Command(ImportCommand):
    help = (
        "Import criteria (conversation_id, criterion_id, author, text, points, axis, rationale, scale, anchors). "
        "Closes drafting of the conversations that the file names, and opens their round 1."
    )
    rows_are = "criteria"

    def add_more_words(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--revise", action="store_true", help="Where a known criterion has other content, write a new revision."
        )
        parser.add_argument("--keep-drafting", action="store_true", help="Leave drafting as it is.")

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_criteria(
            study=study,
            source=source,
            file_name=file_name,
            by=by,
            check=check,
            revise=options["revise"],
            keep_drafting=options["keep_drafting"],
        )
