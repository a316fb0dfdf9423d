"""The REST API of what a person says of themselves."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api_access import checked
from annotation.models import Digests, User
from annotation.profile import describe_yourself


class YouShape(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = [
            *("email", "name", "languages", "country", "profession", "speciality"),
            *("time_zone", "page_language", "digests"),
        ]
        read_only_fields = ["email"]


class YouInput(serializers.Serializer[Any]):
    """All of it: what is left out is emptied, but the time zone, the pages' language and the mail, which stay."""

    name = serializers.CharField(max_length=200, allow_blank=True)
    languages = serializers.ListField(child=serializers.CharField(max_length=35), required=False)
    country = serializers.CharField(max_length=2, allow_blank=True, required=False)
    profession = serializers.CharField(max_length=100, allow_blank=True, required=False)
    speciality = serializers.CharField(max_length=100, allow_blank=True, required=False)
    time_zone = serializers.CharField(max_length=64, allow_blank=True, required=False)
    page_language = serializers.CharField(max_length=35, allow_blank=True, required=False)
    digests = serializers.ChoiceField(choices=Digests.choices, required=False)


class You(APIView):
    """What you say of yourself, for every study that you are in."""

    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="you_retrieve", responses=YouShape)
    def get(self, request: Request) -> Response:
        assert isinstance(request.user, User)
        return Response(YouShape(request.user).data)

    @extend_schema(operation_id="you_update", request=YouInput, responses=YouShape)
    def put(self, request: Request) -> Response:
        assert isinstance(request.user, User)
        return Response(YouShape(describe_yourself(person=request.user, **checked(YouInput(data=request.data)))).data)
