"""What commands about a run share: finding it, a version, a grader."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from annotation.models import Study
from consilium.errors import RuleViolation
from grading.models import Grader, Run


class NoSuchRun(RuleViolation):
    """There is no run "{run}"."""


class NoSuchGrader(RuleViolation):
    """The study has no grader "{name}"."""


def add_run(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="The run's id, as `grade` answered it.")
    parser.add_argument("--by", metavar="EMAIL", help="Who acts; without it the record says: command line.")


def find_run(run: str) -> Run:
    try:
        key = UUID(run)
    except ValueError:
        raise NoSuchRun(run=run) from None
    found = Run.objects.select_related("study", "grader", "version").filter(pk=key).first()
    if found is None:
        raise NoSuchRun(run=run)
    return found


def find_grader(study: Study, name: str) -> Grader:
    grader = Grader.objects.filter(study=study, name=name).first()
    if grader is None:
        raise NoSuchGrader(name=name)
    return grader


STATUS_KEYS = (
    "run",
    "state",
    "pairs",
    "met",
    "not_met",
    "unscored",
    "attempts",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
)


def status_report(status: dict[str, Any]) -> dict[str, Any]:
    """A run's status as commands answer it."""
    return {key: status[key] for key in STATUS_KEYS}


def say_status(report: dict[str, Any]) -> str:
    """A run's status in words for a terminal."""
    graded = report["met"] + report["not_met"] + report["unscored"]
    return "\n".join(
        [
            f"Run {report['run']} is {report['state']}: {graded:,} of {report['pairs']:,} pairs have a grade.",
            f"  met {report['met']:,}, not met {report['not_met']:,}, unscored {report['unscored']:,}",
            f"  {report['attempts']:,} calls; tokens in {report['prompt_tokens']:,} "
            f"({report['cached_tokens']:,} cached), out {report['completion_tokens']:,}",
        ]
    )
