"""No more emergent conversations in a row than the study allows, counted from what the person finished last."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.assigning import assign_reviewer
from annotation.drafting import finish_drafting
from annotation.models import Assignment, Conversation, Study, Vote
from annotation.pacing import spread_out
from annotation.setting_up import TooManyInARow, set_up_study
from annotation.workload import Part, parts_of
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote

WAITING = st.lists(st.tuples(st.integers(), st.booleans()), max_size=20, unique_by=lambda pair: pair[0])


def longest_run(order: list[int], emergent: set[int], before: int) -> int:
    longest = run = before
    for what in order:
        run = run + 1 if what in emergent else 0
        longest = max(longest, run)
    return longest


@given(WAITING, st.integers(0, 5), st.integers(1, 4))
def test_everything_comes_once_and_each_kind_keeps_its_order(
    waiting: list[tuple[int, bool]], in_a_row: int, limit: int
) -> None:
    order = spread_out(waiting, in_a_row=in_a_row, limit=limit)
    assert sorted(order) == sorted(what for what, _ in waiting)
    for kind in (True, False):
        names = [what for what, is_emergent in waiting if is_emergent is kind]
        assert [what for what in order if what in set(names)] == names


@given(WAITING, st.integers(0, 4), st.integers(1, 4))
def test_the_limit_holds_as_long_as_there_is_another(
    waiting: list[tuple[int, bool]], in_a_row: int, limit: int
) -> None:
    emergent = {what for what, is_emergent in waiting if is_emergent}
    order = spread_out(waiting, in_a_row=in_a_row, limit=limit)
    last_other = max((place for place, what in enumerate(order) if what not in emergent), default=-1)
    assert longest_run(order[: last_other + 1], emergent, 0) <= limit
    if in_a_row >= limit and last_other >= 0:
        assert order[0] not in emergent


@given(WAITING, st.integers(0, 5))
def test_no_limit_moves_nothing(waiting: list[tuple[int, bool]], in_a_row: int) -> None:
    assert spread_out(waiting, in_a_row=in_a_row, limit=0) == [what for what, _ in waiting]


def part(panel: Panel) -> Part:
    study = Study.objects.get(pk=panel.study.pk)
    return parts_of(panel.ben, [study])[study.id]


def drafting(panel: Panel, *acuities: str) -> list[Conversation]:
    found = []
    for number, acuity in enumerate(acuities):
        this = make_conversation(study=panel.study, acuity=acuity or None, position=number)
        for reviewer in (panel.ben, panel.chloe):
            assign_reviewer(conversation=this, reviewer=reviewer)
        found.append(this)
    return found


def finish(panel: Panel, conversation: Conversation, at: datetime | None = None) -> None:
    finish_drafting(conversation=conversation, by=panel.ben)
    if at is not None:
        Assignment.objects.filter(conversation=conversation, reviewer=panel.ben).update(finished_drafting_at=at)


@pytest.mark.django_db
def test_after_two_emergent_ones_another_is_opened_though_it_comes_later() -> None:
    panel = make_panel()
    one, two, three, other = drafting(panel, "emergent", "emergent", "emergent", "non_acute")
    assert part(panel).waiting == (one.id, two.id, other.id, three.id)
    finish(panel, one)
    assert part(panel).next() == two.id
    assert part(panel).next(after=two.id) == three.id
    finish(panel, two)
    assert part(panel).next() == other.id
    assert not part(panel).is_a_pause_due
    finish(panel, other)
    assert part(panel).next() == three.id
    assert not part(panel).is_a_pause_due


@pytest.mark.django_db
def test_where_only_emergent_ones_are_left_a_pause_is_offered_and_nothing_is_blocked() -> None:
    panel = make_panel()
    one, two, three = drafting(panel, "emergent", "emergent", "emergent")
    finish(panel, one)
    assert not part(panel).is_a_pause_due
    finish(panel, two)
    assert part(panel).is_a_pause_due
    assert part(panel).next() == three.id
    set_up_study(study=panel.study, by=panel.adam, emergent_in_a_row=0)
    assert not part(panel).is_a_pause_due


@pytest.mark.django_db
def test_in_a_row_is_by_the_time_of_the_last_own_act_of_whatever_kind() -> None:
    panel = make_panel()
    one, two, calm, _, _ = drafting(panel, "emergent", "emergent", "", "emergent", "high_acuity")
    now = timezone.now()
    for number, this in enumerate((calm, one, two)):
        finish(panel, this, now - timedelta(hours=9 - number))
    assert part(panel).in_a_row == 2
    voting, (criterion,), _ = make_voting(panel=panel, acuity="non_acute")
    vote(criterion=criterion, reviewer=panel.chloe)
    assert part(panel).in_a_row == 2, "another's vote is nobody else's business"
    vote(criterion=criterion, reviewer=panel.ben)
    assert part(panel).in_a_row == 0
    Vote.objects.filter(reviewer=panel.ben).update(cast_at=now - timedelta(days=9))
    assert part(panel).in_a_row == 2
    mine = Assignment.objects.filter(conversation=voting, reviewer=panel.ben)
    mine.update(ended_discussion_at=now)
    assert part(panel).in_a_row == 0


@pytest.mark.django_db
def test_a_study_allows_from_none_to_fifty_in_a_row() -> None:
    panel = make_panel()
    for wrong in (-1, 51, "two"):
        with pytest.raises(TooManyInARow):
            set_up_study(study=panel.study, by=panel.adam, emergent_in_a_row=wrong)
