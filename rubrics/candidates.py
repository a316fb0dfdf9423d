"""What a freeze chooses from, as it is stored: conversations, criteria, the outcomes of their rounds, the votes.

Plain rows, read with one query each, however many there are. Nothing here tells of a vote in an open round.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from annotation.models import Conversation, Criterion, RoundOutcome, Study, Vote
from annotation.states import with_conversation_state, with_criterion_state


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation as the selection sees it."""

    id: UUID
    external_id: str
    acuity: str | None
    position: int
    state: str
    last_round: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A criterion of the study as it stands: its state and its current revision. ``points`` are its author's."""

    id: UUID
    external_id: str
    conversation_id: UUID
    position: int
    created_at: datetime
    state: str
    outcome_id: UUID | None
    merged_into: str | None
    adjudication: str
    revision_id: UUID
    wording_id: UUID
    text: str
    points: int
    axis: str
    scale: str
    levels: object
    rationale: str
    extra: str


@dataclass(frozen=True, slots=True)
class CarryingVote:
    """An eligible reviewer's vote on the wording in the round that decided it."""

    person: UUID
    choice: str
    points: int | None
    category: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reveal, or a later policy, found for a criterion in a round."""

    id: UUID
    round_id: UUID
    round_number: int
    policy_id: UUID
    policy_version: int
    wording_id: UUID
    writers: list[UUID]
    eligible: list[UUID]
    result: str
    points: int | None
    failing: list[str]
    sentence: str


def places_of(study: Study, conversations: Collection[UUID] | None) -> dict[UUID, Place]:
    """The study's own conversations by id; ``conversations`` narrows it, here and below."""
    chosen = Conversation.objects.own().filter(study=study)
    if conversations is not None:
        chosen = chosen.filter(id__in=conversations)
    rows: QuerySet[Any, Any] = with_conversation_state(chosen)
    rows = rows.values_list("id", "external_id", "acuity", "position", "state", "last_round")
    return {row[0]: Place(*row) for row in rows.iterator(chunk_size=5000)}


def candidates_of(study: Study, conversations: Collection[UUID] | None) -> list[Candidate]:
    """Every criterion of the study. One statement tells state, outcome and text together."""
    chosen = Criterion.objects.own().filter(study=study)
    if conversations is not None:
        chosen = chosen.filter(conversation__in=conversations)
    rows: QuerySet[Any, Any] = with_criterion_state(chosen)
    rows = rows.values_list(
        "id",
        "external_id",
        "conversation_id",
        "position",
        "created_at",
        "state",
        "outcome_id",
        "merged_into__external_id",
        "adjudication",
        "current_revision_id",
        "current_revision__wording_id",
        "current_revision__text",
        "current_revision__points",
        "current_revision__axis",
        "current_revision__scale",
        "current_revision__levels",
        "current_revision__rationale",
        "extra",
    )
    return [Candidate(*row) for row in rows.iterator(chunk_size=5000)]


def outcomes_of(study: Study, conversations: Collection[UUID] | None) -> dict[UUID, Outcome]:
    """Every outcome of the study's criteria, by its id."""
    chosen = RoundOutcome.objects.filter(criterion__study=study)
    if conversations is not None:
        chosen = chosen.filter(criterion__conversation__in=conversations)
    rows = chosen.values_list(
        "id",
        "round_id",
        "round__number",
        "policy_id",
        "policy__version",
        "wording_id",
        "writers",
        "eligible",
        "result",
        "points",
        "failing",
        "sentence",
    )
    return {row[0]: Outcome(*row) for row in rows.iterator(chunk_size=5000)}


def votes_of(
    study: Study, conversations: Collection[UUID] | None, wanted: Collection[tuple[UUID, UUID]]
) -> dict[tuple[UUID, UUID], list[CarryingVote]]:
    """The votes on the wanted (round, wording), by person's id: an order that tells nothing."""
    chosen = Vote.objects.filter(round__conversation__study=study, round__revealed_at__isnull=False)
    if conversations is not None:
        chosen = chosen.filter(round__conversation__in=conversations)
    votes: dict[tuple[UUID, UUID], list[CarryingVote]] = {key: [] for key in wanted}
    rows = chosen.values_list("round_id", "wording_id", "reviewer_id", "choice", "points", "category", "reason")
    for round_id, wording_id, person, choice, points, category, reason in rows.iterator(chunk_size=10_000):
        cast = votes.get((round_id, wording_id))
        if cast is not None:
            cast.append(CarryingVote(person, choice, points, category, reason))
    for cast in votes.values():
        cast.sort(key=lambda vote: vote.person)
    return votes
