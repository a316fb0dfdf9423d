"""The REST API of care: topics to be spared, locking for a person's sake, and reports of broken conversations."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.api_admin import AdminView
from annotation.caring import (
    LONGEST_WORDS,
    close_report,
    decide_lock,
    lock_conversation_for_care,
    report_conversation,
)
from annotation.caring_seen import care_of_study, find_report, find_to_care_for
from annotation.models import ConversationReport, LockDecision, Role
from annotation.topics import decline_topics, hand_back, to_hand_back, topics_for


class TopicsShape(serializers.Serializer[Any]):
    """The study's topics, those that you declined, and what of yours is about them already."""

    topics = serializers.ListField(child=serializers.CharField())
    declined = serializers.ListField(child=serializers.CharField())
    to_hand_back = serializers.ListField(child=serializers.UUIDField())


class TopicsInput(serializers.Serializer[Any]):
    """All that you decline: what is left out is taken back."""

    declined = serializers.ListField(child=serializers.CharField(max_length=200))


class HandBackInput(serializers.Serializer[Any]):
    conversations = serializers.ListField(child=serializers.UUIDField())


class HandedBackShape(serializers.Serializer[Any]):
    handed_back = serializers.ListField(child=serializers.UUIDField())


class LockInput(serializers.Serializer[Any]):
    words = serializers.CharField(allow_blank=True, required=False, default="", max_length=LONGEST_WORDS)


class DecisionInput(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=LockDecision.Decision.choices)
    reason = serializers.CharField(max_length=LONGEST_WORDS)


class CareDecisionShape(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=LockDecision.Decision.choices)
    reason = serializers.CharField()
    decided_by = serializers.CharField()
    decided_at = serializers.DateTimeField()


class LockShape(serializers.Serializer[Any]):
    conversation = serializers.UUIDField(source="lock.conversation_id")
    external_id = serializers.CharField(source="lock.conversation.external_id")
    words = serializers.CharField(source="lock.words")
    locked_by = serializers.CharField(source="lock.locked_by")
    locked_at = serializers.DateTimeField(source="lock.locked_at")
    decisions = CareDecisionShape(many=True)


class ReportInput(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=ConversationReport.Kind.choices)
    words = serializers.CharField(allow_blank=True, required=False, default="", max_length=LONGEST_WORDS)


class BrokenReportShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    conversation = serializers.UUIDField(source="conversation_id")
    kind = serializers.ChoiceField(choices=ConversationReport.Kind.choices)
    words = serializers.CharField()
    reported_by = serializers.CharField()
    reported_at = serializers.DateTimeField()


class CareShape(serializers.Serializer[Any]):
    """The locks that stand, new ones first, and the reports that nobody has closed."""

    locks = LockShape(many=True)
    reports = BrokenReportShape(many=True)


class ClosingInput(serializers.Serializer[Any]):
    note = serializers.CharField(max_length=LONGEST_WORDS)


class Topics(StudyView):
    """Topics that you would rather not read. PUT says them anew; conversations about them no longer come to you."""

    roles_for = {"GET": (Role.CLINICIAN,), "PUT": (Role.CLINICIAN,)}
    needs_consent = False

    @extend_schema(operation_id="topics_retrieve", responses=TopicsShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(self._told())

    @extend_schema(operation_id="topics_decline", request=TopicsInput, responses=TopicsShape)
    def put(self, request: Request, slug: str) -> Response:
        facts = checked(TopicsInput(data=request.data))
        decline_topics(study=self.study, person=self.person, topics=facts["declined"])
        return Response(self._told())

    def _told(self) -> dict[str, Any]:
        topics = topics_for(self.study, self.person)
        told = {
            "topics": [topic.name for topic in topics],
            "declined": [topic.name for topic in topics if topic.is_declined],
            "to_hand_back": [this.id for this in to_hand_back(self.study, self.person)],
        }
        return dict(TopicsShape(told).data)


class HandBack(StudyView):
    """POST hands conversations back that are yours already and about a topic that you declined."""

    roles_for = {"POST": (Role.CLINICIAN,)}
    needs_consent = False

    @extend_schema(operation_id="topics_hand_back", request=HandBackInput, responses=HandedBackShape)
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(HandBackInput(data=request.data))
        handed = hand_back(study=self.study, person=self.person, conversations=facts["conversations"])
        return Response({"handed_back": [this.id for this in handed]})


class Care(AdminView):
    """What waits for an admin before all else: locks for a person's sake, and reports of broken conversations."""

    @extend_schema(operation_id="care_retrieve", responses=CareShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(CareShape(care_of_study(self.study)).data)


class Lock(StudyView):
    """POST locks a conversation that may be a real person, or a person at risk, for everybody, and tells the lead."""

    @extend_schema(operation_id="conversations_lock", request=LockInput, responses={204: None})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = find_to_care_for(self.study, conversation_id)
        facts = checked(LockInput(data=request.data))
        lock_conversation_for_care(conversation=conversation, by=self.person, words=facts["words"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class Decisions(AdminView):
    """POST releases a locked conversation, or leaves it locked, with the reason."""

    @extend_schema(operation_id="conversations_decide_lock", request=DecisionInput, responses={201: CareDecisionShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        facts = checked(DecisionInput(data=request.data))
        decided = decide_lock(
            conversation=find_to_care_for(self.study, conversation_id),
            by=self.person,
            decision=LockDecision.Decision(facts["decision"]),
            reason=facts["reason"],
        )
        return Response(CareDecisionShape(decided).data, status=status.HTTP_201_CREATED)


class Reports(StudyView):
    """POST says that a conversation is broken, and how."""

    @extend_schema(operation_id="conversations_report", request=ReportInput, responses={201: BrokenReportShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = find_to_care_for(self.study, conversation_id)
        facts = checked(ReportInput(data=request.data))
        kind = ConversationReport.Kind(facts["kind"])
        made = report_conversation(conversation=conversation, by=self.person, kind=kind, words=facts["words"])
        return Response(BrokenReportShape(made).data, status=status.HTTP_201_CREATED)


class Closing(AdminView):
    """POST closes a report with a note of what was done."""

    @extend_schema(operation_id="reports_close", request=ClosingInput, responses={204: None})
    def post(self, request: Request, slug: str, report_id: UUID) -> Response:
        facts = checked(ClosingInput(data=request.data))
        close_report(report=find_report(self.study, report_id), by=self.person, note=facts["note"])
        return Response(status=status.HTTP_204_NO_CONTENT)
