"""Export a table of a study's own data: criteria, votes after their reveal, rounds, the discussion."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.raw_data import RAW_TABLES, RawFormat, write_raw_table
from annotation.rounds import settle_if_due
from consilium.commands import ConsiliumCommand, WrongUse
from consilium.downloads import CantBeWritten, FileCantBeWritten
from consilium.tables import Unwritable


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
        if not file.name:
            raise WrongUse("--output takes the name of a file.")
        settle_if_due(study)
        format = RawFormat(options["format"])
        try:
            written = write_raw_table(
                study=study, kind=kind, format=format, file=file, reader=find_actor(options["by"])
            )
        except Unwritable as misfit:
            raise CantBeWritten(why=str(misfit)) from misfit
        except OSError as error:
            raise FileCantBeWritten(file=file, why=error.strerror or str(error)) from error
        return {
            "study": study.slug,
            "what": kind,
            "format": format.value,
            "file": str(file),
            "rows": written.rows,
            "replaced": len(written.replaced),
        }

    def say(self, report: dict[str, Any]) -> str:
        lines = [f"{report['rows']:,} rows of {report['what']} are in {report['file']}."]
        if report["replaced"]:
            cells = "1 cell holds" if report["replaced"] == 1 else f"{report['replaced']:,} cells hold"
            lines.append(f"{cells} characters that a workbook can't; they are written as _xHHHH_.")
        return "\n".join(lines)
