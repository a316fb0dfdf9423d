"""Care: topics that a clinician is spared, conversations locked for a person's sake, and reports of broken ones.

A lock or a report is written once; what an admin decided about it is a row of its own. Neither says anything of votes.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from annotation.models.conversations import Conversation
from annotation.models.people import User
from annotation.models.studies import Study
from consilium.guards import BLANK, holds_when_written, never_changes
from consilium.identified import Identified


class DeclinedTopic(Identified):
    """A clinician asked to be spared a topic: a tag of the study's conversations. Taken back, the row goes."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="declined_topics")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="declined_topics")
    topic = models.CharField(max_length=200)
    declined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "topic"], name="a_topic_is_declined_once_a_person"),
            models.CheckConstraint(condition=~models.Q(topic__regex=BLANK), name="a_declined_topic_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.topic


class ConversationLockQuerySet(models.QuerySet["ConversationLock"]):
    def standing(self) -> "ConversationLockQuerySet":
        """Those that nobody has released."""
        released = LockDecision.objects.filter(lock=OuterRef("pk"), decision=LockDecision.Decision.RELEASED)
        return self.filter(~Exists(released))


class ConversationLock(Identified):
    """Somebody thought that a conversation may be a real person, or a person at risk: nothing goes on in it.

    The dates that it had are kept here, so that a release gives them back with the time of the lock added.
    """

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="care_locks")
    words = models.TextField(blank=True, help_text="What the person who locked it says, for admins alone.")
    told = ArrayField(models.EmailField(max_length=254), default=list, help_text="Whom the mail went to.")
    locked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    locked_at = models.DateTimeField(auto_now_add=True)
    drafting_closes_at = models.DateTimeField(null=True, blank=True)
    round_closes_at = models.DateTimeField(null=True, blank=True)
    discussion_closes_at = models.DateTimeField(null=True, blank=True)

    objects = ConversationLockQuerySet.as_manager()

    class Meta:
        triggers = never_changes()

    def __str__(self) -> str:
        return f"a lock of {self.conversation}"


class LockDecision(Identified):
    """What an admin decided about a lock: released, or that it stays; with the reason."""

    class Decision(models.TextChoices):
        RELEASED = "released", _("released")
        STAYS = "stays", _("left locked")

    lock = models.ForeignKey(ConversationLock, on_delete=models.PROTECT, related_name="decisions")
    decision = models.CharField(max_length=10, choices=Decision)
    reason = models.TextField()
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lock"], condition=models.Q(decision="released"), name="a_lock_is_released_once"
            ),
            models.CheckConstraint(
                condition=models.Q(decision__in=["released", "stays"]), name="a_lock_is_released_or_stays"
            ),
            models.CheckConstraint(
                condition=~models.Q(reason__regex=BLANK), name="what_is_decided_about_a_lock_has_a_reason"
            ),
        ]
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                NOT EXISTS (
                    SELECT FROM public.annotation_lockdecision WHERE lock_id = NEW.lock_id AND decision = 'released'
                )
                """,
                first="PERFORM FROM public.annotation_conversationlock WHERE id = NEW.lock_id FOR NO KEY UPDATE;",
                name="what_is_released_is_decided",
                what="a lock that was released is decided",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lock}: {self.decision}"


class ConversationReport(Identified):
    """Somebody says that a conversation is broken, and how."""

    class Kind(models.TextChoices):
        CUT_OFF = "cut_off", _("It is cut off")
        WRONG_LANGUAGE = "wrong_language", _("It is in another language than it says")
        NO_CONVERSATION = "no_conversation", _("It is not a conversation")
        OTHER = "other", _("Something else")

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=20, choices=Kind)
    words = models.TextField(blank=True)
    reported_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    reported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["cut_off", "wrong_language", "no_conversation", "other"]),
                name="a_report_says_what_is_broken",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="other") | ~models.Q(words__regex=BLANK),
                name="a_report_of_something_else_says_what",
            ),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.conversation}: {self.get_kind_display()}"


class ReportClosing(Identified):
    """An admin has looked after a report, and says in a note what was done."""

    report = models.ForeignKey(ConversationReport, on_delete=models.PROTECT, related_name="closings")
    note = models.TextField()
    closed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report"], name="a_report_is_closed_once"),
            models.CheckConstraint(condition=~models.Q(note__regex=BLANK), name="a_report_is_closed_with_a_note"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"closed: {self.report}"
