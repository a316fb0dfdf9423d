"""How far the invitation of each member has come: asked for, sent, not delivered, accepted by a first sign-in."""

from typing import Any

from django.db import models
from django.db.models import Case, OuterRef, QuerySet, Subquery, Value, When

from annotation.models import Membership, Notice, Study


class Invitation(models.TextChoices):
    """How far the invitation of a member has come."""

    SIGNED_IN = "signed_in", "has signed in"
    NOT_INVITED = "not_invited", "not invited"
    ON_ITS_WAY = "on_its_way", "the mail is on its way"
    SENT = "sent", "invited"
    FAILED = "failed", "the mail could not be delivered"


def with_invitation(members: "QuerySet[Membership, Any]", study: Study) -> "QuerySet[Membership, Any]":
    """Members with ``invitation`` (how far it has come), ``invited_at`` and ``invitation_problem``."""
    last = Notice.objects.filter(kind=Notice.Kind.INVITATION, study=study, person=OuterRef("user"))
    last = last.order_by("-asked_at", "-pk")

    def of_last(column: str) -> Subquery:
        return Subquery(last.values(column)[:1])

    return members.annotate(
        invited_at=of_last("asked_at"),
        invitation_problem=of_last("problem"),
        invitation=Case(
            When(user__last_login__isnull=False, then=Value(Invitation.SIGNED_IN)),
            When(invited_at=None, then=Value(Invitation.NOT_INVITED)),
            default=Subquery(
                last.values(
                    how=Case(
                        When(sent_at__isnull=False, then=Value(Invitation.SENT)),
                        When(dropped_at__isnull=False, then=Value(Invitation.FAILED)),
                        default=Value(Invitation.ON_ITS_WAY),
                        output_field=models.CharField(),
                    )
                )[:1]
            ),
            output_field=models.CharField(),
        ),
    )
