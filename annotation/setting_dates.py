"""Setting dates: until when drafting, an open round or a discussion goes on, of the conversations chosen.

A date lies ahead. What has ended already takes none: drafting that is closed, a round that is revealed or past its
date. Without a date drafting, a round and a discussion end by what the panel does, or by an admin.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from annotation.care_locks import ConversationIsLocked, locked_among, unlocked
from annotation.locks import share_study
from annotation.models import Conversation, Round, Study
from annotation.rounds import settle
from annotation.states import ConversationState, with_conversation_state
from consilium.errors import RuleViolation


class DateOf(models.TextChoices):
    """What a date ends."""

    DRAFTING = "drafting", "drafting"
    ROUND = "round", "the open round"
    DISCUSSION = "discussion", "the discussion"


CONSEQUENCES = {
    DateOf.DRAFTING: "Drafting: it closes, whoever has finished, and round 1 opens in the same moment.",
    DateOf.ROUND: "The open round: it is revealed with the votes that there are. Whoever hasn't voted no longer can.",
    DateOf.DISCUSSION: "The discussion: it ends, and the next round opens if there is something for it.",
}


class DateIsPast(RuleViolation):
    """This date has passed already. Give one that lies ahead."""


class DateIsUnreadable(RuleViolation):
    """ "{words}" is no date. Write 2026-05-31 or 2026-05-31T18:00, with +02:00 behind it for another zone than UTC."""


class DraftingHasEnded(RuleViolation):
    """Drafting is closed already."""


class NoRoundIsOpen(RuleViolation):
    """No round is open."""


class NoRoundAfterIt(RuleViolation):
    """No round is left that could follow a discussion."""


@dataclass(slots=True)
class Dated:
    """Conversations that took a date, and those that didn't with the sentence why."""

    dated: list[Conversation] = field(default_factory=list)
    passed_over: list[tuple[Conversation, str]] = field(default_factory=list)


def set_dates(*, study: Study, of: str, until: datetime | None, conversations: Collection[UUID] | None = None) -> Dated:
    """Set until when drafting, the open round or the discussion (``of``) goes on; None takes the date away.

    ``conversations`` names some by id (None: all of the study's own). What a date has ended already is settled
    first, so that no later one brings it back. Raises DateIsPast.
    """
    if until is not None and until <= timezone.now():
        raise DateIsPast
    with transaction.atomic():
        share_study(study.id)
        settle(study, conversations=conversations)
        own = Conversation.objects.own().filter(study=study)
        if conversations is not None:
            own = own.filter(id__in=conversations)
        ids = list(own.select_for_update(no_key=True).order_by("id").values_list("id", flat=True))
        rows: QuerySet[Any, Any] = with_conversation_state(Conversation.objects.filter(id__in=ids))
        found: list[Any] = list(rows.defer("messages", "extra").order_by("position", "id"))
        locked = locked_among(ids)
        if of == DateOf.ROUND:
            dated = _date_rounds([each for each in ids if each not in locked], until)
        else:
            max_rounds = study.policy.max_rounds
            dated = {row.id for row in found if row.id not in locked and _takes_date(row, of, max_rounds)}
            name = "drafting_closes_at" if of == DateOf.DRAFTING else "discussion_closes_at"
            Conversation.objects.filter(id__in=dated).update(**{name: until})
    done = Dated()
    for row in found:
        if row.id in dated:
            done.dated.append(row)
        else:
            why = ConversationIsLocked() if row.id in locked else _why_not(of)
            done.passed_over.append((row, why.sentence))
    return done


def _date_rounds(conversation_ids: Collection[UUID], until: datetime | None) -> set[UUID]:
    """Rounds that are open by the database's clock take the date; one whose date has passed stays past."""
    unsettled = Round.objects.unsettled().filter(conversation__in=conversation_ids)
    locked = list(unsettled.select_for_update(no_key=True).order_by("id"))
    rounds = Round.objects.open().filter(id__in=[this.id for this in locked])
    dated = dict(rounds.values_list("id", "conversation_id"))
    Round.objects.filter(id__in=dated).update(closes_at=until)
    return set(dated.values())


def would_take_date(*, study: Study, of: str, conversations: Collection[UUID]) -> set[UUID]:
    """Those of the conversations that would take such a date now. Asked without any lock."""
    rows: QuerySet[Any, Any] = with_conversation_state(
        unlocked(Conversation.objects.own().filter(study=study, id__in=conversations))
    )
    max_rounds = study.policy.max_rounds
    return {row.id for row in rows.defer("messages", "extra") if _takes_date(row, of, max_rounds)}


def _takes_date(row: Any, of: str, max_rounds: int) -> bool:
    if of == DateOf.DRAFTING:
        return row.drafting_closed_at is None
    if of == DateOf.ROUND:
        return bool(row.state == ConversationState.VOTING)
    return bool(row.last_round < max_rounds)


def _why_not(of: str) -> RuleViolation:
    refusals = {
        DateOf.DRAFTING: DraftingHasEnded,
        DateOf.ROUND: NoRoundIsOpen,
        DateOf.DISCUSSION: NoRoundAfterIt,
    }
    return refusals[DateOf(of)]()


def read_date(words: str) -> datetime | None:
    """A date as it is typed: 2026-05-31 (its end), 2026-05-31T18:00, with a zone or in UTC; "none" takes it away."""
    text = words.strip()
    if text.lower() == "none":
        return None
    try:
        moment = parse_datetime(text)
        day = parse_date(text)
    except ValueError as error:
        raise DateIsUnreadable(words=text[:40]) from error
    if day is not None:
        return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)
    if moment is None:
        raise DateIsUnreadable(words=text[:40])
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
