"""What mail tells a person: what waits for them in each study, and, to admins, what is late.

Counted is only what the person has left: own drafts, own votes, the own end of a discussion. Nothing here differs by a
vote that somebody else has hidden. An admin is told who has something left to do, as on Progress: never what.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.invitations import Invitation
from annotation.members import members_of
from annotation.models import Conversation, Role, Round, Study, User
from annotation.overseeing import shares_of_reviewers
from annotation.states import ConversationState
from annotation.time_zones import local_now, zone_of
from annotation.workload import assigned_to

SOON = timedelta(days=3)
DAYS_BEFORE = (1, 3)
"""So many days before a date a reminder comes."""


@dataclass(slots=True)
class InStudy:
    """What waits for a person in one study."""

    study: Study
    to_draft: int = 0
    to_vote: int = 0
    to_discuss: int = 0
    dates: list[datetime] = field(default_factory=list)

    @property
    def first_date(self) -> datetime | None:
        return min(self.dates, default=None)


@dataclass(frozen=True, slots=True)
class Late:
    """What an admin may want to look at in one study."""

    study: Study
    ending: int
    """Conversations in which drafting, the open round or the discussion ends within three days."""
    people_left: int
    """Reviewers who have something left to do anywhere in the study."""
    not_signed_in: int
    """People who were invited and have not signed in."""


def what_waits(person: User) -> list[InStudy]:
    """Study by study, where anything waits for the person. Two queries."""
    studies = {study.id: study for study in _studies(person, Role.CLINICIAN)}
    found: dict[UUID, InStudy] = {}
    rows: Any = assigned_to(person, studies.values())
    for study_id, state, due_at in rows.filter(waits=True).values_list("study_id", "state", "due_at"):
        here = found.setdefault(study_id, InStudy(studies[study_id]))
        if state == ConversationState.DRAFTING:
            here.to_draft += 1
        elif state == ConversationState.VOTING:
            here.to_vote += 1
        else:
            here.to_discuss += 1
        if due_at is not None:
            here.dates.append(due_at)
    return [found[each] for each in studies if each in found]


def near_dates(person: User, waiting: Collection[InStudy]) -> list[InStudy]:
    """What of it has a date that lies one day or three days ahead, by the person's own calendar; with those dates."""
    today, zone = local_now(person).date(), zone_of(person)
    days = {today + timedelta(days=number) for number in DAYS_BEFORE}
    near = []
    for here in waiting:
        dates = [date for date in here.dates if date.astimezone(zone).date() in days]
        if dates:
            near.append(InStudy(here.study, here.to_draft, here.to_vote, here.to_discuss, dates))
    return near


def what_is_late(person: User) -> list[Late]:
    """What the studies that a person is an admin of have that is late, where there is anything."""
    found = [_late(study) for study in _studies(person, Role.ADMIN)]
    return [each for each in found if each.ending or each.not_signed_in]


def _late(study: Study) -> Late:
    until = timezone.now() + SOON
    own = Conversation.objects.own().filter(study=study)
    ending = set(own.filter(drafting_closed_at=None, drafting_closes_at__lte=until).values_list("id", flat=True))
    ending |= set(own.filter(discussion_closes_at__lte=until).values_list("id", flat=True))
    rounds = Round.objects.unsettled().filter(conversation__in=own, closes_at__lte=until)
    ending |= set(rounds.values_list("conversation_id", flat=True))
    left = [each for each in shares_of_reviewers(study) if each.to_draft or each.to_vote or each.to_discuss]
    members: Any = members_of(study)
    not_in = members.filter(invitation__in=[Invitation.SENT, Invitation.FAILED])
    return Late(study, len(ending), len(left), not_in.count())


def _studies(person: User, role: Role) -> list[Study]:
    memberships = person.memberships.filter(left_at=None, roles__contains=[role]).select_related("study")
    return [membership.study for membership in memberships.order_by("study__name", "study_id")]
