"""The runs of a study."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_study
from consilium.commands import ConsiliumCommand
from grading.command_line import version_as_plain
from grading.models import Run


class Command(ConsiliumCommand):
    help = "List a study's runs, the newest first: their ids, versions, graders and states."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        runs = Run.objects.filter(study=study).select_related("version", "grader").order_by("-created_at", "id")
        return {
            "study": study.slug,
            "runs": [
                {
                    "run": str(run.id),
                    "version": version_as_plain(run.version),
                    "grader": run.grader.name,
                    "state": run.state,
                    "created": run.created_at.isoformat(),
                }
                for run in runs
            ],
        }

    def say(self, report: dict[str, Any]) -> str:
        if not report["runs"]:
            return "No run has been started yet."
        return "\n".join(
            f"{run['run']}  {run['created'][:16].replace('T', ' ')}  {run['state']:<9}  "
            f"version {run['version']}, grader {run['grader']}"
            for run in report["runs"]
        )
