"""Who is in a study."""

from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Consent, Conversation, Membership, Study


def members_of(study: Study) -> "QuerySet[Membership, Any]":
    """Who is in the study, by name.

    Each has ``has_accepted`` (the consent text in its present version) and ``assigned``, a count of conversations.
    """
    accepted = Consent.objects.filter(study=study, user=OuterRef("user"), text_version=study.consent_version)
    own = Conversation.objects.own().filter(study=study)
    assigned = (
        Assignment.objects.filter(reviewer=OuterRef("user"), conversation__in=own, recused_at=None)
        .order_by()
        .values("reviewer")
        .annotate(number=Count("pk"))
        .values("number")
    )
    return (
        study.memberships.filter(left_at=None)
        .select_related("user")
        .annotate(has_accepted=Exists(accepted), assigned=Coalesce(Subquery(assigned), Value(0)))
        .order_by("user__name", "user__email")
    )
