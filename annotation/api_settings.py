"""The REST API by which an admin sets a study up: its settings, its policy, and the dates of conversations."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import checked
from annotation.api_admin import AdminView
from annotation.api_admin_shapes import WholePolicyShape
from annotation.api_settings_shapes import (
    DatedShape,
    DatesInput,
    PolicyInput,
    PolicyPreviewShape,
    SettingsInput,
    SettingsShape,
)
from annotation.changing_policy import change_policy, preview_policy, propose_policy
from annotation.models import Role
from annotation.setting_dates import set_dates
from annotation.setting_up import basis_recorded, hashes_of, missing_before_start, set_up_study, settings_of


class Settings(AdminView):
    """The study's settings. PATCH changes those given, against those that were seen; 409 where somebody else did."""

    roles_for = {"GET": (Role.ADMIN,), "PATCH": (Role.ADMIN,)}
    needs_consent = False

    @extend_schema(operation_id="settings_retrieve", responses=SettingsShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(self._told())

    @extend_schema(operation_id="settings_change", request=SettingsInput, responses=SettingsShape)
    def patch(self, request: Request, slug: str) -> Response:
        facts = checked(SettingsInput(data=request.data))
        seen = facts.pop("seen")
        set_up_study(study=self.study, by=self.person, seen=seen, **facts)
        return Response(self._told())

    def _told(self) -> dict[str, Any]:
        told = {
            **settings_of(self.study),
            "consent_version": self.study.consent_version,
            "basis_recorded": basis_recorded(self.study.outside_endpoints_basis),
            "missing": [{"setting": this.setting, "words": this.words} for this in missing_before_start(self.study)],
            "seen": hashes_of(self.study),
        }
        return dict(SettingsShape(told).data)


class OnePolicy(AdminView):
    """The policy in force, in numbers and words, with its consequences and some cases that it decides.

    POST puts the next one in force: that in force (or a preset) with the facts given in place of its own.
    """

    @extend_schema(operation_id="policy_retrieve", responses=WholePolicyShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(WholePolicyShape(self.study.policy).data)

    @extend_schema(operation_id="policy_change", request=PolicyInput, responses={201: WholePolicyShape})
    def post(self, request: Request, slug: str) -> Response:
        policy = change_policy(study=self.study, by=self.person, **checked(PolicyInput(data=request.data)))
        return Response(WholePolicyShape(policy).data, status=status.HTTP_201_CREATED)


class PolicyPreview(AdminView):
    """POST says what would move if such a policy came into force now. Nothing of it is done."""

    @extend_schema(operation_id="policy_preview", request=PolicyInput, responses={200: PolicyPreviewShape})
    def post(self, request: Request, slug: str) -> Response:
        policy = propose_policy(study=self.study, **checked(PolicyInput(data=request.data)))
        return Response(PolicyPreviewShape(preview_policy(study=self.study, policy=policy)).data)


class Dates(AdminView):
    """POST sets until when drafting, the open round or the discussion of conversations goes on, or takes it away."""

    @extend_schema(operation_id="dates_set", request=DatesInput, responses={200: DatedShape})
    def post(self, request: Request, slug: str) -> Response:
        done = set_dates(study=self.study, **checked(DatesInput(data=request.data)))
        return Response(
            {
                "dated": [this.id for this in done.dated],
                "passed_over": [
                    {"id": this.id, "external_id": this.external_id, "why": why} for this, why in done.passed_over
                ],
            }
        )
