"""What the versions' API takes and answers: explicit shapes, in the study's words."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import FileImport
from annotation.policy_words import policy_clauses, policy_name
from rubrics.comparing import ChangeKind
from rubrics.models import FrozenConversation, FrozenCriterion, FrozenLeftOut, RubricVersion, WithdrawalEvent


class WithdrawalShape(serializers.ModelSerializer[WithdrawalEvent]):
    class Meta:
        model = WithdrawalEvent
        fields = ["reason", "withdrawn_at"]


class VersionShape(serializers.ModelSerializer[RubricVersion]):
    """``version`` is its address: the number of an own version, the name of an external one."""

    version = serializers.CharField(source="address")
    criteria = serializers.IntegerField(source="criteria_count")
    conversations = serializers.IntegerField(source="conversations_count")
    frozen_by = serializers.CharField(source="frozen_by.email", allow_null=True, default=None)
    withdrawal = WithdrawalShape(allow_null=True, default=None)

    class Meta:
        model = RubricVersion
        fields = [
            "version",
            "kind",
            "number",
            "name",
            "digest",
            "record_digest",
            "policy_sha256",
            "note_sha256",
            "note",
            "axes",
            "criteria",
            "conversations",
            "is_threshold_set_after_votes",
            "frozen_at",
            "frozen_by",
            "withdrawal",
        ]


class PolicyShape(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    name = serializers.CharField()
    clauses = serializers.ListField(child=serializers.CharField(), help_text="One sentence a clause.")


class WholeVersionShape(VersionShape):
    """``policy`` is null for an external version."""

    policy = serializers.SerializerMethodField()

    class Meta(VersionShape.Meta):
        fields = [*VersionShape.Meta.fields, "policy"]

    @extend_schema_field(PolicyShape(allow_null=True))
    def get_policy(self, version: RubricVersion) -> dict[str, Any] | None:
        policy = version.policy
        if policy is None:
            return None
        return {"version": policy.version, "name": policy_name(policy), "clauses": policy_clauses(policy)}


class FrozenCriterionShape(serializers.ModelSerializer[FrozenCriterion]):
    """``id`` is the criterion's own, as elsewhere in the API. ``text`` is null beside a tombstone."""

    id = serializers.UUIDField(source="criterion_id")

    class Meta:
        model = FrozenCriterion
        fields = [
            "id",
            "external_id",
            "text",
            "points",
            "axis",
            "scale",
            "levels",
            "rationale",
            "round_number",
            "sentence",
            "item_sha256",
            "tombstone",
        ]


class FrozenConversationShape(serializers.ModelSerializer[FrozenConversation]):
    """A conversation of a version with its criteria. Its messages are where the conversation is."""

    id = serializers.UUIDField(source="conversation_id")
    criteria = serializers.SerializerMethodField()

    class Meta:
        model = FrozenConversation
        fields = ["id", "external_id", "acuity", "language", "item_sha256", "criteria"]

    @extend_schema_field(FrozenCriterionShape(many=True))
    def get_criteria(self, frozen: FrozenConversation) -> list[Any]:
        criteria: list[Any] = FrozenCriterionShape(self.context["criteria"][frozen.id], many=True).data  # type: ignore[assignment]
        return criteria


class LeftOutShape(serializers.ModelSerializer[FrozenLeftOut]):
    """``is_acknowledged`` is null while the author's points are hidden from this reader: it would tell their size."""

    criterion = serializers.UUIDField(source="criterion_id")
    external_id = serializers.CharField(source="criterion.external_id")
    is_acknowledged = serializers.SerializerMethodField()

    class Meta:
        model = FrozenLeftOut
        fields = ["criterion", "external_id", "kind", "reason", "is_acknowledged"]

    def get_is_acknowledged(self, left_out: FrozenLeftOut) -> bool | None:
        return None if left_out.criterion_id in self.context["hidden"].points else left_out.is_acknowledged


class LeaveOutInput(serializers.Serializer[Any]):
    leave_out = serializers.DictField(
        child=serializers.CharField(), default=dict, help_text="Criteria to leave out by name: id to reason."
    )

    def validate_leave_out(self, value: dict[str, str]) -> dict[UUID, str]:
        try:
            return {UUID(key): reason for key, reason in value.items()}
        except ValueError as error:
            raise serializers.ValidationError("Criteria are named by their ids.") from error


class FreezeInput(LeaveOutInput):
    seen = serializers.CharField(
        max_length=64, help_text="The preview's mark, with the same criteria left out; another one answers 409."
    )
    note = serializers.CharField(default="", allow_blank=True, trim_whitespace=False, max_length=10_000)
    acknowledged = serializers.ListField(
        child=serializers.UUIDField(),
        default=list,
        help_text="The ids of criteria that stay out and must be acknowledged; what is missing answers 409.",
    )


class WithdrawInput(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2_000)


class PreviewCriterionShape(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="criterion.id")
    external_id = serializers.CharField(source="criterion.external_id")
    conversation = serializers.CharField(source="place.external_id")


class GoesInShape(PreviewCriterionShape):
    points = serializers.IntegerField()
    sentence = serializers.CharField()


class StaysOutShape(PreviewCriterionShape):
    kind = serializers.CharField()
    reason = serializers.CharField()
    must_be_acknowledged = serializers.SerializerMethodField()

    def get_must_be_acknowledged(self, stays_out: Any) -> bool:
        return stays_out.criterion.id in self.context["to_acknowledge"]


class StandShape(serializers.Serializer[Any]):
    """A criterion as it stands in a version. ``text`` is null where it had to be emptied."""

    text = serializers.CharField(allow_null=True)
    points = serializers.IntegerField()
    axis = serializers.CharField()
    scale = serializers.CharField()


class ChangeShape(serializers.Serializer[Any]):
    """How a criterion differs from the newest version. ``before`` is null where it is new, ``after`` where gone."""

    id = serializers.UUIDField(source="criterion_id")
    external_id = serializers.CharField(source="stand.external_id")
    conversation = serializers.CharField(source="stand.conversation")
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=ChangeKind.choices))
    before = StandShape(allow_null=True)
    after = StandShape(allow_null=True)


class NotAllAnsweredShape(serializers.Serializer[Any]):
    """A conversation that goes in, and how many reviewers have not said whether it is enough; 0: nobody was asked."""

    conversation = serializers.CharField(source="place.external_id")
    missing = serializers.IntegerField()


class AppliedDifferentlyShape(serializers.Serializer[Any]):
    """A criterion that goes in, and how the panel marked each pilot response, in words where the marks differ."""

    id = serializers.UUIDField(source="goes_in.criterion.id")
    external_id = serializers.CharField(source="goes_in.criterion.external_id")
    conversation = serializers.CharField(source="goes_in.place.external_id")
    counts = serializers.CharField(source="applied.in_words")


class CautionsShape(serializers.Serializer[Any]):
    """What is to be read before a freeze, and holds nothing up."""

    not_all_answered = NotAllAnsweredShape(many=True)
    applied_differently = AppliedDifferentlyShape(many=True)


class PreviewShape(serializers.Serializer[Any]):
    """What a freeze would do now. ``next_version`` is the number that it would have; ``seen`` goes with the freeze."""

    next_version = serializers.IntegerField()
    seen = serializers.CharField()
    goes_in = GoesInShape(many=True)
    stays_out = StaysOutShape(many=True)
    changes = ChangeShape(many=True)
    cautions = CautionsShape()


class StandingShape(serializers.Serializer[Any]):
    version = serializers.CharField(source="version.address", allow_null=True, default=None)
    is_in = serializers.BooleanField()
    sentence = serializers.CharField()


class ToldVoteShape(serializers.Serializer[Any]):
    choice = serializers.CharField()
    points = serializers.IntegerField(allow_null=True)
    category = serializers.CharField()
    reason = serializers.CharField()
    better_wording = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    is_yours = serializers.BooleanField(source="is_readers_own")
    revision = serializers.IntegerField(source="revision_number")
    is_counted = serializers.BooleanField()


class ToldClauseShape(serializers.Serializer[Any]):
    clause = serializers.CharField()
    holds = serializers.BooleanField()
    sentence = serializers.CharField()


class ToldOutcomeShape(serializers.Serializer[Any]):
    policy = serializers.IntegerField(source="outcome.policy.version")
    sentence = serializers.CharField(source="outcome.sentence")
    clauses = ToldClauseShape(many=True)


class ToldRoundShape(serializers.Serializer[Any]):
    """An open round has neither votes nor outcomes."""

    number = serializers.IntegerField()
    is_open = serializers.SerializerMethodField()
    votes = ToldVoteShape(many=True)
    outcomes = ToldOutcomeShape(many=True)

    def get_is_open(self, told: Any) -> bool:
        return told.revealed_at is None


class ToldRevisionShape(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="revision.number")
    text = serializers.CharField(source="revision.text")
    points = serializers.IntegerField(allow_null=True)
    axis = serializers.CharField(source="revision.axis")
    is_same_wording = serializers.BooleanField()
    accepted_objection = serializers.CharField()


class WhyShape(serializers.Serializer[Any]):
    """Why a criterion is in a version, or not; without a version, whether the next freeze would take it."""

    state = serializers.CharField(allow_null=True)
    standing = StandingShape()
    versions = StandingShape(many=True)
    revisions = ToldRevisionShape(many=True)
    rounds = ToldRoundShape(many=True)


class FileImportShape(serializers.ModelSerializer[FileImport]):
    """A file that was taken in. ``imported_by`` is null for the command line."""

    imported_by = serializers.CharField(source="imported_by.email", allow_null=True, default=None)

    class Meta:
        model = FileImport
        fields = ["id", "kind", "file_name", "sha256", "created", "unchanged", "imported_at", "imported_by"]


class FindingShape(serializers.Serializer[Any]):
    line = serializers.IntegerField(allow_null=True)
    column = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class ExternalShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    digest = serializers.CharField()
    criteria = serializers.IntegerField()


class ReportShape(serializers.Serializer[Any]):
    """What a file did, or with ``check`` would do. With errors nothing was written, and the answer is 422.

    ``external`` is there for a published set, ``revised`` for criteria that were to be revised.
    """

    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    warnings = FindingShape(many=True)
    errors = FindingShape(many=True)  # type: ignore[assignment]  # declared fields are taken off the class
    external = ExternalShape(required=False)
    revised = serializers.IntegerField(required=False)
