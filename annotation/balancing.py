"""Spreading seats over people: as evenly as can be, and, where that leaves a choice, to whom suits best.

Pure: people are bits of a whole number, seats are counted. The result is the same whenever the same is asked.

*As evenly as can be* is that of Harvey, Ladner, Lovász and Tamir, Semi-matchings for bipartite graphs and load
balancing (J. Algorithms 59, 2006): no chain of hand-overs leads from somebody to a person who has two seats fewer. So
no other way of filling these seats has a smaller sum of squared loads, and the loads of people who may take the same
seats, and had none of them before, differ by at most one.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

MOST_SWAPS_TRIED = 300_000
"""So many exchanges are looked at for a better match; a fixed number, so that the result hangs on no clock."""


@dataclass(slots=True, eq=False)
class Vacancy:
    """A conversation's free seats."""

    number: int
    """A number that stands for it, by which it favours nobody among equals (its random id)."""
    seats: int
    able: int
    """Who may take one, as bits; who has one already is not among them."""
    near: tuple[int, ...] = ()
    """near[d]: those who miss at most d of what the conversation would like in a reviewer. Empty: all suit alike."""
    taken: int = field(default=0, init=False)
    """Who takes one now, as bits."""


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits that are set, from the lowest."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def spread_seats(vacancies: Sequence[Vacancy], numbers: Sequence[int], loads: Sequence[int]) -> list[int]:
    """Fill the vacancies, each as far as there are people for it; returns the loads then.

    ``numbers`` stand for the people, as a vacancy's for it; ``loads`` are the seats that they have now.
    """
    new = list(loads)
    _fill(vacancies, numbers, new)
    mine: list[list[Vacancy]] = [[] for _ in numbers]
    for vacancy in vacancies:
        for person in bits(vacancy.taken):
            mine[person].append(vacancy)
    _even_out(mine, new)
    _match_better(vacancies, mine)
    return new


def _distance(vacancy: Vacancy, person: int) -> int:
    """How much of what a vacancy would like the person misses."""
    return sum(not mask >> person & 1 for mask in vacancy.near)


def _fill(vacancies: Sequence[Vacancy], numbers: Sequence[int], loads: list[int]) -> None:
    """Each seat to whoever has least, among these to whoever suits best. Those with the fewest people choose first."""
    by_load: dict[int, int] = {}
    for person, load in enumerate(loads):
        by_load[load] = by_load.get(load, 0) | 1 << person
    for vacancy in sorted(vacancies, key=lambda one: (one.able.bit_count(), one.number)):
        for _ in range(vacancy.seats):
            left = vacancy.able & ~vacancy.taken
            if not left:
                break
            load = min(load for load, people in by_load.items() if people & left)
            left &= by_load[load]
            left = next((left & mask for mask in vacancy.near if left & mask), left)
            person = min(bits(left), key=lambda one: numbers[one] ^ vacancy.number)
            vacancy.taken |= 1 << person
            loads[person] += 1
            by_load[load] &= ~(1 << person)
            if not by_load[load]:
                del by_load[load]
            by_load[load + 1] = by_load.get(load + 1, 0) | 1 << person


def _even_out(mine: list[list[Vacancy]], loads: list[int]) -> None:
    """Hand seats over along the shortest chains until nobody has two more than somebody at the end of a chain."""
    # can_give[person]: to whom the person can hand over at least one of the own seats
    can_give = [_takers(seats) for seats in mine]
    settled: set[int] = set()  # from whom no chain leads to a person with two less
    while True:
        giver = max((one for one in range(len(mine)) if one not in settled), key=lambda one: loads[one], default=None)
        if giver is None:
            return
        chain = _chain_from(giver, can_give, loads)
        if chain is None:
            settled.add(giver)  # until a hand-over opens another way
            continue
        touched = 0  # whose seats are others now, or are to be had by others
        for one, other in pairwise(chain):
            given = _hand_over(one, other, mine)
            touched |= given.taken | 1 << one
        loads[chain[0]] -= 1
        loads[chain[-1]] += 1
        for person in bits(touched):
            can_give[person] = _takers(mine[person])
        settled.clear()


def _takers(seats: Sequence[Vacancy]) -> int:
    takers = 0
    for vacancy in seats:
        takers |= vacancy.able & ~vacancy.taken
    return takers


def _chain_from(giver: int, can_give: Sequence[int], loads: Sequence[int]) -> list[int] | None:
    """The shortest chain of hand-overs from a person to one who has at least two seats fewer; None: there is none."""
    came_from: dict[int, int] = {giver: giver}
    waiting = deque([giver])
    while waiting:
        one = waiting.popleft()
        for other in bits(can_give[one]):
            if other in came_from:
                continue
            came_from[other] = one
            if loads[other] <= loads[giver] - 2:
                chain = [other]
                while chain[-1] != giver:
                    chain.append(came_from[chain[-1]])
                return chain[::-1]
            waiting.append(other)
    return None


def _hand_over(one: int, other: int, mine: list[list[Vacancy]]) -> Vacancy:
    """One of a person's seats goes to another: that by which the match loses least."""
    given = min(
        (vacancy for vacancy in mine[one] if (vacancy.able & ~vacancy.taken) >> other & 1),
        key=lambda vacancy: (_distance(vacancy, other) - _distance(vacancy, one), vacancy.number),
    )
    _move(given, one, other, mine)
    return given


def _move(vacancy: Vacancy, one: int, other: int, mine: list[list[Vacancy]]) -> None:
    vacancy.taken ^= 1 << one | 1 << other
    mine[one].remove(vacancy)
    mine[other].append(vacancy)


def _match_better(vacancies: Sequence[Vacancy], mine: list[list[Vacancy]]) -> None:
    """Exchange seats between two people where both conversations together get what they would like: loads stay."""
    tried = 0
    for vacancy in sorted((one for one in vacancies if one.near), key=lambda one: one.number):
        for one in list(bits(vacancy.taken)):
            missed = _distance(vacancy, one)
            if not missed:
                continue
            closer = vacancy.near[missed - 1] & vacancy.able & ~vacancy.taken
            for other in bits(closer):
                gain = missed - _distance(vacancy, other)
                found = None
                for theirs in mine[other]:
                    tried += 1
                    can_take = theirs.able & ~theirs.taken
                    if can_take >> one & 1 and _distance(theirs, one) - _distance(theirs, other) < gain:
                        found = theirs
                        break
                if found is not None:
                    _move(vacancy, one, other, mine)
                    _move(found, other, one, mine)
                    break
                if tried > MOST_SWAPS_TRIED:
                    return
