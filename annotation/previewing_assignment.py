"""How the load of reviewing lies among a study's clinicians, and what assigning so many reviewers would do."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.assigning import assign_reviewers, clinicians, undecided
from annotation.models import Assignment, Conversation, Study, User


@dataclass(frozen=True, slots=True)
class Load:
    """A clinician's conversations now, and those that assigning would add."""

    person: User
    now: int
    added: int

    @property
    def after(self) -> int:
        return self.now + self.added


@dataclass(frozen=True, slots=True)
class AssignmentPreview:
    """What assigning would do: the assignments by person, conversations filled, and those out of reach after it."""

    loads: list[Load]
    made: int
    conversations: int
    below: int
    """How many conversations with something to decide would have fewer reviewers than asked for."""
    most: int
    """How many reviewers the best staffed of these would have."""
    is_every: bool
    """Whether these are all that have something to decide."""
    out_of_reach: list[Conversation]

    @property
    def shortfall(self) -> str:
        """Which conversations would not reach the number asked for, in a sentence; '' where all do."""
        if not self.below:
            return ""
        which = "No conversation reaches" if self.is_every else f"{self.below:,} of them stay below"
        if not self.is_every and self.below == 1:
            which = "1 conversation stays below"
        clinicians_here = "1 clinician" if len(self.loads) == 1 else f"{len(self.loads):,} clinicians"
        return f"{which} that number: the study has {clinicians_here}, and at most {self.most:,} can be found for one."


def loads_of(study: Study, added: Counter[UUID] | None = None) -> list[Load]:
    """The study's clinicians by name with their conversations. Two queries."""
    rows = (
        Assignment.objects.active()
        .filter(conversation__study=study, conversation__external_name="", conversation__undone_at=None)
        .order_by()
        .values("reviewer")
        .annotate(number=Count("pk"))
        .values_list("reviewer", "number")
    )
    now: dict[UUID, int] = dict(rows)
    more = added or Counter()
    people = sorted(clinicians(study), key=lambda person: str(person).casefold())
    return [Load(person, now.get(person.id, 0), more[person.id]) for person in people]


def preview_assignment(study: Study, reviewers: int | None) -> AssignmentPreview:
    """What ``assign_reviewers`` would do now: the act itself, undone before anybody can see it."""
    wanted = reviewers or study.policy.reviewers_per_conversation
    with transaction.atomic():
        result = assign_reviewers(study=study, reviewers=reviewers)
        staffed = _reviewers_by_conversation(study)
        transaction.set_rollback(True)
    below = [count for count in staffed if count < wanted]
    return AssignmentPreview(
        loads=loads_of(study, Counter(this.reviewer_id for this in result.made)),
        made=len(result.made),
        conversations=len({this.conversation_id for this in result.made}),
        below=len(below),
        most=max(below, default=0),
        is_every=len(below) == len(staffed),
        out_of_reach=result.out_of_reach,
    )


def _reviewers_by_conversation(study: Study) -> list[int]:
    """How many review each conversation that has something to decide. One query."""
    active = Assignment.objects.active().filter(conversation=OuterRef("pk")).order_by().values("conversation")
    counted = Subquery(active.annotate(number=Count("pk")).values("number"), output_field=IntegerField())
    rows = undecided(Conversation.objects.own().filter(study=study)).order_by()
    return list(rows.annotate(reviewers=Coalesce(counted, Value(0))).values_list("reviewers", flat=True))
