"""Drafting: criteria, their revisions, and the end of drafting.

Each drafts alone until *finished*; others' drafts show, without names, once drafting is closed for the conversation.
Any change to text, points, axis or scale makes a new revision without votes. A change of white space, of the
rationale or of the cited turns keeps the wording and its votes, and makes nobody a writer. Every write names the
revision that it was made against; a stale one is refused with both texts.
"""

import re
import secrets
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.locks import lock_criterion
from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Drafting,
    Revision,
    RevisionWriter,
    User,
    Vote,
)
from annotation.round_acts import RoundsUsedUp
from annotation.rounds import enter_conversation, settle
from annotation.writers import writers_of
from consilium.errors import RuleViolation, violated_constraint


class DraftingIsClosed(RuleViolation):
    """Drafting is closed for this conversation. A new criterion can come in the discussion after the reveal."""


class NotAReviewer(RuleViolation):
    """Only reviewers who are assigned to this conversation write its criteria."""


class NotAWriter(RuleViolation):
    """While a round is open, only a criterion's writers revise it."""


class NotYourDraft(RuleViolation):
    """Until drafting closes, each writes alone: this criterion is somebody else's."""


class TextOutOfBounds(RuleViolation):
    """A criterion has 1 to 32,767 characters."""


class PointsOutOfBounds(RuleViolation):
    """Points are a whole number from -10 to +10, not 0."""


class UnknownAxis(RuleViolation):
    """The study has no axis "{axis}"."""


class UnknownTurn(RuleViolation):
    """The conversation has no turn {turn}."""


class CriterionIsGone(RuleViolation):
    """This criterion was withdrawn or merged into another."""


class CriterionIsAdjudicated(RuleViolation):
    """An admin has ended the work on this criterion: it is neither revised nor voted on any more."""


class NothingChanged(RuleViolation):
    """Nothing was changed."""


class StaleRevision(RuleViolation):
    """Somebody changed this criterion while you were writing. Both texts are here; nothing of yours is lost."""

    def __init__(self, *, current: Revision, text: str) -> None:
        super().__init__(current_text=current.text, current_revision=str(current.id), your_text=text)
        self.current = current
        self.text = text


def same_wording(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but white space between words.

    Letter case can change the meaning (SAD, sad), and so can a space inside a word.
    """
    return one.split() == other.split()


def reviews(user: User, conversation: Conversation) -> bool:
    """Whether a person is an active reviewer of a conversation."""
    return Assignment.objects.active().filter(conversation=conversation, reviewer=user).exists()


def check_criterion(conversation: Conversation, *, text: str, points: int, axis: str, anchors: list[int]) -> None:
    """What holds for every criterion, whoever writes it: bounds, the study's axes, turns that exist."""
    if not text.strip() or len(text) > 32_767 or "\x00" in text:
        raise TextOutOfBounds
    if not -10 <= points <= 10 or points == 0:
        raise PointsOutOfBounds
    if axis and axis not in conversation.study.axes:
        raise UnknownAxis(axis=axis)
    for turn in anchors:
        if not 1 <= turn <= len(conversation.messages):
            raise UnknownTurn(turn=turn)


def draft_criterion(
    *,
    conversation: Conversation,
    writer: User,
    text: str,
    points: int,
    axis: str = "",
    rationale: str = "",
    anchors: list[int] | None = None,
) -> Criterion:
    """A reviewer writes a new criterion: while drafting, or in the discussion after a reveal."""
    anchors = sorted(set(anchors or []))
    check_criterion(conversation, text=text, points=points, axis=axis, anchors=anchors)
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id)
        if not reviews(writer, conversation):
            raise NotAReviewer
        if conversation.external_name:
            raise NotAReviewer
        if conversation.drafting_closed_at:
            if not is_in_discussion(conversation):
                raise DraftingIsClosed
            check_has_round_left(conversation)
            goes_on(conversation, writer)
        criterion = Criterion.objects.create(
            study_id=conversation.study_id,
            conversation=conversation,
            external_id=f"c-{secrets.token_hex(5)}",
        )
        _write(
            criterion,
            writer,
            number=1,
            text=text,
            points=points,
            axis=axis,
            rationale=rationale,
            anchors=anchors,
        )
    return criterion


def is_in_discussion(conversation: Conversation) -> bool:
    """Whether the last round was revealed and no other is open."""
    return conversation.rounds.exists() and not conversation.rounds.filter(revealed_at=None).exists()


def check_has_round_left(conversation: Conversation) -> None:
    """Refuse what only another round could decide, where the policy allows none."""
    if conversation.rounds.count() >= conversation.study.policy.max_rounds:
        raise RoundsUsedUp


def goes_on(conversation: Conversation, by: User) -> None:
    """Who does more in a discussion takes the own *nothing to add* back: the next round waits for that person again."""
    Assignment.objects.filter(conversation=conversation, reviewer=by).update(ended_discussion_of=None)


def _write(
    criterion: Criterion, writer: User | None, *, same_wording_as: Revision | None = None, **facts: Any
) -> Revision:
    revision = Revision.objects.create(criterion=criterion, created_by=writer, same_wording_as=same_wording_as, **facts)
    if writer is not None and same_wording_as is None:
        RevisionWriter.objects.create(revision=revision, writer=writer)
    criterion.current_revision = revision
    criterion.save(update_fields=["current_revision"])
    return revision


def revise_criterion(
    *,
    criterion: Criterion,
    against: Revision,
    by: User,
    text: str,
    points: int,
    axis: str = "",
    rationale: str = "",
    anchors: list[int] | None = None,
    answers: Vote | None = None,
) -> Revision:
    """Write a new revision against the one that was seen.

    Drafting: only its writers (or, under a policy of drafting together, every reviewer). In an open round: only its
    writers. In discussion: every reviewer, who becomes a writer. ``answers`` is the objection that it accepts; its
    owner stays a reviewer.
    """
    anchors = sorted(set(anchors or []))
    conversation = criterion.conversation
    kept_axis = criterion.current_revision.axis if criterion.current_revision else ""
    check_criterion(conversation, text=text, points=points, axis="" if axis == kept_axis else axis, anchors=anchors)
    try:
        with transaction.atomic():
            conversation, open_round = enter_conversation(criterion.study_id, conversation.id)
            is_round_open = open_round is not None
            criterion = lock_criterion(criterion.id)
            current = criterion.current_revision
            assert current is not None
            _check_may_revise(criterion, conversation, by, is_round_open=is_round_open)
            if current.id != against.id:
                raise StaleRevision(current=current, text=text)
            is_same_wording = same_wording(current.text, text) and (current.points, current.axis) == (
                points,
                axis,
            )
            if is_same_wording and (current.text, current.rationale, current.anchors) == (
                text,
                rationale,
                anchors,
            ):
                raise NothingChanged
            if not is_same_wording and is_in_discussion(conversation):
                check_has_round_left(conversation)
                goes_on(conversation, by)
            revision = _write(
                criterion,
                by,
                same_wording_as=Revision(pk=current.wording_id) if is_same_wording else None,
                number=current.number + 1,
                text=text,
                points=points,
                axis=axis,
                scale=current.scale,
                levels=current.levels,
                rationale=rationale,
                anchors=anchors,
                answers_vote=answers,
            )
            if not is_same_wording:
                _credit_offered_wording(revision)
            # A writer who takes the place of another may leave a round with nobody to wait for.
            if is_round_open and not is_same_wording:
                settle(conversation.study, conversations=[conversation.id])
    except IntegrityError as error:
        if violated_constraint(error) == "revisions_are_numbered":
            criterion = Criterion.objects.select_related("current_revision").get(pk=criterion.pk)
            assert criterion.current_revision is not None
            raise StaleRevision(current=criterion.current_revision, text=text) from error
        raise
    return revision


def _credit_offered_wording(revision: Revision) -> None:
    """Who offered this wording with a vote, in a round that is revealed, is a writer of it too.

    Letter case and punctuation make no other writer: a full stop for an exclamation mark doesn't free its author.
    """
    offered = Vote.objects.filter(
        wording__criterion_id=revision.criterion_id, round__revealed_at__isnull=False
    ).exclude(better_wording="")
    known = set(revision.writers.values_list("writer_id", flat=True))
    offering = {vote.reviewer_id for vote in offered if _words(vote.better_wording) == _words(revision.text)} - known
    RevisionWriter.objects.bulk_create(RevisionWriter(revision=revision, writer_id=each) for each in sorted(offering))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _check_may_revise(criterion: Criterion, conversation: Conversation, by: User, *, is_round_open: bool) -> None:
    if criterion.withdrawn_at or criterion.merged_into_id:
        raise CriterionIsGone
    if criterion.adjudicated_at:
        raise CriterionIsAdjudicated
    if not reviews(by, conversation):
        raise NotAReviewer
    is_writer = by.id in writers_of([criterion])[criterion.id]
    if is_round_open and not is_writer:
        raise NotAWriter
    is_alone = conversation.study.policy.drafting == Drafting.ALONE
    if conversation.drafting_closed_at is None and is_alone and not is_writer:
        raise NotYourDraft


def withdraw_criterion(*, criterion: Criterion, by: User, against: Revision | None = None) -> Criterion:
    """A writer withdraws a criterion, as it was seen (None: as it stands). It stays readable, and goes nowhere."""
    with transaction.atomic():
        enter_conversation(criterion.study_id, criterion.conversation_id)
        criterion = lock_criterion(criterion.id)
        if criterion.withdrawn_at or criterion.merged_into_id:
            raise CriterionIsGone
        if by.id not in writers_of([criterion])[criterion.id]:
            raise NotAWriter("Only a criterion's writers withdraw it.")
        current = criterion.current_revision
        assert current is not None
        if against is not None and current.id != against.id:
            raise StaleRevision(current=current, text="")
        criterion.withdrawn_at, criterion.withdrawn_by = timezone.now(), by
        criterion.save(update_fields=["withdrawn_at", "withdrawn_by"])
        settle(criterion.study, conversations=[criterion.conversation_id])
    return criterion


def finish_drafting(*, conversation: Conversation, by: User) -> Assignment:
    """A reviewer has finished drafting; when all assigned have, drafting closes and round 1 opens."""
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id)
        assignment = Assignment.objects.active().filter(conversation=conversation, reviewer=by).first()
        if assignment is None:
            raise NotAReviewer
        if conversation.drafting_closed_at:
            raise DraftingIsClosed
        if assignment.finished_drafting_at is None:
            Assignment.objects.filter(pk=assignment.pk).update(finished_drafting_at=timezone.now())
            settle(conversation.study, conversations=[conversation.id])
        assignment.refresh_from_db()
    return assignment


def resume_drafting(*, conversation: Conversation, by: User) -> Assignment:
    """A reviewer takes *finished* back while drafting is still open."""
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id)
        if conversation.drafting_closed_at:
            raise DraftingIsClosed
        assignment = Assignment.objects.active().filter(conversation=conversation, reviewer=by).first()
        if assignment is None:
            raise NotAReviewer
        Assignment.objects.filter(pk=assignment.pk).update(finished_drafting_at=None)
        assignment.refresh_from_db()
    return assignment
