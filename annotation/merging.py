"""Criteria of one conversation that are alike: offered in the discussion, and there merged or both kept.

Round 1 waits for no merging. The merged criterion keeps its links, its history and all its writers, who are writers
of the kept one from then on. Who merges becomes no writer by that: a change of text is a revision, and an act of its
own. The kept criterion's last outcome stands; another vote on it is asked for, since others may vote now.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.desk import Desk, Sheet
from annotation.discussing import NotInDiscussion
from annotation.drafting import (
    CriterionIsAdjudicated,
    CriterionIsGone,
    NotAReviewer,
    check_has_round_left,
    goes_on,
    is_in_discussion,
    reviews,
)
from annotation.likeness import find_pairs
from annotation.locks import lock_criterion
from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Revision,
    SettledLikeness,
    User,
    VoteRequest,
)
from annotation.rounds import enter_conversation
from annotation.states import CriterionState
from annotation.writers import writers_of
from consilium.errors import RuleViolation


class NotOneConversation(RuleViolation):
    """Two different criteria of one conversation can be merged or both kept, no others."""


class ChangedMeanwhile(RuleViolation):
    """One of the two was changed since you saw them. Look at both again."""


@dataclass(frozen=True, slots=True)
class OfferedPair:
    """Two criteria on a desk that are alike; ``voters_left``: reviewers who wrote neither."""

    one: Sheet
    other: Sheet
    is_mirrored: bool
    score: float
    voters_left: int
    voters_needed: int

    @property
    def sides(self) -> tuple[tuple[Sheet, Sheet], tuple[Sheet, Sheet]]:
        """Each of the two with the one that would be merged into it."""
        return (self.one, self.other), (self.other, self.one)

    @property
    def has_too_few_voters(self) -> bool:
        return self.voters_left < self.voters_needed


def offered_pairs(desk: Desk) -> list[OfferedPair]:
    """The likenesses that a reviewer is asked about now: in the discussion, before the last round."""
    if not desk.may_revise:
        return []
    sheets = [sheet for sheet in desk.standing if sheet.state != CriterionState.ADJUDICATED]
    pairs = find_pairs([(sheet.revision.text, sheet.revision.points) for sheet in sheets])
    if not pairs:
        return []
    kept = SettledLikeness.objects.filter(
        kept__conversation=desk.conversation, outcome=SettledLikeness.Outcome.KEPT_BOTH
    )
    settled = {frozenset(ids) for ids in kept.values_list("kept_id", "other_id")}
    writers = writers_of([sheet.criterion for sheet in sheets])
    active = Assignment.objects.active().filter(conversation=desk.conversation)
    reviewers = set(active.values_list("reviewer_id", flat=True))
    return [
        OfferedPair(
            one,
            other,
            pair.is_mirrored,
            pair.score,
            len(reviewers - writers[one.id] - writers[other.id]),
            desk.policy.min_reviewed,
        )
        for pair in pairs
        for one, other in [(sheets[pair.one], sheets[pair.other])]
        if frozenset((one.id, other.id)) not in settled
    ]


def merge_criteria(*, kept: Criterion, kept_seen: Revision, merged: Criterion, merged_seen: Revision, by: User) -> None:
    """A reviewer merges one criterion into another of the conversation, as both were seen, in the discussion.

    What was merged into the merged one before goes along.
    """
    with transaction.atomic():
        conversation = _enter(kept, merged, by)
        check_has_round_left(conversation)
        locked = _lock(kept, merged)
        if any(each.adjudicated_at for each in locked):
            raise CriterionIsAdjudicated
        seen = {kept.id: kept_seen.id, merged.id: merged_seen.id}
        if any(each.current_revision_id != seen[each.id] for each in locked):
            raise ChangedMeanwhile
        goes_on(conversation, by)
        Criterion.objects.filter(merged_into=merged).update(merged_into=kept)
        Criterion.objects.filter(pk=merged.pk).update(merged_into=kept)
        SettledLikeness.objects.create(kept=kept, other=merged, outcome=SettledLikeness.Outcome.MERGED, settled_by=by)
        last = conversation.rounds.latest("number")
        VoteRequest.objects.get_or_create(criterion=kept, after_round=last, asked_by=by)


def keep_both(*, one: Criterion, other: Criterion, by: User) -> None:
    """A reviewer says that two criteria are both kept, however alike: nobody is asked about the pair again."""
    with transaction.atomic():
        _enter(one, other, by)
        _lock(one, other)
        both = [one, other]
        outcome = SettledLikeness.Outcome.KEPT_BOTH
        if not SettledLikeness.objects.filter(kept__in=both, other__in=both, outcome=outcome).exists():
            SettledLikeness.objects.create(kept=one, other=other, outcome=outcome, settled_by=by)


def _enter(one: Criterion, other: Criterion, by: User) -> Conversation:
    if one.id == other.id or one.conversation_id != other.conversation_id:
        raise NotOneConversation
    conversation, _ = enter_conversation(one.study_id, one.conversation_id)
    if not reviews(by, conversation):
        raise NotAReviewer("Only reviewers who are assigned to this conversation merge its criteria.")
    if not is_in_discussion(conversation):
        raise NotInDiscussion
    return conversation


def _lock(*criteria: Criterion) -> Sequence[Criterion]:
    """Both as they stand now, locked by id: whoever locks many does it in this order."""
    locked = [lock_criterion(each.id) for each in sorted(criteria, key=lambda each: each.id)]
    if any(each.withdrawn_at or each.merged_into_id for each in locked):
        raise CriterionIsGone
    return locked
