"""Frozen, numbered rubric versions, and published ones taken in under their name.

Everything that a freeze writes is refused UPDATE, DELETE and TRUNCATE by the database. What may be added later stands
beside it, in a table with "event" in its name. Where law demands that a text goes, the database's owner empties it
with triggers off and writes a tombstone beside its hash; the version still verifies by the hash.

A version doesn't grow either: only the transaction that writes its row may write rows of it. The database itself notes
in the version's row which transaction that is, and asks for every row when the transaction ends (an import writes the
version's row last).
"""

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from annotation.models import (
    Acuity,
    Conversation,
    Criterion,
    ObjectionCategory,
    Policy,
    Revision,
    Scale,
    Study,
    User,
    UserProfile,
    Vote,
)
from consilium.guards import BLANK, SHA256, Guard, holds_at_commit, never_changes
from consilium.identified import Identified


def written_with_its_version(version: str) -> pgtrigger.Trigger:
    """The trigger of a table of a version's rows; ``version`` is the SQL, over NEW, that finds the version."""
    return holds_at_commit(
        f"EXISTS ({version} AND version.frozen_in = public.consilium_this_transaction())",
        name="written_with_its_version",
        what="a version is written whole, and nothing is added to it later",
    )


OF_ITS_VERSION = "SELECT FROM public.rubrics_rubricversion AS version WHERE version.id = NEW.version_id"


class RubricVersionQuerySet(models.QuerySet["RubricVersion"]):
    def consensus(self) -> "RubricVersionQuerySet":
        return self.filter(kind=RubricVersion.Kind.CONSENSUS)

    def visible_to(self, user: User) -> "RubricVersionQuerySet":
        return self.filter(study__memberships__user=user, study__memberships__left_at=None).distinct()


class RubricVersion(Identified):
    """Version n of a study's rubric (kind *consensus*), or a published set (kind *external*), known by its name."""

    class Kind(models.TextChoices):
        CONSENSUS = "consensus", "consensus of this study's panel"
        EXTERNAL = "external", "external, not consensus of this study"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    number = models.PositiveIntegerField(null=True)
    name = models.CharField(max_length=100, blank=True)
    axes = ArrayField(models.CharField(max_length=200), default=list)
    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, null=True, related_name="+")
    is_threshold_set_after_votes = models.BooleanField(default=False)
    note = models.TextField(null=True)  # noqa: DJ001 - null beside a tombstone only
    digest = models.CharField(max_length=64)
    record_digest = models.CharField(max_length=64)
    policy_sha256 = models.CharField(max_length=64)
    note_sha256 = models.CharField(max_length=64)
    canary_string = models.CharField(max_length=500, blank=True)
    source_file_name = models.CharField(max_length=255, blank=True)
    source_sha256 = models.CharField(max_length=64, blank=True)
    source_format = models.CharField(max_length=40, blank=True)
    criteria_count = models.PositiveIntegerField()
    conversations_count = models.PositiveIntegerField()
    frozen_at = models.DateTimeField(auto_now_add=True)
    frozen_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    frozen_in = models.CharField(
        max_length=60,
        blank=True,
        default="",
        editable=False,
        help_text="The transaction that wrote it, by the database's own hand.",
    )
    tombstone = models.TextField(null=True)  # noqa: DJ001

    objects = RubricVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="versions_are_numbered"),
            models.UniqueConstraint(
                "study",
                Lower("name"),
                condition=models.Q(kind="external"),
                name="a_name_is_one_external_version_of_a_study",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="consensus", number__isnull=False, number__gte=1, name="", policy__isnull=False)
                | models.Q(kind="external", number=None, policy=None) & ~models.Q(name=""),
                name="own_versions_have_a_number_external_ones_a_name",
            ),
            models.CheckConstraint(
                condition=~models.Q(name__regex=r"^[0-9]+$"), name="a_version_name_is_not_all_digits"
            ),
            models.CheckConstraint(
                condition=models.Q(criteria_count__gte=1), name="a_version_has_at_least_one_criterion"
            ),
            models.CheckConstraint(
                condition=models.Q(note=None, tombstone__isnull=False) | models.Q(note__isnull=False, tombstone=None),
                name="a_note_is_there_or_its_tombstone",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    digest__regex=SHA256,
                    record_digest__regex=SHA256,
                    policy_sha256__regex=SHA256,
                    note_sha256__regex=SHA256,
                ),
                name="a_versions_digests_are_64_hex_digits",
            ),
            models.CheckConstraint(
                condition=models.Q(source_sha256="") | models.Q(source_sha256__regex=SHA256),
                name="a_source_files_digest_is_64_hex_digits",
            ),
        ]
        triggers = [
            *never_changes(),
            Guard(
                name="notes_which_transaction_wrote_it",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func="NEW.frozen_in := public.consilium_this_transaction(); RETURN NEW;",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.address}"

    @property
    def address(self) -> str:
        """How pages, API and commands name it: the number of an own version, the name of an external one."""
        return str(self.number) if self.number is not None else self.name


class FrozenConversation(Identified):
    version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="conversations")
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="+")
    external_id = models.CharField(max_length=500)
    messages = models.JSONField(null=True)
    language = models.CharField(max_length=35, null=True)  # noqa: DJ001
    country = models.CharField(max_length=2, null=True)  # noqa: DJ001
    acuity = models.CharField(max_length=20, null=True)  # noqa: DJ001
    user_profile = models.CharField(max_length=20, null=True)  # noqa: DJ001
    has_prior_context = models.BooleanField(null=True)
    tags = ArrayField(models.CharField(max_length=200), default=list)
    source = models.CharField(max_length=500, blank=True)
    canary_string = models.CharField(max_length=500, blank=True)
    extra = models.TextField(blank=True)
    position = models.PositiveIntegerField()
    item_sha256 = models.CharField(max_length=64)
    tombstone = models.TextField(null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "conversation"], name="a_version_holds_a_conversation_once"),
            models.CheckConstraint(
                condition=models.Q(messages__isnull=True, tombstone__isnull=False)
                | models.Q(messages__isnull=False, tombstone=None) & ~models.Q(messages=None),
                name="frozen_messages_are_there_or_their_tombstone",
            ),
            models.CheckConstraint(
                condition=models.Q(acuity=None) | models.Q(acuity__in=Acuity.values),
                name="a_frozen_acuity_is_one_of_three_or_unknown",
            ),
            models.CheckConstraint(
                condition=models.Q(user_profile=None) | models.Q(user_profile__in=UserProfile.values),
                name="a_frozen_user_profile_is_one_of_four_or_unknown",
            ),
            models.CheckConstraint(
                condition=models.Q(item_sha256__regex=SHA256), name="a_frozen_conversations_hash_is_64_hex_digits"
            ),
        ]
        triggers = [*never_changes(), written_with_its_version(OF_ITS_VERSION)]

    def __str__(self) -> str:
        return f"{self.external_id} in {self.version}"


class FrozenCriterion(Identified):
    version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="criteria")
    frozen_conversation = models.ForeignKey(FrozenConversation, on_delete=models.PROTECT, related_name="criteria")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    wording = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    external_id = models.CharField(max_length=500)
    text = models.TextField(null=True)  # noqa: DJ001
    points = models.SmallIntegerField()
    axis = models.CharField(max_length=200, blank=True)
    scale = models.CharField(max_length=10, choices=Scale)
    levels = models.JSONField(null=True)
    rationale = models.TextField(blank=True)
    extra = models.TextField(blank=True)
    position = models.PositiveIntegerField()
    round_number = models.PositiveSmallIntegerField(null=True)
    sentence = models.TextField(blank=True, help_text="How the panel came to consensus, with the numbers.")
    item_sha256 = models.CharField(max_length=64)
    tombstone = models.TextField(null=True)  # noqa: DJ001

    class Meta:
        verbose_name_plural = "frozen criteria"
        constraints = [
            models.UniqueConstraint(fields=["version", "criterion"], name="a_version_holds_a_criterion_once"),
            models.CheckConstraint(
                condition=models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0),
                name="frozen_points_are_from_minus_10_to_10_and_not_0",
            ),
            models.CheckConstraint(
                condition=models.Q(text=None, tombstone__isnull=False) | models.Q(text__isnull=False, tombstone=None),
                name="a_frozen_text_is_there_or_its_tombstone",
            ),
            models.CheckConstraint(condition=~models.Q(text__regex=BLANK), name="a_frozen_criterion_says_something"),
            models.CheckConstraint(
                condition=models.Q(scale__in=Scale.values), name="a_frozen_scale_is_binary_ordinal_or_choice"
            ),
            models.CheckConstraint(
                condition=models.Q(scale=Scale.BINARY, levels__isnull=True)
                | ~models.Q(scale=Scale.BINARY) & models.Q(levels__isnull=False) & ~models.Q(levels=None),
                name="a_frozen_binary_scale_has_no_levels_others_have",
            ),
            models.CheckConstraint(
                condition=models.Q(item_sha256__regex=SHA256), name="a_frozen_criterions_hash_is_64_hex_digits"
            ),
        ]
        triggers = [
            *never_changes(),
            written_with_its_version(
                """
                SELECT FROM public.rubrics_frozenconversation AS place
                  JOIN public.rubrics_rubricversion AS version ON version.id = place.version_id
                 WHERE place.id = NEW.frozen_conversation_id AND version.id = NEW.version_id
                """
            ),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} in {self.version}"


class FrozenVote(Identified):
    """A vote that carried a criterion, by the person's id and never the name."""

    criterion = models.ForeignKey(FrozenCriterion, on_delete=models.PROTECT, related_name="votes")
    person = models.UUIDField()
    choice = models.CharField(max_length=10)
    points = models.SmallIntegerField(null=True)
    category = models.CharField(max_length=20, blank=True)
    reason = models.TextField(null=True)  # noqa: DJ001
    round_number = models.PositiveSmallIntegerField()
    item_sha256 = models.CharField(max_length=64)
    tombstone = models.TextField(null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "person"], name="a_person_carries_a_criterion_once"),
            models.CheckConstraint(
                condition=models.Q(reason=None, tombstone__isnull=False)
                | models.Q(reason__isnull=False, tombstone=None),
                name="a_frozen_reason_is_there_or_its_tombstone",
            ),
            models.CheckConstraint(
                condition=models.Q(choice__in=Vote.Choice.values),
                name="a_frozen_vote_agrees_objects_abstains_or_recuses",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="object", category__in=ObjectionCategory.values)
                | ~models.Q(choice="object") & models.Q(category=""),
                name="a_frozen_objection_has_a_category",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="agree", points__isnull=False, points__gte=-10, points__lte=10)
                & ~models.Q(points=0)
                | ~models.Q(choice="agree") & models.Q(points=None),
                name="a_frozen_agreement_has_a_weight_nothing_else_has",
            ),
            models.CheckConstraint(
                condition=models.Q(item_sha256__regex=SHA256), name="a_frozen_votes_hash_is_64_hex_digits"
            ),
        ]
        triggers = [
            *never_changes(),
            written_with_its_version(
                """
                SELECT FROM public.rubrics_frozencriterion AS criterion
                  JOIN public.rubrics_rubricversion AS version ON version.id = criterion.version_id
                 WHERE criterion.id = NEW.criterion_id
                """
            ),
        ]

    def __str__(self) -> str:
        return f"a vote for {self.criterion}"


class FrozenLeftOut(Identified):
    """A criterion that stayed out of a version, why, and whether an admin acknowledged it by itself."""

    version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="left_out")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=40)
    reason = models.TextField()
    is_acknowledged = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "criterion"], name="a_criterion_is_left_out_once"),
            models.CheckConstraint(condition=~models.Q(reason__regex=BLANK), name="what_is_left_out_says_why"),
        ]
        triggers = [*never_changes(), written_with_its_version(OF_ITS_VERSION)]

    def __str__(self) -> str:
        return f"{self.criterion} left out of {self.version}"


class WithdrawalEvent(Identified):
    """A version was marked withdrawn, with the reason; the version itself stays as it was.

    Its unique index is named ``a_version_is_withdrawn_once`` (by the migration: Django names a one-to-one by itself).
    """

    version = models.OneToOneField(RubricVersion, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    withdrawn_at = models.DateTimeField(auto_now_add=True)
    withdrawn_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason__regex=BLANK), name="a_withdrawal_has_a_reason"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.version} withdrawn"
