"""Go on with a run."""

from argparse import ArgumentParser
from typing import Any

from consilium.commands import ConsiliumCommand
from grading.command_line import add_run, find_run, say_status, status_report
from grading.runs import resume_run, run_status


class Command(ConsiliumCommand):
    help = "Go on with a run that was paused, or that failed: what has no grade yet is queued again."

    def add_words(self, parser: ArgumentParser) -> None:
        add_run(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        run = resume_run(run=find_run(options["run"]))
        return status_report(run_status(run))

    def say(self, report: dict[str, Any]) -> str:
        return say_status(report)
