"""The REST API by which a study is made, new or as a copy: who may is who may on the pages."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import Studies
from annotation.api_access import checked
from annotation.api_shapes import WholeStudyShape
from annotation.consensus import PRESETS
from annotation.copying_a_study import copy_study
from annotation.making_a_study import make_study
from annotation.models import Role, TextClass, User
from annotation.permissions import administered_by, may_make_studies
from annotation.states import count_states


class StudyInput(serializers.Serializer[Any]):
    """A study to make. What is left out can be set later; of a copy, what is given stands in place of the other's."""

    slug = serializers.CharField(max_length=60, help_text="The short name in its address, as crisis-support.")
    name = serializers.CharField(max_length=200)
    copy_of = serializers.CharField(
        required=False, help_text="A study that you administer: its settings, policy, axes and guidelines are taken."
    )
    preset = serializers.ChoiceField(choices=sorted(PRESETS), required=False, help_text="three-agree where left out.")
    text_class = serializers.ChoiceField(choices=TextClass.choices, required=False)
    attestation = serializers.CharField(default="", allow_blank=True)
    what_to_expect = serializers.CharField(required=False, allow_blank=True)
    support_contact = serializers.CharField(required=False, allow_blank=True)
    consent_text = serializers.CharField(required=False, allow_blank=True)
    guidelines = serializers.CharField(required=False, allow_blank=True)
    axes = serializers.ListField(child=serializers.CharField(), required=False)
    languages = serializers.ListField(child=serializers.CharField(), required=False)
    is_not_for_public_text = serializers.BooleanField(required=False)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if "copy_of" in given and "preset" in given:
            raise serializers.ValidationError({"preset": ["A copy has the policy of the study copied."]})
        return given


class StudiesAndNew(Studies):
    """The studies that you belong to. POST makes one, whose admin you become."""

    @extend_schema(operation_id="studies_make", request=StudyInput, responses={201: WholeStudyShape})
    def post(self, request: Request) -> Response:
        assert isinstance(request.user, User)
        if not may_make_studies(request.user):
            raise PermissionDenied("New studies are made by admins of a study.")
        facts = checked(StudyInput(data=request.data))
        copied = facts.pop("copy_of", None)
        if copied is None:
            study = make_study(by=request.user, **facts)
        else:
            source = administered_by(request.user).filter(slug__iexact=copied).first()
            if source is None:
                raise serializers.ValidationError({"copy_of": ["You administer no study of this short name."]})
            study = copy_study(source=source, by=request.user, **facts)
        context = {"roles": {study.id: [Role.ADMIN.value]}, "progress": count_states(study)}
        return Response(WholeStudyShape(study, context=context).data, status=status.HTTP_201_CREATED)
