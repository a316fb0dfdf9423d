"""Export a table of a study's own data: criteria, votes after their reveal, rounds, the discussion."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.raw_data import RAW_TABLES, RawFormat, write_raw_table
from annotation.rounds import settle_if_due
from consilium.commands import ConsiliumCommand, replaced_in_words, writing_to


class Command(ConsiliumCommand):
    help = "Export a table of the study's data. Blind votes are in it once they are revealed; people are codes."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)
        parser.add_argument("--what", choices=list(RAW_TABLES), required=True, help="Which table.")
        parser.add_argument("--format", choices=RawFormat.values, required=True)
        parser.add_argument("--output", metavar="FILE", required=True, type=Path)
        parser.add_argument("--by", metavar="EMAIL", help="For whom: who reviews gets what the own pages show.")

    def act(self, **options: Any) -> dict[str, Any]:
        study, file, kind = find_study(options["study"]), options["output"], options["what"]
        format = RawFormat(options["format"])
        reader = find_actor(options["by"])
        settle_if_due(study)
        with writing_to(file):
            written = write_raw_table(study=study, kind=kind, format=format, file=file, reader=reader)
        return {
            "study": study.slug,
            "what": kind,
            "format": format.value,
            "file": str(file),
            "rows": written.rows,
            "replaced": len(written.replaced),
        }

    def say(self, report: dict[str, Any]) -> str:
        done = f"{report['rows']:,} rows of {report['what']} are in {report['file']}."
        return "\n".join([done, *replaced_in_words(report["replaced"])])
