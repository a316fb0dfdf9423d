"""What the panel said about two criteria of one conversation that are alike: merged, or both kept.

Who and when stands here; that a criterion is merged stands on the criterion itself.
"""

from django.db import models
from django.db.models.functions import Greatest, Least

from annotation.models.criteria import Criterion
from annotation.models.people import User
from consilium.guards import holds_when_written, never_changes
from consilium.identified import Identified


class SettledLikeness(Identified):
    """Two criteria that are alike, and what a reviewer made of them. ``other`` was merged into ``kept``, or stays."""

    class Outcome(models.TextChoices):
        MERGED = "merged", "merged"
        KEPT_BOTH = "kept_both", "both kept"

    kept = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    settled_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "settled likenesses"
        constraints = [
            models.UniqueConstraint(
                Least("kept", "other"), Greatest("kept", "other"), "outcome", name="a_likeness_is_settled_once_each_way"
            ),
            models.CheckConstraint(
                condition=~models.Q(kept=models.F("other")), name="a_likeness_is_of_two_different_criteria"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=["merged", "kept_both"]), name="a_likeness_is_merged_or_kept_both"
            ),
        ]
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_criterion AS kept
                      JOIN public.annotation_criterion AS other USING (conversation_id)
                     WHERE kept.id = NEW.kept_id AND other.id = NEW.other_id
                       AND (NEW.outcome <> 'merged' OR other.merged_into_id = NEW.kept_id)
                )
                """,
                name="a_likeness_is_of_one_conversation",
                what="likenesses are settled within one conversation, and say what stands on the criteria",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kept} and {self.other}: {self.outcome}"
