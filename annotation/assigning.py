"""Assigning reviewers: N a conversation, balanced over workload, to whom nothing keeps from it and who suits it best.

Who may review what stands in annotation.matching, how seats are spread in annotation.balancing, which conversations get
more reviewers in annotation.reviewer_rules. Who recused from a conversation, or was taken from it, is not assigned to
it again by itself. What will be done is planned first and can be shown; who assigns names the plan that was seen, and
where another one would be carried out nothing is.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from annotation.balancing import Vacancy, bits, spread_seats
from annotation.locks import hold_study
from annotation.matching import Bench
from annotation.models import Assignment, Conversation, Membership, Role, Study, User
from annotation.reaching import out_of_reach, undecided
from annotation.reviewer_rules import read_rule, reviewers_wanted
from annotation.rounds import enter_conversation, settle, settle_if_due
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation


class NoSuchAssignment(RuleViolation):
    """This person does not review this conversation."""


class NotAClinician(RuleViolation):
    """Only clinicians of the study review its conversations."""


class CantBeAssigned(RuleViolation):
    """This person can't be assigned here any more."""


class PlanChanged(RuleViolation):
    """Something changed since this was shown, so nobody was assigned. See what would be done now."""


@dataclass(slots=True)
class Assigned:
    """What assigning did: the assignments made, and the conversations that can't reach a quorum."""

    made: list[Assignment] = field(default_factory=list)
    out_of_reach: list[Conversation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be done in one conversation: who would be added to those who review it."""

    conversation: Conversation
    wanted: int
    standing: int
    added: tuple[User, ...]

    @property
    def after(self) -> int:
        return self.standing + len(self.added)


@dataclass(frozen=True)
class Plan:
    """What assigning would do in the conversations with something to decide, in the order of the file."""

    conversations: list[Planned]

    @cached_property
    def filled(self) -> list[Planned]:
        return [each for each in self.conversations if each.added]

    @cached_property
    def seats(self) -> int:
        return sum(len(each.added) for each in self.filled)

    @cached_property
    def added_to(self) -> Counter[UUID]:
        """By person: how many conversations more."""
        return Counter(person.id for each in self.filled for person in each.added)

    @cached_property
    def below(self) -> list[Planned]:
        """Those that would have fewer reviewers than they should."""
        return [each for each in self.conversations if each.after < each.wanted]

    @cached_property
    def digest(self) -> str:
        """What names the plan: another one has another digest."""
        lines = sorted(f"{each.conversation.id} {person.id}" for each in self.filled for person in each.added)
        return sha256_hex("\n".join(lines).encode())[:32]


def plan_assignment(
    study: Study, *, reviewers: int | None = None, conversations: Collection[UUID] | None = None
) -> Plan:
    """What ``assign_reviewers`` would do now. Six queries, however many conversations."""
    open_ones = undecided(Conversation.objects.own().filter(study=study))
    if conversations is not None:
        open_ones = open_ones.filter(id__in=conversations)
    todo = list(open_ones.defer("messages", "extra").order_by("position", "id"))
    rules = [read_rule(line) for line in study.reviewers_by_rule]
    least = reviewers or study.policy.reviewers_per_conversation
    return _plan(study, todo, {this.id: reviewers_wanted(this, rules, least) for this in todo})


def _plan(study: Study, todo: list[Conversation], wanted: dict[UUID, int]) -> Plan:
    bench = Bench(study)
    standing = count_assigned(study, by="conversation")
    lacking = [this for this in todo if standing.get(this.id, 0) < wanted[this.id]]
    known: Counter[UUID] = Counter()
    for conversation_id, reviewer_id in Assignment.objects.filter(
        conversation__in=[this.id for this in lacking]
    ).values_list("conversation_id", "reviewer_id"):
        known[conversation_id] |= bench.at(reviewer_id)
    vacancies = {
        this.id: Vacancy(
            number=this.id.int,
            seats=wanted[this.id] - standing.get(this.id, 0),
            able=bench.may_review(this) & bench.demanded(this) & bench.awake & ~known[this.id],
            near=bench.near(this),
        )
        for this in lacking
    }
    workload = count_assigned(study, by="reviewer") if lacking else {}
    spread_seats(
        list(vacancies.values()),
        [person.id.int for person in bench.people],
        [workload.get(person.id, 0) for person in bench.people],
    )
    return Plan(
        [
            Planned(
                conversation=this,
                wanted=wanted[this.id],
                standing=standing.get(this.id, 0),
                added=tuple(bench.people[place] for place in bits(vacancies[this.id].taken))
                if this.id in vacancies
                else (),
            )
            for this in todo
        ]
    )


def count_assigned(study: Study, *, by: Literal["conversation", "reviewer"]) -> dict[UUID, int]:
    """How many review each of the study's own conversations now, or how many each reviewer has. One query."""
    active = Assignment.objects.active().filter(conversation__in=Conversation.objects.own().filter(study=study))
    return dict(active.order_by().values_list(by).annotate(number=Count("pk")))


def _carry_out(plan: Plan, origin: Assignment.Origin) -> list[Assignment]:
    return Assignment.objects.bulk_create(
        [
            Assignment(conversation=each.conversation, reviewer=person, origin=origin)
            for each in plan.filled
            for person in each.added
        ],
        batch_size=5000,
    )


def assign_reviewers(
    *,
    study: Study,
    reviewers: int | None = None,
    conversations: Collection[UUID] | None = None,
    plan: str | None = None,
) -> Assigned:
    """Fill each conversation that has something to decide up to ``reviewers`` (default: the policy's number), and what
    the study's rules ask for.

    ``plan`` is the digest of the plan that was seen (None: whatever it is). Raises PlanChanged.
    """
    with transaction.atomic():
        hold_study(study.id)
        settle_if_due(study)
        study.refresh_from_db(fields=["reviewers_by_rule", "demands"])
        found = plan_assignment(study, reviewers=reviewers, conversations=conversations)
        if plan is not None and plan != found.digest:
            raise PlanChanged
        return Assigned(made=_carry_out(found, Assignment.Origin.ASSIGNED), out_of_reach=out_of_reach(study))


# By hand


def assignable_to(conversation: Conversation) -> "QuerySet[User]":
    """The clinicians who can be assigned to a conversation by hand: whom nothing keeps from it, who don't pause, and
    who neither review it nor recused from it. Whom an admin took from it can be assigned again.
    """
    bench = Bench(conversation.study)
    able = bench.ids(bench.may_review(conversation) & bench.awake)
    taken = conversation.assignments.filter(unassigned_at=None).values("reviewer")
    return User.objects.filter(pk__in=able).exclude(pk__in=taken).order_by("name", "email")


def assign_reviewer(
    *, conversation: Conversation, reviewer: User, origin: Assignment.Origin = Assignment.Origin.ASSIGNED
) -> Assignment:
    """Assign one clinician by hand; who reviews it already goes on. Raises NotAClinician, CantBeAssigned.

    The refusal doesn't say what keeps somebody from it: a declined topic is nobody else's to know.
    """
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id, may_wait=True)
        is_clinician = Membership.objects.filter(
            study_id=conversation.study_id,
            user=reviewer,
            user__is_active=True,
            left_at=None,
            roles__contains=[Role.CLINICIAN],
        ).exists()
        if not is_clinician or conversation.external_name:
            raise NotAClinician
        standing = Assignment.objects.filter(conversation=conversation, reviewer=reviewer).first()
        if standing is not None and standing.recused_at is None:
            return standing
        if not assignable_to(conversation).filter(pk=reviewer.pk).exists():
            raise CantBeAssigned
        if standing is None:
            return Assignment.objects.create(conversation=conversation, reviewer=reviewer, origin=origin)
        standing.recused_at = standing.unassigned_at = standing.unassigned_by = None
        standing.save(update_fields=["recused_at", "unassigned_at", "unassigned_by"])
    return standing


def unassign_reviewer(*, conversation: Conversation, reviewer: User, by: User | None) -> Assignment:
    """An admin takes a conversation from a reviewer; the person's votes in an open round leave with it, those in
    revealed rounds stay. Nobody takes the seat by that alone. Raises NoSuchAssignment.
    """
    with transaction.atomic():
        conversation, _ = enter_conversation(conversation.study_id, conversation.id, may_be_locked=True)
        now = timezone.now()
        standing = Assignment.objects.filter(conversation=conversation, reviewer=reviewer, recused_at=None)
        if not standing.update(recused_at=now, unassigned_at=now, unassigned_by=by):
            raise NoSuchAssignment
        settle(conversation.study, conversations=[conversation.id])
    return Assignment.objects.get(conversation=conversation, reviewer=reviewer)


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
            plan = _plan(study, [conversation], {conversation.id: standing + 1})
            substitutes = _carry_out(plan, Assignment.Origin.SUBSTITUTE)
        settle(study, conversations=[conversation.id])
    return substitutes[0] if substitutes else None


def hand_work_over(*, study: Study, person: User) -> list[Assignment]:
    """Give the seats of one who reviews here no more to others, where somebody is left who may take them.

    A seat that somebody took is this person's no more, also after a return: nobody brings two substitutes for one
    seat. To be called while the study is held, when the person has gone, and before anything is settled: else a round
    would be complete without the one who comes.
    """
    mine = Assignment.objects.filter(reviewer=person, recused_at=None, conversation__study=study)
    left = undecided(Conversation.objects.own().filter(study=study, id__in=mine.values("conversation")))
    todo = list(left.defer("messages", "extra").order_by("position", "id"))
    standing = count_assigned(study, by="conversation")
    plan = _plan(study, todo, {this.id: standing.get(this.id, 0) + 1 for this in todo})
    taken = [each.conversation.id for each in plan.filled]
    now = timezone.now()
    mine.filter(conversation__in=taken).update(recused_at=now, unassigned_at=now)
    return _carry_out(plan, Assignment.Origin.SUBSTITUTE)
