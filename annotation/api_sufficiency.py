"""The REST API of the sufficiency question: is all that is in consensus in a conversation enough?"""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.forms import LONGEST
from annotation.models import Conversation, Role
from annotation.permissions import reviewed_by
from annotation.sufficiency import Sufficiency, answer_sufficiency, sufficiency_of, wordings_in_consensus
from annotation.unsent import sent_sufficiency


class SufficiencyAnswerShape(serializers.Serializer[Any]):
    """An answer that stands; ``is_current``: on what is in consensus now. ``name``: null unless the policy shows it."""

    is_sufficient = serializers.BooleanField()
    missing = serializers.CharField()
    contradicts = serializers.CharField()
    is_current = serializers.BooleanField()
    is_yours = serializers.BooleanField()
    name = serializers.CharField(allow_null=True)


class SufficiencyShape(serializers.Serializer[Any]):
    """Whether it is enough. While a round is open ``answers`` holds your own alone. ``seen`` goes with your answer.

    ``wordings``: the revisions in consensus that it is about. ``unanswered`` is null while a round is open.
    """

    is_asked = serializers.BooleanField()
    wordings = serializers.ListField(child=serializers.UUIDField())
    seen = serializers.CharField()
    answers = SufficiencyAnswerShape(many=True)
    unanswered = serializers.IntegerField(allow_null=True)


class SufficiencyInput(serializers.Serializer[Any]):
    """``missing`` or ``contradicts`` says something where it is not sufficient; another ``seen`` answers 409."""

    seen = serializers.CharField(max_length=64)
    is_sufficient = serializers.BooleanField()
    missing = serializers.CharField(
        allow_blank=True, required=False, default="", max_length=LONGEST, trim_whitespace=False
    )
    contradicts = serializers.CharField(
        allow_blank=True, required=False, default="", max_length=LONGEST, trim_whitespace=False
    )


class ConversationSufficiency(StudyView):
    """Would a response that meets all that is in consensus here be safe and good? POST answers, or answers anew."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="sufficiency_retrieve", responses=SufficiencyShape)
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        return Response(self._told(self.find_conversation(conversation_id)))

    @extend_schema(operation_id="sufficiency_answer", request=SufficiencyInput, responses={201: SufficiencyShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        answer_sufficiency(conversation=conversation, by=self.person, **checked(SufficiencyInput(data=request.data)))
        sent_sufficiency(reviewer=self.person, conversation=conversation)
        return Response(self._told(conversation), status=status.HTTP_201_CREATED)

    def _told(self, conversation: Conversation) -> dict[str, Any]:
        is_round_open = conversation.rounds.filter(revealed_at=None).exists()
        told: Sufficiency = sufficiency_of(
            reader=self.person,
            conversation=conversation,
            wordings=wordings_in_consensus([conversation.id]).get(conversation.id, []),
            is_round_open=is_round_open,
            is_reviewer=reviewed_by(self.person, conversation) is not None,
        )
        answers = [
            {
                "is_sufficient": answer.is_sufficient,
                "missing": answer.missing,
                "contradicts": answer.contradicts,
                "is_current": is_current,
                "is_yours": answer.reviewer_id == self.person.id,
                "name": str(answer.reviewer) if answer.after_round.shows_names else None,
            }
            for answer, is_current in told.told
        ]
        facts = {
            "is_asked": told.is_asked,
            "wordings": told.wordings,
            "seen": told.seen,
            "answers": answers,
            "unanswered": None if is_round_open else told.unanswered,
        }
        return dict(SufficiencyShape(facts).data)
