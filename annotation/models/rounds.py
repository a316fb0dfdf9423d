"""Rounds of a conversation, the blind votes in them, and what the reveal stored.

A round is revealed when ``revealed_at`` is set or ``closes_at`` is past: one SQL function says so, which the votes'
trigger and the QuerySet both use. A vote writes its own row and nothing else.
"""

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.expressions import Func
from django.db.models.functions import Coalesce

from annotation.consensus import Clause
from annotation.models.conversations import Conversation, FileImport
from annotation.models.criteria import Criterion, Revision
from annotation.models.people import User
from annotation.models.studies import Policy
from consilium.guards import BLANK, Guard, holds_at_commit, holds_when_written, never_changes, never_emptied
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
            models.CheckConstraint(condition=models.Q(number__gte=1), name="rounds_count_from_1"),
        ]
        triggers = [
            holds_when_written(
                "NEW.revealed_at IS NULL",
                name="a_round_opens_before_it_is_revealed",
                what="a round opens before it is revealed",
            ),
            # Past its date a round is revealed, though nobody may have settled it yet: that can still be done.
            Guard(
                name="a_revealed_round_stays",
                when=pgtrigger.Before,
                operation=pgtrigger.Update | pgtrigger.Delete,
                func="""
                    IF TG_OP = 'DELETE' OR OLD.revealed_at IS NOT NULL
                       OR (NEW.id, NEW.conversation_id, NEW.number)
                          IS DISTINCT FROM (OLD.id, OLD.conversation_id, OLD.number)
                       OR (public.consilium_round_is_revealed(OLD.revealed_at, OLD.closes_at)
                           AND NEW.closes_at IS DISTINCT FROM OLD.closes_at) THEN
                        RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP
                            USING ERRCODE = '23001', CONSTRAINT = 'a_revealed_round_stays';
                    END IF;
                    RETURN NEW;
                """,
            ),
            never_emptied(),
        ]

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
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_round AS held
                      JOIN public.annotation_criterion AS criterion USING (conversation_id)
                     WHERE held.id = NEW.round_id AND criterion.id = NEW.criterion_id
                       AND NOT public.consilium_round_is_revealed(held.revealed_at, held.closes_at)
                )
                """,
                first="PERFORM FROM public.annotation_round WHERE id = NEW.round_id FOR SHARE;",
                name="criteria_join_a_round_until_the_reveal",
                what="a round covers criteria of its own conversation, and takes in none after the reveal",
            ),
        ]

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
                # a comparison with a null is null, and a null passes: it is asked for by itself
                condition=models.Q(choice="agree", points__isnull=False, points__gte=-10, points__lte=10)
                & ~models.Q(points=0)
                | ~models.Q(choice="agree") & models.Q(points=None),
                name="who_agrees_gives_a_weight_nobody_else_does",
                violation_error_message="An agreement has a weight from -10 to +10, not 0.",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="object", category__in=ObjectionCategory.values)
                & ~models.Q(reason__regex=BLANK)
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
            # Its owner must be assigned; writers are not refused: an imported vote of theirs is kept and never counts.
            Guard(
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
                    SELECT revealed_at, closes_at, conversation_id INTO held FROM public.annotation_round
                        WHERE id = this.round_id FOR SHARE;
                    IF public.consilium_round_is_revealed(held.revealed_at, held.closes_at) THEN
                        RAISE EXCEPTION 'the round is revealed: no vote is cast, changed or deleted'
                            USING ERRCODE = '23001', CONSTRAINT = 'votes_are_cast_and_changed_until_the_reveal';
                    END IF;
                    IF TG_OP = 'INSERT' AND NOT EXISTS (
                        SELECT FROM public.annotation_revision AS wording
                          JOIN public.annotation_roundcriterion AS covered USING (criterion_id)
                         WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL
                           AND covered.round_id = NEW.round_id
                    ) THEN
                        RAISE EXCEPTION 'a vote is on a wording of a criterion that its round covers'
                            USING ERRCODE = '23514', CONSTRAINT = 'a_vote_is_on_what_its_round_covers';
                    END IF;
                    IF TG_OP = 'INSERT' AND NOT EXISTS (
                        SELECT FROM public.annotation_assignment
                         WHERE conversation_id = held.conversation_id AND reviewer_id = NEW.reviewer_id
                           AND recused_at IS NULL
                    ) THEN
                        RAISE EXCEPTION 'who votes is assigned to the conversation'
                            USING ERRCODE = '23514', CONSTRAINT = 'who_votes_is_assigned_to_the_conversation';
                    END IF;
                    RETURN this;
                """,
            ),
            # By name it fires after the guard above, which holds the round's row: no lock slips in between.
            Guard(
                name="votes_wait_while_a_conversation_is_locked",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                declare=[("this", "record")],
                func="""
                    IF TG_OP = 'DELETE' THEN this := OLD; ELSE this := NEW; END IF;
                    IF EXISTS (
                        SELECT FROM public.annotation_round AS held
                          JOIN public.annotation_conversationlock AS lock USING (conversation_id)
                         WHERE held.id = this.round_id AND NOT EXISTS (
                            SELECT FROM public.annotation_lockdecision
                             WHERE lock_id = lock.id AND decision = 'released'
                         )
                    ) THEN
                        RAISE EXCEPTION 'the conversation is locked: its votes wait'
                            USING ERRCODE = '23001', CONSTRAINT = 'votes_wait_while_a_conversation_is_locked';
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
                condition=models.Q(result="in_consensus", points__isnull=False, points__gte=-10, points__lte=10)
                & ~models.Q(points=0)
                | ~models.Q(result="in_consensus") & models.Q(points=None),
                name="consensus_has_points_nothing_else_has",
            ),
            models.CheckConstraint(
                condition=models.Q(result__in=["in_consensus", "unsettled", "out"]),
                name="an_outcome_is_in_consensus_unsettled_or_out",
            ),
            models.CheckConstraint(
                condition=~models.Q(result="in_consensus") | models.Q(failing=[]),
                name="what_is_in_consensus_fails_on_nothing",
            ),
            models.CheckConstraint(
                condition=models.Q(failing__contained_by=[clause.value for clause in Clause]),
                name="what_fails_is_a_clause_of_the_rule",
            ),
            models.CheckConstraint(
                condition=~models.Q(writers__overlap=models.F("eligible")), name="a_writer_is_never_eligible"
            ),
        ]
        indexes = [models.Index(fields=["criterion"], name="outcome_by_criterion")]
        triggers = [
            *never_changes(),
            # The round's row is held, so that two at once can't tell two stories of one criterion.
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_revision AS wording
                      JOIN public.annotation_roundcriterion AS covered USING (criterion_id)
                     WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL
                       AND covered.round_id = NEW.round_id AND covered.criterion_id = NEW.criterion_id
                ) AND NOT EXISTS (
                    SELECT FROM public.annotation_roundoutcome AS before
                     WHERE before.round_id = NEW.round_id AND before.criterion_id = NEW.criterion_id
                       AND (before.wording_id, before.writers, before.eligible)
                           IS DISTINCT FROM (NEW.wording_id, NEW.writers, NEW.eligible)
                )
                """,
                first="PERFORM FROM public.annotation_round WHERE id = NEW.round_id FOR NO KEY UPDATE;",
                name="outcomes_of_a_round_tell_one_story",
                what="outcomes of a criterion in a round have the wording, writers and eligible of its reveal",
            ),
            # They are written first, and then the round is set revealed: asked when the transaction ends.
            holds_at_commit(
                "EXISTS (SELECT FROM public.annotation_round WHERE id = NEW.round_id AND revealed_at IS NOT NULL)",
                name="outcomes_come_with_the_reveal",
                what="a round has outcomes from its reveal on",
            ),
        ]

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
            models.CheckConstraint(condition=~models.Q(text__regex=BLANK), name="a_comment_says_something"),
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
