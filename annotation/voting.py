"""Blind votes: one a criterion and round from each eligible reviewer, changeable by its owner until the reveal.

A vote names the revision that its voter saw; on an older wording it is refused with the current one. The transaction
that completes a round also reveals it.
"""

from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.care_locks import ConversationIsLocked, refuse_if_locked
from annotation.drafting import StaleRevision, reviews
from annotation.locks import lock_open_round, share_study
from annotation.models import Criterion, ObjectionCategory, Revision, RoundCriterion, User, Vote
from annotation.revealing import reveal_if_due
from annotation.writers import writers_of
from consilium.errors import RuleViolation, violated_constraint


class RoundIsRevealedAlready(RuleViolation):
    """The round is closed: votes can't be cast or changed any more. Ask for another vote in the discussion."""


class NotInThisRound(RuleViolation):
    """This criterion is not voted on in the open round."""


class NotEligible(RuleViolation):
    """Only reviewers who are assigned to this conversation vote on it."""


class WritersDoNotVote(RuleViolation):
    """You wrote this criterion, so your vote on it would not count."""


class WeightMissing(RuleViolation):
    """Agreeing is weighing: a weight is a whole number from -10 to +10, not 0."""


class ReasonMissing(RuleViolation):
    """An objection has a category and a reason, so that the writers know what to mend."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """What a vote says."""

    choice: Vote.Choice
    points: int | None = None
    better_wording: str = ""
    category: str = ""
    reason: str = ""

    def checked(self) -> "Ballot":
        """The ballot with only what belongs to its choice; refused where something is missing."""
        if self.choice == Vote.Choice.AGREE:
            if self.points is None or not -10 <= self.points <= 10 or self.points == 0:
                raise WeightMissing
            return Ballot(self.choice, self.points, self.better_wording.strip())
        if self.choice == Vote.Choice.OBJECT:
            if self.category not in ObjectionCategory.values or not self.reason.strip():
                raise ReasonMissing
            return Ballot(self.choice, category=self.category, reason=self.reason)
        return Ballot(self.choice)


def cast_vote(*, criterion: Criterion, seen: Revision, reviewer: User, ballot: Ballot) -> Vote:
    """Cast or change a reviewer's vote on a criterion in the open round of its conversation.

    Raises a RuleViolation where the round is revealed, the person is not eligible, or the wording has changed.
    """
    ballot = ballot.checked()
    study = criterion.study
    try:
        with transaction.atomic():
            share_study(study.id)
            this = lock_open_round(criterion.conversation_id)
            refuse_if_locked(criterion.conversation_id)
            if this is None or this.is_past:  # type: ignore[attr-defined]
                raise RoundIsRevealedAlready
            criterion = Criterion.objects.select_related("current_revision", "conversation").get(pk=criterion.pk)
            current = criterion.current_revision
            assert current is not None
            if (
                criterion.withdrawn_at
                or criterion.merged_into_id
                or not RoundCriterion.objects.filter(round=this, criterion=criterion).exists()
            ):
                raise NotInThisRound
            if not reviews(reviewer, criterion.conversation):
                raise NotEligible
            if reviewer.id in writers_of([criterion])[criterion.id]:
                raise WritersDoNotVote
            if seen.wording_id != current.wording_id:
                raise StaleRevision(current=current, text=ballot.better_wording or ballot.reason)
            vote, _ = Vote.objects.update_or_create(
                round=this,
                wording_id=current.wording_id,
                reviewer=reviewer,
                defaults={
                    "choice": ballot.choice,
                    "points": ballot.points,
                    "better_wording": ballot.better_wording,
                    "category": ballot.category,
                    "reason": ballot.reason,
                    "cast_at": timezone.now(),
                    "imported_from": None,
                },
            )
            reveal_if_due(study, [this])
    except DatabaseError as error:
        if violated_constraint(error) == "votes_are_cast_and_changed_until_the_reveal":
            raise RoundIsRevealedAlready from error
        if violated_constraint(error) == "votes_wait_while_a_conversation_is_locked":
            raise ConversationIsLocked from error
        raise
    return vote


def take_back_vote(*, criterion: Criterion, reviewer: User) -> bool:
    """A reviewer takes the own vote back while the round is open. False: there was none."""
    with transaction.atomic():
        share_study(criterion.study_id)
        this = lock_open_round(criterion.conversation_id)
        refuse_if_locked(criterion.conversation_id)
        if this is None or this.is_past:  # type: ignore[attr-defined]
            raise RoundIsRevealedAlready
        assert criterion.current_revision is not None
        deleted, _ = Vote.objects.filter(
            round=this, reviewer=reviewer, wording_id=criterion.current_revision.wording_id
        ).delete()
    return bool(deleted)
