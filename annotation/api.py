"""The REST API of studies and conversations: the same acts, predicates and refusals as the pages."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api_access import PagedView, StudyView, checked
from annotation.api_round_shapes import OwnConversationShape, OwnPartShape
from annotation.api_shapes import (
    ConsentInput,
    ConsentShape,
    ConversationShape,
    GuidelinesShape,
    StudyShape,
    WholeConversationShape,
    WholeStudyShape,
)
from annotation.joining import accept_consent, must_consent
from annotation.models import Conversation, Membership, Role, Study, User
from annotation.permissions import oversees
from annotation.states import count_states, with_conversation_state
from annotation.workload import assigned_to, parts_of


class Studies(APIView):
    """The studies that you belong to."""

    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="studies_list", responses=StudyShape(many=True))
    def get(self, request: Request) -> Response:
        assert isinstance(request.user, User)
        studies = list(Study.objects.visible_to(request.user).order_by("slug"))
        roles = dict(
            Membership.objects.filter(user=request.user, study__in=studies, left_at=None).values_list(
                "study_id", "roles"
            )
        )
        return Response(StudyShape(studies, many=True, context={"roles": roles}).data)


class OneStudy(StudyView):
    """A study, and for admins and researchers its conversations and criteria by state."""

    @extend_schema(operation_id="studies_retrieve", responses=WholeStudyShape)
    def get(self, request: Request, slug: str) -> Response:
        progress = count_states(self.study) if oversees(self.membership) else None
        context = {"roles": {self.study.id: self.membership.roles}, "progress": progress}
        return Response(WholeStudyShape(self.study, context=context).data)


class Conversations(PagedView):
    """The conversations that you may see: all for admins and researchers, those assigned for clinicians."""

    @extend_schema(operation_id="conversations_list", responses=ConversationShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = with_conversation_state(Conversation.objects.visible_to(self.person).filter(study=self.study))
        return self.page(rows, ConversationShape)


class OneConversation(StudyView):
    """A conversation with its messages. Its canary is never shown."""

    @extend_schema(operation_id="conversations_retrieve", responses=WholeConversationShape)
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        found = self.find_conversation(conversation_id)
        row = with_conversation_state(Conversation.objects.filter(pk=found.pk)).get()
        return Response(WholeConversationShape(row).data)


class Consent(StudyView):
    """The study's consent text, which comes before all else. POST accepts the version that you read."""

    needs_consent = False

    @extend_schema(operation_id="consent_retrieve", responses=ConsentShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(self._told())

    @extend_schema(operation_id="consent_accept", request=ConsentInput, responses=ConsentShape)
    def post(self, request: Request, slug: str) -> Response:
        accept_consent(study=self.study, person=self.person, seen=checked(ConsentInput(data=request.data))["version"])
        return Response(self._told())

    def _told(self) -> dict[str, object]:
        accepted = self.person.consents.filter(study=self.study, text_version=self.study.consent_version).first()
        return {
            "text": self.study.consent_text,
            "version": self.study.consent_version,
            "must_accept": must_consent(self.study, self.person),
            "accepted_at": accepted.accepted_at if accepted else None,
        }


class Guidelines(StudyView):
    """The study's guidelines, in Markdown."""

    needs_consent = False

    @extend_schema(operation_id="guidelines_retrieve", responses=GuidelinesShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(GuidelinesShape(self.study).data)


class OwnPart(StudyView):
    """What waits for you as a clinician: how many conversations are yours, and which wait, the next one first."""

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(operation_id="own_part_retrieve", responses=OwnPartShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(OwnPartShape(parts_of(self.person, [self.study])[self.study.id]).data)


class OwnConversations(PagedView):
    """The conversations assigned to you, with what is left for you in each."""

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(operation_id="own_conversations_list", responses=OwnConversationShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.page(assigned_to(self.person, [self.study]), OwnConversationShape)
