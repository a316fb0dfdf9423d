"""Time is declared by the person, never watched: hours by study and day, corrected by the person alone.

A correction keeps the entry before it. Admins see totals by person and month, and no day.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncMonth

from annotation.joining import NobodyByThisAddress
from annotation.models import DeclaredTime, Membership, Study, User
from annotation.models.hours import MINUTES_A_DAY
from annotation.time_zones import local_now
from consilium.errors import RuleViolation
from consilium.tables import Written, write_xlsx

LONGEST_NOTE = 500
COLUMNS = ("name", "email", "month", "days", "hours")


class DayIsAhead(RuleViolation):
    """This day lies ahead. Declare time when it has passed."""


class DayHas24Hours(RuleViolation):
    """A day has at most 24 hours."""


class NothingToTakeBack(RuleViolation):
    """Nothing is declared for this day."""


class NoteTooLong(RuleViolation):
    """A note has at most 500 characters."""


class TimeChangedMeanwhile(RuleViolation):
    """Something else was declared for this day meanwhile. Look at what stands now, then correct it."""


@dataclass(slots=True)
class Day:
    """One day as it stands, with the entries that were corrected, the newest first."""

    standing: DeclaredTime
    earlier: list[DeclaredTime] = field(default_factory=list)

    @property
    def hours(self) -> float:
        return self.standing.minutes / 60


@dataclass(frozen=True, slots=True)
class MonthOfPerson:
    """What a person declared for one month, its first day named."""

    name: str
    email: str
    month: date
    days: int
    minutes: int

    @property
    def hours(self) -> float:
        return round(self.minutes / 60, 2)


def declare_time(
    *, study: Study, person: User, day: date, minutes: int, note: str = "", seen: UUID | None = None
) -> DeclaredTime:
    """Declare how long one worked on a day, or correct it; 0 takes it back. The same said again changes nothing.

    ``seen`` is the entry that a correction was made against (None: whatever stands). Raises DayIsAhead,
    DayHas24Hours, NoteTooLong, NothingToTakeBack, TimeChangedMeanwhile, NobodyByThisAddress.
    """
    text = note.replace("\x00", "").strip()
    if len(text) > LONGEST_NOTE:
        raise NoteTooLong
    if not 0 <= minutes <= MINUTES_A_DAY:
        raise DayHas24Hours
    if day > local_now(person).date():
        raise DayIsAhead
    with transaction.atomic():
        member = Membership.objects.filter(study=study, user=person, left_at=None)
        if member.select_for_update(no_key=True).first() is None:
            raise NobodyByThisAddress(email=person.email)
        standing = DeclaredTime.objects.standing().filter(study=study, person=person, day=day).first()
        if seen is not None and (standing is None or standing.pk != seen):
            raise TimeChangedMeanwhile
        if standing is None and not minutes:
            raise NothingToTakeBack
        if standing is not None and (standing.minutes, standing.note) == (minutes, text):
            return standing
        return DeclaredTime.objects.create(
            study=study, person=person, day=day, minutes=minutes, note=text, corrects=standing
        )


def own_time(study: Study, person: User) -> list[Day]:
    """What a person declared, the newest day first. One query."""
    rows = list(DeclaredTime.objects.filter(study=study, person=person))
    by_id = {row.pk: row for row in rows}
    corrected = {row.corrects_id for row in rows}
    days = []
    for row in sorted(rows, key=lambda one: one.day, reverse=True):
        if row.pk in corrected:
            continue
        found, before = Day(row), row.corrects_id
        while before is not None:
            found.earlier.append(by_id[before])
            before = by_id[before].corrects_id
        days.append(found)
    return days


def time_sheet(study: Study) -> list[MonthOfPerson]:
    """Totals by person and month, by name; those who have left too. One query."""
    rows = (
        DeclaredTime.objects.standing()
        .filter(study=study, minutes__gt=0)
        .annotate(month=TruncMonth("day"))
        .values("person__name", "person__email", "month")
        .annotate(total=Sum("minutes"), days=Count("pk", filter=Q(minutes__gt=0)))
        .order_by("person__name", "person__email", "month")
    )
    return [
        MonthOfPerson(row["person__name"], row["person__email"], row["month"], row["days"], row["total"])
        for row in rows
    ]


def write_time_sheet(study: Study, file: Path | BinaryIO) -> Written:
    """The totals as a workbook, in which no name becomes a formula."""

    def rows() -> Iterator[tuple[object, ...]]:
        for each in time_sheet(study):
            yield each.name, each.email, f"{each.month:%Y-%m}", each.days, each.hours

    return write_xlsx(file, [("time", COLUMNS, rows())])
