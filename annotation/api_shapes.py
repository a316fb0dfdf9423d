"""What the annotation API takes and answers: explicit shapes, in the study's words."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import Comment, Conversation, Criterion, ObjectionCategory, Revision, Study, Vote


class StudyShape(serializers.ModelSerializer[Study]):
    roles = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = ["slug", "name", "text_class", "axes", "languages", "what_to_expect", "support_contact", "roles"]

    def get_roles(self, study: Study) -> list[str]:
        roles: list[str] = self.context["roles"][study.id]
        return roles


class ProgressShape(serializers.Serializer[Any]):
    """How many conversations and criteria are in each state."""

    conversations = serializers.DictField(child=serializers.IntegerField())
    criteria = serializers.DictField(child=serializers.IntegerField())


class WholeStudyShape(StudyShape):
    """A study. ``progress`` is null for those who don't oversee it."""

    progress = serializers.SerializerMethodField()

    class Meta(StudyShape.Meta):
        fields = [*StudyShape.Meta.fields, "progress"]

    @extend_schema_field(ProgressShape(allow_null=True))
    def get_progress(self, study: Study) -> dict[str, dict[str, int]] | None:
        progress: dict[str, dict[str, int]] | None = self.context["progress"]
        return progress


class ConsentShape(serializers.Serializer[Any]):
    """The consent text. ``must_accept``: it comes before all else of the study. Without a text nothing must be done."""

    text = serializers.CharField(allow_blank=True, help_text="Markdown.")
    version = serializers.IntegerField()
    must_accept = serializers.BooleanField()
    accepted_at = serializers.DateTimeField(allow_null=True)


class ConsentInput(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="The version that was read; another one in between answers 409.")


class GuidelinesShape(serializers.ModelSerializer[Study]):
    class Meta:
        model = Study
        fields = ["guidelines", "axes"]


class ConversationShape(serializers.ModelSerializer[Conversation]):
    state = serializers.CharField(read_only=True)

    class Meta:
        model = Conversation
        fields = [
            "id",
            "external_id",
            "external_name",
            "state",
            "language",
            "country",
            "acuity",
            "user_profile",
            "has_prior_context",
            "tags",
            "source",
        ]


class MessageShape(serializers.Serializer[Any]):
    role = serializers.CharField()
    content = serializers.CharField()


class WholeConversationShape(ConversationShape):
    messages = MessageShape(many=True)

    class Meta(ConversationShape.Meta):
        fields = [*ConversationShape.Meta.fields, "messages"]


class RevisionShape(serializers.ModelSerializer[Revision]):
    class Meta:
        model = Revision
        fields = ["id", "number", "text", "axis", "scale", "rationale", "anchors"]


class CriterionShape(serializers.ModelSerializer[Criterion]):
    """``points`` are the author's, null while they are hidden from this reader; ``is_wanted`` is their sign."""

    state = serializers.CharField(read_only=True)
    revision = RevisionShape(source="current_revision")
    points = serializers.SerializerMethodField()
    is_wanted = serializers.SerializerMethodField()
    is_yours = serializers.SerializerMethodField()
    outcome = serializers.SerializerMethodField()

    class Meta:
        model = Criterion
        fields = [
            "id",
            "external_id",
            "conversation",
            "state",
            "revision",
            "points",
            "is_wanted",
            "is_yours",
            "outcome",
            "adjudication",
        ]

    def get_points(self, criterion: Criterion) -> int | None:
        assert criterion.current_revision is not None
        return criterion.current_revision.points if criterion.id in self.context["with_points"] else None

    def get_is_wanted(self, criterion: Criterion) -> bool:
        assert criterion.current_revision is not None
        return criterion.current_revision.points > 0

    def get_is_yours(self, criterion: Criterion) -> bool:
        return self.context["reader"] in self.context["writers"].get(criterion.id, set())

    def get_outcome(self, criterion: Any) -> dict[str, Any] | None:
        if criterion.outcome_result is None:
            return None
        return {
            "round": criterion.outcome_round,
            "result": criterion.outcome_result,
            "points": criterion.consensus_points,
            "sentence": criterion.outcome_sentence,
        }


class DraftInput(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=32_767, trim_whitespace=False)
    points = serializers.IntegerField(min_value=-10, max_value=10)
    axis = serializers.CharField(default="", allow_blank=True)
    rationale = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)
    anchors = serializers.ListField(child=serializers.IntegerField(min_value=1), default=list)


class RevisionInput(DraftInput):
    against = serializers.UUIDField(help_text="The revision that was seen; another one in between answers 409.")


class AcceptInput(serializers.Serializer[Any]):
    objection = serializers.UUIDField(help_text="The vote that objected, in a revealed round.")
    against = serializers.UUIDField(help_text="The revision that was seen; another one in between answers 409.")
    text = serializers.CharField(max_length=32_767, trim_whitespace=False)
    points = serializers.IntegerField(min_value=-10, max_value=10)
    axis = serializers.CharField(default="", allow_blank=True)
    rationale = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)


class AdjudicateInput(serializers.Serializer[Any]):
    reason = serializers.CharField()


class VoteInput(serializers.Serializer[Any]):
    criterion = serializers.UUIDField()
    seen = serializers.UUIDField(help_text="The revision that was seen.")
    choice = serializers.ChoiceField(choices=Vote.Choice.choices)
    points = serializers.IntegerField(min_value=-10, max_value=10, allow_null=True, default=None)
    better_wording = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)
    category = serializers.ChoiceField(choices=[("", ""), *ObjectionCategory.choices], default="")
    reason = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)


class VoteShape(serializers.ModelSerializer[Vote]):
    """A vote: one's own while the round is open, everybody's after the reveal, named only where the policy says so.

    ``is_counted`` is null until the reveal. False: on a wording that was changed, by who wrote it or recused since.
    """

    criterion = serializers.UUIDField(source="wording.criterion_id")
    round = serializers.IntegerField(source="round.number")
    is_yours = serializers.SerializerMethodField()
    reviewer = serializers.SerializerMethodField()
    is_imported = serializers.SerializerMethodField()
    is_counted = serializers.SerializerMethodField()
    objection = serializers.SerializerMethodField(help_text="After the reveal: by which an objection is accepted.")

    class Meta:
        model = Vote
        fields = [
            "criterion",
            "wording",
            "round",
            "choice",
            "points",
            "better_wording",
            "category",
            "reason",
            "is_yours",
            "reviewer",
            "is_imported",
            "is_counted",
            "objection",
        ]

    def get_is_yours(self, vote: Vote) -> bool:
        return bool(vote.reviewer_id == self.context["reader"])

    def get_reviewer(self, vote: Vote) -> str | None:
        return vote.reviewer.email if vote.round.shows_names or self.get_is_yours(vote) else None

    def get_is_imported(self, vote: Vote) -> bool:
        return vote.imported_from_id is not None

    def get_is_counted(self, vote: Vote) -> bool | None:
        counted: bool | None = self.context["counted"].get(vote.id)
        return counted

    def get_objection(self, vote: Vote) -> UUID | None:
        return vote.id if vote.choice == Vote.Choice.OBJECT and vote.round.revealed_at is not None else None


class CommentInput(serializers.Serializer[Any]):
    text = serializers.CharField(trim_whitespace=False)


class CommentShape(serializers.ModelSerializer[Comment]):
    """A comment, named only where the policy says so."""

    is_yours = serializers.SerializerMethodField()
    author = serializers.SerializerMethodField()

    class Meta:
        model = Comment
        fields = ["text", "is_yours", "author", "created_at"]

    def get_is_yours(self, comment: Comment) -> bool:
        return bool(comment.author_id == self.context["reader"])

    def get_author(self, comment: Comment) -> str | None:
        return comment.author.email if comment.is_named or self.get_is_yours(comment) else None  # type: ignore[attr-defined]


class UploadInput(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="JSONL, CSV or XLSX, told by its content.")
    check = serializers.BooleanField(default=False, help_text="Say what the file would do; nothing is written.")


class FileInput(UploadInput):
    revise = serializers.BooleanField(default=False)
    keep_drafting = serializers.BooleanField(default=False)
    name = serializers.CharField(default="", allow_blank=True)
