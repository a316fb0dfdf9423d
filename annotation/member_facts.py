"""What a study's admins know of a member: conflicts of interest, whether the licence was checked, a pause.

Conflicts are words, each the id or a tag of conversations; the member is not assigned to those any more, what is
assigned already stays until somebody takes it away. Who pauses gets no new conversations until the day that is named;
what is assigned stays theirs.
"""

from collections.abc import Iterable
from datetime import date

from django.db import transaction
from django.utils import timezone

from annotation.conflicts import as_conflicts
from annotation.joining import NobodyByThisAddress
from annotation.models import Membership, Study, User
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation


class FactsChangedMeanwhile(RuleViolation):
    """Somebody else changed this meanwhile. Look at what stands now, then say it again."""


class PauseIsPast(RuleViolation):
    """A pause ends on a day that lies ahead."""


def facts_seen(membership: Membership) -> str:
    """What names the facts as they stand: a change names what it was made against."""
    told = [*membership.conflicts, str(membership.licence_checked_at is not None)]
    return sha256_hex("\n".join(told).encode())[:16]


def describe_member(
    *,
    study: Study,
    person: User,
    by: User | None,
    conflicts: Iterable[str] | None = None,
    is_licence_checked: bool | None = None,
    seen: str | None = None,
) -> Membership:
    """Write down a member's conflicts, all of them, and whether somebody checked the licence (None: as it is).

    Raises NobodyByThisAddress, FactsChangedMeanwhile, ConflictTooLong, TooManyConflicts.
    """
    with transaction.atomic():
        held = _hold(study, person)
        if seen is not None and seen != facts_seen(held):
            raise FactsChangedMeanwhile
        if conflicts is not None:
            held.conflicts = as_conflicts(conflicts)
        if is_licence_checked is not None and is_licence_checked != (held.licence_checked_at is not None):
            held.licence_checked_at = timezone.now() if is_licence_checked else None
            held.licence_checked_by = by if is_licence_checked else None
        held.save(update_fields=["conflicts", "licence_checked_at", "licence_checked_by"])
    return held


def pause_member(*, study: Study, person: User, until: date | None) -> Membership:
    """No new conversations for a member until that day; None: the pause is over. Raises PauseIsPast."""
    if until is not None and until <= timezone.now().date():
        raise PauseIsPast
    with transaction.atomic():
        held = _hold(study, person)
        held.paused_until = until
        held.save(update_fields=["paused_until"])
    return held


def _hold(study: Study, person: User) -> Membership:
    rows = Membership.objects.filter(study=study, user=person, left_at=None).select_related("user")
    held = rows.select_for_update(no_key=True, of=("self",)).first()
    if held is None:
        raise NobodyByThisAddress(email=person.email)
    return held
