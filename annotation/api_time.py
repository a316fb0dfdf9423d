"""The REST API of declared time: the own days, and for admins totals by person and month."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.api_admin import AdminView
from annotation.declaring_time import LONGEST_NOTE, declare_time, own_time, time_sheet
from annotation.models import DeclaredTime
from annotation.models.hours import MINUTES_A_DAY


class TimeEntryShape(serializers.ModelSerializer[DeclaredTime]):
    class Meta:
        model = DeclaredTime
        fields = ["id", "day", "minutes", "note", "declared_at"]


class DayShape(serializers.Serializer[Any]):
    """A day as it stands, and the entries that were corrected, the newest first."""

    standing = TimeEntryShape()
    earlier = TimeEntryShape(many=True)


class TimeInput(serializers.Serializer[Any]):
    day = serializers.DateField()
    minutes = serializers.IntegerField(min_value=0, max_value=MINUTES_A_DAY)
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_NOTE)
    seen = serializers.UUIDField(required=False)


class MonthOfPersonShape(serializers.Serializer[Any]):
    name = serializers.CharField(allow_blank=True)
    email = serializers.CharField()
    month = serializers.DateField()
    days = serializers.IntegerField()
    minutes = serializers.IntegerField()


class OwnTime(StudyView):
    """The hours that you declared. POST declares a day or corrects it; 0 takes it back."""

    needs_consent = False

    @extend_schema(operation_id="own_time_list", responses=DayShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(DayShape(own_time(self.study, self.person), many=True).data)

    @extend_schema(operation_id="own_time_declare", request=TimeInput, responses={201: TimeEntryShape})
    def post(self, request: Request, slug: str) -> Response:
        entry = declare_time(study=self.study, person=self.person, **checked(TimeInput(data=request.data)))
        return Response(TimeEntryShape(entry).data, status=201)


class TimeSheet(AdminView):
    """Totals by person and month."""

    @extend_schema(operation_id="time_sheet", responses=MonthOfPersonShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(MonthOfPersonShape(time_sheet(self.study), many=True).data)
