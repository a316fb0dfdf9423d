"""What an admin sees of a study under way: who has finished, never what; and what each conversation waits for.

Of an open round only one thing is asked, for each reviewer: is there a criterion left that this person may vote on
and has not. No vote is fetched, counted or timed; people come in the order of their names, conversations in that of
their file. A fixed number of queries, however many conversations there are.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import BooleanField, Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Membership,
    Policy,
    Round,
    RoundCriterion,
    Study,
    User,
    Vote,
    VoteRequest,
)
from annotation.states import ConversationState, CriterionState, with_conversation_state, with_criterion_state
from annotation.writers import ways_to_be_writer, writers_of


def _has_votes_left() -> Exists:
    """Over assignments: whether the open round holds a criterion that the reviewer may vote on and has not."""
    reviewer = OuterRef(OuterRef("reviewer"))
    wording = OuterRef("criterion__current_revision__wording_id")
    voted = Vote.objects.filter(round=OuterRef("round"), wording=wording, reviewer=reviewer)
    return Exists(
        RoundCriterion.objects.filter(
            ~Exists(voted),
            *(~way for way in ways_to_be_writer(reviewer, "criterion")),
            round__conversation=OuterRef("conversation"),
            round__revealed_at=None,
            criterion__withdrawn_at=None,
            criterion__merged_into=None,
        )
    )


class Stage(models.TextChoices):
    """Where a conversation stands, in the words that everybody reads: *revealed* is in discussion, or settled."""

    DRAFTING = "drafting", "drafting"
    VOTING = "voting", "voting"
    DISCUSSION = "discussion", "in discussion"
    SETTLED = "settled", "settled"


def with_stage(conversations: "QuerySet[Conversation]") -> "QuerySet[Conversation, Any]":
    """Conversations with ``state``, ``last_round`` and ``stage``.

    In discussion is what has a round left, and a criterion that is not settled or that somebody wants voted on again.
    """
    criteria: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.filter(conversation=OuterRef("pk")))
    asked = VoteRequest.objects.filter(
        after_round__conversation=OuterRef("pk"), after_round__number=OuterRef("last_round")
    )
    max_rounds = Policy.objects.filter(study=OuterRef("study")).order_by("-version").values("max_rounds")[:1]
    return with_conversation_state(conversations).annotate(
        stage=Case(
            When(state=ConversationState.DRAFTING, then=Value(Stage.DRAFTING)),
            When(state=ConversationState.VOTING, then=Value(Stage.VOTING)),
            When(last_round__gte=Subquery(max_rounds), then=Value(Stage.SETTLED)),
            When(Exists(criteria.filter(state=CriterionState.DISCUSSION)), then=Value(Stage.DISCUSSION)),
            When(Exists(asked), then=Value(Stage.DISCUSSION)),
            default=Value(Stage.SETTLED),
            output_field=models.CharField(),
        )
    )


def count_stages(study: Study) -> dict[str, int]:
    """How many of the study's conversations stand where. One query."""
    rows: QuerySet[Any, Any] = with_stage(Conversation.objects.own().filter(study=study))
    counted = dict(rows.order_by().values_list("stage").annotate(number=Count("pk")))
    return {stage: counted.get(stage, 0) for stage in Stage.values}


def _has_discussion_left() -> Exists:
    """Over assignments: whether the conversation is in discussion, and the reviewer has not ended it."""
    discussed: QuerySet[Any, Any] = with_stage(Conversation.objects.filter(pk=OuterRef("conversation")))
    ended = Coalesce(OuterRef("ended_discussion_of"), Value(0))
    return Exists(discussed.filter(stage=Stage.DISCUSSION, last_round__gt=ended))


def with_work_left(assignments: "QuerySet[Assignment]") -> "QuerySet[Assignment, Any]":
    """Assignments with what the reviewer has left: ``has_drafts_left`` (drafting is open and not finished),
    ``has_votes_left`` and ``has_discussion_left``.
    """
    return assignments.annotate(
        has_drafts_left=Case(
            When(conversation__drafting_closed_at=None, finished_drafting_at=None, then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        ),
        has_votes_left=_has_votes_left(),
        has_discussion_left=_has_discussion_left(),
    )


# Reviewers


@dataclass(frozen=True, slots=True)
class Share:
    """A reviewer's part in a study: conversations assigned, those still to draft on, to vote on and to discuss."""

    reviewer: User
    assigned: int
    to_draft: int
    to_vote: int
    to_discuss: int
    paused_until: date | None = None
    """Nothing new is assigned before that day; None where no pause goes on."""


def shares_of_reviewers(study: Study) -> list[Share]:
    """Each clinician who reviews something in the study, by name. Two queries."""
    rows = (
        with_work_left(
            Assignment.objects.active().filter(
                conversation__study=study, conversation__external_name="", conversation__undone_at=None
            )
        )
        .order_by()
        .values("reviewer")
        .annotate(
            assigned=Count("pk"),
            to_draft=Count("pk", filter=Q(has_drafts_left=True)),
            to_vote=Count("pk", filter=Q(has_votes_left=True)),
            to_discuss=Count("pk", filter=Q(has_discussion_left=True)),
        )
    )
    counts: dict[UUID, Any] = {row["reviewer"]: row for row in rows}
    pause = Membership.objects.filter(study=study, user=OuterRef("pk"), paused_until__gt=timezone.now().date())
    people: QuerySet[Any, Any] = User.objects.filter(pk__in=counts).annotate(
        paused_until=Subquery(pause.values("paused_until")[:1])
    )
    columns = ("assigned", "to_draft", "to_vote", "to_discuss")
    return [
        Share(person, **{column: counts[person.id][column] for column in columns}, paused_until=person.paused_until)
        for person in sorted(people, key=_by_name)
    ]


def _by_name(person: User) -> tuple[str, str]:
    return str(person).casefold(), person.email.casefold()


# Conversations


@dataclass(frozen=True, slots=True)
class Reviewing:
    """One reviewer of one conversation, and whether that person has finished what the conversation is in."""

    reviewer: User
    is_finished: bool
    is_imported: bool


@dataclass(slots=True)
class Overseen:
    """One conversation as an admin oversees it."""

    conversation: Conversation
    state: str
    stage: str
    last_round: int
    policy: Policy
    closes_at: datetime | None
    reviewing: list[Reviewing] = field(default_factory=list)
    criteria: dict[str, int] = field(default_factory=dict)
    fewest_eligible: int | None = None
    """Of the open round's criteria the one with the fewest reviewers who didn't write it has so many."""
    is_out_of_reach: bool = False

    @property
    def finished(self) -> int:
        return sum(this.is_finished for this in self.reviewing)

    @property
    def standing(self) -> int:
        gone = {CriterionState.WITHDRAWN, CriterionState.MERGED}
        return sum(count for state, count in self.criteria.items() if state not in gone)

    @property
    def unsettled(self) -> int:
        return self.criteria.get(CriterionState.DISCUSSION, 0)

    @property
    def in_consensus(self) -> int:
        return self.criteria.get(CriterionState.IN_CONSENSUS, 0)

    @property
    def is_drafting_open(self) -> bool:
        return self.conversation.drafting_closed_at is None

    @property
    def is_in_discussion(self) -> bool:
        return self.stage == Stage.DISCUSSION

    @property
    def state_in_words(self) -> str:
        if self.state == ConversationState.VOTING:
            return f"voting, round {self.last_round}"
        if self.state == ConversationState.DRAFTING and not self.is_drafting_open:
            return "drafting, closed without a criterion"
        if self.stage == Stage.DISCUSSION:
            return f"in discussion, after round {self.last_round}"
        return Stage(self.stage).label

    @property
    def waits_for(self) -> str:
        """What the conversation waits for, in one sentence; who, where these are few; never how a vote stands."""
        if self.state == ConversationState.DRAFTING:
            if not self.is_drafting_open:
                return "Nothing to vote on: no criterion was written."
            return self._people("finish drafting", "Everybody has finished drafting.")
        if self.state == ConversationState.VOTING:
            is_short = self.fewest_eligible is not None and self.fewest_eligible < self.policy.min_reviewed
            return self._people("vote", "Everybody has voted." if not is_short else self._short)
        if not self.is_in_discussion:
            return f"{self.in_consensus} of {self.standing} criteria in consensus."
        return self._people("end the discussion", "Everybody has ended the discussion: nothing new to vote on.")

    @property
    def _short(self) -> str:
        return (
            f"All have voted. Waits for another reviewer: a criterion needs {self.policy.min_reviewed} "
            f"who didn't write it, one has {self.fewest_eligible}."
        )

    def _people(self, act: str, when_none: str) -> str:
        if not self.reviewing:
            return "Waits for reviewers to be assigned."
        waiting = [str(this.reviewer) for this in self.reviewing if not this.is_finished]
        if not waiting:
            return when_none
        if len(waiting) <= 2:
            return f"Waits for {' and '.join(waiting)} to {act}."
        return f"Waits for {len(waiting)} of {len(self.reviewing)} reviewers to {act}."


def conversations_to_oversee(
    study: Study, *, stage: str = "", words: str = "", reviewer: UUID | None = None
) -> "QuerySet[Conversation, Any]":
    """The study's own conversations as ``with_stage`` has them: what waits first, then what is settled, each in the
    order of the file.

    ``stage`` narrows to one of them, ``words`` to ids that hold them, ``reviewer`` to what waits for that person.
    """
    rows: QuerySet[Any, Any] = with_stage(Conversation.objects.own().filter(study=study))
    rows = rows.defer("messages", "extra")
    if stage:
        rows = rows.filter(stage=stage)
    if words:
        rows = rows.filter(external_id__icontains=words)
    if reviewer is not None:
        mine = with_work_left(Assignment.objects.active().filter(reviewer=reviewer, conversation=OuterRef("pk")))
        left = Q(has_drafts_left=True) | Q(has_votes_left=True) | Q(has_discussion_left=True)
        rows = rows.filter(Exists(mine.filter(left)))
    is_settled = Case(When(stage=Stage.SETTLED, then=Value(1)), default=Value(0))
    return rows.order_by(is_settled, "position", "id")


def oversee(study: Study, rows: Iterable[Any], *, out_of_reach: Collection[UUID] = ()) -> list[Overseen]:
    """Rows of ``conversations_to_oversee`` as an admin sees them. Six queries, however many rows."""
    policy = study.policy
    found = list(rows)
    ids = [row.id for row in found]
    closing = dict(Round.objects.unsettled().filter(conversation__in=ids).values_list("conversation_id", "closes_at"))
    overseen = {
        row.id: Overseen(
            conversation=row,
            state=row.state,
            stage=row.stage,
            last_round=row.last_round,
            policy=policy,
            closes_at=_closes_at(row, closing.get(row.id)),
            is_out_of_reach=row.id in out_of_reach,
        )
        for row in found
    }
    _count_criteria(overseen)
    _find_reviewers(overseen)
    _find_fewest_eligible(overseen)
    return list(overseen.values())


def _closes_at(row: Any, round_closes_at: datetime | None) -> datetime | None:
    """The date of what is open in a conversation, where it has one."""
    dates: dict[str, datetime | None] = {
        Stage.DRAFTING: row.drafting_closes_at if row.drafting_closed_at is None else None,
        Stage.VOTING: round_closes_at,
        Stage.DISCUSSION: row.discussion_closes_at,
    }
    return dates.get(row.stage)


def _count_criteria(overseen: dict[UUID, Overseen]) -> None:
    rows: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.filter(conversation__in=overseen))
    for row in rows.order_by().values("conversation", "state").annotate(number=Count("pk")):
        overseen[row["conversation"]].criteria[row["state"]] = row["number"]


def _find_reviewers(overseen: dict[UUID, Overseen]) -> None:
    assignments = with_work_left(
        Assignment.objects.active().filter(conversation__in=overseen).select_related("reviewer")
    )
    for this in sorted(assignments, key=lambda one: _by_name(one.reviewer)):
        about = overseen[this.conversation_id]
        if about.state == ConversationState.VOTING:
            is_finished = not this.has_votes_left
        elif about.state == ConversationState.DRAFTING:
            is_finished = this.finished_drafting_at is not None or not about.is_drafting_open
        else:
            is_finished = not about.is_in_discussion or (this.ended_discussion_of or 0) >= about.last_round
        is_imported = this.origin == Assignment.Origin.IMPORTED
        about.reviewing.append(Reviewing(this.reviewer, is_finished, is_imported))


def _find_fewest_eligible(overseen: dict[UUID, Overseen]) -> None:
    """Of each open round the smallest number of eligible reviewers that one of its criteria has."""
    covered = list(
        Criterion.objects.standing()
        .filter(rounds__round__revealed_at=None, rounds__round__conversation__in=overseen)
        .select_related("current_revision")
        .defer("current_revision__text", "current_revision__rationale", "extra")
    )
    writers = writers_of(covered)
    for criterion in covered:
        about = overseen[criterion.conversation_id]
        eligible = {this.reviewer.id for this in about.reviewing} - writers[criterion.id]
        fewest = about.fewest_eligible
        about.fewest_eligible = len(eligible) if fewest is None else min(fewest, len(eligible))


def recused_from(conversation: Conversation) -> list[User]:
    """Who recused from a conversation, by name: that is no vote and is not blind."""
    gone = conversation.assignments.filter(recused_at__isnull=False, unassigned_at=None).select_related("reviewer")
    return sorted((this.reviewer for this in gone), key=_by_name)
