"""The policy in force, in words with its consequences. Changing it comes with a look at what would move (later)."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.permissions import StudyRequest, study_page
from annotation.policy_words import policy_clauses, policy_consequences, policy_name, worked_cases
from annotation.views.progress import crumbs


@require_GET
@study_page(Role.ADMIN)
def show_policy(request: StudyRequest) -> HttpResponse:
    """What a criterion needs to be in consensus, what follows for the panel, and some cases decided by the rule."""
    policy = request.study.policy
    context = {
        "policy": policy,
        "name": policy_name(policy),
        "clauses": policy_clauses(policy),
        "consequences": policy_consequences(policy),
        "cases": worked_cases(policy),
        "crumbs": crumbs(request.study, "Progress", "Policy"),
    }
    return render(request, "annotation/admin/policy.html", context)
