"""Waves: work goes out in parts, the first as a pilot after which the guidelines may change.

A conversation without a wave goes out at once. One of a wave that isn't open is seen by no clinician, and nothing is
begun in it; it can be assigned beforehand. A wave is opened by an admin, or on its date; opening assigns nobody. Only
what nobody has begun is planned: without a criterion, drafting open, and not out in a wave already.
"""

import random
import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.locks import hold_study
from annotation.models import Assignment, Conversation, Criterion, Study, User, Wave, waits_for_its_wave
from consilium.errors import RuleViolation

MOST_WAVES = 100
LARGEST_SEED = 2**63 - 1


class NoSuchWave(RuleViolation):
    """The study has no wave {number}."""


class WaveIsOpen(RuleViolation):
    """Wave {number} is open already: its conversations are out."""


class NothingToPlan(RuleViolation):
    """Every conversation is out or begun already: there is nothing to plan."""


class SizesAreUnreadable(RuleViolation):
    """Say how many conversations each wave has: whole numbers from 1 on, at most 99 of them."""


class SeedIsUnreadable(RuleViolation):
    """A seed is a whole number from 0 to 9,223,372,036,854,775,807."""


class DateHasPassed(RuleViolation):
    """This date has passed. Give one that lies ahead, or open the wave now."""


class IsOutOrBegun(RuleViolation):
    """Conversation {id} is out or begun already, so it stays where it is."""


@dataclass(frozen=True, slots=True)
class WaveSeen:
    """A wave as an admin sees it."""

    wave: Wave
    conversations: int
    is_open: bool


def waves_of(study: Study) -> list[WaveSeen]:
    """The study's waves by number. One query."""
    waits = Exists(Wave.objects.waiting().filter(pk=OuterRef("pk")))
    rows: Any = study.waves.annotate(size=Count("conversations"), waits=waits).order_by("number")
    return [WaveSeen(row, row.size, not row.waits) for row in rows]


def still_to_plan(study: Study) -> "QuerySet[Conversation]":
    """Conversations that nobody has begun, and that no open wave has brought out."""
    begun = Assignment.objects.filter(conversation=OuterRef("pk"), finished_drafting_at__isnull=False)
    return (
        Conversation.objects.own()
        .filter(~Exists(begun), study=study, drafting_closed_at=None)
        .exclude(Exists(Criterion.objects.filter(conversation=OuterRef("pk"))))
        .exclude(~waits_for_its_wave(), wave__isnull=False)
        .order_by("position", "id")
    )


def drawn(conversations: Sequence[Conversation], seed: int) -> list[Conversation]:
    """The conversations in a random order in which every beginning holds each acuity and language in proportion.

    Within a stratum of n the order is drawn; its i-th stands at the place (i + u) / n of the whole, with u drawn from
    [0, 1) once a stratum. So the first k of all hold of each stratum its share of k, to within one.
    """
    strata: dict[tuple[str, str], list[Conversation]] = defaultdict(list)
    for this in sorted(conversations, key=lambda one: one.external_id):
        strata[this.acuity or "", this.language or ""].append(this)
    chance = random.Random(seed)
    placed: list[tuple[float, str, Conversation]] = []
    for stratum in sorted(strata):
        members = strata[stratum]
        chance.shuffle(members)
        offset = chance.random()
        placed += [((place + offset) / len(members), this.external_id, this) for place, this in enumerate(members)]
    return [this for _, _, this in sorted(placed, key=lambda one: one[:2])]


def plan_waves(
    *,
    study: Study,
    sizes: Sequence[int],
    choice: Wave.Choice = Wave.Choice.IN_ORDER,
    seed: int | None = None,
    is_pilot: bool = True,
) -> list[Wave]:
    """Plan anew what isn't out: waves of these sizes, and one more for what is left. Returns them.

    A random order is drawn with ``seed``, or with a new one; it is kept with the waves. ``is_pilot``: the study's
    first wave is a pilot. Raises SizesAreUnreadable, SeedIsUnreadable, NothingToPlan.
    """
    if not 1 <= len(sizes) < MOST_WAVES or any(size < 1 for size in sizes):
        raise SizesAreUnreadable
    is_random = choice == Wave.Choice.RANDOM
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise SeedIsUnreadable
    kept_seed = (secrets.randbelow(2**31) if seed is None else seed) if is_random else None
    with transaction.atomic():
        hold_study(study.id)
        todo = list(still_to_plan(study).defer("messages", "extra"))
        if not todo:
            raise NothingToPlan
        if is_random:
            assert kept_seed is not None
            todo = drawn(todo, kept_seed)
        _forget_what_waits(study)
        first = (study.waves.order_by("-number").values_list("number", flat=True).first() or 0) + 1
        made: list[Wave] = []
        for size in [*sizes, len(todo)]:
            part, todo = todo[:size], todo[size:]
            if not part:
                break
            number = first + len(made)
            wave = Wave.objects.create(
                study=study, number=number, is_pilot=is_pilot and number == 1, choice=choice, seed=kept_seed
            )
            Conversation.objects.filter(pk__in=[this.pk for this in part]).update(wave=wave)
            made.append(wave)
    return made


def _forget_what_waits(study: Study) -> None:
    waiting = list(study.waves.waiting().values_list("pk", flat=True))
    Conversation.objects.filter(wave__in=waiting).update(wave=None)
    Wave.objects.filter(pk__in=waiting).delete()


def put_in_wave(*, study: Study, number: int | None, conversations: Collection[UUID]) -> int:
    """Put conversations by hand into a wave that waits, the next number makes one; None: they go out at once.

    Returns how many. Raises NoSuchWave, WaveIsOpen, IsOutOrBegun.
    """
    with transaction.atomic():
        hold_study(study.id)
        wanted = set(conversations)
        free = set(still_to_plan(study).filter(pk__in=wanted).values_list("pk", flat=True))
        for refused in Conversation.objects.own().filter(study=study, pk__in=wanted - free).order_by("position"):
            raise IsOutOrBegun(id=refused.external_id)
        wave = None if number is None else _wave_for(study, number)
        return Conversation.objects.filter(pk__in=free).update(wave=wave)


def _wave_for(study: Study, number: int) -> Wave:
    last = study.waves.order_by("-number").values_list("number", flat=True).first() or 0
    if number == last + 1 and number <= MOST_WAVES:
        return Wave.objects.create(study=study, number=number, is_pilot=number == 1, choice=Wave.Choice.BY_HAND)
    return _waiting(study, number)


def _waiting(study: Study, number: int) -> Wave:
    wave = study.waves.filter(number=number).first()
    if wave is None:
        raise NoSuchWave(number=number)
    if not study.waves.waiting().filter(pk=wave.pk).exists():
        raise WaveIsOpen(number=number)
    return wave


def open_wave(*, study: Study, number: int, by: User | None) -> Wave:
    """Open a wave: its conversations are out, to whom they are assigned. Dates that passed meanwhile are lifted.

    Raises NoSuchWave, WaveIsOpen.
    """
    with transaction.atomic():
        hold_study(study.id)
        wave, now = _waiting(study, number), timezone.now()
        wave.opened_at, wave.opened_by = now, by
        wave.save(update_fields=["opened_at", "opened_by"])
        wave.conversations.filter(drafting_closes_at__lte=now).update(drafting_closes_at=None)
    return wave


def date_wave(*, study: Study, number: int, opens_at: datetime | None) -> Wave:
    """Say when a wave opens of itself, or that it doesn't. Raises NoSuchWave, WaveIsOpen, DateHasPassed."""
    if opens_at is not None and opens_at <= timezone.now():
        raise DateHasPassed
    with transaction.atomic():
        hold_study(study.id)
        wave = _waiting(study, number)
        wave.opens_at = opens_at
        wave.save(update_fields=["opens_at"])
    return wave
