"""Rounds of a conversation, the blind votes in them, and what the reveal stored.

A round is revealed when ``revealed_at`` is set or ``closes_at`` is past: one SQL function says so, which the votes'
trigger and the QuerySet both use. A vote writes its own row and nothing else.
"""

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.expressions import Func
from django.db.models.functions import Coalesce

from annotation.models.conversations import Conversation, FileImport
from annotation.models.criteria import Criterion, Revision
from annotation.models.people import User
from annotation.models.studies import Policy
from consilium.guards import changes_only_while, never_changes, never_emptied
from consilium.identified import Identified


class RoundIsRevealed(Func):
    """SQL: consilium_round_is_revealed(revealed_at, closes_at), by the database's clock."""

    function = "consilium_round_is_revealed"
    output_field = models.BooleanField()
    arity = 2


class RoundQuerySet(models.QuerySet["Round"]):
    def revealed(self) -> "RoundQuerySet":
        return self.filter(RoundIsRevealed("revealed_at", "closes_at"))

    def open(self) -> "RoundQuerySet":
        return self.exclude(RoundIsRevealed("revealed_at", "closes_at"))

    def unsettled(self) -> "RoundQuerySet":
        """Open, or past their date and not yet settled."""
        return self.filter(revealed_at=None)


class Round(Identified):
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveSmallIntegerField()
    opened_at = models.DateTimeField(auto_now_add=True)
    opened_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    closes_at = models.DateTimeField(null=True, blank=True)
    revealed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    policy = models.ForeignKey(
        Policy,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The policy that the reveal applied.",
    )

    objects = RoundQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="rounds_are_numbered"),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(revealed_at=None),
                name="a_conversation_has_one_open_round",
            ),
            models.CheckConstraint(
                condition=models.Q(revealed_at=None) | ~models.Q(policy=None),
                name="a_revealed_round_keeps_its_policy",
            ),
        ]
        triggers = changes_only_while("OLD.revealed_at IS NULL", name="a_revealed_round_stays")

    def __str__(self) -> str:
        return f"round {self.number} of {self.conversation}"

    @property
    def shows_names(self) -> bool:
        """Whether its votes come with names: as the reveal's policy says. A later one names nobody in hindsight."""
        return self.policy is not None and self.policy.names_shown_after_reveal


class RoundCriterion(models.Model):
    """A round covers a criterion; ``is_proposed`` where the last one failed on the spread of weights alone."""

    id = models.BigAutoField(primary_key=True)
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="covered")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="rounds")
    is_proposed = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "criterion"], name="a_round_covers_a_criterion_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.criterion} in {self.round}"


class ObjectionCategory(models.TextChoices):
    UNSAFE = "unsafe", "unsafe"
    CLINICALLY_WRONG = "clinically_wrong", "clinically wrong"
    AMBIGUOUS = "ambiguous", "ambiguous"
    MISSING_CONTEXT = "missing_context", "missing context"
    NOT_GRADABLE = "not_gradable", "not gradable"
    DUPLICATE = "duplicate", "duplicate"
    OUT_OF_SCOPE = "out_of_scope", "out of scope"


class Vote(Identified):
    """One reviewer's blind vote on one wording in one round; its owner may change it until the reveal, never after."""

    class Choice(models.TextChoices):
        AGREE = "agree", "agree"
        OBJECT = "object", "object"
        ABSTAIN = "abstain", "abstain"
        RECUSE = "recuse", "recuse"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="votes")
    wording = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="votes")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="votes")
    choice = models.CharField(max_length=10, choices=Choice)
    points = models.SmallIntegerField(null=True, blank=True)
    better_wording = models.TextField(blank=True)
    category = models.CharField(max_length=20, choices=ObjectionCategory, blank=True)
    reason = models.TextField(blank=True)
    cast_at = models.DateTimeField()
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "wording", "reviewer"], name="one_vote_a_round_wording_and_reviewer"
            ),
            models.CheckConstraint(
                condition=models.Q(choice__in=["agree", "object", "abstain", "recuse"]),
                name="a_vote_agrees_objects_abstains_or_recuses",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="agree", points__gte=-10, points__lte=10) & ~models.Q(points=0)
                | ~models.Q(choice="agree") & models.Q(points=None),
                name="who_agrees_gives_a_weight_nobody_else_does",
                violation_error_message="An agreement has a weight from -10 to +10, not 0.",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="object", category__in=ObjectionCategory.values) & ~models.Q(reason="")
                | ~models.Q(choice="object") & models.Q(category="", reason=""),
                name="who_objects_gives_a_category_and_a_reason",
                violation_error_message="An objection has a category and a reason.",
            ),
            models.CheckConstraint(
                condition=models.Q(better_wording="") | models.Q(choice="agree"),
                name="a_better_wording_comes_with_an_agreement",
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="votes_are_cast_and_changed_until_the_reveal",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                declare=[("this", "record"), ("held", "record")],
                func="""
                    IF TG_OP = 'DELETE' THEN this := OLD; ELSE this := NEW; END IF;
                    IF TG_OP = 'UPDATE' AND (OLD.round_id, OLD.wording_id, OLD.reviewer_id)
                       IS DISTINCT FROM (NEW.round_id, NEW.wording_id, NEW.reviewer_id) THEN
                        RAISE EXCEPTION 'a vote keeps its round, wording and reviewer' USING ERRCODE = '23001';
                    END IF;
                    SELECT revealed_at, closes_at INTO held FROM annotation_round
                        WHERE id = this.round_id FOR SHARE;
                    IF consilium_round_is_revealed(held.revealed_at, held.closes_at) THEN
                        RAISE EXCEPTION 'the round is revealed: no vote is cast, changed or deleted'
                            USING ERRCODE = '23001', CONSTRAINT = 'votes_are_cast_and_changed_until_the_reveal';
                    END IF;
                    RETURN this;
                """,
            ),
            never_emptied(),
        ]

    def __str__(self) -> str:
        return f"a vote in {self.round}"


class RoundOutcome(Identified):
    """What a reveal, or a later policy, found for one criterion: kept as it was decided, and recomputable."""

    class Result(models.TextChoices):
        IN_CONSENSUS = "in_consensus", "in consensus"
        UNSETTLED = "unsettled", "unsettled"
        OUT = "out", "out"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="outcomes")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="outcomes")
    # No index: a study has few policies, and the planner would read it in place of the criterion's.
    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="+", db_index=False)
    wording = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    writers = ArrayField(models.UUIDField(), help_text="Ids of people, sorted.")
    eligible = ArrayField(models.UUIDField(), help_text="Ids of people, sorted.")
    result = models.CharField(max_length=20, choices=Result)
    points = models.SmallIntegerField(null=True, help_text="The consensus points.")
    failing = ArrayField(models.CharField(max_length=30), default=list)
    sentence = models.TextField(help_text="The decision in a clinician's words, with the numbers.")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "criterion", "policy"], name="one_outcome_a_round_criterion_and_policy"
            ),
            models.CheckConstraint(
                condition=models.Q(result="in_consensus", points__gte=-10, points__lte=10) & ~models.Q(points=0)
                | ~models.Q(result="in_consensus") & models.Q(points=None),
                name="consensus_has_points_nothing_else_has",
            ),
        ]
        indexes = [models.Index(fields=["criterion"], name="outcome_by_criterion")]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.criterion} in {self.round}: {self.result}"


class CommentQuerySet(models.QuerySet["Comment"]):
    def with_naming(self) -> "CommentQuerySet":
        """With ``is_named``: whether its author's name shows, as the policy of the reveal before it says."""
        before = Round.objects.filter(
            conversation=models.OuterRef("criterion__conversation"), revealed_at__lte=models.OuterRef("created_at")
        ).order_by("-number")
        named = before.values("policy__names_shown_after_reveal")[:1]
        return self.annotate(is_named=Coalesce(models.Subquery(named), False, output_field=models.BooleanField()))


class Comment(Identified):
    """What somebody said in the discussion after a reveal, about one criterion."""

    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(text=""), name="a_comment_says_something"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"a comment on {self.criterion}"


class VoteRequest(Identified):
    """After a reveal, a reviewer asks for another vote on a criterion: convinced, or wanting it weighed again."""

    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="vote_requests")
    after_round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["criterion", "after_round", "asked_by"], name="a_vote_is_asked_for_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"another vote on {self.criterion}"
