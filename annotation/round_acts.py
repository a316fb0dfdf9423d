"""What an admin does with drafting and rounds by hand: close, reopen, open the next, of one conversation or of many.

Each act takes many conversations with a fixed number of queries, does what can be done, and answers for each of the
others the sentence why not. The same act on one conversation raises that sentence.
"""

from collections.abc import Callable, Collection
from functools import wraps
from uuid import UUID

from django.db import transaction

from annotation.care_locks import ConversationIsLocked, locked_among
from annotation.locks import lock_conversations, share_study
from annotation.models import Assignment, Conversation, Round, Study, User
from annotation.revealing import gather, reveal
from annotation.rounds import (
    close_drafting_of,
    due_for_next_round,
    is_past_a_date,
    lock_rounds,
    open_rounds,
    settle,
)
from consilium.errors import RuleViolation

Refused = dict[UUID, RuleViolation]
"""Conversations on which the act found nothing to do, with the sentence why."""


class NothingToVoteOn(RuleViolation):
    """There is nothing to vote on in another round: nothing was revised, added or asked for."""


class RoundStillOpen(RuleViolation):
    """A round of this conversation is still open."""


class NoOpenRound(RuleViolation):
    """No round of this conversation is open."""


class RoundsUsedUp(RuleViolation):
    """This conversation has had all the rounds that the policy allows."""


class DraftingStillOpen(RuleViolation):
    """Drafting is still open for this conversation."""


class DraftingIsClosedAlready(RuleViolation):
    """Drafting is closed already for this conversation."""


class RoundsHaveBegun(RuleViolation):
    """Drafting is open, or a round was opened already: there is nothing to reopen."""


def _lock_own(study: Study, conversations: Collection[UUID]) -> dict[UUID, Conversation]:
    own = Conversation.objects.own().filter(study=study, id__in=conversations).values_list("id", flat=True)
    return {this.id: this for this in lock_conversations(list(own))}


def _passes_over_locked(act: Callable[..., Refused]) -> Callable[..., Refused]:
    """An act on many that leaves alone those locked for a person's sake, and says so of each."""

    @wraps(act)
    def acted(*, study: Study, conversations: Collection[UUID], by: User | None) -> Refused:
        with transaction.atomic():
            share_study(study.id)
            locked = locked_among(_lock_own(study, conversations))
            done = act(study=study, conversations=[each for each in conversations if each not in locked], by=by)
        return {each: ConversationIsLocked() for each in locked} | done

    return acted


@_passes_over_locked
def close_drafting_of_each(*, study: Study, conversations: Collection[UUID], by: User | None) -> Refused:
    """Close drafting; round 1 opens in the same moment."""
    with transaction.atomic():
        share_study(study.id)
        closed = close_drafting_of(study, conversations)
    return {each: DraftingIsClosedAlready() for each in conversations if each not in closed}


@_passes_over_locked
def reopen_drafting_of_each(*, study: Study, conversations: Collection[UUID], by: User | None) -> Refused:
    """Open drafting again where it was closed without a single criterion, so that no round ever opened."""
    with transaction.atomic():
        share_study(study.id)
        locked = _lock_own(study, conversations)
        begun = set(Round.objects.filter(conversation__in=locked).values_list("conversation_id", flat=True))
        closed = {each for each, this in locked.items() if this.drafting_closed_at and each not in begun}
        Conversation.objects.filter(id__in=closed).update(drafting_closed_at=None, drafting_closes_at=None)
        # Who had finished finished with nothing: all are asked again.
        Assignment.objects.filter(conversation__in=closed).update(finished_drafting_at=None)
    return {each: RoundsHaveBegun() for each in conversations if each not in closed}


@_passes_over_locked
def close_round_of_each(*, study: Study, conversations: Collection[UUID], by: User | None) -> Refused:
    """Close the open round: it is revealed with the votes that there are."""
    with transaction.atomic():
        share_study(study.id)
        rounds = lock_rounds(_lock_own(study, conversations))
        Round.objects.filter(id__in=[this.id for this in rounds]).update(closed_by=by)
        reveal(rounds, gather(rounds), study.policy)
    closed = {this.conversation_id for this in rounds}
    return {each: NoOpenRound() for each in conversations if each not in closed}


@_passes_over_locked
def open_round_of_each(*, study: Study, conversations: Collection[UUID], by: User | None) -> Refused:
    """Open the next round, if there is something for it: also what too few had judged."""
    with transaction.atomic():
        share_study(study.id)
        locked = _lock_own(study, conversations)
        voting = {this.conversation_id: this for this in lock_rounds(locked)}
        past = [each for each, this in locked.items() if is_past_a_date(this, voting.get(each))]
        if past:
            settle(study, conversations=past)
            locked = _lock_own(study, conversations)
            voting = {this.conversation_id: this for this in lock_rounds(locked)}
        used_up = set(
            Round.objects.filter(conversation__in=locked, number__gte=study.policy.max_rounds).values_list(
                "conversation_id", flat=True
            )
        )
        refused: Refused = {}
        for each in conversations:
            if each not in locked or locked[each].drafting_closed_at is None:
                refused[each] = DraftingStillOpen()
            elif each in voting:
                refused[each] = RoundStillOpen()
            elif each in used_up:
                refused[each] = RoundsUsedUp()
        due = due_for_next_round(locked.keys() - refused.keys(), by_admin=True)
        refused |= {each: NothingToVoteOn() for each in locked.keys() - refused.keys() if not due[each]}
        open_rounds(sorted(locked.keys() - refused.keys()), due, by)
    return refused


def close_drafting(*, conversation: Conversation, by: User | None) -> bool:
    """An admin closes drafting for a conversation; round 1 opens in the same moment. False: it was closed already."""
    return not close_drafting_of_each(study=conversation.study, conversations=[conversation.id], by=by)


def close_round(*, conversation: Conversation, by: User | None) -> Round:
    """An admin closes a conversation's open round: it is revealed with the votes that there are."""
    _raise(close_round_of_each(study=conversation.study, conversations=[conversation.id], by=by))
    return conversation.rounds.latest("number")


def open_round(*, conversation: Conversation, by: User | None) -> Round:
    """An admin opens the next round of a conversation, if there is something for it."""
    _raise(open_round_of_each(study=conversation.study, conversations=[conversation.id], by=by))
    return conversation.rounds.latest("number")


def _raise(refused: Refused) -> None:
    for refusal in refused.values():
        raise refusal
