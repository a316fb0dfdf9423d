"""What the admins' API takes and answers: members, policy, progress, assignment. Who has finished, never what."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api_shapes import ProgressShape
from annotation.conflicts import LONGEST_CONFLICT
from annotation.invitations import Invitation
from annotation.member_facts import facts_seen
from annotation.models import Membership, Policy, Role
from annotation.overseeing import Overseen, Stage
from annotation.policy_words import policy_clauses, policy_consequences, policy_name, worked_cases
from annotation.previewing_assignment import AssignmentPreview
from annotation.states import ConversationState


class PersonShape(serializers.Serializer[Any]):
    email = serializers.CharField()
    name = serializers.CharField(allow_blank=True)


# Members


class ConflictsField(serializers.ListField):
    """Each the id or a tag of conversations that the person is not to review."""

    def __init__(self, **facts: Any) -> None:
        facts.setdefault("help_text", self.__doc__)
        super().__init__(child=serializers.CharField(max_length=LONGEST_CONFLICT), **facts)


class MemberShape(serializers.ModelSerializer[Membership]):
    """A member. ``has_accepted``: the consent text in its present version. ``assigned`` counts conversations."""

    invitation = serializers.ChoiceField(choices=Invitation.choices)
    invited_at = serializers.DateTimeField(allow_null=True)
    facts_seen = serializers.SerializerMethodField(help_text="Names conflicts and licence as they stand now.")

    email = serializers.CharField(source="user.email")
    name = serializers.CharField(source="user.name")
    languages = serializers.ListField(child=serializers.CharField(), source="user.languages")
    country = serializers.CharField(source="user.country")
    profession = serializers.CharField(source="user.profession")
    speciality = serializers.CharField(source="user.speciality")
    is_active = serializers.BooleanField(source="user.is_active")
    has_accepted = serializers.BooleanField()
    assigned = serializers.IntegerField()

    class Meta:
        model = Membership
        fields = [
            "id",
            "email",
            "name",
            "roles",
            "languages",
            "country",
            "profession",
            "speciality",
            "is_active",
            "joined_at",
            "has_accepted",
            "assigned",
            "invitation",
            "invited_at",
            "conflicts",
            "licence_checked_at",
            "facts_seen",
            "paused_until",
        ]

    def get_facts_seen(self, member: Membership) -> str:
        return facts_seen(member)


class MemberInput(serializers.Serializer[Any]):
    email = serializers.EmailField(max_length=254)
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), min_length=1)
    name = serializers.CharField(default="", allow_blank=True, max_length=200)
    languages = serializers.ListField(
        child=serializers.CharField(max_length=35), default=list, help_text="BCP 47 tags; none means all."
    )
    country = serializers.CharField(default="", allow_blank=True, help_text="Two letters, as MX.")
    profession = serializers.CharField(default="", allow_blank=True, max_length=100)
    speciality = serializers.CharField(default="", allow_blank=True, max_length=100)
    conflicts = ConflictsField(default=list)
    is_licence_checked = serializers.BooleanField(default=False)
    invite = serializers.BooleanField(default=False, help_text="Invite the person by mail.")


class MemberFactsInput(serializers.Serializer[Any]):
    """What is left out stays. ``seen``: the ``facts_seen`` that the change was made against; 409 where it's another."""

    conflicts = ConflictsField(required=False)
    is_licence_checked = serializers.BooleanField(required=False)
    seen = serializers.CharField(required=False)


class MemberPauseInput(serializers.Serializer[Any]):
    until = serializers.DateField(
        allow_null=True, help_text="The first day on which new conversations are assigned again; null: no pause."
    )


class InvitedShape(serializers.Serializer[Any]):
    invited = serializers.IntegerField()


class MemberChangeInput(serializers.Serializer[Any]):
    """What to change of a member. ``seen``: the roles that the change was made against; 409 where they are others."""

    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), min_length=1, required=False)
    seen = serializers.ListField(child=serializers.CharField(), required=False)
    name = serializers.CharField(
        required=False, max_length=200, help_text="Only for who has none yet: afterwards it is the person's own."
    )


class ReachShape(serializers.Serializer[Any]):
    """Conversations of one language and country, and whether enough reviewers can be found for them."""

    language = serializers.CharField(allow_null=True)
    country = serializers.CharField(allow_null=True)
    conversations = serializers.IntegerField()
    readers = serializers.IntegerField(help_text="The study's clinicians who read the language.")
    readers_there = serializers.IntegerField(help_text="Of these, who declared the same country.")
    needed = serializers.IntegerField(help_text="What the most demanding of these conversations needs.")
    missing = serializers.IntegerField(help_text="How many clinicians more would do for all of these.")
    below = serializers.IntegerField(help_text="How many of these conversations can't reach a quorum now.")


# The policy


class CaseShape(serializers.Serializer[Any]):
    """Some votes in words, and what the policy finds for them."""

    votes = serializers.CharField()
    result = serializers.CharField(source="decision.result")
    points = serializers.IntegerField(source="decision.points", allow_null=True)


class WholePolicyShape(serializers.ModelSerializer[Policy]):
    """The policy in force, in numbers and in words."""

    min_ratio = serializers.FloatField()
    name = serializers.SerializerMethodField()
    clauses = serializers.SerializerMethodField()
    consequences = serializers.SerializerMethodField()
    cases = serializers.SerializerMethodField()

    class Meta:
        model = Policy
        fields = [
            "version",
            "preset",
            "name",
            "min_reviewed",
            "min_agree",
            "min_ratio",
            "points_tolerance",
            "blocks",
            "max_rounds",
            "reviewers_per_conversation",
            "drafting",
            "weights",
            "names_shown_after_reveal",
            "created_at",
            "clauses",
            "consequences",
            "cases",
        ]

    def get_name(self, policy: Policy) -> str:
        return policy_name(policy)

    def get_clauses(self, policy: Policy) -> list[str]:
        return policy_clauses(policy)

    def get_consequences(self, policy: Policy) -> list[str]:
        return policy_consequences(policy)

    @extend_schema_field(CaseShape(many=True))
    def get_cases(self, policy: Policy) -> list[Any]:
        cases: list[Any] = CaseShape(worked_cases(policy), many=True).data  # type: ignore[assignment]
        return cases


# Progress


class ShareShape(serializers.Serializer[Any]):
    """A reviewer's part: conversations assigned, those still to draft on, to vote on and to discuss."""

    reviewer = PersonShape()
    assigned = serializers.IntegerField()
    to_draft = serializers.IntegerField()
    to_vote = serializers.IntegerField()
    to_discuss = serializers.IntegerField()
    paused_until = serializers.DateField(allow_null=True, help_text="Nothing new is assigned before that day.")


class ForecastShape(serializers.Serializer[Any]):
    """When all will be settled, by the panel's own pace; null where too little is known. A 90 % interval."""

    left = serializers.IntegerField(help_text="Conversations that are not settled.")
    settled = serializers.IntegerField(help_text="How many were settled in the last ``days``.")
    days = serializers.IntegerField()
    end = serializers.DateField(allow_null=True)
    earliest = serializers.DateField(allow_null=True)
    latest = serializers.DateField(allow_null=True)


class StudyProgressShape(ProgressShape):
    """Where the study stands. ``out_of_reach`` counts conversations for which too few reviewers can be found."""

    stages = serializers.DictField(child=serializers.IntegerField(), help_text="Conversations by where they stand.")
    out_of_reach = serializers.IntegerField()
    reviewers = ShareShape(many=True)
    forecast = ForecastShape()


class ReviewingShape(serializers.Serializer[Any]):
    reviewer = PersonShape()
    is_finished = serializers.BooleanField()
    is_imported = serializers.BooleanField(help_text="Assigned by an imported vote.")


class OverseenShape(serializers.Serializer[Any]):
    """A conversation as an admin oversees it: who has finished what it is in, never what they wrote or voted.

    ``criteria`` counts them by state. ``closes_at`` is the date of what is open.
    """

    id = serializers.UUIDField(source="conversation.id")
    external_id = serializers.CharField(source="conversation.external_id")
    state = serializers.ChoiceField(choices=ConversationState.choices)
    stage = serializers.ChoiceField(choices=Stage.choices)
    state_in_words = serializers.CharField()
    round = serializers.IntegerField(source="last_round", help_text="The latest one's number; 0 before the first.")
    closes_at = serializers.DateTimeField(allow_null=True)
    waits_for = serializers.CharField()
    is_out_of_reach = serializers.BooleanField()
    finished = serializers.IntegerField()
    reviewers = ReviewingShape(many=True, source="reviewing")
    criteria = serializers.DictField(child=serializers.IntegerField())


class WholeOverseenShape(OverseenShape):
    """With who recused from it (no vote, and not blind), and the acts that it offers now."""

    recused = serializers.SerializerMethodField()
    acts = serializers.SerializerMethodField()

    @extend_schema_field(PersonShape(many=True))
    def get_recused(self, overseen: Overseen) -> list[Any]:
        people: list[Any] = PersonShape(self.context["recused"], many=True).data  # type: ignore[assignment]
        return people

    def get_acts(self, overseen: Overseen) -> list[str]:
        acts: list[str] = self.context["acts"]
        return acts


# Assignment


class AssignInput(serializers.Serializer[Any]):
    reviewers = serializers.IntegerField(min_value=1, max_value=100, allow_null=True, default=None)


class AssignAsPlannedInput(AssignInput):
    plan = serializers.CharField(
        max_length=32, allow_null=True, default=None, help_text="As the preview told it; null: whatever it is now."
    )


class AssignedShape(serializers.Serializer[Any]):
    assigned = serializers.IntegerField()
    out_of_reach = serializers.ListField(
        child=serializers.CharField(), help_text="Ids of conversations as in the file."
    )


class LoadShape(serializers.Serializer[Any]):
    """A clinician's conversations now, and those that assigning would add."""

    reviewer = PersonShape(source="person")
    now = serializers.IntegerField()
    added = serializers.IntegerField()


class PlannedShape(serializers.Serializer[Any]):
    """A conversation that would get reviewers: how many it has, how many it should have, and who is added."""

    id = serializers.UUIDField(source="conversation.id")
    external_id = serializers.CharField(source="conversation.external_id")
    standing = serializers.IntegerField()
    wanted = serializers.IntegerField()
    added = PersonShape(many=True)


class AssignmentPreviewShape(serializers.Serializer[Any]):
    """What assigning so many reviewers would do. ``plan`` names it: assigning takes it back and does just this."""

    plan = serializers.CharField(source="plan.digest")
    planned = PlannedShape(many=True, source="plan.filled")

    assigned = serializers.IntegerField(source="made")
    conversations = serializers.IntegerField()
    loads = LoadShape(many=True)
    out_of_reach = serializers.SerializerMethodField(help_text="Ids of conversations as in the file.")

    def get_out_of_reach(self, preview: AssignmentPreview) -> list[str]:
        return [conversation.external_id for conversation in preview.out_of_reach]


class AssignOneInput(serializers.Serializer[Any]):
    reviewer = serializers.EmailField(help_text="A clinician's address.")


# Acts on many


class ActOnManyInput(serializers.Serializer[Any]):
    conversations = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=500)
    check = serializers.BooleanField(default=False, help_text="Say what the act would be done to; nothing is done.")


class PassedOverShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    external_id = serializers.CharField()
    why = serializers.CharField(allow_blank=True, help_text="Blank with ``check``.")


class DoneShape(serializers.Serializer[Any]):
    """The conversations that were acted on, and those on which the act found nothing to do."""

    acted_on = serializers.ListField(child=serializers.UUIDField())
    passed_over = PassedOverShape(many=True)
