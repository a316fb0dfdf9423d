"""What waits for a clinician: the conversations assigned, what is left in each, and which comes next.

Only what the person did is counted here: own drafts, own votes, the own end of a discussion. What waits comes before
what doesn't; there, what is due first, then what was begun, then the order of the file. What opens next (``Part``)
keeps to that order, but puts another conversation in after as many emergent ones as the study allows in a row.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, ngettext

from annotation.care_locks import is_locked
from annotation.models import (
    Acuity,
    Assignment,
    Conversation,
    Criterion,
    Policy,
    Round,
    RoundCriterion,
    Study,
    User,
    Vote,
    VoteRequest,
    waits_for_its_wave,
)
from annotation.pacing import count_in_a_row, spread_out
from annotation.states import ConversationState, CriterionState, with_conversation_state, with_criterion_state
from annotation.writers import ways_to_be_writer


@dataclass(frozen=True, slots=True)
class Assigned:
    """One conversation assigned to a clinician: where it stands, and what that clinician has left in it."""

    conversation: Conversation
    state: str
    is_drafting_closed: bool
    is_finished: bool
    drafts: int
    to_vote: int
    voted: int
    unsettled: int
    criteria: int
    is_asked: bool
    due_at: datetime | None
    waits: bool
    is_locked: bool = False

    @property
    def state_in_words(self) -> str:
        if self.is_locked:
            return gettext("locked")
        if self.state == ConversationState.DRAFTING:
            return gettext("closed without a criterion") if self.is_drafting_closed else gettext("drafting")
        if self.state == ConversationState.VOTING:
            return gettext("voting")
        return gettext("in discussion") if self.unsettled or self.is_asked else gettext("settled")

    @property
    def left(self) -> str:
        """What is left to do, or what the person waits for."""
        if self.is_locked:
            return gettext("an admin looks at it first")
        if self.state == ConversationState.DRAFTING:
            if self.is_drafting_closed:
                return gettext("nothing to vote on")
            return self._drafts_in_words()
        if self.state == ConversationState.VOTING:
            if not self.to_vote:
                return gettext("all yours: others vote")
            return gettext("{voted} of {all} voted").format(voted=self.voted, all=self.to_vote)
        if not self.unsettled and not self.is_asked:
            return gettext("nothing left")
        left = (
            gettext("{unsettled} of {criteria} not settled").format(unsettled=self.unsettled, criteria=self.criteria)
            if self.unsettled
            else gettext("another vote is asked for")
        )
        return left if self.waits else gettext("{left}, you have nothing to add").format(left=left)

    def _drafts_in_words(self) -> str:
        if self.is_finished:
            if not self.drafts:
                return gettext("finished, no draft yet")
            return ngettext("finished, 1 draft", "finished, {count} drafts", self.drafts).format(count=self.drafts)
        if not self.drafts:
            return gettext("no draft yet")
        return ngettext("1 draft", "{count} drafts", self.drafts).format(count=self.drafts)


def _count(rows: "QuerySet[Any, Any]", by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted, output_field=models.IntegerField()), Value(0))


def assigned_to(user: User, studies: Iterable[Study]) -> "QuerySet[Conversation, Any]":
    """The conversations that a clinician reviews in these studies and that are out, what waits first. One query.

    Adds what ``Assigned`` holds.
    """
    writes_covered = reduce(or_, map(Q, ways_to_be_writer(user, "criterion")))
    writes = reduce(or_, map(Q, ways_to_be_writer(user)))
    mine = Assignment.objects.active().filter(reviewer=user, conversation=OuterRef("pk"))
    covered = RoundCriterion.objects.filter(
        ~writes_covered,
        round__conversation=OuterRef("pk"),
        round__revealed_at=None,
        criterion__withdrawn_at=None,
        criterion__merged_into=None,
    )
    voted = Vote.objects.filter(
        round=OuterRef("round"), wording=OuterRef("criterion__current_revision__wording_id"), reviewer=user
    )
    standing = Criterion.objects.standing().filter(conversation=OuterRef("pk"))
    policy = Policy.objects.filter(study=OuterRef("study")).order_by("-version")
    return (
        with_conversation_state(
            Conversation.objects.own().filter(Exists(mine), ~waits_for_its_wave(), study__in=list(studies))
        )
        .annotate(
            finished_at=Subquery(mine.values("finished_drafting_at")[:1]),
            ended_round=Coalesce(Subquery(mine.values("ended_discussion_of")[:1]), Value(0)),
            max_rounds=Subquery(policy.values("max_rounds")[:1]),
            drafts=_count(standing.filter(writes), "conversation"),
            to_vote=_count(covered, "round__conversation"),
            voted=_count(covered.filter(Exists(voted)), "round__conversation"),
            unsettled=_count(with_criterion_state(standing).filter(Q(state=CriterionState.DISCUSSION)), "conversation"),
            standing=_count(standing, "conversation"),
            is_locked=is_locked(),
            is_asked=Exists(
                VoteRequest.objects.filter(
                    after_round__conversation=OuterRef("pk"), after_round__number=OuterRef("last_round")
                )
            ),
        )
        .annotate(
            due_at=Case(
                When(state=ConversationState.DRAFTING, drafting_closed_at=None, then=F("drafting_closes_at")),
                When(
                    state=ConversationState.VOTING,
                    then=Subquery(
                        Round.objects.unsettled().filter(conversation=OuterRef("pk")).values("closes_at")[:1]
                    ),
                ),
                When(
                    Q(unsettled__gt=0) | Q(is_asked=True),
                    state=ConversationState.REVEALED,
                    then=F("discussion_closes_at"),
                ),
                default=None,
                output_field=models.DateTimeField(),
            ),
            waits=Case(
                When(is_locked=True, then=Value(False)),
                When(state=ConversationState.DRAFTING, drafting_closed_at=None, finished_at=None, then=Value(True)),
                When(state=ConversationState.VOTING, voted__lt=F("to_vote"), then=Value(True)),
                When(
                    Q(unsettled__gt=0) | Q(is_asked=True),
                    state=ConversationState.REVEALED,
                    ended_round__lt=F("last_round"),
                    last_round__lt=F("max_rounds"),
                    then=Value(True),
                ),
                default=Value(False),
                output_field=models.BooleanField(),
            ),
            is_begun=Case(
                When(Q(state=ConversationState.DRAFTING, drafts__gt=0), then=Value(True)),
                When(Q(state=ConversationState.VOTING, voted__gt=0), then=Value(True)),
                default=Value(False),
                output_field=models.BooleanField(),
            ),
        )
        .order_by("-waits", F("due_at").asc(nulls_last=True), "-is_begun", "position", "id")
    )


def as_assigned(rows: Iterable[Any]) -> list[Assigned]:
    """Rows of ``assigned_to``, as they are shown."""
    return [
        Assigned(
            conversation=row,
            state=row.state,
            is_drafting_closed=row.drafting_closed_at is not None,
            is_finished=row.finished_at is not None,
            drafts=row.drafts,
            to_vote=row.to_vote,
            voted=row.voted,
            unsettled=row.unsettled,
            criteria=row.standing,
            is_asked=row.is_asked,
            due_at=row.due_at,
            waits=row.waits,
            is_locked=row.is_locked,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Part:
    """A clinician's part in a study: how many conversations are assigned, and which wait, the next one first."""

    assigned: int = 0
    in_order: tuple[tuple[UUID, bool], ...] = ()
    """What waits, in the order of what is due, each with whether it is emergent."""
    in_a_row: int = 0
    """How many emergent conversations the person finished last, one after the other."""
    limit: int = 0
    """How many of them the study allows in a row; 0: any number."""

    @property
    def waiting(self) -> tuple[UUID, ...]:
        """What waits, as it comes: with others between the emergent ones, where there are others."""
        return tuple(spread_out(self.in_order, in_a_row=self.in_a_row, limit=self.limit))

    @property
    def done(self) -> int:
        return self.assigned - len(self.in_order)

    @property
    def is_a_pause_due(self) -> bool:
        """Whether as many emergent conversations as the study allows lie behind, and only such ones are left."""
        is_enough = bool(self.limit) and self.in_a_row >= self.limit
        return is_enough and bool(self.in_order) and all(is_emergent for _, is_emergent in self.in_order)

    def next(self, *, after: UUID | None = None) -> UUID | None:
        """The conversation that comes next; not ``after``, which is the one on the desk."""
        others = [each for each in self.in_order if each[0] != after]
        return next(iter(spread_out(others, in_a_row=self.in_a_row, limit=self.limit)), None)


def parts_of(user: User, studies: Collection[Study]) -> dict[UUID, Part]:
    """A clinician's part in each study, by study id. Two queries at most."""
    assigned: dict[UUID, int] = Counter()
    waiting: dict[UUID, list[tuple[UUID, bool]]] = defaultdict(list)
    rows: Any = assigned_to(user, studies)
    for study_id, conversation_id, waits, acuity in rows.values_list("study_id", "id", "waits", "acuity"):
        assigned[study_id] += 1
        if waits:
            waiting[study_id].append((conversation_id, acuity == Acuity.EMERGENT))
    paced = [
        study
        for study in studies
        if study.emergent_in_a_row and any(is_emergent for _, is_emergent in waiting[study.id])
    ]
    in_a_row = count_in_a_row(user, paced) if paced else {}
    return {
        study.id: Part(assigned[study.id], tuple(waiting[study.id]), in_a_row.get(study.id, 0), study.emergent_in_a_row)
        for study in studies
    }
