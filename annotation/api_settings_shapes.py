"""What the API of a study's settings takes and answers."""

from typing import Any

from rest_framework import serializers

from annotation.api_admin_shapes import PassedOverShape
from annotation.changing_policy import MOST
from annotation.consensus import PRESETS
from annotation.models import Demand, Drafting, ObjectionCategory, TextClass, Weights
from annotation.setting_dates import DateOf
from annotation.states import CriterionState


class MissingShape(serializers.Serializer[Any]):
    setting = serializers.CharField()
    words = serializers.CharField()


def text(**facts: Any) -> serializers.CharField:
    return serializers.CharField(allow_blank=True, trim_whitespace=False, **facts)


class SettingsShape(serializers.Serializer[Any]):
    """A study's settings. ``seen`` goes back with a change; ``missing`` is what people should find beforehand."""

    name = serializers.CharField()
    what_to_expect = text()
    support_contact = text()
    consent_text = text()
    consent_version = serializers.IntegerField()
    guidelines = text()
    axes = serializers.ListField(child=serializers.CharField())
    languages = serializers.ListField(child=serializers.CharField())
    text_class = serializers.ChoiceField(choices=TextClass.choices)
    attestation = text()
    outside_endpoints_basis = text()
    basis_recorded = serializers.CharField(help_text="By whom and when the legal basis was recorded.")
    is_not_for_public_text = serializers.BooleanField()
    topics = serializers.ListField(child=serializers.CharField())
    emergent_in_a_row = serializers.IntegerField()
    care_lead = serializers.CharField()
    reviewers_by_rule = serializers.ListField(child=serializers.CharField(), help_text="As acuity emergent: 6.")
    demands = serializers.ListField(
        child=serializers.ChoiceField(choices=Demand.choices),
        help_text="What reviewers must share with a conversation that names it; else it is preferred.",
    )
    missing = MissingShape(many=True)
    seen = serializers.DictField(child=serializers.CharField())


class SettingsInput(serializers.Serializer[Any]):
    """Only what is given is changed."""

    seen = serializers.DictField(child=serializers.CharField(), help_text="As the settings told it.")
    name = serializers.CharField(required=False)
    what_to_expect = text(required=False)
    support_contact = text(required=False)
    consent_text = text(required=False)
    guidelines = text(required=False)
    axes = serializers.ListField(child=serializers.CharField(), required=False)
    languages = serializers.ListField(child=serializers.CharField(), required=False)
    text_class = serializers.CharField(required=False)
    attestation = text(required=False)
    outside_endpoints_basis = text(required=False)
    is_not_for_public_text = serializers.BooleanField(required=False)
    topics = serializers.ListField(child=serializers.CharField(), required=False)
    emergent_in_a_row = serializers.IntegerField(required=False)
    care_lead = serializers.CharField(allow_blank=True, required=False)
    reviewers_by_rule = serializers.ListField(child=serializers.CharField(), required=False)
    demands = serializers.ListField(child=serializers.ChoiceField(choices=Demand.choices), required=False)


class PolicyInput(serializers.Serializer[Any]):
    """What is left out stays as it is, or as the preset has it."""

    against = serializers.IntegerField(help_text="The version in force that was seen; another one answers 409.")
    preset = serializers.ChoiceField(choices=list(PRESETS), required=False)
    min_reviewed = serializers.IntegerField(min_value=1, max_value=MOST, required=False)
    min_agree = serializers.IntegerField(min_value=1, max_value=MOST, required=False)
    min_ratio = serializers.DecimalField(max_digits=4, decimal_places=3, coerce_to_string=False, required=False)
    points_tolerance = serializers.IntegerField(min_value=0, max_value=20, required=False)
    blocks = serializers.ListField(child=serializers.ChoiceField(choices=ObjectionCategory.choices), required=False)
    max_rounds = serializers.IntegerField(min_value=1, max_value=MOST, required=False)
    reviewers_per_conversation = serializers.IntegerField(min_value=1, max_value=MOST, required=False)
    drafting = serializers.ChoiceField(choices=Drafting.choices, required=False)
    weights = serializers.ChoiceField(choices=Weights.choices, required=False)
    names_shown_after_reveal = serializers.BooleanField(required=False)


class MoveShape(serializers.Serializer[Any]):
    """A criterion whose state or consensus points the policy would change."""

    criterion = serializers.UUIDField(source="criterion.id")
    external_id = serializers.CharField(source="criterion.external_id")
    conversation = serializers.CharField(source="criterion.conversation.external_id")
    state_before = serializers.ChoiceField(choices=CriterionState.choices)
    state_after = serializers.ChoiceField(choices=CriterionState.choices)
    points_before = serializers.IntegerField(allow_null=True)
    points_after = serializers.IntegerField(allow_null=True)
    sentence = serializers.CharField()


class PolicyPreviewShape(serializers.Serializer[Any]):
    """What would move. ``revealed_at_once`` counts open rounds that the policy completes."""

    decided = serializers.IntegerField()
    unmoved = serializers.IntegerField()
    revealed_at_once = serializers.IntegerField()
    moves = MoveShape(many=True)


class DatesInput(serializers.Serializer[Any]):
    of = serializers.ChoiceField(choices=DateOf.choices, help_text="What the date ends.")
    until = serializers.DateTimeField(allow_null=True, help_text="Null takes the date away.")
    conversations = serializers.ListField(
        child=serializers.UUIDField(), allow_null=True, help_text="Null: all of the study's own."
    )


class DatedShape(serializers.Serializer[Any]):
    """The conversations that took the date, and those that didn't with the sentence why."""

    dated = serializers.ListField(child=serializers.UUIDField())
    passed_over = PassedOverShape(many=True)
