"""Rounds: when one opens, when it is complete, and the reveal.

Round 1 opens in the moment in which drafting closes, and covers all criteria of the conversation. It is open until it
is complete, its date passes, or an admin closes it; then it is revealed, for the whole conversation at once. A later
round covers what was revised, added or asked for since.

One function settles what is due, ``settle``: votes, closings, imports, pages and the periodic job all call it. It
works on many rounds with a fixed number of queries.
"""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation import consensus
from annotation.locks import lock_conversation, lock_open_round, share_study
from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Round,
    RoundCriterion,
    RoundOutcome,
    Study,
    User,
    VoteRequest,
)
from annotation.models.rounds import RoundIsRevealed
from annotation.revealing import gather, reveal, reveal_if_due
from consilium.errors import RuleViolation


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


def settle(study: Study, *, conversations: Collection[UUID] | None = None) -> list[Round]:
    """Do what is due in a study: close drafting, reveal rounds, open next ones. Returns the rounds revealed.

    ``conversations`` narrows it. What is due is decided by the database's clock, under the locks of the rows.
    """
    with transaction.atomic():
        share_study(study.id)
        _close_due_drafting(study, conversations)
        revealed = _reveal_due(study, conversations)
        _open_due(study, conversations)
    return revealed


def settle_if_due(study: Study) -> None:
    """What a page's first read calls: settles only where a date has passed, which one query tells."""
    now = timezone.now()
    is_due = (
        Round.objects.unsettled().filter(conversation__study=study, closes_at__lte=now).exists()
        or Conversation.objects.own().filter(study=study, drafting_closed_at=None, drafting_closes_at__lte=now).exists()
    )
    if is_due:
        settle(study)


def _own(study: Study, conversations: Collection[UUID] | None) -> Q:
    narrowed = Q(study=study, external_name="", undone_at=None)
    return narrowed if conversations is None else narrowed & Q(id__in=conversations)


# Drafting


def _close_due_drafting(study: Study, conversations: Collection[UUID] | None) -> None:
    drafting = Conversation.objects.filter(_own(study, conversations), drafting_closed_at=None)
    due = drafting.filter(drafting_closes_at__lte=timezone.now())
    active = Assignment.objects.active()
    finished = drafting.filter(
        id__in=active.filter(finished_drafting_at__isnull=False).values("conversation_id")
    ).exclude(id__in=active.filter(finished_drafting_at=None).values("conversation_id"))
    ids = sorted({*due.values_list("id", flat=True), *finished.values_list("id", flat=True)})
    if ids:
        close_drafting_of(study, ids)


def close_drafting_of(study: Study, conversation_ids: Collection[UUID]) -> int:
    """Close drafting and open round 1 of each, in one moment. Returns how many were still drafting.

    To be called inside a transaction that shares or holds the study's lock.
    """
    locked = list(
        Conversation.objects.select_for_update(no_key=True)
        .filter(_own(study, conversation_ids), drafting_closed_at=None)
        .order_by("id")
    )
    Conversation.objects.filter(id__in=[this.id for this in locked]).update(drafting_closed_at=timezone.now())
    open_first_rounds(study, [this.id for this in locked])
    return len(locked)


def open_first_rounds(study: Study, conversation_ids: Collection[UUID]) -> int:
    """Open round 1 where drafting is closed, there are criteria, and no round was opened yet."""
    standing: dict[UUID, list[UUID]] = defaultdict(list)
    rows = (
        Criterion.objects.own()
        .standing()
        .filter(
            conversation__in=conversation_ids,
            conversation__study=study,
            conversation__drafting_closed_at__isnull=False,
            conversation__rounds=None,
        )
        .values_list("conversation_id", "id")
    )
    for conversation_id, criterion_id in rows:
        standing[conversation_id].append(criterion_id)
    opened = Round.objects.bulk_create(
        [Round(conversation_id=conversation_id, number=1) for conversation_id in standing]
    )
    RoundCriterion.objects.bulk_create(
        [
            RoundCriterion(round=this, criterion_id=criterion_id)
            for this in opened
            for criterion_id in standing[this.conversation_id]
        ],
        batch_size=5000,
    )
    return len(opened)


def join_open_rounds(study: Study, criterion_ids: Collection[UUID]) -> int:
    """Let imported criteria into the round that is open in their conversation. Returns how many joined."""
    rows = (
        Criterion.objects.own()
        .standing()
        .filter(study=study, id__in=criterion_ids, conversation__rounds__revealed_at=None)
        .exclude(conversation__rounds=None)
        .values_list("id", "conversation__rounds__id")
    )
    joining = [
        RoundCriterion(round_id=round_id, criterion_id=criterion_id)
        for criterion_id, round_id in rows
        if round_id is not None
    ]
    RoundCriterion.objects.bulk_create(joining, ignore_conflicts=True, batch_size=5000)
    return len(joining)


# The reveal


def _reveal_due(study: Study, conversations: Collection[UUID] | None) -> list[Round]:
    chosen = Conversation.objects.filter(_own(study, conversations)).values("id")
    rounds = list(
        Round.objects.unsettled()
        .filter(conversation__in=chosen)
        .select_for_update(of=("self",), no_key=True)
        .annotate(is_past=RoundIsRevealed("revealed_at", "closes_at"))
        .order_by("id")
    )
    past = {this.id for this in rounds if this.is_past}  # type: ignore[attr-defined]
    return reveal_if_due(study, rounds, past=past)


def close_round(*, conversation: Conversation, by: User | None) -> Round:
    """An admin closes a conversation's open round: it is revealed with the votes that there are."""
    with transaction.atomic():
        share_study(conversation.study_id)
        this = lock_open_round(conversation.id)
        if this is None:
            raise NoOpenRound
        policy = conversation.study.policy
        Round.objects.filter(pk=this.pk).update(closed_by=by)
        reveal([this], gather([this]), policy)
        this.refresh_from_db()
    return this


def close_drafting(*, conversation: Conversation, by: User | None) -> bool:
    """An admin closes drafting for a conversation; round 1 opens in the same moment. False: it was closed already."""
    with transaction.atomic():
        share_study(conversation.study_id)
        return bool(close_drafting_of(conversation.study, [conversation.id]))


# Later rounds


def due_for_next_round(conversation_ids: Collection[UUID], *, by_admin: bool) -> dict[UUID, dict[UUID, bool]]:
    """What a next round would cover: conversation -> {criterion: is it proposed by rule 4 alone}.

    A criterion is due where its current wording was never decided (revised, added), where somebody asked for a vote
    since the last reveal, where it failed on the weights alone, and, if an admin opens the round, where too few
    reviewers had judged it.
    """
    due: dict[UUID, dict[UUID, bool]] = defaultdict(dict)
    criteria = list(
        Criterion.objects.own()
        .standing()
        .filter(conversation__in=conversation_ids, adjudicated_at=None)
        .select_related("current_revision")
    )
    latest: dict[UUID, RoundOutcome] = {}
    for outcome in (
        RoundOutcome.objects.filter(criterion__in=[c.id for c in criteria])
        .select_related("round", "policy")
        .order_by("round__number", "policy__version")
    ):
        latest[outcome.criterion_id] = outcome
    last_round: dict[UUID, int] = {}
    for conversation_id, number in Round.objects.filter(conversation__in=conversation_ids).values_list(
        "conversation_id", "number"
    ):
        last_round[conversation_id] = max(number, last_round.get(conversation_id, 0))
    asked = {
        (request.criterion_id, request.after_round.number)
        for request in VoteRequest.objects.filter(criterion__conversation__in=conversation_ids).select_related(
            "after_round"
        )
    }
    for criterion in criteria:
        decided = latest.get(criterion.id)
        assert criterion.current_revision is not None
        if decided is None or decided.wording_id != criterion.current_revision.wording_id:
            due[criterion.conversation_id][criterion.id] = False
            continue
        failing = {consensus.Clause(name) for name in decided.failing}
        is_proposed = bool(failing) and consensus.WEIGHT_CLAUSES.issuperset(failing)
        is_asked = (criterion.id, last_round.get(criterion.conversation_id, 0)) in asked
        is_short = by_admin and consensus.Clause.REVIEWED in failing
        if is_proposed or is_asked or is_short:
            due[criterion.conversation_id][criterion.id] = is_proposed
    return due


def open_round(*, conversation: Conversation, by: User | None) -> Round:
    """An admin opens the next round of a conversation, if there is something for it."""
    with transaction.atomic():
        share_study(conversation.study_id)
        conversation = lock_conversation(conversation.id)
        if conversation.drafting_closed_at is None:
            raise DraftingStillOpen
        if lock_open_round(conversation.id):
            raise RoundStillOpen
        number = conversation.rounds.count() + 1
        if number > conversation.study.policy.max_rounds:
            raise RoundsUsedUp
        due = due_for_next_round([conversation.id], by_admin=True)[conversation.id]
        if not due:
            raise NothingToVoteOn
        return _open(conversation.id, number, due, by)


def _open(conversation_id: UUID, number: int, due: dict[UUID, bool], by: User | None) -> Round:
    this = Round.objects.create(conversation_id=conversation_id, number=number, opened_by=by)
    RoundCriterion.objects.bulk_create(
        RoundCriterion(round=this, criterion_id=criterion_id, is_proposed=is_proposed)
        for criterion_id, is_proposed in due.items()
    )
    return this


def _open_due(study: Study, conversations: Collection[UUID] | None) -> None:
    """Open the next round where every reviewer has ended the discussion of the last one."""
    ended = (
        Assignment.objects.active()
        .filter(ended_discussion_of__isnull=False, conversation__study=study)
        .values_list("conversation_id", flat=True)
    )
    candidates = (
        Conversation.objects.filter(_own(study, conversations), id__in=ended, drafting_closed_at__isnull=False)
        .exclude(rounds__revealed_at=None)
        .order_by("id")
    )
    for conversation_id in candidates.values_list("id", flat=True):
        conversation = lock_conversation(conversation_id)
        number = conversation.rounds.count()
        is_open = conversation.rounds.filter(revealed_at=None).exists()
        active = list(Assignment.objects.active().filter(conversation=conversation))
        is_ended = bool(active) and all((this.ended_discussion_of or 0) >= number for this in active)
        if is_open or not is_ended or number >= study.policy.max_rounds:
            continue
        due = due_for_next_round([conversation_id], by_admin=False)[conversation_id]
        if due:
            _open(conversation_id, number + 1, due, None)
