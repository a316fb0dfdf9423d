"""The REST API of waves: what goes out when."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import checked
from annotation.api_admin import AdminView
from annotation.models import Wave
from annotation.named_conversations import find_conversations
from annotation.waves import LARGEST_SEED, date_wave, open_wave, plan_waves, put_in_wave, waves_of

NUMBER = OpenApiParameter("number", OpenApiTypes.INT, OpenApiParameter.PATH)


class WaveShape(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="wave.number")
    is_pilot = serializers.BooleanField(source="wave.is_pilot")
    conversations = serializers.IntegerField()
    chosen = serializers.ChoiceField(choices=Wave.Choice.choices, source="wave.choice")
    seed = serializers.IntegerField(source="wave.seed", allow_null=True)
    opens_at = serializers.DateTimeField(source="wave.opens_at", allow_null=True)
    opened_at = serializers.DateTimeField(source="wave.opened_at", allow_null=True)
    is_open = serializers.BooleanField()


class PlanWavesInput(serializers.Serializer[Any]):
    sizes = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=99)
    is_random = serializers.BooleanField(
        default=False, help_text="Each acuity and language in proportion; else in the order of the file."
    )
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST_SEED, allow_null=True, default=None)
    is_pilot = serializers.BooleanField(default=True)


class ByHandInput(serializers.Serializer[Any]):
    number = serializers.IntegerField(min_value=1, allow_null=True, help_text="Null: they go out at once.")
    conversations = serializers.ListField(
        child=serializers.CharField(), min_length=1, max_length=5000, help_text="Ids as in the file."
    )


class WaveDateInput(serializers.Serializer[Any]):
    opens_at = serializers.DateTimeField(allow_null=True)


class Waves(AdminView):
    """The study's waves. POST plans what isn't out anew, PATCH puts conversations into a wave by hand."""

    roles_for = {**AdminView.roles_for, "PATCH": AdminView.roles_for["POST"]}

    @extend_schema(operation_id="waves_list", responses=WaveShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(WaveShape(waves_of(self.study), many=True).data)

    @extend_schema(operation_id="waves_plan", request=PlanWavesInput, responses={201: WaveShape(many=True)})
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(PlanWavesInput(data=request.data))
        choice = Wave.Choice.RANDOM if facts.pop("is_random") else Wave.Choice.IN_ORDER
        plan_waves(study=self.study, choice=choice, **facts)
        return Response(WaveShape(waves_of(self.study), many=True).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="waves_by_hand", request=ByHandInput, responses=WaveShape(many=True))
    def patch(self, request: Request, slug: str) -> Response:
        facts = checked(ByHandInput(data=request.data))
        chosen = find_conversations(self.study, facts["conversations"])
        put_in_wave(study=self.study, number=facts["number"], conversations=[this.id for this in chosen])
        return Response(WaveShape(waves_of(self.study), many=True).data)


class OpenedWave(AdminView):
    """POST opens a wave: whoever is assigned sees its conversations."""

    @extend_schema(operation_id="waves_open", parameters=[NUMBER], request=None, responses={204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        open_wave(study=self.study, number=number, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WaveDate(AdminView):
    """POST says when a wave opens of itself; null: an admin opens it."""

    @extend_schema(operation_id="waves_date", parameters=[NUMBER], request=WaveDateInput, responses={204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        facts = checked(WaveDateInput(data=request.data))
        date_wave(study=self.study, number=number, opens_at=facts["opens_at"])
        return Response(status=status.HTTP_204_NO_CONTENT)
