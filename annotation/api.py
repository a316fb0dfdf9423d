"""The REST API of studies, conversations, criteria and votes: the same acts, predicates and refusals as the pages."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.acting_on_many import ROUND_ACTS
from annotation.api_access import PagedView, StudyView, checked
from annotation.api_shapes import (
    AssignedShape,
    AssignInput,
    CommentInput,
    CommentShape,
    ConversationShape,
    CriterionShape,
    DraftInput,
    RevisionInput,
    StudyShape,
    VoteInput,
    VoteShape,
    WholeConversationShape,
    WholeStudyShape,
)
from annotation.assigning import assign_reviewers, recuse_from_conversation
from annotation.desk import find_criterion
from annotation.discussing import add_comment, end_discussion, request_vote
from annotation.drafting import draft_criterion, finish_drafting, resume_drafting, revise_criterion, withdraw_criterion
from annotation.models import Comment, Conversation, Criterion, Membership, Revision, Role, Round, Study, User, Vote
from annotation.models.rounds import RoundIsRevealed
from annotation.permissions import oversees, sees_points, visible_criteria
from annotation.states import count_states, with_conversation_state, with_criterion_state
from annotation.voting import Ballot, cast_vote, take_back_vote
from annotation.writers import writers_of


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


def shape_criteria(person: User, criteria: list[Criterion]) -> list[dict[str, Any]]:
    """Criteria of one study as a person may see them now."""
    rows = list(
        with_criterion_state(Criterion.objects.filter(id__in=[each.id for each in criteria]))
        .select_related("current_revision", "study")
        .in_reading_order()  # type: ignore[attr-defined]
    )
    context = {"reader": person.id, "writers": writers_of(rows), "with_points": sees_points(person, rows)}
    data: list[dict[str, Any]] = CriterionShape(rows, many=True, context=context).data  # type: ignore[assignment]
    return data


class Criteria(StudyView):
    """A conversation's criteria, as far as you may see them; POST drafts one."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="criteria_list", responses=CriterionShape(many=True))
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        return Response(shape_criteria(self.person, visible_criteria(self.person, conversation)))

    @extend_schema(operation_id="criteria_create", request=DraftInput, responses={201: CriterionShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        facts = checked(DraftInput(data=request.data))
        criterion = draft_criterion(conversation=conversation, writer=self.person, **facts)
        return Response(shape_criteria(self.person, [criterion])[0], status=status.HTTP_201_CREATED)


class CriterionView(StudyView):
    """What views of one criterion share: finding it among those that the person may see."""

    roles_for = {"POST": (Role.CLINICIAN,), "DELETE": (Role.CLINICIAN,)}

    def find_criterion(self, criterion_id: UUID) -> Criterion:
        return find_criterion(self.person, self.study, criterion_id)


class OneCriterion(CriterionView):
    """A criterion; POST revises it against the revision that was seen, DELETE withdraws it."""

    @extend_schema(operation_id="criteria_retrieve", responses=CriterionShape)
    def get(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        return Response(shape_criteria(self.person, [self.find_criterion(criterion_id)])[0])

    @extend_schema(operation_id="criteria_revise", request=RevisionInput, responses=CriterionShape)
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        facts = checked(RevisionInput(data=request.data))
        against = find_revision(criterion, facts.pop("against"))
        revise_criterion(criterion=criterion, against=against, by=self.person, **facts)
        return Response(shape_criteria(self.person, [criterion])[0])

    @extend_schema(operation_id="criteria_withdraw", responses=CriterionShape)
    def delete(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = withdraw_criterion(criterion=self.find_criterion(criterion_id), by=self.person)
        return Response(shape_criteria(self.person, [criterion])[0])


def find_revision(criterion: Criterion, revision_id: UUID) -> Revision:
    revision = Revision.objects.filter(criterion=criterion, pk=revision_id).first()
    if revision is None:
        raise Http404("This criterion has no such revision.")
    return revision


class Comments(CriterionView):
    """What was said about a criterion, between rounds only; POST says something in the discussion."""

    @extend_schema(operation_id="comments_list", responses=CommentShape(many=True))
    def get(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        is_open = Round.objects.unsettled().filter(conversation=criterion.conversation_id).exists()
        rows = Comment.objects.none() if is_open else Comment.objects.filter(criterion=criterion)
        rows = rows.with_naming().select_related("author")
        context = {"reader": self.person.id}
        return Response(CommentShape(rows.order_by("created_at", "id"), many=True, context=context).data)

    @extend_schema(operation_id="comments_create", request=CommentInput, responses={201: CommentInput})
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        comment = add_comment(
            criterion=criterion, author=self.person, text=checked(CommentInput(data=request.data))["text"]
        )
        return Response({"text": comment.text}, status=status.HTTP_201_CREATED)


class VoteRequests(CriterionView):
    """POST asks for another vote on a criterion in the next round."""

    @extend_schema(operation_id="vote_requests_create", request=None, responses={201: None})
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        request_vote(criterion=self.find_criterion(criterion_id), by=self.person)
        return Response(status=status.HTTP_201_CREATED)


class Votes(CriterionView, PagedView):
    """A conversation's votes: your own while a round is open, all after its reveal. POST casts or changes yours."""

    @extend_schema(operation_id="votes_list", responses=VoteShape(many=True))
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        rows = (
            Vote.objects.filter(round__conversation=conversation)
            .filter(
                Q(reviewer=self.person) | Q(RoundIsRevealed("round__revealed_at", "round__closes_at")),
            )
            .select_related("round__policy", "wording", "reviewer")
        )
        return self.page(rows, VoteShape, reader=self.person.id)

    @extend_schema(operation_id="votes_cast", request=VoteInput, responses={201: VoteShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        facts = checked(VoteInput(data=request.data))
        criterion = self.find_criterion(facts.pop("criterion"))
        if criterion.conversation_id != conversation_id:
            raise Http404("This conversation has no such criterion.")
        seen = find_revision(criterion, facts.pop("seen"))
        ballot = Ballot(Vote.Choice(facts.pop("choice")), **facts)
        vote = cast_vote(criterion=criterion, seen=seen, reviewer=self.person, ballot=ballot)
        context = {"reader": self.person.id}
        return Response(VoteShape(vote, context=context).data, status=status.HTTP_201_CREATED)


class OwnVote(CriterionView):
    """DELETE takes your vote on a criterion back while the round is open."""

    @extend_schema(operation_id="votes_take_back", responses={204: None})
    def delete(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        take_back_vote(criterion=self.find_criterion(criterion_id), reviewer=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReviewerAct(StudyView):
    """What a reviewer does to a conversation: finish drafting or draft again, end the discussion, recuse."""

    roles_for = {"POST": (Role.CLINICIAN,)}
    acts = {
        "finish-drafting": finish_drafting,
        "resume-drafting": resume_drafting,
        "end-discussion": end_discussion,
        "recuse": recuse_from_conversation,
    }

    @extend_schema(
        operation_id="conversations_reviewer_act",
        parameters=[OpenApiParameter("act", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(acts))],
        request=None,
        responses={204: None},
    )
    def post(self, request: Request, slug: str, conversation_id: UUID, act: str) -> Response:
        if act not in self.acts:
            raise Http404("There is no such act.")
        self.acts[act](conversation=self.find_conversation(conversation_id), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AdminAct(StudyView):
    """What an admin does to a conversation: close drafting, open the next round, close the open one."""

    roles_for = {"POST": (Role.ADMIN,)}

    @extend_schema(
        operation_id="conversations_admin_act",
        parameters=[OpenApiParameter("act", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(ROUND_ACTS))],
        request=None,
        responses={204: None},
    )
    def post(self, request: Request, slug: str, conversation_id: UUID, act: str) -> Response:
        if act not in ROUND_ACTS:
            raise Http404("There is no such act.")
        ROUND_ACTS[act].act(conversation=self.find_conversation(conversation_id), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Assignments(StudyView):
    """POST assigns reviewers to the study's conversations."""

    roles_for = {"POST": (Role.ADMIN,)}

    @extend_schema(operation_id="assignments_create", request=AssignInput, responses={200: AssignedShape})
    def post(self, request: Request, slug: str) -> Response:
        result = assign_reviewers(study=self.study, **checked(AssignInput(data=request.data)))
        return Response(
            {
                "assigned": len(result.made),
                "out_of_reach": [conversation.external_id for conversation in result.out_of_reach],
            }
        )
