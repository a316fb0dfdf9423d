"""The REST API of the agreement on blind votes: of revealed rounds alone, never of fewer than five people, and a
person's own to that person."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from annotation.api_access import StudyView
from annotation.models import Role
from grading.api import OVERSEERS
from grading.api_vote_shapes import OwnVotesShape, VoteAgreementShape
from grading.own_votes import report_own_votes
from grading.vote_agreement import report_votes
from grading.vote_words import sentences


class VoteAgreement(StudyView):
    """How far the clinicians agree on their blind votes, before discussion and at the last."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(operation_id="vote_agreement_retrieve", responses=VoteAgreementShape)
    def get(self, request: Request, slug: str) -> Answer:
        report = report_votes(self.study)
        return Answer({**report.as_data(), "sentences": sentences(report)})


class OwnVotes(StudyView):
    """Your own votes beside those of the others; nobody else's are ever answered."""

    roles_for = {"GET": (Role.CLINICIAN,)}

    @extend_schema(operation_id="own_votes_retrieve", responses=OwnVotesShape)
    def get(self, request: Request, slug: str) -> Answer:
        return Answer(report_own_votes(self.study, self.person).as_data())
