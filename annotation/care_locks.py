"""Whether a conversation is locked for a person's sake: nothing is drafted, voted on or judged in it until released.

The lock is a row of its own (annotation.caring makes and releases it); it stands as long as no admin released it.
"""

from collections.abc import Collection
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, QuerySet

from annotation.models import Conversation, ConversationLock
from consilium.errors import RuleViolation

Row = TypeVar("Row", bound=Model)


class ConversationIsLocked(RuleViolation):
    """This conversation is locked: somebody thinks that it may be about a real person. What you wrote stays; nothing goes on here until an admin has looked at it."""  # noqa: E501


def is_locked(conversation: str = "pk") -> Exists:
    """Over rows that name a conversation by ``conversation``: whether a lock of it stands."""
    return Exists(ConversationLock.objects.standing().filter(conversation=OuterRef(conversation)))


def unlocked(rows: "QuerySet[Row, Any]", conversation: str = "pk") -> "QuerySet[Row, Any]":
    """Those of the rows whose conversation (by that name) is not locked."""
    return rows.filter(~is_locked(conversation))


def locked_among(conversation_ids: Collection[UUID]) -> set[UUID]:
    """Those of the conversations that are locked. One query."""
    locks = ConversationLock.objects.standing().filter(conversation__in=conversation_ids)
    return set(locks.values_list("conversation_id", flat=True))


def refuse_if_locked(conversation_id: UUID) -> None:
    """Raise ConversationIsLocked where a lock stands. To be asked with the row held that a lock holds too."""
    if locked_among([conversation_id]):
        raise ConversationIsLocked


def standing_lock(conversation: Conversation) -> ConversationLock | None:
    """The lock that stands on a conversation, with who locked it; None where there is none."""
    return ConversationLock.objects.standing().filter(conversation=conversation).select_related("locked_by").first()
