"""Races of assigning, with real threads: seats are filled once, whoever presses at the same time."""

from functools import partial

import pytest

from annotation.assigning import (
    PlanChanged,
    assign_reviewer,
    assign_reviewers,
    plan_assignment,
    recuse_from_conversation,
    unassign_reviewer,
)
from annotation.models import Assignment
from tests.annotation.test_races import at_once
from tests.factories import join, make_conversation, make_panel, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_two_admins_who_press_at_once_one_fills_the_seats_and_the_other_is_asked_again() -> None:
    study = make_study()
    for number in range(7):
        join(study=study, name=f"person{number}")
    conversations = [make_conversation(study=study) for _ in range(6)]
    plan = plan_assignment(study, reviewers=3).digest
    answers = at_once(*[partial(assign_reviewers, study=study, reviewers=3, plan=plan)] * 4)
    assert sum(isinstance(answer, PlanChanged) for answer in answers) == 3, answers
    for conversation in conversations:
        assert Assignment.objects.active().filter(conversation=conversation).count() == 3


def test_seats_are_filled_once_though_nobody_names_a_plan_and_somebody_recuses_meanwhile() -> None:
    for _ in range(5):
        panel = make_panel()
        extra = [join(study=panel.study, name=f"more{number}") for number in range(3)]
        conversation = make_conversation(study=panel.study)
        assign_reviewers(study=panel.study, reviewers=3)
        leaving = list(Assignment.objects.active().filter(conversation=conversation).order_by("id"))[:2]
        at_once(
            partial(assign_reviewers, study=panel.study, reviewers=3),
            partial(recuse_from_conversation, conversation=conversation, by=leaving[0].reviewer),
            partial(assign_reviewers, study=panel.study, reviewers=3),
            partial(recuse_from_conversation, conversation=conversation, by=leaving[1].reviewer),
        )
        active = Assignment.objects.active().filter(conversation=conversation)
        assert active.count() == 3
        assert not active.filter(reviewer__in=[one.reviewer for one in leaving]).exists()
        assert len(extra) == 3


def test_by_hand_and_all_at_once_make_one_assignment_a_person() -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    answers = at_once(
        partial(assign_reviewer, conversation=conversation, reviewer=panel.ana),
        partial(assign_reviewers, study=panel.study, reviewers=5),
        partial(assign_reviewer, conversation=conversation, reviewer=panel.ana),
    )
    assert not [answer for answer in answers if isinstance(answer, Exception)], answers
    assert Assignment.objects.filter(conversation=conversation).count() == 5


def test_who_is_unassigned_twice_at_once_is_so_once() -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    act = partial(unassign_reviewer, conversation=conversation, reviewer=panel.ana, by=panel.adam)
    answers = at_once(act, act)
    assert sorted(isinstance(answer, Assignment) for answer in answers) == [False, True]
