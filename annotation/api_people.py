"""The REST API of a study's people: who is in it, invitations, what assigning asks for, pauses."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import PagedView, checked
from annotation.api_admin import AdminView
from annotation.api_admin_shapes import (
    InvitedShape,
    MemberChangeInput,
    MemberFactsInput,
    MemberInput,
    MemberPauseInput,
    MemberShape,
)
from annotation.inviting import invite_everybody, invite_member
from annotation.joining import add_member, leave_study
from annotation.member_facts import describe_member, pause_member
from annotation.members import change_member, members_of
from annotation.models import Role


class Members(AdminView, PagedView):
    """Who is in the study. POST adds a person, or a role to a member; mail is sent with ``invite`` only."""

    @extend_schema(operation_id="members_list", responses=MemberShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.page(members_of(self.study), MemberShape)

    @extend_schema(operation_id="members_add", request=MemberInput, responses={201: MemberShape})
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(MemberInput(data=request.data))
        is_invited = facts.pop("invite")
        membership = add_member(study=self.study, by=self.person, **facts)
        if is_invited:
            invite_member(membership=membership, by=self.person)
        shaped = MemberShape(members_of(self.study).get(pk=membership.pk))
        return Response(shaped.data, status=status.HTTP_201_CREATED)


class MemberView(AdminView):
    """Something about one member."""

    def shaped(self, membership_id: UUID) -> Any:
        return MemberShape(self.find_member(membership_id)).data

    def find_member(self, membership_id: UUID) -> Any:
        found = members_of(self.study).filter(pk=membership_id).first()
        if found is None:
            raise Http404("There is no such member in this study.")
        return found


class OneMember(MemberView):
    """A member. PATCH: other roles, a name where there is none yet. DELETE: the person leaves; votes in revealed rounds
    stay, those in open rounds no longer count. The last admin stays one.
    """

    roles_for = {**AdminView.roles_for, "PATCH": (Role.ADMIN,)}

    @extend_schema(operation_id="members_retrieve", responses=MemberShape)
    def get(self, request: Request, slug: str, membership_id: UUID) -> Response:
        return Response(self.shaped(membership_id))

    @extend_schema(operation_id="members_change", request=MemberChangeInput, responses=MemberShape)
    def patch(self, request: Request, slug: str, membership_id: UUID) -> Response:
        facts = checked(MemberChangeInput(data=request.data))
        change_member(study=self.study, person=self.find_member(membership_id).user, **facts)
        return Response(self.shaped(membership_id))

    @extend_schema(operation_id="members_leave", responses={204: None})
    def delete(self, request: Request, slug: str, membership_id: UUID) -> Response:
        leave_study(study=self.study, person=self.find_member(membership_id).user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MemberFacts(MemberView):
    """PUT says a member's conflicts of interest, and whether somebody checked the licence."""

    roles_for = {**AdminView.roles_for, "PUT": (Role.ADMIN,)}

    @extend_schema(operation_id="members_describe", request=MemberFactsInput, responses=MemberShape)
    def put(self, request: Request, slug: str, membership_id: UUID) -> Response:
        facts = checked(MemberFactsInput(data=request.data))
        describe_member(study=self.study, person=self.find_member(membership_id).user, by=self.person, **facts)
        return Response(self.shaped(membership_id))


class MemberPause(MemberView):
    """PUT says until when a member gets no new conversations; what is assigned stays theirs."""

    roles_for = {**AdminView.roles_for, "PUT": (Role.ADMIN,)}

    @extend_schema(operation_id="members_pause", request=MemberPauseInput, responses=MemberShape)
    def put(self, request: Request, slug: str, membership_id: UUID) -> Response:
        facts = checked(MemberPauseInput(data=request.data))
        pause_member(study=self.study, person=self.find_member(membership_id).user, **facts)
        return Response(self.shaped(membership_id))


class MemberInvitation(MemberView):
    """POST invites a member by mail, for the first time or again."""

    @extend_schema(operation_id="members_invite", request=None, responses={201: MemberShape})
    def post(self, request: Request, slug: str, membership_id: UUID) -> Response:
        invite_member(membership=self.find_member(membership_id), by=self.person)
        return Response(self.shaped(membership_id), status=status.HTTP_201_CREATED)


class Invitations(AdminView):
    """POST invites every member who has never signed in and was never invited."""

    @extend_schema(operation_id="members_invite_everybody", request=None, responses={201: InvitedShape})
    def post(self, request: Request, slug: str) -> Response:
        invited = invite_everybody(study=self.study, by=self.person)
        return Response({"invited": invited}, status=status.HTTP_201_CREATED)
