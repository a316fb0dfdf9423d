"""Digests and reminders: who gets which mail, on their own morning, at most one digest a day or week as they chose.

A digest says what waits; a reminder comes three days and one day before a date, where no digest came on that day. The
row of a person and period is unique, so that two workers who ask at once ask for one mail. Sending is in
annotation.sending; what a mail says is put together there, so that nothing is told that isn't so any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.models import Digests, Notice, User
from annotation.time_zones import local_now, zone_of
from annotation.waiting_for_you import near_dates, what_is_late, what_waits

MORNING = range(7, 12)
"""The hours of the person's own clock in which mail is sent; a worker that was down at seven makes up for it."""
DAYS_OF_WEEKLY = (0, 1)
"""Monday; Tuesday makes up for a Monday on which no worker was up."""


@dataclass(frozen=True, slots=True)
class Due:
    """A mail that is due."""

    person: User
    kind: Notice.Kind
    period: str

    def as_notice(self) -> Notice:
        return Notice(kind=self.kind, person=self.person, period=self.period)


def due_mail(*, at_any_hour: bool = False) -> Iterator[Due]:
    """Who is due a digest or a reminder now and hasn't got it. ``at_any_hour``: by hand; the period stays the same."""
    people = User.objects.filter(is_active=True, memberships__left_at=None, memberships__isnull=False)
    for person in people.exclude(digests=Digests.OFF).distinct().order_by("pk"):
        now = local_now(person)
        if not at_any_hour and now.hour not in MORNING:
            continue
        due = _due(person, now, at_any_hour=at_any_hour)
        if due is not None:
            yield due


def _due(person: User, now: datetime, *, at_any_hour: bool) -> Due | None:
    asked = list(person.notices.filter(study=None).values_list("kind", "period", "asked_at").order_by("-asked_at")[:20])
    periods = {(kind, period) for kind, period, _ in asked}
    today = now.date().isoformat()
    is_daily = person.digests == Digests.DAILY
    period = today if is_daily else f"{now:%G}-W{now:%V}"
    is_day = is_daily or at_any_hour or now.weekday() in DAYS_OF_WEEKLY
    waiting = what_waits(person)
    if is_day and (Notice.Kind.DIGEST, period) not in periods and (waiting or what_is_late(person)):
        return Due(person, Notice.Kind.DIGEST, period)
    zone = zone_of(person)
    has_digest_today = any(
        kind == Notice.Kind.DIGEST and asked_at.astimezone(zone).date() == now.date() for kind, _, asked_at in asked
    )
    if has_digest_today or (Notice.Kind.REMINDER, today) in periods or not near_dates(person, waiting):
        return None
    return Due(person, Notice.Kind.REMINDER, today)


def ask_for_due_mail(*, at_any_hour: bool = False) -> int:
    """Put what is due among what waits to be sent. Somebody who does the same at once asks for nothing twice."""
    before = timezone.now()
    due = [each.as_notice() for each in due_mail(at_any_hour=at_any_hour)]
    Notice.objects.bulk_create(due, ignore_conflicts=True)
    return Notice.objects.filter(pk__in=[each.pk for each in due], asked_at__gte=before).count()
