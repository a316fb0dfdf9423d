"""Who may see what of responses and grades. Blindness binds persons, not roles.

A clinician never sees who wrote a response before judging it, also not as a researcher or an admin. Whoever has
opened a run's grades is no longer a blind judge of its pairs, and is told so before opening them.
"""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext

from annotation.models import Membership, Role, Study
from annotation.permissions import has_role, oversees
from consilium.errors import RuleViolation
from grading.judging import has_opened, versions_to_judge
from grading.models import Run
from grading.runs import run_status
from rubrics.models import RubricVersion
from rubrics.permissions import find_version_of


class GradesNotOpened(RuleViolation):
    """You have not opened this run's grades. Once you have seen what the grader said, you are no longer a blind judge of this run's pairs: verdicts that you give on them afterwards are kept and marked, and don't count in the agreement. If you have still to judge responses by hand, do that first; then POST to the run's open-grades address."""  # noqa: E501


def sees_respondents(membership: Membership) -> bool:
    """Whether a member may read who wrote a response: not who judges by hand, in whatever other role."""
    return oversees(membership) and not has_role(membership, Role.CLINICIAN)


def must_be_told_first(run: Run, membership: Membership) -> bool:
    """Whether a member judges by hand and has not opened this run's grades: told first what opening them ends."""
    return has_role(membership, Role.CLINICIAN) and not has_opened(run, membership.user)


def status_for(run: Run, membership: Membership) -> dict[str, Any]:
    """How far a run is, as ``run_status``; who judges by hand and has not opened the grades is told no verdicts.

    Of one pair the count of *met* is the verdict, and of many the counts that move tell it one by one.
    """
    status = run_status(run)
    return status | {"met": None, "not_met": None, "reasons": {}} if must_be_told_first(run, membership) else status


def check_grades_opened(run: Run, membership: Membership) -> None:
    """Refuse to show a run's grades to whoever has not opened them, so that reading records nothing by itself.

    Also to somebody who doesn't judge: who becomes a clinician later has seen them all the same.
    """
    if not has_opened(run, membership.user):
        raise GradesNotOpened


def find_version_to_judge(study: Study, address: str) -> RubricVersion:
    """The study's version by its number or name, if its responses can be judged by hand; Http404 else."""
    version = find_version_of(study, address)
    if not versions_to_judge(study).filter(pk=version.pk).exists():
        raise Http404(gettext("This version is withdrawn: nothing of it is judged any more."))
    return version
