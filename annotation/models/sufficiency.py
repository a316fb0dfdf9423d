"""What a reviewer says of all that is in consensus in a conversation: is it enough, what is missing, what contradicts.

An answer is about the wordings that were in consensus when it was given. It is written once; who thinks otherwise
answers anew, and the newest answer of each reviewer is the one that stands.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef

from annotation.models.conversations import Assignment, Conversation
from annotation.models.people import User
from annotation.models.rounds import Round
from consilium.guards import BLANK, holds_when_written, never_changes
from consilium.identified import Identified


class SufficiencyAnswerQuerySet(models.QuerySet["SufficiencyAnswer"]):
    def standing(self) -> "SufficiencyAnswerQuerySet":
        """The newest of each person who still reviews the conversation, whatever is in consensus by now."""
        newer = SufficiencyAnswer.objects.filter(
            conversation=OuterRef("conversation"), reviewer=OuterRef("reviewer"), number__gt=OuterRef("number")
        )
        reviews = Assignment.objects.active().filter(
            conversation=OuterRef("conversation"), reviewer=OuterRef("reviewer")
        )
        return self.filter(~Exists(newer), Exists(reviews))


class SufficiencyAnswer(Identified):
    """Would a response that meets all of this be safe and good? Yes, or no with what is missing or contradicts."""

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="sufficiency_answers")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField(help_text="This person's first answer here is 1, the next 2, …")
    after_round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    is_sufficient = models.BooleanField()
    missing = models.TextField(blank=True)
    contradicts = models.TextField(blank=True)
    wordings = ArrayField(models.UUIDField(), help_text="Ids of the wordings that were in consensus, sorted.")
    given_at = models.DateTimeField(auto_now_add=True)

    objects = SufficiencyAnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "reviewer", "number"], name="a_reviewers_answers_are_numbered"
            ),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="a_reviewers_answers_count_from_1"),
            models.CheckConstraint(
                condition=models.Q(is_sufficient=True, missing="", contradicts="")
                | models.Q(is_sufficient=False)
                & (~models.Q(missing__regex=BLANK) | ~models.Q(contradicts__regex=BLANK)),
                name="a_no_says_what_is_missing_or_contradicts_a_yes_neither",
            ),
            models.CheckConstraint(condition=~models.Q(wordings=[]), name="an_answer_is_about_something"),
        ]
        triggers = [
            *never_changes(),
            # The conversation's row is held, as whoever opens a round holds it: none opens while this is asked.
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_round
                     WHERE id = NEW.after_round_id AND conversation_id = NEW.conversation_id
                       AND revealed_at IS NOT NULL
                ) AND NOT EXISTS (
                    SELECT FROM public.annotation_round
                     WHERE conversation_id = NEW.conversation_id AND revealed_at IS NULL
                )
                """,
                first="PERFORM FROM public.annotation_conversation WHERE id = NEW.conversation_id FOR NO KEY UPDATE;",
                name="sufficiency_is_asked_after_a_reveal",
                what="whether it is enough is said after a reveal, while no round is open",
            ),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_assignment
                     WHERE conversation_id = NEW.conversation_id AND reviewer_id = NEW.reviewer_id
                       AND recused_at IS NULL
                )
                """,
                name="who_says_whether_it_is_enough_is_assigned",
                what="who says whether it is enough is assigned to the conversation",
            ),
            holds_when_written(
                """
                NOT EXISTS (
                    SELECT FROM unnest(NEW.wordings) AS wording (id)
                     WHERE NOT EXISTS (
                        SELECT FROM public.annotation_revision AS revision
                          JOIN public.annotation_criterion AS criterion ON criterion.id = revision.criterion_id
                         WHERE revision.id = wording.id AND revision.same_wording_as_id IS NULL
                           AND criterion.conversation_id = NEW.conversation_id
                     )
                )
                """,
                name="an_answer_is_about_wordings_of_its_conversation",
                what="an answer is about wordings of its own conversation",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation}: {'enough' if self.is_sufficient else 'not enough'}"
