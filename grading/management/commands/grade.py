"""Start a run, and wait for it where that is asked for."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandParser

from annotation.command_line import add_study, find_actor, find_study
from consilium.commands import ConsiliumCommand, Refused
from grading.command_line import find_grader, say_status, status_report
from grading.models import Run
from grading.runs import run_status, start_run
from grading.waiting import wait_for_run
from rubrics.finding import find_version


class Command(ConsiliumCommand):
    help = (
        "Grade the study's responses by a rubric version. The run is queued; workers (manage.py procrastinate worker) "
        "do it, now or once they are up."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's own --version gives way to the rubric's.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument(
            "--version",
            metavar="NUMBER_OR_NAME",
            dest="rubric_version",
            required=True,
            help="The number of an own version, the name of an external one.",
        )
        parser.add_argument("--grader", metavar="NAME", required=True, help="A grader's name in the study.")
        parser.add_argument("--wait", action="store_true", help="Wait until the run has ended, and show how far it is.")

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        run = start_run(
            study=study,
            version=find_version(study, options["rubric_version"]),
            grader=find_grader(study, options["grader"]),
            by=find_actor(options["by"]),
        )
        if not options["wait"]:
            return status_report(run_status(run))
        return self._wait(run)

    def _wait(self, run: Run) -> dict[str, Any]:
        try:
            status = wait_for_run(run, stream=sys.stderr, note=self.note)
        except KeyboardInterrupt:
            raise Refused(f"The run goes on without this terminal: manage.py run_status {run.pk}") from None
        report = status_report(status)
        if status["state"] != Run.State.COMPLETED:
            reason = f": {status['stop_reason']}" if status["stop_reason"] else "."
            raise Refused(f"The run is {status['state']}{reason}", report)
        return report

    def say(self, report: dict[str, Any]) -> str:
        return say_status(report)
