"""The REST API of an admin: progress, assignment, and the acts on conversations.

Of an open round it tells who has finished, never what they voted.
"""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.acting_on_many import ROUND_ACTS, RoundAct, act_on_each, acts_for, would_act_on
from annotation.api_access import ByRandomId, PagedView, StudyView, checked
from annotation.api_admin_shapes import (
    ActOnManyInput,
    AssignAsPlannedInput,
    AssignedShape,
    AssignInput,
    AssignmentPreviewShape,
    AssignOneInput,
    DoneShape,
    OverseenShape,
    ReachShape,
    StudyProgressShape,
    WholeOverseenShape,
)
from annotation.assigning import CantBeAssigned, assign_reviewer, assign_reviewers, unassign_reviewer
from annotation.before_the_start import reach_by_language
from annotation.forecasting import forecast_end
from annotation.joining import NobodyByThisAddress, find_person
from annotation.members import members_of
from annotation.models import Role
from annotation.overseeing import (
    Stage,
    conversations_to_oversee,
    count_stages,
    oversee,
    recused_from,
    shares_of_reviewers,
)
from annotation.previewing_assignment import preview_assignment
from annotation.reaching import out_of_reach
from annotation.rounds import due_for_next_round
from annotation.states import count_states

ACT = OpenApiParameter("act", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(ROUND_ACTS))
OUT_OF_REACH = "out_of_reach"


class AdminView(StudyView):
    """What an admin alone reads and does."""

    roles_for = dict.fromkeys(("GET", "POST", "DELETE"), (Role.ADMIN,))

    def find_own_conversation(self, conversation_id: UUID) -> Any:
        """One of the study's own conversations, as the progress list knows it; Http404 else."""
        found = conversations_to_oversee(self.study).filter(pk=conversation_id).first()
        if found is None:
            raise Http404("There is no such conversation in this study.")
        found.study = self.study
        return found


# Progress


class StudyProgress(AdminView):
    """Where the study stands: conversations and criteria by state, and what each reviewer has left."""

    @extend_schema(operation_id="progress_retrieve", responses=StudyProgressShape)
    def get(self, request: Request, slug: str) -> Response:
        told = {
            **count_states(self.study),
            "stages": count_stages(self.study),
            "out_of_reach": len(out_of_reach(self.study)),
            "reviewers": shares_of_reviewers(self.study),
            "forecast": forecast_end(self.study),
        }
        return Response(StudyProgressShape(told).data)


class ProgressByConversation(AdminView, PagedView):
    """The study's own conversations with their reviewers: who has finished, never what."""

    @extend_schema(
        operation_id="progress_conversations_list",
        parameters=[
            OpenApiParameter("stage", OpenApiTypes.STR, enum=[*Stage.values, OUT_OF_REACH]),
            OpenApiParameter("words", OpenApiTypes.STR, description="Words of its id in the file."),
            OpenApiParameter("reviewer", OpenApiTypes.STR, description="What waits for this person, by address."),
        ],
        responses=OverseenShape(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        unreachable = {this.id for this in out_of_reach(self.study)}
        stage = request.query_params.get("stage", "")
        rows = conversations_to_oversee(
            self.study,
            stage="" if stage == OUT_OF_REACH else stage,
            words=request.query_params.get("words", ""),
            reviewer=self._person_asked_for(request),
        )
        if stage == OUT_OF_REACH:
            rows = rows.filter(id__in=unreachable)
        paginator = ByRandomId()
        found = paginator.paginate_queryset(rows, request, view=self) or []
        shaped = OverseenShape(oversee(self.study, found, out_of_reach=unreachable), many=True)
        return paginator.get_paginated_response(shaped.data)

    def _person_asked_for(self, request: Request) -> UUID | None:
        email = request.query_params.get("reviewer", "")
        if not email:
            return None
        person = find_person(email)
        if person is None or not members_of(self.study).filter(user=person).exists():
            raise Http404("Nobody in this study has this address.")
        return person.pk


class ProgressOfOne(AdminView):
    """Where one conversation stands: its reviewers, who recused, what it waits for, and the acts that it offers."""

    @extend_schema(operation_id="progress_conversations_retrieve", responses=WholeOverseenShape)
    def get(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        row = self.find_own_conversation(conversation_id)
        [overseen] = oversee(self.study, [row], out_of_reach={this.id for this in out_of_reach(self.study)})
        has_round_left = overseen.last_round < self.study.policy.max_rounds
        due = (
            due_for_next_round([row.id], by_admin=True)[row.id] if overseen.is_in_discussion and has_round_left else {}
        )
        acts = acts_for(
            overseen.state,
            is_drafting_open=overseen.is_drafting_open,
            has_round_left=has_round_left,
            is_unsettled=bool(due),
        )
        shown = WholeOverseenShape(overseen, context={"acts": [act.name for act in acts], "recused": recused_from(row)})
        return Response(shown.data)


# Assignment


class Assignments(AdminView):
    """POST assigns reviewers to the study's conversations, up to the number given; nobody is taken away.

    ``plan`` is what a preview told: where something else would be done now, nothing is, and the answer is 409.
    """

    @extend_schema(operation_id="assignments_create", request=AssignAsPlannedInput, responses={200: AssignedShape})
    def post(self, request: Request, slug: str) -> Response:
        result = assign_reviewers(study=self.study, **checked(AssignAsPlannedInput(data=request.data)))
        return Response(
            {
                "assigned": len(result.made),
                "out_of_reach": [conversation.external_id for conversation in result.out_of_reach],
            }
        )


class AssignmentsPreview(AdminView):
    """POST says what assigning so many would do, with each clinician's load. Nothing of it is done."""

    @extend_schema(operation_id="assignments_preview", request=AssignInput, responses={200: AssignmentPreviewShape})
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(AssignInput(data=request.data))
        return Response(AssignmentPreviewShape(preview_assignment(self.study, facts["reviewers"])).data)


class Reach(AdminView):
    """For which conversations enough reviewers can be found, by language and country: before the start, and after."""

    @extend_schema(operation_id="assignments_reach", responses=ReachShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(ReachShape(reach_by_language(self.study), many=True).data)


class AssignOne(AdminView):
    """POST assigns one clinician to a conversation by hand, DELETE takes it from one: votes in revealed rounds stay,
    those in an open round no longer count.
    """

    @extend_schema(operation_id="conversations_assign", request=AssignOneInput, responses={201: OverseenShape})
    def post(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_own_conversation(conversation_id)
        email = checked(AssignOneInput(data=request.data))["reviewer"]
        person = find_person(email)
        if person is None:
            raise NobodyByThisAddress(email=email)
        if conversation.assignments.filter(reviewer=person, recused_at=None).exists():
            raise CantBeAssigned
        assign_reviewer(conversation=conversation, reviewer=person)
        [overseen] = oversee(self.study, [self.find_own_conversation(conversation_id)])
        return Response(OverseenShape(overseen).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="conversations_unassign", request=AssignOneInput, responses={204: None})
    def delete(self, request: Request, slug: str, conversation_id: UUID) -> Response:
        conversation = self.find_own_conversation(conversation_id)
        email = checked(AssignOneInput(data=request.data))["reviewer"]
        person = find_person(email)
        if person is None:
            raise NobodyByThisAddress(email=email)
        unassign_reviewer(conversation=conversation, reviewer=person, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


# Acts


def find_act(name: str) -> RoundAct:
    if name not in ROUND_ACTS:
        raise Http404("There is no such act.")
    return ROUND_ACTS[name]


class AdminAct(AdminView):
    """What an admin does to a conversation: close drafting or open it again, open the next round, close the open."""

    @extend_schema(operation_id="conversations_admin_act", parameters=[ACT], request=None, responses={204: None})
    def post(self, request: Request, slug: str, conversation_id: UUID, act: str) -> Response:
        found = find_act(act)
        conversation = self.find_own_conversation(conversation_id)
        refused = found.act(study=self.study, conversations=[conversation.id], by=self.person)
        if conversation.id in refused:
            raise refused[conversation.id]
        return Response(status=status.HTTP_204_NO_CONTENT)


class AdminActOnMany(AdminView):
    """POST does an act to each of up to 500 conversations; one on which it finds nothing to do is passed over."""

    @extend_schema(
        operation_id="admin_act_on_many", parameters=[ACT], request=ActOnManyInput, responses={200: DoneShape}
    )
    def post(self, request: Request, slug: str, act: str) -> Response:
        found = find_act(act)
        facts = checked(ActOnManyInput(data=request.data))
        chosen = list(conversations_to_oversee(self.study).filter(id__in=facts["conversations"]))
        if facts["check"]:
            wanted = would_act_on(study=self.study, act=found, conversation_ids=[this.id for this in chosen])
            acted_on = [this for this in chosen if this.id in wanted]
            passed_over = [(this, "") for this in chosen if this.id not in wanted]
        else:
            done = act_on_each(study=self.study, conversations=chosen, act=found, by=self.person)
            acted_on, passed_over = done.acted_on, done.passed_over
        return Response(
            {
                "acted_on": [this.id for this in acted_on],
                "passed_over": [
                    {"id": this.id, "external_id": this.external_id, "why": why} for this, why in passed_over
                ],
            }
        )
