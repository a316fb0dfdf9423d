"""Write the totals of declared time by person and month."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.command_line import add_study, find_study
from annotation.declaring_time import write_time_sheet
from consilium.commands import ConsiliumCommand, writing_to


class Command(ConsiliumCommand):
    help = "Write what people declared of their time as XLSX: totals by person and month."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)
        parser.add_argument("--output", metavar="FILE", required=True, type=Path)

    def act(self, **options: Any) -> dict[str, Any]:
        study, file = find_study(options["study"]), options["output"]
        with writing_to(file):
            written = write_time_sheet(study, file)
        return {"study": study.slug, "file": str(file), "rows": written.rows}

    def say(self, report: dict[str, Any]) -> str:
        return f"{report['rows']:,} rows are in {report['file']}."
