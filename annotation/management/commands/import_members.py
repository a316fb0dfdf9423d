"""Import people from a file: who they are, and their roles in the study."""

from pathlib import Path
from typing import Any

from annotation.importing.command import ImportCommand
from annotation.importing.members import import_members
from annotation.importing.report import Report
from annotation.models import Study, User


class Command(ImportCommand):
    help = (
        "Import people (email, roles, name, languages, country, profession, speciality). What a known person has "
        "declared stays; nobody is taken away; no mail is sent; only the memberships are recorded."
    )
    rows_are = "people"

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        return import_members(study=study, source=source, file_name=file_name, by=by, check=check)
