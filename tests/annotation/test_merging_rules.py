"""Merging, further: its refusals, what was merged before, two at once, and what the database itself refuses."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.desk import lay_out
from annotation.discussing import adjudicate, request_vote
from annotation.drafting import CriterionIsAdjudicated, CriterionIsGone, draft_criterion, withdraw_criterion
from annotation.merging import keep_both, offered_pairs
from annotation.models import Assignment, Criterion, RoundOutcome, SettledLikeness
from annotation.round_acts import RoundsUsedUp, close_round, open_round
from annotation.states import with_criterion_state
from annotation.writers import writers_of
from consilium.errors import RuleViolation, violated_constraint
from tests.annotation.test_merging import ALIKE, in_discussion, merge
from tests.annotation.test_races import at_once
from tests.factories import Panel, make_panel, make_voting

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def refused_by(act: Callable[[], object]) -> str | None:
    """The name of what the database refuses an act by, now or when its transaction ends."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            act()
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except IntegrityError as refusal:
        return violated_constraint(refusal)
    return None


def test_the_last_outcome_stands_until_the_next_reveal(panel: Panel) -> None:
    _, one, other = in_discussion(panel)
    merge(one, other, panel.chloe)
    kept = with_criterion_state(Criterion.objects.filter(pk=one.pk)).get()
    assert (kept.state, RoundOutcome.objects.get(criterion=one).writers) == ("in_consensus", [panel.ana.id])


def test_who_merges_becomes_no_writer_and_has_more_to_say(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    Assignment.objects.filter(conversation=conversation).update(ended_discussion_of=1)
    merge(one, other, panel.chloe)
    kept = Criterion.objects.select_related("current_revision").get(pk=one.pk)
    assert panel.chloe.id not in writers_of([kept])[one.id]
    assert Assignment.objects.get(conversation=conversation, reviewer=panel.chloe).ended_discussion_of is None
    settled = SettledLikeness.objects.get()
    assert (settled.kept, settled.other, settled.outcome, settled.settled_by) == (one, other, "merged", panel.chloe)


@pytest.mark.django_db(transaction=True)  # each merge is asked about when its own transaction ends
def test_what_was_merged_before_goes_along_with_all_its_writers(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    third = draft_criterion(conversation=conversation, writer=panel.dev, text=f"{ALIKE} Really.", points=4)
    merge(other, third, panel.chloe)
    merge(one, other, panel.chloe)
    assert set(Criterion.objects.filter(merged_into=one)) == {other, third}
    kept = Criterion.objects.select_related("current_revision").get(pk=one.pk)
    assert writers_of([kept])[one.id] == {panel.ana.id, panel.ben.id, panel.dev.id}


def test_one_that_is_settled_by_an_admin_or_withdrawn_is_not_merged(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    withdraw_criterion(criterion=other, by=panel.ben)
    with pytest.raises(CriterionIsGone):
        merge(one, other, panel.chloe)
    with pytest.raises(CriterionIsGone):
        keep_both(one=one, other=other, by=panel.chloe)
    third = draft_criterion(conversation=conversation, writer=panel.ben, text=ALIKE, points=4)
    adjudicate(criterion=third, by=panel.adam, reason="Out of scope.")
    assert offered_pairs(lay_out(reader=panel.chloe, study=panel.study, conversation=conversation)) == []
    for kept, merged in ((one, third), (third, one)):
        with pytest.raises(CriterionIsAdjudicated):
            merge(kept, merged, panel.chloe)


def test_after_the_last_round_nothing_is_offered_or_merged(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    for _ in range(panel.study.policy.max_rounds - 1):
        request_vote(criterion=one, by=panel.chloe)
        open_round(conversation=conversation, by=panel.adam)
        close_round(conversation=conversation, by=panel.adam)
    assert offered_pairs(lay_out(reader=panel.chloe, study=panel.study, conversation=conversation)) == []
    with pytest.raises(RoundsUsedUp):
        merge(one, other, panel.chloe)


def test_too_few_voters_are_told_before(panel: Panel) -> None:
    conversation, _, _ = in_discussion(panel)
    desk = lay_out(reader=panel.chloe, study=panel.study, conversation=conversation)
    [pair] = offered_pairs(desk)
    assert (pair.voters_left, pair.has_too_few_voters) == (3, False)
    Assignment.objects.filter(conversation=conversation, reviewer=panel.eva).delete()
    [pair] = offered_pairs(desk)
    assert pair.has_too_few_voters


@pytest.mark.django_db(transaction=True)
def test_merging_each_into_the_other_at_once_merges_one(panel: Panel) -> None:
    _, one, other = in_discussion(panel)
    answers = at_once(lambda: merge(one, other, panel.chloe), lambda: merge(other, one, panel.dev))
    assert sum(isinstance(answer, RuleViolation) for answer in answers) == 1
    assert Criterion.objects.filter(id__in=[one.id, other.id]).exclude(merged_into=None).count() == 1


def test_what_the_database_refuses(panel: Panel) -> None:
    _, one, other = in_discussion(panel)
    _, (elsewhere,), _ = make_voting(panel=panel)
    into = "a_criterion_is_merged_into_one_that_stands"
    merging = Criterion.objects.filter(pk=other.pk)
    assert refused_by(lambda: merging.update(merged_into=elsewhere)) == into

    def each_into_the_other() -> None:
        merging.update(merged_into=one)
        Criterion.objects.filter(pk=one.pk).update(merged_into=other)

    assert refused_by(each_into_the_other) == into

    def settle(kept: Criterion, merged: Criterion, outcome: str = "kept_both") -> Callable[[], object]:
        return lambda: SettledLikeness.objects.create(kept=kept, other=merged, outcome=outcome, settled_by=panel.ana)

    assert refused_by(settle(one, one)) == "a_likeness_is_of_two_different_criteria"
    assert refused_by(settle(one, elsewhere)) == "a_likeness_is_of_one_conversation"
    assert refused_by(settle(one, other, "merged")) == "a_likeness_is_of_one_conversation"
    assert refused_by(settle(one, other, "forgotten")) == "a_likeness_is_merged_or_kept_both"
    settle(one, other)()
    assert refused_by(settle(other, one)) == "a_likeness_is_settled_once_each_way"
