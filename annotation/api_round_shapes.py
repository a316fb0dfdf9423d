"""What the API answers of rounds, of a reviewer's desk and of what waits for a clinician."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.desk import Desk, Sheet
from annotation.models import Conversation, ObjectionCategory, Round, RoundOutcome, Vote
from annotation.states import ConversationState, CriterionState
from annotation.tallies import Tally
from annotation.workload import as_assigned


class WeightCountShape(serializers.Serializer[Any]):
    points = serializers.IntegerField()
    count = serializers.IntegerField()


class ChoicesShape(serializers.Serializer[Any]):
    """How many chose what; ``silent`` could have voted and did not."""

    agree = serializers.IntegerField()
    object = serializers.IntegerField()
    abstain = serializers.IntegerField()
    recuse = serializers.IntegerField()
    silent = serializers.IntegerField()


class DecisionShape(serializers.Serializer[Any]):
    """What a reveal decided of a criterion, from the votes that counted: never who gave them."""

    wording = serializers.UUIDField(source="wording.id")
    result = serializers.ChoiceField(choices=RoundOutcome.Result.choices, source="outcome.result")
    points = serializers.IntegerField(source="outcome.points", allow_null=True)
    sentence = serializers.CharField(source="outcome.sentence")
    failing = serializers.ListField(child=serializers.CharField(), source="outcome.failing")
    votes = serializers.SerializerMethodField()
    weights = WeightCountShape(many=True)

    @extend_schema_field(ChoicesShape)
    def get_votes(self, tally: Tally) -> dict[str, int]:
        counts = dict.fromkeys(Vote.Choice.values, 0)
        for vote in tally.votes:
            counts[vote.choice] += 1
        return {**counts, "silent": tally.silent}


class RoundCriterionShape(serializers.Serializer[Any]):
    """A criterion in a round. ``is_proposed``: the last round failed on its weights alone, and one's last is preset.

    ``decision`` is null while the round is open.
    """

    criterion = serializers.UUIDField()
    is_proposed = serializers.BooleanField()
    decision = DecisionShape(allow_null=True)


class RoundShape(serializers.ModelSerializer[Round]):
    """A round with the criteria of it that you may read. ``policy`` is the version that the reveal applied."""

    is_open = serializers.SerializerMethodField()
    policy = serializers.IntegerField(source="policy.version", allow_null=True, default=None)
    criteria = serializers.SerializerMethodField()

    class Meta:
        model = Round
        fields = ["number", "is_open", "opened_at", "closes_at", "revealed_at", "policy", "criteria"]

    def get_is_open(self, this: Round) -> bool:
        return this.revealed_at is None

    @extend_schema_field(RoundCriterionShape(many=True))
    def get_criteria(self, this: Round) -> list[dict[str, Any]]:
        criteria: list[dict[str, Any]] = self.context["criteria"][this.id]
        return criteria


# The desk


class OwnVoteShape(serializers.ModelSerializer[Vote]):
    category = serializers.ChoiceField(choices=ObjectionCategory.choices, allow_blank=True)

    class Meta:
        model = Vote
        fields = ["choice", "points", "better_wording", "category", "reason"]


class SheetShape(serializers.Serializer[Any]):
    """A criterion on your desk.

    ``votes_here``: you may vote on it in the open round. ``preset`` is the weight that stands there before your vote.
    ``own_vote`` is yours in the open round, ``older_vote`` yours on an earlier wording, which counts no more.
    ``is_due``: the next round would cover it. ``is_asked_by_you``: you asked for another vote.
    """

    criterion = serializers.UUIDField(source="id")
    revision = serializers.UUIDField(source="revision.id")
    state = serializers.ChoiceField(choices=CriterionState.choices)
    is_yours = serializers.BooleanField()
    is_in_round = serializers.BooleanField()
    votes_here = serializers.BooleanField()
    is_proposed = serializers.BooleanField()
    preset = serializers.SerializerMethodField()
    own_vote = OwnVoteShape(source="vote", allow_null=True)
    older_vote = OwnVoteShape(allow_null=True)
    is_due = serializers.BooleanField()
    is_asked_by_you = serializers.BooleanField()
    consensus_points = serializers.IntegerField(allow_null=True)

    def get_preset(self, sheet: Sheet) -> int | None:
        return sheet.preset if sheet.votes_here else None


class DeskShape(serializers.Serializer[Any]):
    """A conversation as it lies on your desk. ``mode`` is *reading* for who doesn't review it.

    ``next`` is the criterion that waits for your vote.
    """

    mode = serializers.ChoiceField(choices=["drafting", "nothing", "voting", "discussion", "reading"])
    round = serializers.SerializerMethodField()
    has_finished = serializers.BooleanField(help_text="You have finished drafting here.")
    has_ended = serializers.SerializerMethodField(help_text="You have nothing to add to the last round's discussion.")
    drafts_alone = serializers.BooleanField()
    may_revise = serializers.BooleanField()
    has_another_round = serializers.BooleanField()
    next = serializers.UUIDField(source="at.id", allow_null=True, default=None)
    criteria = SheetShape(many=True, source="sheets")

    def get_round(self, desk: Desk) -> int | None:
        return desk.open_round.number if desk.open_round else None

    def get_has_ended(self, desk: Desk) -> bool:
        return bool(desk.rounds) and desk.has_ended


# What waits


class OwnPartShape(serializers.Serializer[Any]):
    """Your part in the study as a clinician. ``waiting`` are conversations that wait for you, the next one first."""

    assigned = serializers.IntegerField()
    done = serializers.IntegerField()
    next = serializers.SerializerMethodField()
    waiting = serializers.ListField(child=serializers.UUIDField())

    def get_next(self, part: Any) -> UUID | None:
        found: UUID | None = part.next()
        return found


class OwnConversationShape(serializers.ModelSerializer[Conversation]):
    """A conversation assigned to you, with what is left for you in it.

    ``to_vote`` and ``voted`` are null while no round is open; ``unsettled`` and ``criteria`` before the first reveal.
    """

    state = serializers.ChoiceField(choices=ConversationState.choices)
    left = serializers.SerializerMethodField()
    has_finished = serializers.SerializerMethodField()
    has_ended = serializers.SerializerMethodField()
    drafts = serializers.IntegerField(help_text="Your own.")
    to_vote = serializers.SerializerMethodField()
    voted = serializers.SerializerMethodField()
    unsettled = serializers.SerializerMethodField()
    criteria = serializers.SerializerMethodField()
    due_at = serializers.DateTimeField(allow_null=True)
    waits = serializers.BooleanField()

    class Meta:
        model = Conversation
        fields = [
            "id",
            "external_id",
            "state",
            "left",
            "has_finished",
            "has_ended",
            "drafts",
            "to_vote",
            "voted",
            "unsettled",
            "criteria",
            "due_at",
            "waits",
        ]

    def get_left(self, row: Any) -> str:
        [assigned] = as_assigned([row])
        return assigned.left

    def get_has_finished(self, row: Any) -> bool:
        return row.finished_at is not None

    def get_has_ended(self, row: Any) -> bool:
        return bool(row.last_round) and row.ended_round >= row.last_round

    def get_to_vote(self, row: Any) -> int | None:
        return row.to_vote if row.state == ConversationState.VOTING else None

    def get_voted(self, row: Any) -> int | None:
        return row.voted if row.state == ConversationState.VOTING else None

    def get_unsettled(self, row: Any) -> int | None:
        return row.unsettled if row.state == ConversationState.REVEALED else None

    def get_criteria(self, row: Any) -> int | None:
        # others' drafts are not even counted while each drafts alone
        return row.standing if row.state == ConversationState.REVEALED else None
