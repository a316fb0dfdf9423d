"""What the API of responses, graders, runs and judging takes and answers: explicit shapes, in the study's words."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api_shapes import MessageShape
from annotation.models import Conversation
from grading.judging import ToJudge
from grading.models import Grader, Respondent, Response, ReviewerVerdict, Run
from rubrics.models import FrozenCriterion


class RespondentShape(serializers.ModelSerializer[Respondent]):
    """A respondent with its responses in numbers."""

    responses = serializers.IntegerField(source="number")
    failed = serializers.IntegerField()
    refusals = serializers.IntegerField()
    conversations = serializers.IntegerField()

    class Meta:
        model = Respondent
        fields = ["name", "kind", "prompt_style", "responses", "failed", "refusals", "conversations"]


class ResponseShape(serializers.ModelSerializer[Response]):
    """A response. What could tell who wrote it is null for whoever judges by hand, in whatever other role:
    ``respondent``, ``kind``, ``prompt_style``, ``sample`` and ``finish_reason``."""

    respondent = serializers.SerializerMethodField()
    kind = serializers.SerializerMethodField()
    prompt_style = serializers.SerializerMethodField()
    sample = serializers.SerializerMethodField()
    finish_reason = serializers.SerializerMethodField()

    class Meta:
        model = Response
        fields = [
            "id",
            "conversation",
            "respondent",
            "kind",
            "prompt_style",
            "sample",
            "text",
            "finish_reason",
            "is_refusal",
            "is_failed",
        ]

    def get_respondent(self, response: Response) -> str | None:
        return response.respondent.name if self.context["with_respondents"] else None

    def get_kind(self, response: Response) -> str | None:
        return response.respondent.kind if self.context["with_respondents"] else None

    def get_prompt_style(self, response: Response) -> str | None:
        return response.respondent.prompt_style if self.context["with_respondents"] else None

    def get_sample(self, response: Response) -> int | None:
        return response.sample if self.context["with_respondents"] else None

    def get_finish_reason(self, response: Response) -> str | None:
        return response.finish_reason if self.context["with_respondents"] else None


class GraderShape(serializers.ModelSerializer[Grader]):
    class Meta:
        model = Grader
        fields = ["name", "base_url", "model", "prompt_version", "mode", "concurrency", "digest", "is_trial_only"]


class GraderInput(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    base_url = serializers.CharField(max_length=500)
    model = serializers.CharField(max_length=200)
    api_key_variable = serializers.CharField(default="", allow_blank=True)
    concurrency = serializers.IntegerField(default=8, min_value=1, max_value=1000)


class RunShape(serializers.ModelSerializer[Run]):
    version = serializers.CharField(source="version.address")
    grader = serializers.CharField(source="grader.name")

    class Meta:
        model = Run
        fields = ["id", "version", "grader", "state", "stop_reason", "pairs", "created_at", "started_at", "ended_at"]


class RunInput(serializers.Serializer[Any]):
    version = serializers.CharField(help_text="The number of an own version, the name of an external one.")
    grader = serializers.CharField(help_text="The grader's name.")


class RunStatusShape(serializers.Serializer[Any]):
    """How far a run is, counted now; tokens as the endpoint counted them. ``graded`` are the pairs with a grade."""

    run = serializers.UUIDField()
    state = serializers.CharField()
    pairs = serializers.IntegerField()
    met = serializers.IntegerField(allow_null=True, help_text="null for a blind judge: open the grades first.")
    not_met = serializers.IntegerField(allow_null=True)
    unscored = serializers.IntegerField()
    graded = serializers.IntegerField()
    attempts = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    reasons = serializers.DictField(
        child=serializers.IntegerField(), help_text="Why pairs are unscored: a sentence to a count."
    )
    stop_reason = serializers.CharField(allow_blank=True)
    last_problem = serializers.CharField(
        allow_blank=True, help_text="What the endpoint did last, where a run goes on without answers."
    )


# Judging by hand


class JudgingShape(serializers.Serializer[Any]):
    """A version whose responses can be judged by hand: how many pairs there are, and how many you have judged."""

    version = serializers.CharField()
    judged = serializers.IntegerField()
    pairs = serializers.IntegerField()


class ConversationToJudgeShape(serializers.ModelSerializer[Conversation]):
    messages = MessageShape(many=True)

    class Meta:
        model = Conversation
        fields = ["id", "external_id", "language", "messages"]


class CriterionToJudgeShape(serializers.ModelSerializer[FrozenCriterion]):
    """A criterion without its points, with your own verdict, null where you gave none.

    ``id`` is the criterion's own, ``frozen`` its id in this version; a verdict may name either.
    """

    id = serializers.UUIDField(source="criterion_id")
    frozen = serializers.UUIDField(source="pk")
    verdict = serializers.SerializerMethodField()
    comment = serializers.SerializerMethodField()

    class Meta:
        model = FrozenCriterion
        fields = ["id", "frozen", "text", "axis", "scale", "levels", "verdict", "comment"]

    def get_verdict(self, criterion: FrozenCriterion) -> str | None:
        given = self.context["verdicts"].get(criterion.wording_id)
        return given.verdict if given else None

    def get_comment(self, criterion: FrozenCriterion) -> str:
        given = self.context["verdicts"].get(criterion.wording_id)
        return given.comment if given else ""


class ToJudgeShape(serializers.Serializer[Any]):
    """A response to judge: never who wrote it, what a grader said, or what colleagues judged.

    ``is_blind`` is false where you opened grades of it: your verdict is kept and doesn't count in agreement.
    """

    response = serializers.UUIDField(source="response.id")
    text = serializers.CharField(source="response.text")
    is_blind = serializers.BooleanField()
    left = serializers.SerializerMethodField()
    conversation = ConversationToJudgeShape(source="response.conversation")
    criteria = serializers.SerializerMethodField()

    def get_left(self, this: ToJudge) -> int:
        return len(this.left)

    @extend_schema_field(CriterionToJudgeShape(many=True))
    def get_criteria(self, this: ToJudge) -> list[Any]:
        context = {"verdicts": this.verdicts}
        criteria: list[Any] = CriterionToJudgeShape(this.criteria, many=True, context=context).data  # type: ignore[assignment]
        return criteria


class VerdictInput(serializers.Serializer[Any]):
    response = serializers.UUIDField()
    criterion = serializers.UUIDField(help_text="The criterion's own id, with ``version``; or its id in a version.")
    version = serializers.CharField(
        default="", allow_blank=True, help_text="The number of an own version, the name of an external one."
    )
    verdict = serializers.ChoiceField(choices=ReviewerVerdict.Verdict.choices)
    comment = serializers.CharField(default="", allow_blank=True, max_length=5000)


class VerdictShape(serializers.ModelSerializer[ReviewerVerdict]):
    """Your own verdict on a response and a wording; ``criterion`` is the criterion's own id."""

    criterion = serializers.UUIDField(source="wording.criterion_id")
    is_imported = serializers.SerializerMethodField()

    class Meta:
        model = ReviewerVerdict
        fields = ["response", "criterion", "wording", "verdict", "comment", "is_blind", "is_imported", "given_at"]

    def get_is_imported(self, verdict: ReviewerVerdict) -> bool:
        return verdict.imported_from_id is not None
