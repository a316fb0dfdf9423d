"""Mail that the study sends: an invitation, a digest of what waits, a reminder before a date.

A notice is claimed before it is sent and completed after, one row a person and period: two workers at once send one
mail. Sent or given up, it never changes. What it says is put together in the moment in which it is sent, and is kept
nowhere.
"""

from datetime import timedelta

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.models.people import User
from annotation.models.studies import Study
from consilium.guards import changes_only_while
from consilium.identified import Identified

WAITS = tuple(timedelta(minutes=minutes) for minutes in (5, 30, 2 * 60, 6 * 60, 12 * 60, *[24 * 60] * 4))
"""How long a mail that was refused waits before each further try. There is one try more than waits."""
MOST_ATTEMPTS = len(WAITS) + 1


class NoticeQuerySet(models.QuerySet["Notice"]):
    def standing(self) -> "NoticeQuerySet":
        """Those that are neither sent nor given up."""
        return self.filter(sent_at=None, dropped_at=None)

    def waiting(self) -> "NoticeQuerySet":
        """Those that are to be sent now. One whose sender died comes back when its claim has run out."""
        return self.standing().filter(next_try_at__lte=timezone.now())


class Notice(Identified):
    class Kind(models.TextChoices):
        INVITATION = "invitation", "invitation"
        DIGEST = "digest", "digest"
        REMINDER = "reminder", "reminder"

    kind = models.CharField(max_length=12, choices=Kind)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="notices")
    study = models.ForeignKey(
        Study, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Of an invitation."
    )
    period = models.CharField(
        max_length=40, help_text="The day or week that it is about; an invitation's number in its study."
    )
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(
        default=timezone.now, help_text="When it is to be tried; while it is claimed, when the claim runs out."
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    dropped_at = models.DateTimeField(null=True, blank=True, help_text="Given up, or nothing was left to say.")
    problem = models.TextField(blank=True, help_text="Why the last attempt failed.")

    objects = NoticeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "kind", "period"],
                condition=Q(study=None),
                name="one_notice_of_a_kind_a_person_and_period",
            ),
            models.UniqueConstraint(
                fields=["person", "study", "period"],
                condition=Q(study__isnull=False),
                name="invitations_to_a_study_are_numbered_by_person",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["invitation", "digest", "reminder"]),
                name="a_notice_is_an_invitation_a_digest_or_a_reminder",
            ),
            models.CheckConstraint(
                condition=Q(kind="invitation", study__isnull=False) | (~Q(kind="invitation") & Q(study=None)),
                name="an_invitation_and_nothing_else_is_to_one_study",
            ),
            models.CheckConstraint(condition=Q(sent_at=None) | Q(dropped_at=None), name="a_notice_is_sent_or_given_up"),
            models.CheckConstraint(condition=Q(sent_at=None) | Q(attempts__gte=1), name="what_was_sent_was_tried"),
            models.CheckConstraint(
                condition=Q(attempts__lte=MOST_ATTEMPTS), name="a_notice_is_tried_a_counted_number_of_times"
            ),
        ]
        indexes = [
            models.Index(F("next_try_at"), condition=Q(sent_at=None, dropped_at=None), name="notices_to_be_sent"),
        ]
        triggers = changes_only_while(
            "OLD.sent_at IS NULL AND OLD.dropped_at IS NULL", name="a_settled_notice_stays_as_it_is"
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.person}, {self.period}"
