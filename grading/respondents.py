"""The respondents of a study, with their responses in numbers."""

from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.models import Study
from grading.models import Respondent


def respondents_of(study: Study) -> "QuerySet[Respondent, Any]":
    """Each respondent with ``number`` of responses, how many ``failed`` or are ``refusals``, and ``conversations``."""
    return Respondent.objects.filter(study=study).annotate(
        number=Count("responses"),
        failed=Count("responses", filter=Q(responses__is_failed=True)),
        refusals=Count("responses", filter=Q(responses__is_refusal=True)),
        conversations=Count("responses__conversation", distinct=True),
    )
