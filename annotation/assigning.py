"""Assigning reviewers: N a conversation, balanced over workload, matched on language and, where given, on country.

An unknown language suits any reviewer; a clinician who declared no language reads all. Who recused from a
conversation is not assigned to it again. Where too few are left, the conversation is *out of reach*.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.locks import hold_study
from annotation.models import Assignment, Conversation, Criterion, Membership, Role, Round, Study, User
from annotation.rounds import enter_conversation, settle, settle_if_due
from annotation.sparing import declined_topics, is_spared
from annotation.states import CriterionState, with_criterion_state
from annotation.writers import writers_of
from consilium.errors import RuleViolation


class NoSuchAssignment(RuleViolation):
    """This person does not review this conversation."""


class NotAClinician(RuleViolation):
    """Only clinicians of the study review its conversations."""


class CantBeAssigned(RuleViolation):
    """This person can't be assigned here any more."""


@dataclass(slots=True)
class Assigned:
    """What assigning did: the assignments made, and the conversations that can't reach a quorum."""

    made: list[Assignment] = field(default_factory=list)
    out_of_reach: list[Conversation] = field(default_factory=list)


def reads(user: User, language: str | None) -> bool:
    """Whether a person reads a language (BCP 47; the first subtag decides: es-MX is read by who reads es)."""
    if language is None or not user.languages:
        return True
    wanted = language.split("-")[0].lower()
    return any(known.split("-")[0].lower() == wanted for known in user.languages)


def _chance(conversation_id: UUID, user_id: UUID) -> str:
    """A fixed order among equals that favours nobody over all conversations."""
    return hashlib.sha256(conversation_id.bytes + user_id.bytes).hexdigest()


def clinicians(study: Study) -> list[User]:
    """The active clinicians of a study."""
    return list(
        User.objects.filter(
            is_active=True,
            memberships__study=study,
            memberships__left_at=None,
            memberships__roles__contains=[Role.CLINICIAN],
        ).order_by("id")
    )


def assign_reviewers(
    *, study: Study, reviewers: int | None = None, conversations: Collection[UUID] | None = None
) -> Assigned:
    """Fill each conversation that has something to decide up to ``reviewers`` (default: the policy's number)."""
    with transaction.atomic():
        hold_study(study.id)
        settle_if_due(study)
        wanted = reviewers or study.policy.reviewers_per_conversation
        people = clinicians(study)
        open_ones = undecided(Conversation.objects.own().filter(study=study))
        if conversations is not None:
            open_ones = open_ones.filter(id__in=conversations)
        todo = list(open_ones.defer("messages", "extra").order_by("position", "id"))
        result = _assign(study, todo, people, wanted, Assignment.Origin.ASSIGNED)
        result.out_of_reach = out_of_reach(study)
    return result


def _assign(
    study: Study, todo: list[Conversation], people: list[User], wanted: int, origin: "Assignment.Origin"
) -> Assigned:
    active = {person.id for person in people}
    known: dict[UUID, set[UUID]] = defaultdict(set)
    standing: dict[UUID, int] = defaultdict(int)
    workload: dict[UUID, int] = defaultdict(int)
    for conversation_id, reviewer_id, recused_at in Assignment.objects.filter(conversation__study=study).values_list(
        "conversation_id", "reviewer_id", "recused_at"
    ):
        known[conversation_id].add(reviewer_id)
        if recused_at is None and reviewer_id in active:
            standing[conversation_id] += 1
            workload[reviewer_id] += 1
    made = []
    declined = declined_topics(study)
    # The conversations with the fewest possible readers choose first, so that no rare language is left over.
    readers = {
        this.id: [
            person for person in people if reads(person, this.language) and not is_spared(person.id, this, declined)
        ]
        for this in todo
    }
    for this in sorted(todo, key=lambda one: len(readers[one.id])):
        candidates = [person for person in readers[this.id] if person.id not in known[this.id]]
        candidates.sort(
            key=lambda person: (
                workload[person.id],
                bool(this.country) and bool(person.country) and person.country != this.country,
                _chance(this.id, person.id),
            )
        )
        for person in candidates[: max(0, wanted - standing[this.id])]:
            made.append(Assignment(conversation=this, reviewer=person, origin=origin))
            workload[person.id] += 1
    Assignment.objects.bulk_create(made, batch_size=5000)
    return Assigned(made=made)


OPEN_STATES = (CriterionState.DRAFT, CriterionState.VOTING, CriterionState.DISCUSSION)
"""States of a criterion that reviewers still have to bring to an end."""


def undecided(conversations: "QuerySet[Conversation]") -> "QuerySet[Conversation]":
    """Those with something to decide: no round was opened yet, or a criterion is not settled."""
    criteria: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.filter(conversation=OuterRef("pk")))
    unsettled = criteria.filter(Q(state__in=OPEN_STATES))
    return conversations.filter(~Exists(Round.objects.filter(conversation=OuterRef("pk"))) | Exists(unsettled))


@dataclass(frozen=True, slots=True)
class Reach:
    """Who could review a conversation that has something to decide: assigned now, or could be."""

    conversation: Conversation
    possible: int
    """How many reviewers could be found, each a clinician who reads its language and didn't recuse."""
    fewest: int
    """How many of them are left for the criterion that most of them wrote; all, where there is none yet."""
    has_criteria: bool


def out_of_reach(study: Study) -> list[Conversation]:
    """Conversations with something to decide for which fewer than ``min_reviewed`` reviewers could be found.

    A reviewer who wrote a criterion is none for that criterion. Clinicians who could still be assigned count.
    """
    needed = study.policy.min_reviewed
    return [reach.conversation for reach in reach_of(study) if reach.fewest < needed]


def reach_of(study: Study) -> list[Reach]:
    """How many reviewers could be found for each conversation with something to decide."""
    people = clinicians(study)
    conversations = undecided(Conversation.objects.own().filter(study=study)).only(
        "external_id", "language", "country", "tags"
    )
    declined = declined_topics(study)
    recused: dict[UUID, set[UUID]] = defaultdict(set)
    assigned: dict[UUID, set[UUID]] = defaultdict(set)
    active = {person.id for person in people}
    for conversation_id, reviewer_id, recused_at in Assignment.objects.filter(conversation__study=study).values_list(
        "conversation_id", "reviewer_id", "recused_at"
    ):
        if recused_at is None and reviewer_id in active:
            assigned[conversation_id].add(reviewer_id)
        elif recused_at is not None:
            recused[conversation_id].add(reviewer_id)
    criteria: dict[UUID, list[Criterion]] = defaultdict(list)
    standing: QuerySet[Any, Any] = with_criterion_state(Criterion.objects.own().standing().filter(study=study))
    unsettled = standing.filter(Q(state__in=OPEN_STATES)).select_related("current_revision")
    for criterion in unsettled.only("conversation_id", "current_revision__wording_id"):
        criteria[criterion.conversation_id].append(criterion)
    writers = writers_of(criterion for each in criteria.values() for criterion in each)
    readers: dict[str | None, set[UUID]] = {}
    found = []
    for this in conversations:
        if this.language not in readers:
            readers[this.language] = {person.id for person in people if reads(person, this.language)}
        spared = {person_id for person_id in declined if is_spared(person_id, this, declined)}
        possible = assigned[this.id] | (readers[this.language] - recused[this.id] - spared)
        fewest = min((len(possible - writers[criterion.id]) for criterion in criteria[this.id]), default=len(possible))
        found.append(Reach(this, len(possible), fewest, has_criteria=bool(criteria[this.id])))
    return found


def assignable_to(conversation: Conversation) -> "QuerySet[User]":
    """The clinicians who can be assigned to a conversation by hand: not who reviews it, nor who recused from it, nor
    who declined a topic of it.
    """
    taken = conversation.assignments.values("reviewer")
    declined = declined_topics(conversation.study)
    spared = {person_id for person_id in declined if is_spared(person_id, conversation, declined)}
    people = User.objects.filter(pk__in={person.pk for person in clinicians(conversation.study)} - spared)
    return people.exclude(pk__in=taken).order_by("name", "email")


def assign_reviewer(
    *, conversation: Conversation, reviewer: User, origin: Assignment.Origin = Assignment.Origin.ASSIGNED
) -> Assignment:
    """Assign one clinician by hand."""
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id)
        is_clinician = Membership.objects.filter(
            study_id=conversation.study_id,
            user=reviewer,
            user__is_active=True,
            left_at=None,
            roles__contains=[Role.CLINICIAN],
        ).exists()
        if not is_clinician or conversation.external_name:
            raise NotAClinician
        assignment, _ = Assignment.objects.get_or_create(
            conversation=conversation, reviewer=reviewer, defaults={"origin": origin}
        )
    return assignment


def recuse_from_conversation(*, conversation: Conversation, by: User) -> Assignment | None:
    """A reviewer leaves a conversation, without a reason; the own votes in an open round leave with it.

    Another reviewer is assigned where one is left; returns that assignment, or None.
    """
    with transaction.atomic():
        hold_study(conversation.study_id)
        conversation, _ = enter_conversation(conversation.study_id, conversation.id, may_be_locked=True)
        updated = Assignment.objects.filter(conversation=conversation, reviewer=by, recused_at=None).update(
            recused_at=timezone.now()
        )
        if not updated:
            raise NoSuchAssignment
        study = conversation.study
        substitutes: list[Assignment] = []
        if undecided(Conversation.objects.filter(pk=conversation.pk)).exists():
            standing = Assignment.objects.active().filter(conversation=conversation).count()
            substitutes = _assign(
                study, [conversation], clinicians(study), standing + 1, Assignment.Origin.SUBSTITUTE
            ).made
        settle(study, conversations=[conversation.id])
    return substitutes[0] if substitutes else None
