"""Rounds: when one opens, when it is complete, and the reveal.

Round 1 opens in the moment in which drafting closes, and covers all criteria of the conversation. It is open until it
is complete, its date passes, or an admin closes it; then it is revealed, for the whole conversation at once. A later
round covers what was revised, added or asked for since.

One function settles what is due, ``settle``: votes, closings, imports, pages and the periodic job all call it. It
works on many rounds with a fixed number of queries. Every act on a conversation begins with ``enter_conversation``,
which settles what a date has decided before the act moves anything.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation import consensus
from annotation.care_locks import is_locked, locked_among, refuse_if_locked
from annotation.locks import lock_conversation, lock_conversations, lock_open_round, share_study
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
    Wave,
    waits_for_its_wave,
)
from annotation.models.rounds import RoundIsRevealed
from annotation.revealing import reveal_if_due
from annotation.states import ConversationState, with_conversation_state
from consilium.errors import RuleViolation


class WaveIsClosed(RuleViolation):
    """This conversation goes out with a wave that isn't open yet."""


def settle(study: Study, *, conversations: Collection[UUID] | None = None) -> list[Round]:
    """Do what is due in a study: close drafting, reveal rounds, open next ones. Returns the rounds revealed.

    ``conversations`` narrows it. What is due is decided by the database's clock, under the locks of the rows.
    """
    with transaction.atomic():
        share_study(study.id)
        held = [this.id for this in lock_conversations(_concerned(study, conversations))]
        locked = locked_among(held)
        touched = [each for each in held if each not in locked]
        _close_due_drafting(study, touched)
        revealed = _reveal_due(study, touched)
        _open_due(study, touched)
    return revealed


def enter_conversation(
    study_id: UUID, conversation_id: UUID, *, may_be_locked: bool = False, may_wait: bool = False
) -> tuple[Conversation, Round | None]:
    """The beginning of every act on a conversation: (the conversation, its open round), locked, as they stand now.

    Where a date has passed, what it decides is settled first: nothing that is done after it moves the result. Raises
    ConversationIsLocked where a lock stands, except for what goes on all the same (``may_be_locked``), and WaveIsClosed
    where the conversation isn't out yet, except for these and what may be done before (``may_wait``). To be called
    inside the act's transaction.
    """
    share_study(study_id)
    conversation = lock_conversation(conversation_id)
    if not may_be_locked:
        refuse_if_locked(conversation_id)
        if not may_wait and conversation.wave_id and Wave.objects.waiting().filter(pk=conversation.wave_id).exists():
            raise WaveIsClosed
    this = lock_open_round(conversation_id)
    if not conversation.external_name and is_past_a_date(conversation, this):
        settle(conversation.study, conversations=[conversation_id])
        conversation, this = lock_conversation(conversation_id), lock_open_round(conversation_id)
    return conversation, this


def is_past_a_date(conversation: Conversation, this: Round | None) -> bool:
    """Whether the date of what is open in a conversation has passed: of drafting, its open round, or the discussion."""
    if this is not None:
        return bool(this.is_past)  # type: ignore[attr-defined]
    is_drafting = conversation.drafting_closed_at is None
    until = conversation.drafting_closes_at if is_drafting else conversation.discussion_closes_at
    return until is not None and until <= timezone.now()


def _concerned(study: Study, conversations: Collection[UUID] | None) -> Collection[UUID]:
    """Those of the conversations (None: all of the study's own) in which something could be due."""
    own = Conversation.objects.own().filter(study=study)
    if conversations is not None:
        return list(own.filter(id__in=conversations).values_list("id", flat=True))
    is_voting = Exists(Round.objects.unsettled().filter(conversation=OuterRef("pk")))
    is_ending = Exists(Assignment.objects.active().filter(conversation=OuterRef("pk"), ended_discussion_of__gt=0))
    waiting = Q(drafting_closed_at=None) | is_voting | is_ending | Q(discussion_closes_at__isnull=False)
    return list(own.filter(waiting).values_list("id", flat=True))


def settle_if_due(study: Study) -> None:
    """What a page's first read calls: settles only where a date has passed, which one query tells."""
    now = timezone.now()
    unsettled = Round.objects.unsettled().filter(conversation=OuterRef("pk"))
    due = Conversation.objects.own().filter(
        Q(drafting_closed_at=None, drafting_closes_at__lte=now)
        | Exists(unsettled.filter(closes_at__lte=now))
        | Q(drafting_closed_at__isnull=False, discussion_closes_at__lte=now) & ~Exists(unsettled),
        ~is_locked(),
        ~waits_for_its_wave(),
        study=study,
    )
    ids = list(due.values_list("id", flat=True))
    if ids:
        settle(study, conversations=ids)


# Drafting


def _close_due_drafting(study: Study, touched: Collection[UUID]) -> None:
    drafting = Conversation.objects.filter(id__in=touched, drafting_closed_at=None)
    active = Assignment.objects.active().filter(conversation=OuterRef("pk"))
    is_finished = Exists(active.filter(finished_drafting_at__isnull=False)) & ~Exists(
        active.filter(finished_drafting_at=None)
    )
    due = drafting.filter(Q(drafting_closes_at__lte=timezone.now()) | is_finished, ~waits_for_its_wave())
    ids = list(due.values_list("id", flat=True))
    if ids:
        close_drafting_of(study, ids)


def close_drafting_of(study: Study, conversation_ids: Collection[UUID]) -> set[UUID]:
    """Close drafting and open round 1 of each, in one moment. Returns those that were still drafting.

    To be called inside a transaction that shares or holds the study's lock.
    """
    own = Conversation.objects.own().filter(study=study, id__in=conversation_ids).values_list("id", flat=True)
    drafting = {this.id for this in lock_conversations(list(own)) if this.drafting_closed_at is None}
    Conversation.objects.filter(id__in=drafting).update(drafting_closed_at=timezone.now())
    open_first_rounds(study, drafting)
    return drafting


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
    """Let imported criteria into the round that is open in their conversation, and not past its date. Returns how many
    joined.
    """
    rows = (
        Criterion.objects.own()
        .standing()
        .filter(
            study=study,
            id__in=criterion_ids,
            conversation__rounds__in=Round.objects.open().filter(conversation__study=study),
        )
        .values_list("id", "conversation__rounds__id")
    )
    joining = [RoundCriterion(round_id=round_id, criterion_id=criterion_id) for criterion_id, round_id in rows]
    RoundCriterion.objects.bulk_create(joining, ignore_conflicts=True, batch_size=5000)
    return len(joining)


# The reveal


def lock_rounds(conversation_ids: Collection[UUID]) -> list[Round]:
    """The open rounds of conversations that are locked, with ``is_past``, by id."""
    rounds = Round.objects.unsettled().filter(conversation__in=conversation_ids)
    rounds = rounds.annotate(is_past=RoundIsRevealed("revealed_at", "closes_at"))
    return list(rounds.select_for_update(of=("self",), no_key=True).order_by("id"))


def _reveal_due(study: Study, touched: Collection[UUID]) -> list[Round]:
    rounds = lock_rounds(touched)
    past = {this.id for this in rounds if this.is_past}  # type: ignore[attr-defined]
    return reveal_if_due(study, rounds, past=past)


# Later rounds


def due_for_next_round(conversation_ids: Collection[UUID], *, by_admin: bool) -> dict[UUID, dict[UUID, bool]]:
    """What a next round would cover: conversation -> {criterion: is it proposed by rule 4 alone}.

    A criterion is due where its current wording was never decided (revised, added), where somebody asked for a vote
    since the last reveal, where it failed on the weights alone, and, if an admin opens the round, where too few
    reviewers had judged it or a newer policy has left it unsettled.
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
        # A newer policy has left it unsettled: nobody could know that in the discussion.
        is_reopened = by_admin and failing and decided.policy_id != decided.round.policy_id
        if is_proposed or is_asked or is_short or is_reopened:
            due[criterion.conversation_id][criterion.id] = is_proposed
    return due


def open_rounds(conversation_ids: Collection[UUID], due: dict[UUID, dict[UUID, bool]], by: User | None) -> None:
    """Open the next round of conversations (locked, none open) with what is due; the discussion's date is spent."""
    numbers: dict[UUID, int] = dict(
        Round.objects.filter(conversation__in=conversation_ids)
        .values_list("conversation")
        .annotate(last=Max("number"))
        .order_by()
    )
    opened = Round.objects.bulk_create(
        Round(conversation_id=each, number=numbers.get(each, 0) + 1, opened_by=by) for each in conversation_ids
    )
    RoundCriterion.objects.bulk_create(
        [
            RoundCriterion(round=this, criterion_id=criterion_id, is_proposed=is_proposed)
            for this in opened
            for criterion_id, is_proposed in due[this.conversation_id].items()
        ],
        batch_size=5000,
    )
    Conversation.objects.filter(id__in=conversation_ids).update(discussion_closes_at=None)


def _open_due(study: Study, touched: Collection[UUID]) -> None:
    """Open the next round where every reviewer has ended the discussion of the last one, or its date has passed."""
    revealed: QuerySet[Any, Any] = with_conversation_state(Conversation.objects.filter(id__in=touched))
    revealed = revealed.filter(Q(state=ConversationState.REVEALED)).order_by("id")
    discussing = [(row.id, row.last_round, row.discussion_closes_at) for row in revealed.defer("messages", "extra")]
    ended: dict[UUID, list[int]] = defaultdict(list)
    active = Assignment.objects.active().filter(conversation__in=[each for each, _, _ in discussing])
    for conversation_id, number in active.values_list("conversation_id", "ended_discussion_of"):
        ended[conversation_id].append(number or 0)
    now = timezone.now()
    past = {each for each, _, until in discussing if until is not None and until <= now}
    ending = {each for each, last, _ in discussing if each in past or (ended[each] and min(ended[each]) >= last)}
    has_round_left = {each for each, last, _ in discussing if last < study.policy.max_rounds}
    due = due_for_next_round(ending & has_round_left, by_admin=False)
    open_rounds(sorted(each for each, criteria in due.items() if criteria), due, None)
    Conversation.objects.filter(id__in=past).update(discussion_closes_at=None)
