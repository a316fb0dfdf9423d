"""Export a rubric version to a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.command_line import find_study
from consilium.commands import ConsiliumCommand, replaced_in_words, writing_to
from rubrics.counting_words import counted_conversations, counted_criteria
from rubrics.exporting import ExportFormat, export_version
from rubrics.finding import find_version


class Command(ConsiliumCommand):
    help = "Export a rubric version: the same bytes whenever made. An existing file is replaced in one step."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="The study's short name.")
        parser.add_argument("version", metavar="NUMBER_OR_NAME", help="The number of an own version, or a name.")
        parser.add_argument("--format", choices=ExportFormat.values, required=True)
        parser.add_argument("--output", metavar="FILE", required=True, type=Path)

    def act(self, **options: Any) -> dict[str, Any]:
        version = find_version(find_study(options["study"]), options["version"])
        file: Path = options["output"]
        with writing_to(file):
            exported = export_version(version=version, format=ExportFormat(options["format"]), file=file)
        return {
            "version": version.number if version.number is not None else version.name,
            "format": exported.format.value,
            "file": str(file),
            "conversations": version.conversations_count,
            "criteria": version.criteria_count,
            "digest": version.digest,
            "record_digest": version.record_digest,
            "replaced": exported.replaced,
        }

    def say(self, report: dict[str, Any]) -> str:
        lines = [
            f"Version {report['version']} is in {report['file']}: {counted_criteria(report['criteria'])} of "
            f"{counted_conversations(report['conversations'])}.",
            f"digest         {report['digest']}",
            f"record digest  {report['record_digest']}",
        ]
        return "\n".join([*lines, *replaced_in_words(report["replaced"])])
