"""Conversations, where they came from, and who reviews them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.people import User
from annotation.models.studies import Study
from annotation.models.waves import Wave, waits_for_its_wave
from consilium.guards import SHA256, keeps, never_changes
from consilium.identified import Identified


class Acuity(models.TextChoices):
    NON_ACUTE = "non_acute", _("Not acute")
    HIGH_ACUITY = "high_acuity", _("High acuity")
    EMERGENT = "emergent", _("Emergency")


class UserProfile(models.TextChoices):
    ADULT = "adult", _("Adult")
    TEEN = "teen", _("Teenager")
    CAREGIVER = "caregiver", _("Caregiver")
    CLINICIAN = "clinician", _("Clinician")


class FileImport(Identified):
    """One file that was taken in, whole: what it was, its digest, by whom (nobody: the command line) and when."""

    class Kind(models.TextChoices):
        CONVERSATIONS = "conversations", _("conversations")
        CRITERIA = "criteria", _("criteria")
        VOTES = "votes", _("votes")
        RESPONSES = "responses", _("responses")
        VERDICTS = "verdicts", _("reviewer verdicts")
        PILOT_RESPONSES = "pilot_responses", _("pilot responses")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=20, choices=Kind)
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    created = models.PositiveIntegerField()
    unchanged = models.PositiveIntegerField()
    imported_at = models.DateTimeField(auto_now_add=True)
    imported_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    kind__in=["conversations", "criteria", "votes", "responses", "verdicts", "pilot_responses"],
                ),
                name="what_a_file_brings_is_one_of_six_kinds",
            ),
            models.CheckConstraint(condition=models.Q(sha256__regex=SHA256), name="a_files_digest_is_64_hex_digits"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.kind} from {self.file_name}"


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def own(self) -> "ConversationQuerySet":
        """Those of the study itself: not of an external rubric version, not undone."""
        return self.filter(external_name="", undone_at=None)

    def visible_to(self, user: User) -> "ConversationQuerySet":
        """Those of the studies that a person belongs to. Clinicians see what is assigned to them and out."""
        members = self.filter(
            study__memberships__user=user, study__memberships__left_at=None, undone_at=None
        ).distinct()
        return members.filter(
            models.Q(
                study__memberships__user=user,
                study__memberships__left_at=None,
                study__memberships__roles__overlap=["admin", "researcher"],
            )
            | (
                models.Q(assignments__reviewer=user, assignments__recused_at=None, external_name="")
                & ~models.Q(waits_for_its_wave())
            )
        ).distinct()


class Conversation(Identified):
    """Messages that end on a user turn. Everything but the messages may be unknown: null, never a default.

    ``external_name`` is the name of the external rubric version that the conversation belongs to, '' for the
    study's own. ``item_sha256`` is the hash of its canonical line (id, messages).
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="conversations")
    external_id = models.CharField(max_length=500, help_text="Its id in the file, trimmed, NFC.")
    external_name = models.CharField(max_length=100, blank=True)
    messages = models.JSONField(help_text="[{role, content}], as given.")
    item_sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=35, null=True, blank=True)  # noqa: DJ001 - unknown is null
    country = models.CharField(max_length=2, null=True, blank=True)  # noqa: DJ001
    acuity = models.CharField(max_length=20, choices=Acuity, null=True, blank=True)  # noqa: DJ001
    user_profile = models.CharField(max_length=20, choices=UserProfile, null=True, blank=True)  # noqa: DJ001
    has_prior_context = models.BooleanField(null=True, blank=True)
    tags = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    source = models.CharField(max_length=500, blank=True)
    canary_string = models.CharField(max_length=500, blank=True)
    extra = models.TextField(blank=True, help_text="Unknown keys of the imported row, as JSON text.")
    position = models.PositiveIntegerField(default=0, help_text="The row's place in its file.")
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    drafting_closes_at = models.DateTimeField(null=True, blank=True)
    drafting_closed_at = models.DateTimeField(null=True, blank=True)
    discussion_closes_at = models.DateTimeField(
        null=True, blank=True, help_text="When the discussion ends of itself and the next round opens."
    )
    undone_at = models.DateTimeField(null=True, blank=True)
    wave = models.ForeignKey(
        Wave,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="conversations",
        help_text="With which it goes out; without one at once.",
    )

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "external_name", "external_id"],
                condition=models.Q(undone_at=None),
                name="an_id_names_one_conversation_of_a_study",
            ),
            models.CheckConstraint(
                condition=models.Q(acuity=None) | models.Q(acuity__in=Acuity.values),
                name="acuity_is_one_of_three_or_unknown",
            ),
            models.CheckConstraint(
                condition=models.Q(user_profile=None) | models.Q(user_profile__in=UserProfile.values),
                name="a_user_profile_is_one_of_four_or_unknown",
            ),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="a_conversation_has_an_id"),
            models.CheckConstraint(
                condition=models.Q(item_sha256__regex=SHA256), name="a_conversations_hash_is_64_hex_digits"
            ),
        ]
        indexes = [models.Index(fields=["study", "item_sha256"], name="conversation_by_hash")]
        triggers = [
            keeps(
                "study_id",
                "external_name",
                "external_id",
                "messages",
                "item_sha256",
                name="a_conversation_keeps_its_messages",
                what="a conversation keeps its study, id and messages",
            )
        ]

    def __str__(self) -> str:
        return self.external_id


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def active(self) -> "AssignmentQuerySet":
        """Those who review now: not recused, the person active, still a clinician of the study."""
        return self.filter(
            recused_at=None,
            reviewer__is_active=True,
            reviewer__memberships__study=models.F("conversation__study"),
            reviewer__memberships__left_at=None,
            reviewer__memberships__roles__contains=["clinician"],
        )


class Assignment(Identified):
    """A clinician reviews a conversation. Recusing from it needs no reason and is no vote."""

    class Origin(models.TextChoices):
        ASSIGNED = "assigned", _("assigned")
        IMPORTED = "imported", _("by an imported vote")
        SUBSTITUTE = "substitute", _("in place of somebody who recused")

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="assignments")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="assignments")
    origin = models.CharField(max_length=20, choices=Origin, default=Origin.ASSIGNED)
    assigned_at = models.DateTimeField(auto_now_add=True)
    finished_drafting_at = models.DateTimeField(null=True, blank=True)
    recused_at = models.DateTimeField(null=True, blank=True, help_text="Since when this person reviews it no more.")
    unassigned_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it went from this person, who did not recuse: taken by an admin, or to who came instead.",
    )
    unassigned_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    ended_discussion_of = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The number of the latest round whose discussion this person ended."
    )
    ended_discussion_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "reviewer"], name="a_reviewer_is_assigned_to_a_conversation_once"
            ),
            models.CheckConstraint(
                condition=models.Q(origin__in=["assigned", "imported", "substitute"]),
                name="a_reviewer_is_assigned_imported_or_a_substitute",
            ),
            models.CheckConstraint(
                condition=models.Q(unassigned_at=None) | models.Q(recused_at__isnull=False),
                name="who_is_unassigned_reviews_no_more",
            ),
            models.CheckConstraint(
                condition=models.Q(unassigned_by=None) | models.Q(unassigned_at__isnull=False),
                name="who_unassigned_somebody_did_so_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.conversation}"
