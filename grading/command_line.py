"""What commands about a run share: finding it, a version, a grader."""

from argparse import ArgumentParser
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
