"""What happens around a round: dates that pass, more said after "nothing to add", recusals, ends by an admin."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.consensus import Ballot as RuleBallot
from annotation.deactivating import deactivate_person
from annotation.discussing import add_comment, adjudicate, end_discussion, request_vote
from annotation.drafting import (
    CriterionIsAdjudicated,
    CriterionIsGone,
    StaleRevision,
    UnknownAxis,
    draft_criterion,
    finish_drafting,
    revise_criterion,
    withdraw_criterion,
)
from annotation.joining import find_person
from annotation.models import Assignment, Conversation, Criterion, Revision, Round, RoundOutcome, Study, User, Vote
from annotation.reaching import out_of_reach
from annotation.round_acts import RoundsUsedUp, close_round, open_round, reopen_drafting_of_each
from annotation.rounds import settle, settle_if_due
from annotation.states import with_criterion_state
from annotation.voting import Ballot, RoundIsRevealedAlready, cast_vote, take_back_vote
from annotation.writers import writers_of
from tests.factories import Panel, current, join, make_conversation, make_panel, make_voting, vote
from tests.journeys.commands import done

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def fresh(criterion: Criterion) -> Criterion:
    return Criterion.objects.select_related("current_revision", "conversation", "study").get(pk=criterion.pk)


def state_of(criterion: Criterion) -> str:
    return str(with_criterion_state(Criterion.objects.filter(pk=criterion.pk)).get().state)


def revise(criterion: Criterion, by: User, text: str) -> Revision:
    return revise_criterion(criterion=fresh(criterion), against=current(criterion), by=by, text=text, points=6)


def disputed(panel: Panel) -> tuple[Conversation, Criterion]:
    """In discussion: three agreed and one said that it is unsafe."""
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    return conversation, criterion


def pass_date(this: Round) -> None:
    Round.objects.filter(pk=this.pk).update(closes_at=timezone.now() - timedelta(seconds=1))


# More said after "nothing to add"


@pytest.mark.parametrize("more", ["revise", "draft", "request"])
def test_who_does_more_takes_the_own_end_back_and_ends_it_again(panel: Panel, more: str) -> None:
    conversation, criterion = disputed(panel)
    for reviewer in [panel.ana, *panel.reviewers]:
        end_discussion(conversation=conversation, by=reviewer)
    assert conversation.rounds.count() == 1, "there was nothing for another round"
    if more == "revise":
        revise(criterion, panel.ana, "Asks about sleep, openly.")
    elif more == "draft":
        draft_criterion(conversation=conversation, writer=panel.ana, text="Names a helpline.", points=4)
    else:
        request_vote(criterion=criterion, by=panel.ana)
    assert conversation.rounds.count() == 1, "who writes may have more to write"
    assert list(Assignment.objects.filter(conversation=conversation, ended_discussion_of=None)) == [
        Assignment.objects.get(conversation=conversation, reviewer=panel.ana)
    ]
    end_discussion(conversation=conversation, by=panel.ana)
    assert conversation.rounds.count() == 2


def test_a_change_of_white_space_is_nothing_more(panel: Panel) -> None:
    conversation, criterion = disputed(panel)
    end_discussion(conversation=conversation, by=panel.ana)
    revise(criterion, panel.ana, "Asks  about sleep.")
    assert not Assignment.objects.filter(reviewer=panel.ana, ended_discussion_of=None).exists()


# Later rounds


def test_a_lone_recusal_in_a_later_round_leaves_a_consensus_alone(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    vote(criterion=criterion, reviewer=panel.ben, choice="recuse")
    close_round(conversation=conversation, by=panel.adam)
    assert state_of(criterion) == "in_consensus"
    assert RoundOutcome.objects.count() == 1


def test_after_the_last_round_nothing_is_written_that_no_round_could_decide(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for number in (1, 2, 3):
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
        if number < 3:
            request_vote(criterion=criterion, by=panel.ben)
            open_round(conversation=conversation, by=panel.adam)
    assert state_of(criterion) == "in_consensus"
    with pytest.raises(RoundsUsedUp):
        revise(criterion, panel.ana, "Asks about sleep, openly.")
    with pytest.raises(RoundsUsedUp):
        draft_criterion(conversation=conversation, writer=panel.ana, text="Names a helpline.", points=4)
    assert state_of(criterion) == "in_consensus"
    assert revise(criterion, panel.ana, "Asks  about sleep."), "white space decides nothing"
    withdraw_criterion(criterion=criterion, by=panel.ana)
    assert state_of(criterion) == "withdrawn"


def test_who_recuses_between_rounds_is_replaced_where_something_is_unsettled(panel: Panel) -> None:
    conversation, _ = disputed(panel)
    fred = join(study=panel.study, name="fred")
    substitute = recuse_from_conversation(conversation=conversation, by=panel.eva)
    assert substitute is not None
    assert substitute.reviewer == fred


def test_a_discussion_with_too_few_left_is_out_of_reach(panel: Panel) -> None:
    conversation, criterion = disputed(panel)
    assert out_of_reach(panel.study) == []
    for reviewer in (panel.dev, panel.eva):
        recuse_from_conversation(conversation=conversation, by=reviewer)
    assert out_of_reach(panel.study) == [conversation]
    withdraw_criterion(criterion=criterion, by=panel.ana)
    assert out_of_reach(panel.study) == [], "nothing is left to decide"


# Dates


def test_what_a_date_decided_no_later_act_moves(panel: Panel) -> None:
    def three_of_four() -> tuple[Conversation, Criterion]:
        conversation, (criterion,), this = make_voting(panel=panel)
        for reviewer in panel.reviewers[1:]:
            vote(criterion=criterion, reviewer=reviewer)
        pass_date(this)
        return conversation, criterion

    _, revised = three_of_four()
    revise(revised, panel.ana, "Asks about sleep, openly.")
    recused, left = three_of_four()
    recuse_from_conversation(conversation=recused, by=panel.eva)
    _, withdrawn = three_of_four()
    withdraw_criterion(criterion=withdrawn, by=panel.ana)
    gone, deactivated = three_of_four()
    deactivate_person(person=panel.eva)
    for criterion in (revised, left, withdrawn, deactivated):
        outcome = RoundOutcome.objects.get(criterion=criterion)
        assert (outcome.result, outcome.points) == ("in_consensus", 6), outcome.sentence
    assert gone.rounds.get().revealed_at is not None


def test_nothing_is_cast_or_taken_back_after_the_date(panel: Panel) -> None:
    _, (criterion,), this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    pass_date(this)
    with pytest.raises(RoundIsRevealedAlready):
        take_back_vote(criterion=fresh(criterion), reviewer=panel.ben)
    with pytest.raises(RoundIsRevealedAlready):
        vote(criterion=criterion, reviewer=panel.chloe)
    assert Vote.objects.get().reviewer == panel.ben


def test_the_next_round_opens_when_the_discussions_date_has_passed(panel: Panel) -> None:
    conversation, criterion = disputed(panel)
    revise(criterion, panel.ana, "Asks about sleep, openly.")
    Conversation.objects.filter(pk=conversation.pk).update(discussion_closes_at=timezone.now() + timedelta(hours=1))
    settle_if_due(panel.study)
    settle(panel.study)
    assert conversation.rounds.count() == 1
    Conversation.objects.filter(pk=conversation.pk).update(discussion_closes_at=timezone.now())
    settle_if_due(panel.study)
    assert conversation.rounds.count() == 2
    conversation.refresh_from_db()
    assert conversation.discussion_closes_at is None, "the date is spent"


def test_a_discussions_date_that_passed_during_the_round_leaves_time_to_discuss(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    Conversation.objects.filter(pk=conversation.pk).update(discussion_closes_at=timezone.now())
    for reviewer, points in zip(panel.reviewers, (1, 1, 9, 9), strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    settle_if_due(panel.study)
    settle(panel.study)
    assert state_of(criterion) == "discussion"
    assert conversation.rounds.count() == 1


# Ends


def test_what_is_adjudicated_is_neither_revised_nor_asked_for(panel: Panel) -> None:
    _, criterion = disputed(panel)
    adjudicate(criterion=fresh(criterion), by=panel.adam, reason="The guideline says otherwise.")
    with pytest.raises(CriterionIsAdjudicated):
        revise(criterion, panel.ana, "Asks about sleep, openly.")
    with pytest.raises(CriterionIsAdjudicated):
        request_vote(criterion=fresh(criterion), by=panel.ben)
    assert state_of(criterion) == "adjudicated"


def test_what_is_withdrawn_is_not_discussed(panel: Panel) -> None:
    _, criterion = disputed(panel)
    withdraw_criterion(criterion=criterion, by=panel.ana)
    for act in (
        lambda: add_comment(criterion=fresh(criterion), author=panel.ben, text="A pity."),
        lambda: request_vote(criterion=fresh(criterion), by=panel.ben),
        lambda: adjudicate(criterion=fresh(criterion), by=panel.adam, reason="It is gone."),
    ):
        with pytest.raises(CriterionIsGone):
            act()


def test_nobody_withdraws_a_wording_that_was_not_seen(panel: Panel) -> None:
    _, criterion = disputed(panel)
    seen = current(criterion)
    revise(criterion, panel.ben, "Asks about sleep, openly.")
    with pytest.raises(StaleRevision):
        withdraw_criterion(criterion=criterion, by=panel.ana, against=seen)
    withdraw_criterion(criterion=criterion, by=panel.ana, against=current(criterion))
    assert state_of(criterion) == "withdrawn"


def test_drafting_that_closed_without_a_criterion_can_be_opened_again(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in panel.reviewers:
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    for reviewer in panel.reviewers:
        finish_drafting(conversation=conversation, by=reviewer)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is not None
    assert done("reopen_drafting", panel.study.slug, conversation.external_id) == {"reopened": 1}
    settle(panel.study)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None
    draft_criterion(conversation=conversation, writer=panel.ben, text="Names a helpline.", points=4)
    for reviewer in panel.reviewers:
        finish_drafting(conversation=conversation, by=reviewer)
    assert conversation.rounds.count() == 1
    refused = reopen_drafting_of_each(study=panel.study, conversations=[conversation.id], by=None)
    assert "nothing to reopen" in refused[conversation.id].sentence


def test_a_round_no_longer_waits_for_whoever_is_deactivated(panel: Panel) -> None:
    _, (criterion,), this = make_voting(panel=panel)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    assert done("deactivate_person", "BEN@example.org")["changed"] is True
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert done("deactivate_person", "ben@example.org")["changed"] is False
    assert done("deactivate_person", "ben@example.org", "--undo")["is_active"] is True
    found = find_person("ben@example.org")
    assert found is not None
    assert found.is_active


# Writers, and the pure rule


def test_a_changed_full_stop_makes_its_author_no_other_writer(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    ballot = Ballot(Vote.Choice.AGREE, 6, better_wording="Asks since when the sleep is bad.")
    cast_vote(criterion=fresh(criterion), seen=current(criterion), reviewer=panel.ben, ballot=ballot)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    revise(criterion, panel.chloe, "Asks since when the sleep is bad!")
    assert panel.ben.id in writers_of([fresh(criterion)])[criterion.id]


@pytest.mark.parametrize("points", [None, 0, 11, -11])
def test_the_rule_takes_no_agreement_without_a_weight(points: int | None) -> None:
    with pytest.raises(ValueError, match="gives a weight"):
        RuleBallot("ben", "w", "agree", points)


def test_many_rounds_are_closed_with_a_fixed_number_of_queries(
    panel: Panel, django_assert_max_num_queries: object
) -> None:
    for _ in range(6):
        _, (criterion,), _ = make_voting(panel=panel)
        vote(criterion=criterion, reviewer=panel.ben)
    with django_assert_max_num_queries(30):  # type: ignore[operator]
        assert done("close_round", panel.study.slug) == {"closed": 6}
    assert not Round.objects.unsettled().exists()


def test_a_criterion_is_revised_under_an_axis_that_the_study_took_away(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    axis = panel.study.axes[0]
    draft = revise_criterion(
        criterion=fresh(criterion), against=current(criterion), by=panel.ana, text="Names it.", points=6, axis=axis
    )
    Study.objects.filter(pk=panel.study.pk).update(axes=panel.study.axes[1:])
    facts = {"criterion": fresh(criterion), "against": draft, "by": panel.ana, "points": 5}
    assert revise_criterion(**facts, text="Names it.", axis=axis).axis == axis  # type: ignore[arg-type]
    conversation = Conversation.objects.get(pk=conversation.pk)  # not the study that it remembers
    with pytest.raises(UnknownAxis):
        draft_criterion(conversation=conversation, writer=panel.ana, text="Another.", points=4, axis=axis)
