"""Spreading seats: as evenly as can be, never to who may not take one, and where there is a choice to who suits."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.balancing import Vacancy, bits, spread_seats

masks = st.integers(min_value=0, max_value=63)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Vacancy], list[int], list[int]]:
    """Up to six people in a few kinds, who have something already; up to ten conversations."""
    people = draw(st.integers(1, 6))
    everybody = (1 << people) - 1
    kinds = draw(st.lists(masks, min_size=1, max_size=3))
    vacancies = [
        Vacancy(
            number=draw(st.integers(0, 2**16)),
            seats=draw(st.integers(0, 4)),
            able=draw(st.sampled_from(kinds)) & everybody,
            near=tuple(sorted({draw(masks) & everybody for _ in range(draw(st.integers(0, 1)))})),
        )
        for _ in range(draw(st.integers(0, 10)))
    ]
    loads = draw(st.lists(st.integers(0, 3), min_size=people, max_size=people))
    numbers = draw(st.lists(st.integers(0, 2**16), min_size=people, max_size=people, unique=True))
    return vacancies, numbers, loads


@given(cases())
@settings(max_examples=300)
def test_only_who_may_takes_a_seat_and_no_seat_is_left_that_somebody_may_take(
    case: tuple[list[Vacancy], list[int], list[int]],
) -> None:
    vacancies, numbers, loads = case
    after = spread_seats(vacancies, numbers, loads)
    for vacancy in vacancies:
        assert vacancy.taken & ~vacancy.able == 0
        assert vacancy.taken.bit_count() == min(vacancy.seats, vacancy.able.bit_count())
    taken = [sum(vacancy.taken >> person & 1 for vacancy in vacancies) for person in range(len(loads))]
    assert after == [load + new for load, new in zip(loads, taken, strict=True)]


@given(cases())
@settings(max_examples=300)
def test_of_two_people_who_may_take_the_same_seats_none_has_two_more(
    case: tuple[list[Vacancy], list[int], list[int]],
) -> None:
    vacancies, numbers, _ = case
    after = spread_seats(vacancies, numbers, [0] * len(numbers))
    for one, other in combinations(range(len(numbers)), 2):
        if all(vacancy.able >> one & 1 == vacancy.able >> other & 1 for vacancy in vacancies):
            assert abs(after[one] - after[other]) <= 1


def least_squares(vacancies: list[Vacancy], loads: list[int]) -> int:
    """The smallest sum of squared loads that any way of filling the seats has: every way is tried."""
    reached = {tuple(loads)}
    for vacancy in vacancies:
        seats = min(vacancy.seats, vacancy.able.bit_count())
        reached = {
            tuple(load + (person in chosen) for person, load in enumerate(each))
            for each in reached
            for chosen in combinations(list(bits(vacancy.able)), seats)
        }
    return min(sum(load * load for load in each) for each in reached)


@given(cases())
@settings(max_examples=100)
def test_no_way_of_filling_the_seats_is_more_even(case: tuple[list[Vacancy], list[int], list[int]]) -> None:
    vacancies, numbers, loads = case
    vacancies = vacancies[:6]
    after = spread_seats(vacancies, numbers, loads)
    assert sum(load * load for load in after) == least_squares(vacancies, loads)


@given(cases())
@settings(max_examples=50)
def test_the_same_asked_again_is_answered_the_same(case: tuple[list[Vacancy], list[int], list[int]]) -> None:
    vacancies, numbers, loads = case
    again = [Vacancy(each.number, each.seats, each.able, each.near) for each in vacancies]
    assert spread_seats(vacancies, numbers, loads) == spread_seats(again, numbers, loads)
    assert [each.taken for each in vacancies] == [each.taken for each in again]


def test_among_equals_who_suits_best_is_chosen_and_seats_are_exchanged_where_that_suits_both() -> None:
    """Four of two countries, eight conversations: whatever the order, everybody gets those of the own country."""
    here, there = 0b0011, 0b1100
    for order in range(40):
        vacancies = [
            Vacancy(number=(order * 7919 + place * 104729) % 65536, seats=1, able=0b1111, near=(wanted,))
            for place, wanted in enumerate([here] * 4 + [there] * 4)
        ]
        assert spread_seats(vacancies, [11, 222, 3333, 44444], [0, 0, 0, 0]) == [2, 2, 2, 2]
        assert all(vacancy.taken & vacancy.near[0] for vacancy in vacancies)
