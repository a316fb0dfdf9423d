"""A reviewer's desk: one conversation with its criteria, as one person may see them now.

Alone while drafting, blind while a round is open, without names after the reveal. Everything here comes from a fixed
number of queries, however many criteria and votes there are; what an open round holds of others is never fetched.
"""

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.http import Http404

from annotation.models import (
    Assignment,
    Comment,
    Conversation,
    Criterion,
    Drafting,
    Policy,
    Revision,
    Round,
    RoundCriterion,
    Study,
    User,
    Vote,
    VoteRequest,
    Weights,
)
from annotation.permissions import find_conversation, reviewed_by, sees_points, visible_criteria
from annotation.rounds import due_for_next_round
from annotation.states import CriterionState, with_criterion_state
from annotation.tallies import Tally, tallies_of, vote_in_words
from annotation.unsent import unsent_texts
from annotation.weighing import Weight, ladder, weight_in_words
from annotation.writers import writers_of

Mode = Literal["drafting", "nothing", "voting", "discussion", "reading"]


@dataclass(slots=True)
class Sheet:
    """One criterion as one person may see it now."""

    criterion: Criterion
    revision: Revision
    state: str
    is_yours: bool
    shows_points: bool
    is_in_round: bool = False
    votes_here: bool = False
    is_proposed: bool = False
    vote: Vote | None = None
    older_vote: Vote | None = None
    tallies: list[Tally] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    is_due: bool = False
    is_asked_by_you: bool = False
    consensus_points: int | None = None
    prefilled: bool = False
    unsent_comment: str = ""
    accepted: dict[UUID, int] = field(default_factory=dict)
    """Objections that a revision accepts: vote id -> that revision's number."""
    applied: Any = None  # annotation.trying.Applied, after the reveal

    @property
    def id(self) -> UUID:
        return self.criterion.id

    @property
    def is_wanted(self) -> bool:
        return self.revision.points > 0

    @property
    def weights(self) -> tuple[Weight, ...]:
        return ladder(is_wanted=self.is_wanted)

    @property
    def points_in_words(self) -> str:
        return weight_in_words(self.revision.points) if self.shows_points else ""

    @property
    def last(self) -> Tally | None:
        return self.tallies[-1] if self.tallies else None

    @property
    def is_standing(self) -> bool:
        return self.state not in {CriterionState.WITHDRAWN, CriterionState.MERGED}

    @property
    def is_settled(self) -> bool:
        return self.state not in {CriterionState.DISCUSSION, CriterionState.DRAFT, CriterionState.VOTING}

    @property
    def needs_vote(self) -> bool:
        return self.votes_here and self.vote is None

    @property
    def given(self) -> int | None:
        """The weight that the person gave in this round."""
        return self.vote.points if self.vote else None

    @property
    def preset(self) -> int | None:
        """The weight that stands there before the vote: one's last, where the weights alone failed, or the author's."""
        if self.is_proposed and self.last and self.last.own:
            return self.last.own.points
        return self.revision.points if self.prefilled else None

    @property
    def between(self) -> int | None:
        """A weight given that no word stands for."""
        shown = self.given if self.given is not None else self.preset
        return None if shown is None or shown in {weight.points for weight in self.weights} else shown

    @property
    def changed_since(self) -> Revision | None:
        """The last wording that was decided, where the present one is another."""
        return self.last.wording if self.last and self.last.wording.id != self.revision.wording_id else None

    @property
    def own_state(self) -> str:
        """Where it stands for this person, in words, while a round is open."""
        if not self.is_standing or not self.is_in_round:
            return self.state_in_words
        if self.is_yours:
            return "yours: others vote"
        if not self.votes_here:
            return "in voting"
        if self.vote:
            return vote_in_words(self.vote)
        return "changed, vote again" if self.older_vote else "waiting"

    @property
    def older_vote_in_words(self) -> str:
        return vote_in_words(self.older_vote) if self.older_vote else ""

    @property
    def state_in_words(self) -> str:
        """Its state; in consensus with the points."""
        words = CriterionState(self.state).label
        return f"{words}, {weight_in_words(self.consensus_points)}" if self.consensus_points is not None else words


@dataclass(slots=True)
class Desk:
    """A conversation on a person's desk."""

    study: Study
    reader: User
    conversation: Conversation
    policy: Policy
    assignment: Assignment | None
    rounds: list[Round]
    sheets: list[Sheet]
    at: Sheet | None = None
    unsent: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    @property
    def open_round(self) -> Round | None:
        return next((this for this in self.rounds if this.revealed_at is None), None)

    @property
    def revealed(self) -> list[Round]:
        return [this for this in self.rounds if this.revealed_at is not None]

    @property
    def mode(self) -> Mode:
        if self.assignment is None:
            return "reading"
        if self.open_round:
            return "voting"
        if self.rounds:
            return "discussion"
        return "nothing" if self.conversation.drafting_closed_at else "drafting"

    @property
    def drafts_alone(self) -> bool:
        return self.policy.drafting == Drafting.ALONE

    @property
    def standing(self) -> list[Sheet]:
        return [sheet for sheet in self.sheets if sheet.is_standing]

    @property
    def gone(self) -> list[Sheet]:
        return [sheet for sheet in self.sheets if not sheet.is_standing]

    @property
    def own_drafts(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if sheet.is_yours]

    @property
    def others_drafts(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if not sheet.is_yours]

    @property
    def to_vote(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if sheet.votes_here]

    @property
    def voted(self) -> list[Sheet]:
        return [sheet for sheet in self.to_vote if sheet.vote]

    @property
    def place(self) -> int:
        """Which of those to vote on is on the desk, from 1; 0 where none is."""
        return self.to_vote.index(self.at) + 1 if self.at in self.to_vote else 0

    @property
    def last_voted(self) -> Sheet | None:
        """The criterion that the person voted on last: what Undo takes back."""
        votes = {sheet.vote.cast_at: sheet for sheet in self.voted if sheet.vote}
        return votes[max(votes)] if votes else None

    @property
    def unsettled(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if not sheet.is_settled]

    @property
    def open_matters(self) -> list[Sheet]:
        """What the discussion is about: what is not settled, and what is asked to be voted on again."""
        return [sheet for sheet in self.standing if not sheet.is_settled or sheet.is_due]

    @property
    def closed_matters(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if sheet.is_settled and not sheet.is_due]

    @property
    def due(self) -> list[Sheet]:
        return [sheet for sheet in self.standing if sheet.is_due]

    @property
    def last_number(self) -> int:
        return self.rounds[-1].number if self.rounds else 0

    @property
    def has_another_round(self) -> bool:
        return self.last_number < self.policy.max_rounds

    @property
    def may_revise(self) -> bool:
        """Whether a revision could still come to a vote: in the discussion, before the last round."""
        return self.mode == "discussion" and self.has_another_round

    @property
    def has_ended(self) -> bool:
        """Whether the person has nothing to add to the discussion of the last round."""
        return bool(self.assignment) and (self.assignment.ended_discussion_of or 0) >= self.last_number  # type: ignore[union-attr]

    @property
    def has_finished(self) -> bool:
        return bool(self.assignment) and self.assignment.finished_drafting_at is not None  # type: ignore[union-attr]

    @property
    def has_positive_consensus(self) -> bool:
        """Whether the conversation could be scored: something in consensus that is wanted."""
        return any((sheet.consensus_points or 0) > 0 for sheet in self.standing)

    @property
    def cited(self) -> list[int]:
        """The turns to be marked in the conversation: those that the criterion on the desk cites."""
        return list(self.at.revision.anchors) if self.at else []

    def sheet(self, criterion_id: UUID | None) -> Sheet | None:
        return next((sheet for sheet in self.sheets if sheet.id == criterion_id), None)

    def turn_to(self, criterion_id: UUID | None = None, *, after: UUID | None = None) -> None:
        """Lay a criterion on the desk: the one named, else the next one without the person's vote."""
        self.at = self.sheet(criterion_id)
        if self.at is not None:
            return
        order = self.to_vote
        start = next((number for number, sheet in enumerate(order, 1) if sheet.id == after), 0)
        self.at = next((sheet for sheet in order[start:] + order[:start] if sheet.needs_vote), None)


def lay_out(*, reader: User, study: Study, conversation: Conversation) -> Desk:
    """The desk of one person for one conversation that the person may see."""
    conversation.study = study
    policy = study.policy
    assignment = reviewed_by(reader, conversation)
    rounds = list(conversation.rounds.order_by("number"))
    visible = visible_criteria(reader, conversation)
    rows: list[Any] = list(
        with_criterion_state(Criterion.objects.filter(id__in=[each.id for each in visible]))
        .select_related("current_revision")
        .in_reading_order()  # type: ignore[attr-defined]
    )
    for row in rows:
        row.study, row.conversation = study, conversation
    writers = writers_of(rows)
    with_points = sees_points(reader, rows)
    sheets = [
        Sheet(
            criterion=row,
            revision=row.current_revision,
            state=row.state,
            is_yours=reader.id in writers[row.id],
            shows_points=row.id in with_points,
            consensus_points=row.consensus_points if row.state == CriterionState.IN_CONSENSUS else None,
            prefilled=policy.weights == Weights.PREFILLED,
        )
        for row in rows
    ]
    desk = Desk(study, reader, conversation, policy, assignment, rounds, sheets)
    if assignment:
        desk.unsent = unsent_texts(reader, conversation)
    _add_past(desk)
    if desk.open_round:
        _add_open_round(desk, desk.open_round)
    elif rounds:
        _add_discussion(desk)
    return desk


def _add_past(desk: Desk) -> None:
    if not desk.revealed:
        return
    criteria = [sheet.criterion for sheet in desk.sheets]
    tallies = tallies_of(criteria, desk.reader)
    accepting = Revision.objects.filter(criterion__in=criteria, answers_vote__round__revealed_at__isnull=False)
    accepted: dict[UUID, dict[UUID, int]] = {}
    for criterion_id, vote_id, number in accepting.order_by("-number").values_list(
        "criterion_id", "answers_vote_id", "number"
    ):
        accepted.setdefault(criterion_id, {})[vote_id] = number
    for sheet in desk.sheets:
        sheet.tallies = tallies.get(sheet.id, [])
        sheet.accepted = accepted.get(sheet.id, {})


def _add_open_round(desk: Desk, this: Round) -> None:
    """What the round covers, and the person's own votes in it: nobody else's are fetched."""
    covered = dict(RoundCriterion.objects.filter(round=this).values_list("criterion_id", "is_proposed"))
    own: dict[UUID, Vote] = {}
    older: dict[UUID, Vote] = {}
    votes = Vote.objects.filter(round=this, reviewer=desk.reader).select_related("wording").order_by("cast_at")
    current = {sheet.revision.wording_id for sheet in desk.sheets}
    for vote in votes:
        (own if vote.wording_id in current else older)[vote.wording.criterion_id] = vote
    for sheet in desk.sheets:
        sheet.is_in_round = sheet.id in covered and sheet.is_standing
        sheet.is_proposed = covered.get(sheet.id, False)
        sheet.votes_here = sheet.is_in_round and not sheet.is_yours and desk.assignment is not None
        sheet.vote, sheet.older_vote = own.get(sheet.id), older.get(sheet.id)


def _add_discussion(desk: Desk) -> None:
    """Comments, requests for another vote, and what a next round would cover: only while no round is open."""
    by_id = {sheet.id: sheet for sheet in desk.sheets}
    said = Comment.objects.filter(criterion__in=list(by_id)).with_naming().select_related("author")
    for comment in said.order_by("created_at", "id"):
        by_id[comment.criterion_id].comments.append(comment)
    for sheet in desk.sheets:
        sheet.unsent_comment = desk.unsent.get(f"comment-{sheet.id}", {}).get("text", [""])[-1]
    last = desk.rounds[-1]
    for criterion_id in VoteRequest.objects.filter(after_round=last, asked_by=desk.reader).values_list(
        "criterion_id", flat=True
    ):
        if criterion_id in by_id:
            by_id[criterion_id].is_asked_by_you = True
    if desk.has_another_round:
        for criterion_id in due_for_next_round([desk.conversation.id], by_admin=False)[desk.conversation.id]:
            if criterion_id in by_id:
                by_id[criterion_id].is_due = True


def find_criterion(reader: User, study: Study, criterion_id: UUID) -> Criterion:
    """A criterion of the study that the person may see now; Http404 else."""
    criterion = (
        Criterion.objects.select_related("conversation", "current_revision")
        .filter(study=study, pk=criterion_id)
        .first()
    )
    if criterion is not None:
        criterion.study = criterion.conversation.study = study
        conversation = find_conversation(reader, study, criterion.conversation_id)
        conversation.study = study
        if criterion.id in {each.id for each in visible_criteria(reader, conversation)}:
            return criterion
    raise Http404("There is no such criterion, or it isn't yours to see.")


def find_revision(criterion: Criterion, revision_id: UUID | None) -> Revision:
    """A revision of the criterion; Http404 where it has no such one."""
    found = Revision.objects.filter(criterion=criterion, pk=revision_id).first() if revision_id else None
    if found is None:
        raise Http404("This criterion has no such revision.")
    return found


def find_objection(criterion: Criterion, vote_id: UUID) -> Vote:
    """An objection to the criterion from a revealed round; Http404 else."""
    vote = Vote.objects.filter(
        pk=vote_id, wording__criterion=criterion, choice=Vote.Choice.OBJECT, round__revealed_at__isnull=False
    ).first()
    if vote is None:
        raise Http404("There is no such objection, or it isn't yours to see.")
    return vote
