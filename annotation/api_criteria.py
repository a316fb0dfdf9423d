"""The REST API of criteria: drafting, revising, withdrawing, discussing, and how an admin ends one."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.api_likeness import WrittenCriterionShape, with_advice
from annotation.api_shapes import (
    AcceptInput,
    AdjudicateInput,
    CommentInput,
    CommentShape,
    CriterionShape,
    DraftInput,
    RevisionInput,
)
from annotation.desk import find_objection, find_revision
from annotation.discussing import accept_objection, add_comment, adjudicate, request_vote
from annotation.drafting import draft_criterion, revise_criterion, withdraw_criterion
from annotation.models import Comment, Criterion, Role, Round, User
from annotation.permissions import sees_points, visible_criteria
from annotation.states import with_criterion_state
from annotation.unsent import sent_comment, sent_draft, sent_revision
from annotation.writers import writers_of


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

    @extend_schema(operation_id="criteria_create", request=DraftInput, responses={201: WrittenCriterionShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        facts = checked(DraftInput(data=request.data))
        criterion = draft_criterion(conversation=conversation, writer=self.person, **facts)
        sent_draft(writer=self.person, conversation=conversation)
        shaped = shape_criteria(self.person, [criterion])[0]
        answer = with_advice(shaped, text=facts["text"], points=facts["points"])
        return Response(answer, status=status.HTTP_201_CREATED)


class OneCriterion(StudyView):
    """A criterion; POST revises it against the revision that was seen, DELETE withdraws it."""

    roles_for = {"POST": (Role.CLINICIAN,), "DELETE": (Role.CLINICIAN,)}

    @extend_schema(operation_id="criteria_retrieve", responses=CriterionShape)
    def get(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        return Response(shape_criteria(self.person, [self.find_criterion(criterion_id)])[0])

    @extend_schema(operation_id="criteria_revise", request=RevisionInput, responses=WrittenCriterionShape)
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        facts = checked(RevisionInput(data=request.data))
        against = find_revision(criterion, facts.pop("against"))
        revise_criterion(criterion=criterion, against=against, by=self.person, **facts)
        sent_revision(by=self.person, criterion=criterion)
        shaped = shape_criteria(self.person, [criterion])[0]
        return Response(with_advice(shaped, text=facts["text"], points=facts["points"]))

    @extend_schema(operation_id="criteria_withdraw", responses=CriterionShape)
    def delete(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = withdraw_criterion(criterion=self.find_criterion(criterion_id), by=self.person)
        return Response(shape_criteria(self.person, [criterion])[0])


class AcceptedObjections(StudyView):
    """POST accepts an objection of a revealed round: a revision that answers it. It keeps the turns cited."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="objections_accept", request=AcceptInput, responses={201: CriterionShape})
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        facts = checked(AcceptInput(data=request.data))
        vote = find_objection(criterion, facts.pop("objection"))
        against = find_revision(criterion, facts.pop("against"))
        accept_objection(vote=vote, against=against, by=self.person, **facts)
        sent_revision(by=self.person, criterion=criterion, accepts=vote.id)
        return Response(shape_criteria(self.person, [criterion])[0], status=status.HTTP_201_CREATED)


class Adjudication(StudyView):
    """POST records how an unsettled criterion was ended. That is never consensus and never frozen."""

    roles_for = {"POST": (Role.ADMIN,)}

    @extend_schema(operation_id="criteria_adjudicate", request=AdjudicateInput, responses=CriterionShape)
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        criterion = self.find_criterion(criterion_id)
        facts = checked(AdjudicateInput(data=request.data))
        adjudicate(criterion=criterion, by=self.person, reason=facts["reason"])
        return Response(shape_criteria(self.person, [criterion])[0])


class Comments(StudyView):
    """What was said about a criterion, between rounds only; POST says something in the discussion."""

    roles_for = {"POST": (Role.CLINICIAN,)}

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
        sent_comment(author=self.person, criterion=criterion)
        return Response({"text": comment.text}, status=status.HTTP_201_CREATED)


class VoteRequests(StudyView):
    """POST asks for another vote on a criterion in the next round."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="vote_requests_create", request=None, responses={201: None})
    def post(self, request: Request, slug: str, criterion_id: UUID) -> Response:
        request_vote(criterion=self.find_criterion(criterion_id), by=self.person)
        return Response(status=status.HTTP_201_CREATED)
