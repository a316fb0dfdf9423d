"""Discussion after a reveal: comments, accepted objections, requests for another vote, and its end.

An objection ends only by a vote in a later round; who is convinced asks for one.
"""

from django.db import transaction
from django.utils import timezone

from annotation.drafting import (
    CriterionIsAdjudicated,
    CriterionIsGone,
    NotAReviewer,
    check_has_round_left,
    goes_on,
    is_in_discussion,
    reviews,
    revise_criterion,
)
from annotation.locks import lock_criterion
from annotation.models import (
    Assignment,
    Comment,
    Conversation,
    Criterion,
    Revision,
    User,
    Vote,
    VoteRequest,
)
from annotation.rounds import enter_conversation, settle
from consilium.errors import RuleViolation


class NotInDiscussion(RuleViolation):
    """There is no discussion now: it is between the reveal of one round and the opening of the next."""


class CommentSaysNothing(RuleViolation):
    """A comment says something."""


class NotAnObjection(RuleViolation):
    """Only an objection to this criterion, from a revealed round, can be accepted."""


class AdjudicationNeedsAReason(RuleViolation):
    """What is adjudicated carries its reason."""


class AlreadyInConsensus(RuleViolation):
    """This criterion is in consensus: there is nothing to adjudicate."""


def _discussing(criterion: Criterion, by: User) -> Conversation:
    """The criterion's conversation, locked and in discussion, with ``by`` one of its reviewers."""
    conversation, _ = enter_conversation(criterion.study_id, criterion.conversation_id)
    if not reviews(by, conversation):
        raise NotAReviewer("Only reviewers who are assigned to this conversation discuss it.")
    if not is_in_discussion(conversation):
        raise NotInDiscussion
    criterion = lock_criterion(criterion.id)
    if criterion.withdrawn_at or criterion.merged_into_id:
        raise CriterionIsGone
    return conversation


def add_comment(*, criterion: Criterion, author: User, text: str) -> Comment:
    """Say something about a criterion in the discussion."""
    if not text.strip() or "\x00" in text:
        raise CommentSaysNothing
    with transaction.atomic():
        _discussing(criterion, author)
        return Comment.objects.create(criterion=criterion, author=author, text=text)


def request_vote(*, criterion: Criterion, by: User) -> VoteRequest:
    """Ask for another vote on a criterion in the next round."""
    with transaction.atomic():
        conversation = _discussing(criterion, by)
        check_has_round_left(conversation)
        if lock_criterion(criterion.id).adjudicated_at:
            raise CriterionIsAdjudicated
        goes_on(conversation, by)
        last = conversation.rounds.latest("number")
        request, _ = VoteRequest.objects.get_or_create(criterion=criterion, after_round=last, asked_by=by)
    return request


def accept_objection(
    *, vote: Vote, against: Revision, by: User, text: str, points: int, axis: str, rationale: str = ""
) -> Revision:
    """Revise a criterion as an objection asks. Who accepts becomes a writer; who objected stays a reviewer."""
    criterion = Criterion.objects.select_related("conversation__study", "current_revision").get(
        pk=vote.wording.criterion_id
    )
    if vote.choice != Vote.Choice.OBJECT or vote.round.revealed_at is None:
        raise NotAnObjection
    current = criterion.current_revision
    return revise_criterion(
        criterion=criterion,
        against=against,
        by=by,
        text=text,
        points=points,
        axis=axis,
        rationale=rationale,
        anchors=current.anchors if current else [],
        answers=vote,
    )


def end_discussion(*, conversation: Conversation, by: User) -> Assignment:
    """A reviewer has nothing to add; when all have, the next round opens if there is something for it."""
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id)
        assignment = Assignment.objects.active().filter(conversation=conversation, reviewer=by).first()
        if assignment is None:
            raise NotAReviewer("Only reviewers who are assigned to this conversation discuss it.")
        if not is_in_discussion(conversation):
            raise NotInDiscussion
        number = conversation.rounds.latest("number").number
        Assignment.objects.filter(pk=assignment.pk).update(
            ended_discussion_of=number, ended_discussion_at=timezone.now()
        )
        settle(conversation.study, conversations=[conversation.id])
        assignment.refresh_from_db()
    return assignment


def adjudicate(*, criterion: Criterion, by: User, reason: str) -> Criterion:
    """An admin records how an unsettled criterion was ended. That is never consensus and never frozen."""
    if not reason.strip():
        raise AdjudicationNeedsAReason
    with transaction.atomic():
        conversation, open_round = enter_conversation(criterion.study_id, criterion.conversation_id)
        if open_round or not is_in_discussion(conversation):
            raise NotInDiscussion
        criterion = lock_criterion(criterion.id)
        if criterion.withdrawn_at or criterion.merged_into_id:
            raise CriterionIsGone
        current = criterion.current_revision
        latest = criterion.outcomes.order_by("-round__number", "-policy__version").first()
        if latest and current and latest.wording_id == current.wording_id and latest.points is not None:
            raise AlreadyInConsensus
        criterion.adjudicated_at, criterion.adjudicated_by = timezone.now(), by
        criterion.adjudication = reason
        criterion.save(update_fields=["adjudicated_at", "adjudicated_by", "adjudication"])
    return criterion
