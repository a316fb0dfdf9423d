"""Say how far a run is."""

from argparse import ArgumentParser
from typing import Any

from consilium.commands import ConsiliumCommand
from grading.command_line import add_run, find_run, say_status, status_report
from grading.runs import run_status


class Command(ConsiliumCommand):
    help = "Say how far a run is: its state, its pairs by verdict, its calls and tokens."

    def add_words(self, parser: ArgumentParser) -> None:
        add_run(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        status = run_status(find_run(options["run"]))
        for sentence, number in status["reasons"].items():
            self.note(f"{number:,} unscored: {sentence}")
        if status["stop_reason"]:
            self.note(status["stop_reason"])
        return status_report(status)

    def say(self, report: dict[str, Any]) -> str:
        return say_status(report)
