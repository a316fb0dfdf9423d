"""What commands about a run share: finding it, a version, a grader."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any
from uuid import UUID

from annotation.command_line import find_actor
from annotation.models import Study
from consilium.errors import RuleViolation
from grading.judging import open_grades
from grading.models import Grader, Run
from rubrics.models import RubricVersion


class NoSuchRun(RuleViolation):
    """There is no run "{run}"."""


class NoSuchGrader(RuleViolation):
    """The study has no grader "{name}"."""


def add_run(parser: ArgumentParser) -> None:
    """RUN."""
    parser.add_argument("run", metavar="RUN", help="The run's id, as `grade` and `runs` answer it.")


def add_reader(parser: ArgumentParser) -> None:
    """RUN, and --by of a command that shows a run's grades."""
    add_run(parser)
    parser.add_argument(
        "--by",
        metavar="EMAIL",
        help="Who reads the grades; it is recorded, and from then on that person is no blind judge of the run's pairs.",
    )


def open_run(run: str, by: str | None, *, note: Callable[[str], None]) -> Run:
    """The run of a command that shows its grades; that a person opened them is recorded, and said first."""
    person, found = find_actor(by), find_run(run)
    if person is not None:
        note(f"It is recorded that {person.email} opened the grades of this run, and judges its pairs blind no more.")
        open_grades(run=found, by=person)
    return found


def find_run(run: str) -> Run:
    try:
        key = UUID(run)
    except ValueError:
        raise NoSuchRun(run=run) from None
    found = Run.objects.select_related("study", "grader", "version").filter(pk=key).first()
    if found is None:
        raise NoSuchRun(run=run)
    return found


def version_as_plain(version: RubricVersion) -> int | str:
    """How commands answer a version: the number of an own one, the name of an external one."""
    return version.name if version.number is None else version.number


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
