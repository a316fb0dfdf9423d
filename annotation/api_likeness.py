"""The REST API of advice on a text, of criteria like it, and of likenesses that are merged or both kept."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.advising import advise
from annotation.api_access import StudyView, checked
from annotation.api_shapes import CriterionShape
from annotation.desk import find_revision, lay_out
from annotation.finding_alike import find_similar
from annotation.merging import keep_both, merge_criteria, offered_pairs
from annotation.models import Criterion, Role


class WrittenCriterionShape(CriterionShape):
    """A criterion as it was just written, with ``advice`` on its wording: nothing that must be followed."""

    advice = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(CriterionShape.Meta):
        fields = [*CriterionShape.Meta.fields, "advice"]


def with_advice(shaped: dict[str, Any], *, text: str, points: int) -> dict[str, Any]:
    """A criterion's shape with the advice on what its writer sent."""
    return {**shaped, "advice": advise(text, points)}


class AdviceInput(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=32_767, trim_whitespace=False)
    points = serializers.IntegerField(min_value=-10, max_value=10, allow_null=True, default=None)
    criterion = serializers.UUIDField(
        allow_null=True, default=None, help_text="The criterion that is being revised: it is not like itself."
    )


class SimilarShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    conversation = serializers.UUIDField(source="conversation_id")
    text = serializers.CharField()
    is_wanted = serializers.BooleanField()


class AdviceShape(serializers.Serializer[Any]):
    """Advice with its reasons, and at most three criteria like the text, the conversation's first."""

    advice = serializers.ListField(child=serializers.CharField())
    similar = SimilarShape(many=True)


class LikenessShape(serializers.Serializer[Any]):
    """Two criteria that nearly agree; mirrored: one wants what the other doesn't want."""

    one = serializers.UUIDField(source="one.id")
    other = serializers.UUIDField(source="other.id")
    is_mirrored = serializers.BooleanField()
    voters_left = serializers.IntegerField(help_text="Reviewers who wrote neither: they vote on what is merged.")


class MergeInput(serializers.Serializer[Any]):
    kept = serializers.UUIDField()
    kept_seen = serializers.UUIDField(help_text="Its revision that was seen; another one in between answers 409.")
    merged = serializers.UUIDField()
    merged_seen = serializers.UUIDField(help_text="Its revision that was seen; another one in between answers 409.")


class KeptPairInput(serializers.Serializer[Any]):
    one = serializers.UUIDField()
    other = serializers.UUIDField()


class PairView(StudyView):
    """A view on criteria of one conversation, named in what is sent."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    def find_here(self, conversation_id: UUID, criterion_id: UUID) -> Criterion:
        criterion = self.find_criterion(criterion_id)
        if criterion.conversation_id != conversation_id:
            raise Http404("This conversation has no such criterion.")
        return criterion


class Advice(StudyView):
    """POST a text that you think of writing. Nothing is kept."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="advice_retrieve", request=AdviceInput, responses=AdviceShape)
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        conversation.study = self.study
        facts = checked(AdviceInput(data=request.data))
        similar = find_similar(
            reader=self.person, conversation=conversation, text=facts["text"], apart_from=facts["criterion"]
        )
        return Response(AdviceShape({"advice": advise(facts["text"], facts["points"]), "similar": similar}).data)


class Likenesses(StudyView):
    """The pairs of criteria that you are asked about in the discussion; none at another time."""

    @extend_schema(operation_id="likenesses_list", responses=LikenessShape(many=True))
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        desk = lay_out(reader=self.person, study=self.study, conversation=conversation)
        return Response(LikenessShape(offered_pairs(desk), many=True).data)


class Merges(PairView):
    """POST merges one criterion into another of the conversation, in the discussion. Another vote is asked for."""

    @extend_schema(operation_id="merges_create", request=MergeInput, responses={204: None})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        facts = checked(MergeInput(data=request.data))
        kept, merged = (self.find_here(conversation_id, facts[name]) for name in ("kept", "merged"))
        merge_criteria(
            kept=kept,
            kept_seen=find_revision(kept, facts["kept_seen"]),
            merged=merged,
            merged_seen=find_revision(merged, facts["merged_seen"]),
            by=self.person,
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeptPairs(PairView):
    """POST says that two criteria are both kept, however alike: nobody is asked about them again."""

    @extend_schema(operation_id="kept_pairs_create", request=KeptPairInput, responses={204: None})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        facts = checked(KeptPairInput(data=request.data))
        one, other = (self.find_here(conversation_id, facts[name]) for name in ("one", "other"))
        keep_both(one=one, other=other, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)
