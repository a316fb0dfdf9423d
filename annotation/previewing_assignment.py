"""How the load of reviewing lies among a study's clinicians, and what assigning so many reviewers would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from annotation.assigning import Plan, count_assigned, plan_assignment
from annotation.matching import clinicians
from annotation.models import Conversation, Study, User
from annotation.reaching import out_of_reach


@dataclass(frozen=True, slots=True)
class Load:
    """A clinician's conversations now, and those that assigning would add."""

    person: User
    now: int
    added: int

    @property
    def after(self) -> int:
        return self.now + self.added


@dataclass(frozen=True)
class AssignmentPreview:
    """What assigning would do: the plan, its assignments by person, and the conversations out of reach."""

    plan: Plan
    loads: list[Load]
    out_of_reach: list[Conversation]

    @property
    def made(self) -> int:
        return self.plan.seats

    @property
    def conversations(self) -> int:
        return len(self.plan.filled)

    @cached_property
    def shortfall(self) -> str:
        """Which conversations would not reach the number asked for, in a sentence; '' where all do."""
        below = self.plan.below
        if not below:
            return ""
        is_every = len(below) == len(self.plan.conversations)
        which = "No conversation reaches" if is_every else f"{len(below):,} of them stay below"
        if not is_every and len(below) == 1:
            which = "1 conversation stays below"
        here = "1 clinician" if len(self.loads) == 1 else f"{len(self.loads):,} clinicians"
        most = max(each.after for each in below)
        number = "that number" if len({each.wanted for each in below}) == 1 else "the number asked for"
        return f"{which} {number}: the study has {here}, and at most {most:,} can be found for one."


def loads_of(study: Study, added: Mapping[UUID, int] | None = None) -> list[Load]:
    """The study's clinicians by name with their conversations. Two queries."""
    now = count_assigned(study, by="reviewer")
    more = added or {}
    people = sorted(clinicians(study), key=lambda person: str(person).casefold())
    return [Load(person, now.get(person.id, 0), more.get(person.id, 0)) for person in people]


def preview_assignment(study: Study, reviewers: int | None) -> AssignmentPreview:
    """What ``assign_reviewers`` would do now; nothing is written."""
    plan = plan_assignment(study, reviewers=reviewers)
    return AssignmentPreview(plan=plan, loads=loads_of(study, plan.added_to), out_of_reach=out_of_reach(study))
