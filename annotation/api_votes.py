"""The REST API of rounds and votes, of a reviewer's desk, and of what a reviewer does to a conversation."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import ByRandomId, PagedView, StudyView, checked
from annotation.api_round_shapes import DeskShape, RoundCriterionShape, RoundShape
from annotation.api_shapes import VoteInput, VoteShape
from annotation.assigning import recuse_from_conversation
from annotation.desk import find_revision, lay_out
from annotation.discussing import end_discussion
from annotation.drafting import finish_drafting, resume_drafting
from annotation.models import Role, RoundCriterion, Vote
from annotation.models.rounds import RoundIsRevealed
from annotation.permissions import visible_criteria
from annotation.tallies import Tally, tallies_of, which_counted
from annotation.unsent import sent_vote
from annotation.voting import Ballot, cast_vote, take_back_vote


class Rounds(StudyView):
    """A conversation's rounds with their dates; after each reveal how votes and weights fell and what was decided."""

    @extend_schema(operation_id="rounds_list", responses=RoundShape(many=True))
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        rounds = list(conversation.rounds.select_related("policy").order_by("number"))
        visible = visible_criteria(self.person, conversation)
        decided: dict[tuple[UUID, UUID], Tally] = {
            (tally.outcome.round_id, criterion_id): tally
            for criterion_id, tallies in tallies_of(visible, self.person).items()
            for tally in tallies
        }
        criteria: dict[UUID, list[dict[str, Any]]] = {this.id: [] for this in rounds}
        covered = RoundCriterion.objects.filter(round__in=rounds, criterion__in=visible)
        for this in covered.order_by("criterion__position", "criterion_id"):
            criteria[this.round_id].append(
                {
                    "criterion": this.criterion_id,
                    "is_proposed": this.is_proposed,
                    "decision": decided.get((this.round_id, this.criterion_id)),
                }
            )
        shaped = {key: RoundCriterionShape(rows, many=True).data for key, rows in criteria.items()}
        return Response(RoundShape(rounds, many=True, context={"criteria": shaped}).data)


class OneDesk(StudyView):
    """A conversation as it lies on your desk: what you may vote on, your own votes, what the next round would cover."""

    @extend_schema(operation_id="desk_retrieve", responses=DeskShape)
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_conversation(conversation_id)
        desk = lay_out(reader=self.person, study=self.study, conversation=conversation)
        if desk.mode == "voting":
            desk.turn_to()
        return Response(DeskShape(desk).data)


class Votes(PagedView):
    """A conversation's votes: your own while a round is open, all after its reveal. POST casts or changes yours."""

    roles_for = {"POST": (Role.CLINICIAN,)}

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
        paginator = ByRandomId()
        found: list[Vote] = paginator.paginate_queryset(rows, request, view=self) or []
        context = {"reader": self.person.id, "counted": which_counted(found)}
        return paginator.get_paginated_response(VoteShape(found, many=True, context=context).data)

    @extend_schema(operation_id="votes_cast", request=VoteInput, responses={201: VoteShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        facts = checked(VoteInput(data=request.data))
        criterion = self.find_criterion(facts.pop("criterion"))
        if criterion.conversation_id != conversation_id:
            raise Http404("This conversation has no such criterion.")
        seen = find_revision(criterion, facts.pop("seen"))
        ballot = Ballot(Vote.Choice(facts.pop("choice")), **facts)
        vote = cast_vote(criterion=criterion, seen=seen, reviewer=self.person, ballot=ballot)
        sent_vote(
            reviewer=self.person,
            criterion=criterion,
            choice=ballot.choice,
            has_wording=bool(ballot.better_wording),
        )
        context: dict[str, Any] = {"reader": self.person.id, "counted": {}}
        return Response(VoteShape(vote, context=context).data, status=status.HTTP_201_CREATED)


class OwnVote(StudyView):
    """DELETE takes your vote on a criterion back while the round is open."""

    roles_for = {"DELETE": (Role.CLINICIAN,)}

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
