"""A person's own time: the zone that the person named, and the local day and hour there."""

from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.utils import timezone

from annotation.models import User
from consilium.errors import RuleViolation

NOT_OFFERED = ("Etc/", "SystemV/", "posix/", "right/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/")
"""Other names of zones that are offered by their place, or no places."""


class ZoneIsUnknown(RuleViolation):
    """ "{zone}" is no time zone. They are named by continent and city, as America/Mexico_City."""


@cache
def zones() -> tuple[str, ...]:
    """The zones that a person can choose, by continent and city."""
    return tuple(sorted(name for name in available_timezones() if "/" in name and not name.startswith(NOT_OFFERED)))


def check_zone(zone: str) -> None:
    """Raise ZoneIsUnknown for what is no zone; '' is not said, and is no fault."""
    if zone and zone != "UTC" and zone not in zones():
        raise ZoneIsUnknown(zone=zone[:64])


def zone_of(person: User) -> ZoneInfo:
    """The person's zone; UTC where none was named, or one that this machine doesn't know."""
    return ZoneInfo(person.time_zone if person.time_zone in zones() else "UTC")


def local_now(person: User) -> datetime:
    """What the clock says where the person is."""
    return timezone.now().astimezone(zone_of(person))
