"""The locks of a study. Each act on criteria, rounds or votes shares the study's lock; a freeze holds it alone.

Order, always: study, conversation, round, criterion. The locks end with their transaction.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import connection

from annotation.models import Conversation, Criterion, Round, Study
from annotation.models.rounds import RoundIsRevealed


def _study_key(study_id: UUID) -> int:
    """A study's id as the signed 64-bit number that PostgreSQL's advisory locks take."""
    return int.from_bytes(study_id.bytes[:8], "big", signed=True)


def share_study(study_id: UUID) -> None:
    """Wait until no freeze is under way, and keep one from beginning until this transaction ends."""
    _lock(study_id, "pg_advisory_xact_lock_shared")


def hold_study(study_id: UUID) -> None:
    """Wait for all acts under way in the study, and keep new ones waiting until this transaction ends."""
    _lock(study_id, "pg_advisory_xact_lock")


def _lock(study_id: UUID, function: str) -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("A study's lock is taken inside a transaction.")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [_study_key(study_id)])


def lock_study_row(study: Study) -> Study:
    return Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def lock_conversation(conversation_id: UUID) -> Conversation:
    """The conversation as it stands now, held until this transaction ends."""
    return Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)


def lock_conversations(conversation_ids: Collection[UUID]) -> list[Conversation]:
    """Many conversations, locked one after another by id: whoever locks many does it in this order."""
    rows = Conversation.objects.select_for_update(no_key=True).filter(pk__in=conversation_ids)
    return list(rows.defer("messages", "extra").order_by("id"))


def lock_open_round(conversation_id: UUID) -> Round | None:
    """The conversation's round that is not settled yet, held, with ``is_past``: its date has passed by the database's
    clock. None where there is none.
    """
    rounds = Round.objects.unsettled().filter(conversation_id=conversation_id)
    rounds = rounds.annotate(is_past=RoundIsRevealed("revealed_at", "closes_at"))
    return rounds.select_for_update(of=("self",), no_key=True).first()


def lock_criterion(criterion_id: UUID) -> Criterion:
    return (
        Criterion.objects.select_for_update(of=("self",), no_key=True)
        .select_related("current_revision", "conversation")
        .get(pk=criterion_id)
    )
