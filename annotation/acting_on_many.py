"""Closing drafting, opening and closing rounds of many conversations at once: what would be done, and doing it.

A conversation on which an act finds nothing to do is passed over and named, the others are done. All of it is one
transaction.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from annotation.care_locks import unlocked
from annotation.models import Conversation, Round, Study, User
from annotation.round_acts import (
    Refused,
    close_drafting_of_each,
    close_round_of_each,
    open_round_of_each,
    reopen_drafting_of_each,
)
from annotation.rounds import due_for_next_round
from annotation.states import ConversationState


class ActOnEach(Protocol):
    """Acts on each of the conversations; answers for which it could not, and why."""

    def __call__(self, *, study: Study, conversations: Collection[UUID], by: User | None) -> Refused: ...


@dataclass(frozen=True, slots=True)
class RoundAct:
    """An act on a conversation: its name in an address, what a button says, and what was done."""

    name: str
    words: str
    done: str
    act: ActOnEach
    consequence: str


ROUND_ACTS = {
    this.name: this
    for this in (
        RoundAct(
            "close-drafting",
            "Close drafting",
            "Drafting is closed",
            close_drafting_of_each,
            "Nobody adds a draft any more. Round 1 opens in the same moment, with all criteria that stand.",
        ),
        RoundAct(
            "reopen-drafting",
            "Open drafting again",
            "Drafting is open again",
            reopen_drafting_of_each,
            "It was closed without a criterion. All reviewers are asked again; the date is taken away.",
        ),
        RoundAct(
            "open-round",
            "Open the next round",
            "The next round is open",
            open_round_of_each,
            "What was revised, added or asked for comes to a vote again, blind, and what too few had judged.",
        ),
        RoundAct(
            "close-round",
            "Close the round",
            "The round is closed and revealed",
            close_round_of_each,
            "The votes that there are get revealed and decided, for good. Whoever hasn't voted no longer can.",
        ),
    )
}


@dataclass(slots=True)
class Done:
    """What acting on many did: those acted on, and those passed over with the sentence why."""

    acted_on: list[Conversation] = field(default_factory=list)
    passed_over: list[tuple[Conversation, str]] = field(default_factory=list)


def act_on_each(*, study: Study, conversations: Collection[Conversation], act: RoundAct, by: User | None) -> Done:
    """Act on each conversation of the study; none that refuses stops the others."""
    by_id = {this.id: this for this in conversations}
    refused = act.act(study=study, conversations=list(by_id), by=by)
    return Done(
        acted_on=[this for this in by_id.values() if this.id not in refused],
        passed_over=[(this, refused[this.id].sentence) for this in by_id.values() if this.id in refused],
    )


def would_act_on(*, study: Study, act: RoundAct, conversation_ids: Collection[UUID]) -> set[UUID]:
    """Those of the conversations on which the act would find something to do now. Asked without any lock."""
    chosen = unlocked(Conversation.objects.own().filter(study=study, id__in=conversation_ids))
    if act.name == "close-drafting":
        return set(chosen.filter(drafting_closed_at=None).values_list("id", flat=True))
    if act.name == "reopen-drafting":
        return set(chosen.exclude(drafting_closed_at=None).filter(rounds=None).values_list("id", flat=True))
    if act.name == "close-round":
        return set(Round.objects.unsettled().filter(conversation__in=chosen).values_list("conversation_id", flat=True))
    voting = Round.objects.unsettled().filter(conversation__in=chosen).values("conversation")
    waiting = chosen.exclude(drafting_closed_at=None).exclude(id__in=voting)
    ids = set(waiting.values_list("id", flat=True))
    used_up = set(
        Round.objects.filter(conversation__in=ids, number__gte=study.policy.max_rounds).values_list(
            "conversation_id", flat=True
        )
    )
    due = due_for_next_round(ids - used_up, by_admin=True)
    return {conversation_id for conversation_id, criteria in due.items() if criteria}


def acts_for(state: str, *, is_drafting_open: bool, has_round_left: bool, is_unsettled: bool) -> list[RoundAct]:
    """The acts that a conversation in this state offers."""
    if state == ConversationState.VOTING:
        return [ROUND_ACTS["close-round"]]
    if is_drafting_open:
        return [ROUND_ACTS["close-drafting"]]
    if state == ConversationState.DRAFTING:
        return [ROUND_ACTS["reopen-drafting"]]
    if has_round_left and is_unsettled:
        return [ROUND_ACTS["open-round"]]
    return []
