"""Judging by hand: a clinician's own verdict on one response against one criterion, blind to who wrote the response,
to the grader and to colleagues.

Blindness binds persons: whoever has opened a run's grades is no longer a blind judge of those pairs, and is told so
before opening them. A verdict given afterwards is kept, marked, and stays out of agreement.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.models import Membership, Role, Study, User
from consilium.errors import RuleViolation
from grading.models import GradesOpened, Response, ReviewerVerdict, Run, RunResponse
from rubrics.models import FrozenCriterion, RubricVersion


class NotAClinician(RuleViolation):
    """Only clinicians of the study judge responses by hand."""


class ResponseFailed(RuleViolation):
    """This response failed (blank or cut off): it is recorded, never judged as if it were an answer."""


class NotACriterionOfThisResponse(RuleViolation):
    """This criterion is not about the conversation that the response answers."""


@dataclass(frozen=True, slots=True)
class ToJudge:
    """A response with the criteria of its conversation, for one clinician; verdicts by the criterion's wording."""

    response: Response
    criteria: list[FrozenCriterion]
    verdicts: dict[UUID, ReviewerVerdict]
    is_blind: bool

    @property
    def left(self) -> list[FrozenCriterion]:
        return [criterion for criterion in self.criteria if criterion.wording_id not in self.verdicts]


def may_judge(study: Study, person: User) -> bool:
    return Membership.objects.filter(
        study=study, user=person, user__is_active=True, left_at=None, roles__contains=[Role.CLINICIAN]
    ).exists()


def has_opened_grades(person: User, response_id: UUID) -> bool:
    """Whether a person has opened grades of this response, in any run."""
    return GradesOpened.objects.filter(
        user=person, run__in=RunResponse.objects.filter(response_id=response_id).values("run_id")
    ).exists()


def open_grades(*, run: Run, by: User) -> GradesOpened:
    """Record that a person opened a run's grades; from then on no blind judge of its pairs."""
    opened, _ = GradesOpened.objects.get_or_create(run=run, user=by)
    return opened


def has_opened(run: Run, person: User) -> bool:
    return GradesOpened.objects.filter(run=run, user=person).exists()


def responses_to_judge(version: RubricVersion) -> "QuerySet[Response]":
    """The version's responses that did not fail, in the order of their random ids: it tells no respondent."""
    hashes = version.conversations.values("item_sha256")
    return (
        Response.objects.not_failed()
        .filter(study=version.study_id, conversation__item_sha256__in=hashes)
        .select_related("conversation")
        .order_by("conversation__position", "conversation_id", "id")
    )


def judging_progress(version: RubricVersion, person: User) -> tuple[int, int]:
    """How many pairs of a version this person has judged, and how many there are. Three queries."""
    per_conversation = {
        row["frozen_conversation__item_sha256"]: row["number"]
        for row in FrozenCriterion.objects.filter(version=version)
        .values("frozen_conversation__item_sha256")
        .annotate(number=Count("id"))
    }
    hashes = Response.objects.not_failed().filter(
        study=version.study_id, conversation__item_sha256__in=per_conversation
    )
    pairs = sum(
        per_conversation[row["conversation__item_sha256"]] * row["number"]
        for row in hashes.values("conversation__item_sha256").annotate(number=Count("id"))
    )
    done = ReviewerVerdict.objects.filter(
        reviewer=person,
        study=version.study_id,
        wording__in=FrozenCriterion.objects.filter(version=version).values("wording_id"),
    ).count()
    return done, pairs


def find_to_judge(version: RubricVersion, person: User, response: Response) -> ToJudge:
    """One response as its judge sees it."""
    criteria = list(
        FrozenCriterion.objects.filter(
            version=version, frozen_conversation__item_sha256=response.conversation.item_sha256
        ).order_by("position", "id")
    )
    verdicts = {
        verdict.wording_id: verdict
        for verdict in ReviewerVerdict.objects.filter(
            response=response, reviewer=person, wording__in=[criterion.wording_id for criterion in criteria]
        )
    }
    return ToJudge(response, criteria, verdicts, not has_opened_grades(person, response.id))


def next_to_judge(version: RubricVersion, person: User) -> Response | None:
    """The first response of a version with a criterion that this person has not judged; None when all is judged."""
    judged = ReviewerVerdict.objects.filter(
        response=OuterRef(OuterRef("pk")), reviewer=person, wording=OuterRef("wording_id")
    )
    open_criteria = FrozenCriterion.objects.filter(
        ~Exists(judged),
        version=version,
        frozen_conversation__item_sha256=OuterRef("conversation__item_sha256"),
    )
    return (
        Response.objects.not_failed()
        .filter(Exists(open_criteria), study=version.study_id)
        .select_related("conversation")
        .order_by("conversation__position", "conversation_id", "id")
        .first()
    )


def give_verdict(
    *,
    response: Response,
    criterion: FrozenCriterion,
    reviewer: User,
    verdict: ReviewerVerdict.Verdict,
    comment: str = "",
) -> ReviewerVerdict:
    """Give or change the own verdict on a pair."""
    with transaction.atomic():
        if not may_judge(criterion.version.study, reviewer) or response.study_id != criterion.version.study_id:
            raise NotAClinician
        if response.is_failed:
            raise ResponseFailed
        if criterion.frozen_conversation.item_sha256 != response.conversation.item_sha256:
            raise NotACriterionOfThisResponse
        given, _ = ReviewerVerdict.objects.update_or_create(
            response=response,
            wording_id=criterion.wording_id,
            reviewer=reviewer,
            defaults={
                "study_id": response.study_id,
                "verdict": verdict,
                "comment": comment.replace("\x00", ""),
                "is_blind": not has_opened_grades(reviewer, response.id),
                "given_at": timezone.now(),
                "imported_from": None,
            },
        )
    return given
