"""Criteria and their revisions.

Any change to text, points, axis or scale makes a new revision without votes. A change of white space, rationale or
cited turns keeps the *wording*: the first of the revisions that differ in nothing else. Votes belong to a wording.
"""

from typing import TYPE_CHECKING

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Coalesce, Length

from annotation.models.conversations import Conversation, FileImport
from annotation.models.people import User
from annotation.models.studies import Study
from consilium.guards import BLANK, holds_at_commit, holds_when_written, keeps, never_changes, update_of
from consilium.identified import Identified

if TYPE_CHECKING:
    from annotation.models.rounds import Vote

models.TextField.register_lookup(Length)


class Scale(models.TextChoices):
    BINARY = "binary", "met or not met"
    ORDINAL = "ordinal", "levels"
    CHOICE = "choice", "a keyed answer"


class CriterionQuerySet(models.QuerySet["Criterion"]):
    def own(self) -> "CriterionQuerySet":
        """Those of the study's own conversations, not of an external rubric version."""
        return self.filter(external_name="", conversation__undone_at=None)

    def standing(self) -> "CriterionQuerySet":
        """Neither withdrawn nor merged into another."""
        return self.filter(withdrawn_at=None, merged_into=None)

    def in_reading_order(self) -> "CriterionQuerySet":
        """A fixed order that tells nothing: the file's, else a random one."""
        return self.order_by("position", "id")


class Criterion(Identified):
    """One testable sentence about the next reply in a conversation.

    Its state is derived (annotation.states), never stored; what is stored are the acts on it.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="criteria")
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="criteria")
    external_id = models.CharField(max_length=500)
    external_name = models.CharField(max_length=100, blank=True, help_text="Its conversation's.")
    position = models.PositiveIntegerField(default=0)
    current_revision = models.ForeignKey("annotation.Revision", on_delete=models.PROTECT, null=True, related_name="+")
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    extra = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged_from")
    adjudicated_at = models.DateTimeField(null=True, blank=True)
    adjudicated_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    adjudication = models.TextField(blank=True)

    objects = CriterionQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "criteria"
        constraints = [
            models.UniqueConstraint(
                fields=["study", "external_name", "external_id"],
                name="an_id_names_one_criterion_of_a_study",
            ),
            models.CheckConstraint(
                condition=models.Q(merged_into=None) | ~models.Q(merged_into=models.F("id")),
                name="a_criterion_is_not_merged_into_itself",
            ),
            models.CheckConstraint(
                condition=models.Q(merged_into=None) | models.Q(withdrawn_at=None),
                name="a_criterion_is_merged_or_withdrawn_not_both",
            ),
            models.CheckConstraint(
                condition=models.Q(withdrawn_by=None) | models.Q(withdrawn_at__isnull=False),
                name="what_somebody_withdrew_says_when",
            ),
            models.CheckConstraint(
                condition=models.Q(adjudicated_at=None, adjudicated_by=None, adjudication="")
                | models.Q(adjudicated_at__isnull=False) & ~models.Q(adjudication__regex=BLANK),
                name="what_is_adjudicated_carries_its_reason",
            ),
        ]
        triggers = [
            keeps(
                "study_id",
                "conversation_id",
                name="a_criterion_keeps_its_conversation",
                what="a criterion keeps its study and conversation",
            ),
            # A criterion is written before its first revision, which names it: asked when the transaction ends.
            holds_at_commit(
                """
                NEW.current_revision_id IS NULL OR EXISTS (
                    SELECT FROM public.annotation_revision
                     WHERE id = NEW.current_revision_id AND criterion_id = NEW.id
                )
                """,
                name="the_current_revision_is_the_criterions_own",
                what="the current revision of a criterion is one of its own",
                operation=pgtrigger.Insert | update_of("current_revision_id"),
            ),
            # Flat: what was merged into one that is merged now goes along, in the same transaction.
            holds_at_commit(
                """
                NEW.merged_into_id IS NULL OR EXISTS (
                    SELECT FROM public.annotation_criterion AS kept
                     WHERE kept.id = NEW.merged_into_id AND kept.conversation_id = NEW.conversation_id
                       AND kept.merged_into_id IS NULL
                ) AND NOT EXISTS (SELECT FROM public.annotation_criterion WHERE merged_into_id = NEW.id)
                """,
                name="a_criterion_is_merged_into_one_that_stands",
                what="a criterion is merged into one of its own conversation that is not merged itself",
                operation=pgtrigger.Insert | update_of("merged_into_id"),
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class Revision(Identified):
    """One immutable text of a criterion, with its points, axis and scale."""

    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveSmallIntegerField()
    text = models.TextField()
    points = models.SmallIntegerField()
    axis = models.CharField(max_length=100, blank=True)
    scale = models.CharField(max_length=10, choices=Scale, default=Scale.BINARY)
    levels = models.JSONField(
        null=True, blank=True, help_text="ordinal: [{value, description}]; choice: {options, key}."
    )
    rationale = models.TextField(blank=True)
    anchors = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    same_wording_as = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="later_spellings",
        help_text="The first revision of this wording, where only white space, rationale or cited turns differ.",
    )
    wording_id: models.GeneratedField = models.GeneratedField(
        expression=Coalesce("same_wording_as_id", "id"),
        output_field=models.UUIDField(),
        db_persist=True,
    )
    answers_vote: "models.ForeignKey[Vote | None, Vote | None]" = models.ForeignKey(
        "annotation.Vote",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The objection that this revision accepts.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "number"], name="revisions_are_numbered"),
            models.CheckConstraint(
                condition=models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0),
                name="points_are_whole_from_minus_10_to_10_and_not_0",
                violation_error_message="Points are a whole number from -10 to +10, not 0.",
            ),
            models.CheckConstraint(
                condition=models.Q(text__length__gte=1, text__length__lte=32767),
                name="a_criterion_has_1_to_32767_characters",
                violation_error_message="A criterion has 1 to 32,767 characters.",
            ),
            models.CheckConstraint(
                condition=~models.Q(text__regex=BLANK),
                name="a_criterion_says_something",
                violation_error_message="A criterion says something.",
            ),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="revisions_count_from_1"),
            models.CheckConstraint(
                condition=models.Q(scale__in=Scale.values), name="a_scale_is_binary_ordinal_or_choice"
            ),
            models.CheckConstraint(
                # levels=None would ask for a JSON null, of which there is none either
                condition=models.Q(scale=Scale.BINARY, levels__isnull=True)
                | ~models.Q(scale=Scale.BINARY) & models.Q(levels__isnull=False) & ~models.Q(levels=None),
                name="a_binary_scale_has_no_levels_others_have",
            ),
        ]
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_revision AS first
                     WHERE first.id = NEW.same_wording_as_id AND first.criterion_id = NEW.criterion_id
                       AND first.same_wording_as_id IS NULL
                       AND (first.points, first.axis, first.scale, first.levels)
                           IS NOT DISTINCT FROM (NEW.points, NEW.axis, NEW.scale, NEW.levels)
                )
                """,
                only="NEW.same_wording_as_id IS NOT NULL",
                name="one_wording_has_one_meaning",
                what="a wording is of one criterion, with the same points, axis and scale",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion} revision {self.number}"


class RevisionWriter(models.Model):
    """A person wrote a wording: its author, or the reviewer whose better wording was taken over."""

    id = models.BigAutoField(primary_key=True)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="writers")
    writer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["revision", "writer"], name="a_writer_writes_a_wording_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.writer} wrote {self.revision}"
