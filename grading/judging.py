"""Judging by hand: a clinician's own verdict on one response against one criterion, blind to who wrote the response,
to the grader and to colleagues.

Blindness binds persons: whoever has opened a run's grades is no longer a blind judge of those pairs, and is told so
before opening them. A verdict given blind stands from then on; one given afterwards is kept, marked, and stays out of
agreement.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from annotation.care_locks import refuse_if_locked, unlocked
from annotation.locks import lock_conversation
from annotation.matching import reads
from annotation.models import Membership, Role, Study, User
from consilium.errors import RuleViolation
from grading.models import GradesOpened, Response, ReviewerVerdict, Run, RunResponse
from rubrics.models import FrozenCriterion, RubricVersion


class NotAClinician(RuleViolation):
    """Only clinicians of the study judge responses by hand."""


class ResponseFailed(RuleViolation):
    """This response failed (blank or cut off): it is recorded, never judged as if it were an answer."""


class BlindVerdictStands(RuleViolation):
    """You judged this blind and have opened its grades since: your blind verdict stands and can't be changed now."""


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

    @property
    def last_judged(self) -> FrozenCriterion | None:
        """The criterion whose verdict was given last on a page and can be taken back; None where none can."""
        given = [
            (self.verdicts[criterion.wording_id].given_at, criterion)
            for criterion in self.criteria
            if criterion.wording_id in self.verdicts and not self.stands(self.verdicts[criterion.wording_id])
        ]
        return max(given, key=lambda each: each[0])[1] if given else None

    def stands(self, verdict: ReviewerVerdict) -> bool:
        """Whether a verdict can't be changed or taken back any more, or was not given here."""
        return verdict.imported_from_id is not None or (verdict.is_blind and not self.is_blind)


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
    with transaction.atomic():
        _one_at_a_time(run.study_id, by)
        opened, _ = GradesOpened.objects.get_or_create(run=run, user=by)
    return opened


def has_opened(run: Run, person: User) -> bool:
    return GradesOpened.objects.filter(run=run, user=person).exists()


def versions_to_judge(study: Study) -> "QuerySet[RubricVersion]":
    """The study's versions whose responses can be judged by hand: those not withdrawn."""
    return RubricVersion.objects.filter(study=study, withdrawal=None)


def responses_to_judge(version: RubricVersion) -> "QuerySet[Response]":
    """The version's responses that did not fail, in the order of their random ids: it tells no respondent.

    None to a conversation that is locked for a person's sake.
    """
    hashes = version.conversations.values("item_sha256")
    return (
        unlocked(Response.objects.not_failed(), "conversation")
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
    hashes = unlocked(Response.objects.not_failed(), "conversation").filter(
        study=version.study_id, conversation__item_sha256__in=per_conversation
    )
    pairs = sum(
        per_conversation[row["conversation__item_sha256"]] * row["number"]
        for row in hashes.values("conversation__item_sha256").annotate(number=Count("id"))
    )
    verdicts = unlocked(ReviewerVerdict.objects.all(), "response__conversation")
    done = verdicts.filter(
        reviewer=person,
        study=version.study_id,
        response__is_failed=False,
        wording__in=FrozenCriterion.objects.filter(version=version).values("wording_id"),
    ).count()
    return done, pairs


def find_to_judge(version: RubricVersion, person: User, response: Response) -> ToJudge:
    """One response as its judge sees it."""
    return find_all_to_judge(version, person, [response])[0]


def find_all_to_judge(version: RubricVersion, person: User, responses: Collection[Response]) -> list[ToJudge]:
    """Responses, each with its conversation, as their judge sees them. Three queries, however many."""
    criteria: dict[str, list[FrozenCriterion]] = defaultdict(list)
    for criterion in (
        FrozenCriterion.objects.filter(
            version=version,
            frozen_conversation__item_sha256__in={response.conversation.item_sha256 for response in responses},
        )
        .select_related("frozen_conversation")
        .order_by("position", "id")
    ):
        criteria[criterion.frozen_conversation.item_sha256].append(criterion)
    verdicts: dict[UUID, dict[UUID, ReviewerVerdict]] = defaultdict(dict)
    wordings = {criterion.wording_id for each in criteria.values() for criterion in each}
    for verdict in ReviewerVerdict.objects.filter(response__in=responses, reviewer=person, wording__in=wordings):
        verdicts[verdict.response_id][verdict.wording_id] = verdict
    opened = set(
        RunResponse.objects.filter(response__in=responses, run__opened__user=person).values_list(
            "response_id", flat=True
        )
    )
    return [
        ToJudge(this, criteria[this.conversation.item_sha256], verdicts[this.id], this.id not in opened)
        for this in responses
    ]


def left_to_judge(version: RubricVersion, person: User) -> "QuerySet[Response]":
    """The responses of a version with a criterion that this person has not judged."""
    judged = ReviewerVerdict.objects.filter(
        response=OuterRef(OuterRef("pk")), reviewer=person, wording=OuterRef("wording_id")
    )
    open_criteria = FrozenCriterion.objects.filter(
        ~Exists(judged),
        version=version,
        frozen_conversation__item_sha256=OuterRef("conversation__item_sha256"),
    )
    return responses_to_judge(version).filter(Exists(open_criteria))


def own_languages_first(responses: "QuerySet[Response]", person: User) -> "QuerySet[Response]":
    """In the order of judging: what a person reads first, then the order of the file."""
    languages = responses.order_by().values_list("conversation__language", flat=True).distinct()
    foreign = [language for language in languages if not reads(person, language)]
    is_foreign = Case(When(conversation__language__in=foreign, then=Value(1)), default=Value(0))
    return responses.annotate(is_foreign=is_foreign).order_by(
        "is_foreign", "conversation__position", "conversation_id", "id"
    )


def next_to_judge(version: RubricVersion, person: User, *, after: UUID | None = None) -> Response | None:
    """The next response of a version with a criterion that this person has not judged; None when all is judged.

    ``after``: the response that was on the desk; the search goes on behind it and around, so that one may be left
    for later. Where it is the only one left, it comes again.
    """
    responses = own_languages_first(left_to_judge(version, person), person)
    last = own_languages_first(responses_to_judge(version), person).filter(pk=after).first() if after else None
    return (last and responses.filter(_behind(last)).first()) or responses.first()


def _behind(last: Response) -> Q:
    """Later than a response of ``own_languages_first`` in its order."""
    this = [last.is_foreign, last.conversation.position, last.conversation_id, last.id]  # type: ignore[attr-defined]
    names = ["is_foreign", "conversation__position", "conversation_id", "id"]
    behind = Q()
    for number, name in enumerate(names):
        behind |= Q(**dict(zip(names[:number], this[:number], strict=True)), **{f"{name}__gt": this[number]})
    return behind


def waiting_to_judge(study: Study, person: User) -> int:
    """How many responses, in languages that a person reads, have something left to judge in some version."""
    judged = ReviewerVerdict.objects.filter(
        response=OuterRef(OuterRef("pk")), reviewer=person, wording=OuterRef("wording_id")
    )
    left = FrozenCriterion.objects.filter(
        ~Exists(judged),
        version__in=versions_to_judge(study),
        frozen_conversation__item_sha256=OuterRef("conversation__item_sha256"),
    )
    waiting = unlocked(Response.objects.not_failed(), "conversation").filter(Exists(left), study=study)
    languages = waiting.values("conversation__language").annotate(number=Count("id"))
    return sum(row["number"] for row in languages if reads(person, row["conversation__language"]))


def shared_wordings(versions: Iterable[RubricVersion]) -> dict[UUID, list[RubricVersion]]:
    """For each version the others of these that hold a wording of it: a verdict there counts for both."""
    known = {version.id: version for version in versions}
    wordings: dict[UUID, set[UUID]] = defaultdict(set)
    for version_id, wording_id in FrozenCriterion.objects.filter(version__in=known).values_list(
        "version_id", "wording_id"
    ):
        wordings[version_id].add(wording_id)
    return {
        this: [known[other] for other in known if other != this and wordings[this] & wordings[other]] for this in known
    }


def give_verdict(
    *,
    response: Response,
    criterion: FrozenCriterion,
    reviewer: User,
    verdict: ReviewerVerdict.Verdict,
    comment: str = "",
) -> ReviewerVerdict:
    """Give or change the own verdict on a pair. The same again is no change.

    Raises NotAClinician, ResponseFailed, NotACriterionOfThisResponse, and BlindVerdictStands: once the grades of a
    response are open, nobody improves a blind verdict, and nobody takes a pair out of the agreement by judging again.
    """
    comment = comment.replace("\x00", "")
    with transaction.atomic():
        lock_conversation(response.conversation_id)
        refuse_if_locked(response.conversation_id)
        _one_at_a_time(response.study_id, reviewer)
        if not may_judge(criterion.version.study, reviewer) or response.study_id != criterion.version.study_id:
            raise NotAClinician
        if response.is_failed:
            raise ResponseFailed
        if criterion.frozen_conversation.item_sha256 != response.conversation.item_sha256:
            raise NotACriterionOfThisResponse
        is_blind = not has_opened_grades(reviewer, response.id)
        before = ReviewerVerdict.objects.filter(
            response=response, wording=criterion.wording_id, reviewer=reviewer
        ).first()
        if before is not None and (before.verdict, before.comment) == (verdict, comment):
            return before
        if before is not None and before.is_blind and not is_blind:
            raise BlindVerdictStands
        given, _ = ReviewerVerdict.objects.update_or_create(
            response=response,
            wording_id=criterion.wording_id,
            reviewer=reviewer,
            defaults={
                "study_id": response.study_id,
                "verdict": verdict,
                "comment": comment,
                "is_blind": is_blind,
                "given_at": timezone.now(),
                "imported_from": None,
            },
        )
    return given


def take_back_verdict(*, response: Response, criterion: FrozenCriterion, reviewer: User) -> bool:
    """Take the own verdict on a pair back. False: there was none. Raises BlindVerdictStands, as ``give_verdict``."""
    with transaction.atomic():
        _one_at_a_time(response.study_id, reviewer)
        given = ReviewerVerdict.objects.filter(
            response=response, wording=criterion.wording_id, reviewer=reviewer, imported_from=None
        ).first()
        if given is None:
            return False
        if given.is_blind and has_opened_grades(reviewer, response.id):
            raise BlindVerdictStands
        given.delete()
    return True


def _one_at_a_time(study_id: UUID, person: User) -> None:
    """Judging and opening grades by one person happen one after the other: what was blind when asked is so when
    written."""
    list(
        Membership.objects.filter(study=study_id, user=person)
        .order_by("id")
        .select_for_update(no_key=True)
        .values_list("id", flat=True)
    )
