"""The REST API of trying a criterion: the pilot responses of its conversation, your marks, and after the reveal all."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.desk import find_revision
from annotation.models import Criterion, PilotMark, PilotResponse, Role
from annotation.trying import lay_out_trial, mark_pilot_response


class PilotCountsShape(serializers.Serializer[Any]):
    """How the panel marked one response. ``differ``: at least one says met, and another not met."""

    met = serializers.IntegerField()
    not_met = serializers.IntegerField()
    cant_tell = serializers.IntegerField()
    differ = serializers.BooleanField()


class PilotResponseShape(serializers.Serializer[Any]):
    """A response to try the criterion on, and your mark. ``counts``: null until the reveal, or where nobody marked."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    text = serializers.CharField()
    own_mark = serializers.ChoiceField(choices=PilotMark.Mark.choices, allow_null=True)
    counts = PilotCountsShape(allow_null=True)


class TrialShape(serializers.Serializer[Any]):
    """``is_open``: marks are given on this wording still. ``is_applied_differently`` is null until the reveal."""

    wording = serializers.UUIDField()
    is_open = serializers.BooleanField()
    is_applied_differently = serializers.BooleanField(allow_null=True)
    responses = PilotResponseShape(many=True)


class PilotMarkInput(serializers.Serializer[Any]):
    response = serializers.UUIDField()
    seen = serializers.UUIDField(help_text="The revision that you read; where the wording changed, the answer is 409.")
    mark = serializers.ChoiceField(choices=PilotMark.Mark.choices)


class PilotMarks(StudyView):
    """A criterion on the pilot responses of its conversation. PUT marks one of them, or changes your mark on it."""

    roles_for = {"PUT": (Role.CLINICIAN,)}

    @extend_schema(operation_id="pilot_marks_retrieve", responses=TrialShape)
    def get(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        return Response(self._told(self.find_criterion(criterion_id)))

    @extend_schema(operation_id="pilot_marks_give", request=PilotMarkInput, responses=TrialShape)
    def put(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        facts = checked(PilotMarkInput(data=request.data))
        response = PilotResponse.objects.filter(conversation=criterion.conversation_id, pk=facts["response"]).first()
        if response is None:
            raise Http404("There is no such response here.")
        mark_pilot_response(
            criterion=criterion,
            seen=find_revision(criterion, facts["seen"]),
            response=response,
            by=self.person,
            mark=PilotMark.Mark(facts["mark"]),
        )
        return Response(self._told(criterion))

    def _told(self, criterion: Criterion) -> dict[str, Any]:
        trial = lay_out_trial(reader=self.person, criterion=criterion)
        responses = [
            {"id": this.id, "number": this.number, "text": this.text, "own_mark": own or None, "counts": counts}
            for this, own, _, counts in trial.cards
        ]
        facts = {
            "wording": trial.wording,
            "is_open": trial.is_open,
            "is_applied_differently": None if trial.is_open else bool(trial.applied and trial.applied.is_different),
            "responses": responses,
        }
        return dict(TrialShape(facts).data)
