"""The manner of every import command: STUDY FILE, --check, the report, and exit 1 where the file is refused."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.importing.files import FileCantBeRead
from annotation.importing.report import Finding, Report
from annotation.models import Study, User
from consilium.commands import ConsiliumCommand, Refused

SHOWN_IN_WORDS = 50


class ImportCommand(ConsiliumCommand):
    """A command that takes a file in. Subclasses name what it holds and call the importer."""

    rows_are: str
    """What one row of the file is, in the plural: conversations, criteria ..."""

    def take_in(
        self, *, study: Study, source: Path, file_name: str, by: User | None, check: bool, options: dict[str, Any]
    ) -> Report:
        """Call the importer."""
        raise NotImplementedError

    def add_more_words(self, parser: ArgumentParser) -> None:
        """The command's own options."""

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("file", metavar="FILE", help="JSON Lines, CSV or XLSX, told apart by content.")
        parser.add_argument("--check", action="store_true", help="Say what would be done, and write nothing.")
        self.add_more_words(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        path = Path(options["file"])
        try:
            report = self.take_in(
                study=find_study(options["study"]),
                source=path,
                file_name=path.name,
                by=find_actor(options["by"]),
                check=options["check"],
                options=options,
            )
        except OSError as error:  # the disk failed, or the file went, while it was read
            raise FileCantBeRead(name=options["file"], why=(error.strerror or str(error)).lower()) from error
        if report.errors:
            raise Refused(_refusal(report), report.as_plain())
        return report.as_plain()

    def say(self, report: dict[str, Any]) -> str:
        lines = [f"{report['created']:,} {self.rows_are} new or changed, {report['unchanged']:,} unchanged."]
        if not report["created"]:
            lines[0] += " Nothing had to be written."
        external = report.get("external")
        if external:
            lines.append(
                f"External version {external['name']}: {external['criteria']:,} criteria, {external['digest']}."
            )
        warnings = [Finding(**warning) for warning in report["warnings"]]
        return "\n".join([*lines, *_told("To look at", warnings)])


def _refusal(report: Report) -> str:
    count = len(report.errors)
    summary = f"Nothing was written: {count:,} {'place' if count == 1 else 'places'} in the file can't be taken."
    return "\n".join([summary, *_told("", report.errors)])


def _told(heading: str, findings: list[Finding]) -> list[str]:
    lines = [f"{heading}:"] if heading and findings else []
    for finding in findings[:SHOWN_IN_WORDS]:
        place = ", ".join(
            part for part in (f"line {finding.line}" if finding.line else "", finding.column or "") if part
        )
        lines.append(f"  {place}: {finding.message}" if place else f"  {finding.message}")
    if len(findings) > SHOWN_IN_WORDS:
        lines.append(f"  and {len(findings) - SHOWN_IN_WORDS:,} more (--json shows all)")
    return lines
