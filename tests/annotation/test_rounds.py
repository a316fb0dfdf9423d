"""From drafting to reveal, discussion and a second round; what waits, what counts, what is stored."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from annotation import revealing, round_acts, rounds
from annotation.assigning import assign_reviewers, recuse_from_conversation
from annotation.discussing import accept_objection, add_comment, end_discussion, request_vote
from annotation.drafting import (
    DraftingIsClosed,
    NotAReviewer,
    NotAWriter,
    NotYourDraft,
    StaleRevision,
    draft_criterion,
    finish_drafting,
    revise_criterion,
    withdraw_criterion,
)
from annotation.joining import leave_study
from annotation.models import Criterion, Revision, Round, RoundOutcome, User, Vote
from annotation.states import count_states, with_criterion_state
from annotation.voting import Ballot, NotEligible, RoundIsRevealedAlready, WritersDoNotVote, cast_vote
from annotation.writers import writers_of
from tests.factories import Panel, current, draft, join, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def state_of(criterion: Criterion) -> str:
    return str(with_criterion_state(Criterion.objects.filter(pk=criterion.pk)).get().state)


def revise(criterion: Criterion, by: User, text: str) -> Revision:
    criterion = Criterion.objects.get(pk=criterion.pk)
    return revise_criterion(criterion=criterion, against=current(criterion), by=by, text=text, points=6)


def test_drafting_closes_and_round_1_opens_when_all_assigned_have_finished(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewers(study=panel.study)
    criterion = draft(conversation=conversation, writer=panel.ana)
    assert state_of(criterion) == "draft"
    for reviewer in panel.reviewers:
        finish_drafting(conversation=conversation, by=reviewer)
    assert not conversation.rounds.exists()
    finish_drafting(conversation=conversation, by=panel.ana)
    assert conversation.rounds.get().number == 1
    assert state_of(criterion) == "voting"
    with pytest.raises(DraftingIsClosed):
        draft(conversation=conversation, writer=panel.ben)


def test_with_nobody_assigned_drafting_stays_open(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    rounds.settle(panel.study)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None


def test_a_conversation_without_criteria_has_no_round(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assert round_acts.close_drafting(conversation=conversation, by=panel.adam)
    assert not conversation.rounds.exists()
    assert count_states(panel.study)["conversations"]["drafting"] == 1


def test_drafting_closes_by_its_date(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study, drafting_closes_at=timezone.now() - timedelta(minutes=1))
    assign_reviewers(study=panel.study)
    rounds.settle_if_due(panel.study)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is not None


def test_each_drafts_alone_until_drafting_closes(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewers(study=panel.study)
    criterion = draft(conversation=conversation, writer=panel.ana)
    with pytest.raises(NotYourDraft):
        revise(criterion, panel.ben, "Asks when the sleep went.")
    with pytest.raises(NotAReviewer):
        draft(conversation=conversation, writer=panel.oscar)


def test_a_round_is_revealed_by_its_last_vote_and_by_none_before(panel: Panel) -> None:
    _, (one, two), this = make_voting(panel=panel, texts=["Asks about sleep.", "Gives a list of tips."])
    for criterion in (one, two):
        for reviewer in panel.reviewers:
            this.refresh_from_db()
            assert this.revealed_at is None
            assert not RoundOutcome.objects.exists()
            vote(criterion=criterion, reviewer=reviewer, choice="agree" if criterion == one else "object")
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert (state_of(one), state_of(two)) == ("in_consensus", "out")
    outcome = RoundOutcome.objects.get(criterion=one)
    assert outcome.points == 6
    assert sorted(outcome.eligible) == sorted(person.id for person in panel.reviewers)
    assert outcome.writers == [panel.ana.id]


def test_recomputing_gives_what_was_stored(panel: Panel) -> None:
    _, criteria, this = make_voting(panel=panel, texts=["A?", "B?", "C?"])
    choices = [("agree", 6), ("agree", 8), ("object", None), ("abstain", None)]
    for shift, criterion in enumerate(criteria):
        for index, reviewer in enumerate(panel.reviewers):
            choice, points = choices[(index + shift) % 4]
            vote(criterion=criterion, reviewer=reviewer, choice=choice, points=points)
    this.refresh_from_db()
    assert this.policy is not None
    gathered = revealing.gather([this])[this.id]
    stored = {outcome.criterion_id: outcome for outcome in RoundOutcome.objects.filter(round=this)}
    assert len(gathered) == len(stored) == 3
    for covered in gathered:
        again = revealing.outcome_of(this, covered, this.policy, revealing.rule_of(this.policy))
        was = stored[covered.criterion.id]
        assert (again.result, again.points, again.failing, again.sentence, again.writers, again.eligible) == (
            was.result,
            was.points,
            was.failing,
            was.sentence,
            was.writers,
            was.eligible,
        )


def test_a_writer_and_an_outsider_do_not_vote(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    with pytest.raises(WritersDoNotVote):
        vote(criterion=criterion, reviewer=panel.ana)
    with pytest.raises(NotEligible):
        vote(criterion=criterion, reviewer=panel.rita)


def test_a_vote_can_be_changed_until_the_reveal_and_never_after(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, points=2)
    vote(criterion=criterion, reviewer=panel.ben, points=6)
    assert Vote.objects.get(reviewer=panel.ben).points == 6
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    with pytest.raises(RoundIsRevealedAlready):
        vote(criterion=criterion, reviewer=panel.ben, choice="abstain")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE annotation_vote SET points = points",
        "UPDATE annotation_vote SET points = 9",
        "DELETE FROM annotation_vote",
        "TRUNCATE annotation_vote CASCADE",
        "INSERT INTO annotation_vote SELECT gen_random_uuid(), choice, points, better_wording, category, reason, "
        "cast_at, imported_from_id, gen_random_uuid(), round_id, wording_id FROM annotation_vote LIMIT 1",
    ],
)
def test_the_database_itself_refuses_to_touch_votes_after_the_reveal(panel: Panel, statement: str) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_round_past_its_date_takes_no_vote_even_before_it_is_settled(panel: Panel) -> None:
    _, (criterion,), this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    Round.objects.filter(pk=this.pk).update(closes_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(RoundIsRevealedAlready):
        vote(criterion=criterion, reviewer=panel.chloe)
    with pytest.raises(DatabaseError), transaction.atomic():
        Vote.objects.update(points=3)
    rounds.settle_if_due(panel.study)
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert state_of(criterion) == "discussion"


def test_a_revision_in_an_open_round_asks_its_voters_again(panel: Panel) -> None:
    _, (criterion,), this = make_voting(panel=panel)
    seen = current(criterion)
    vote(criterion=criterion, reviewer=panel.ben)
    with pytest.raises(NotAWriter):
        revise(criterion, panel.ben, "Asks when the sleep went.")
    revise(criterion, panel.ana, "Asks when the sleep went.")
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    this.refresh_from_db()
    assert this.revealed_at is None
    assert Vote.objects.filter(reviewer=panel.ben, wording=seen).exists()
    vote(criterion=criterion, reviewer=panel.ben)
    this.refresh_from_db()
    assert this.revealed_at is not None


def test_a_change_of_white_space_keeps_the_votes_and_makes_nobody_a_writer(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    revision = revise(criterion, panel.ana, "Asks  about sleep. ")
    assert revision.wording_id == Revision.objects.get(criterion=criterion, number=1).id
    assert not revision.writers.exists()
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    assert state_of(criterion) == "in_consensus"


def test_letter_case_is_no_white_space(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel, texts=["Asks about SAD."])
    revision = revise(criterion, panel.ana, "Asks about sad.")
    assert revision.wording_id == revision.id


def test_two_who_edit_at_once_never_overwrite_each_other(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    against = current(criterion)
    revise(criterion, panel.ana, "Asks when the sleep went.")
    with pytest.raises(StaleRevision) as refusal:
        revise_criterion(criterion=criterion, against=against, by=panel.ana, text="Asks how long.", points=6)
    assert refusal.value.current.text == "Asks when the sleep went."
    assert refusal.value.text == "Asks how long."


def test_recusing_from_the_conversation_takes_the_own_votes_out_and_brings_a_substitute(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    fay = join(study=panel.study, name="fay")
    substitute = recuse_from_conversation(conversation=conversation, by=panel.ben)
    assert substitute is not None
    assert substitute.reviewer == fay
    for reviewer in [panel.chloe, panel.dev, panel.eva]:
        vote(criterion=criterion, reviewer=reviewer)
    this.refresh_from_db()
    assert this.revealed_at is None
    vote(criterion=criterion, reviewer=fay)
    assert state_of(criterion) == "in_consensus"


def test_recusing_can_complete_a_round(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert state_of(criterion) == "in_consensus"


def test_after_the_reveal_nothing_moves_when_somebody_leaves(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    before = list(RoundOutcome.objects.values())
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    leave_study(study=panel.study, person=panel.chloe)
    assert list(RoundOutcome.objects.values()) == before
    assert state_of(criterion) == "in_consensus"


def test_an_objection_is_accepted_and_a_second_round_settles_it(panel: Panel) -> None:
    conversation, (criterion, good), _ = make_voting(panel=panel, texts=["Urges to call now.", "Asks about sleep."])
    for reviewer in panel.reviewers:
        vote(criterion=good, reviewer=reviewer)
        choice = "object" if reviewer == panel.dev else "agree"
        vote(criterion=criterion, reviewer=reviewer, choice=choice, category="unsafe")
    assert (state_of(criterion), state_of(good)) == ("discussion", "in_consensus")
    add_comment(criterion=criterion, author=panel.dev, text="It frightens who isn't at risk.")
    objection = Vote.objects.get(choice="object")
    revision = accept_objection(
        vote=objection,
        against=current(criterion),
        by=panel.ana,
        text="Offers a number to call, without urging.",
        points=6,
        axis="",
    )
    assert revision.answers_vote == objection
    for reviewer in [panel.ana, *panel.reviewers]:
        end_discussion(conversation=conversation, by=reviewer)
    second = conversation.rounds.get(number=2)
    assert list(second.covered.values_list("criterion", flat=True)) == [criterion.id]
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    assert (state_of(criterion), state_of(good)) == ("in_consensus", "in_consensus")


def test_a_next_round_needs_something_to_vote_on(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    with pytest.raises(round_acts.NothingToVoteOn):
        round_acts.open_round(conversation=conversation, by=panel.adam)
    request_vote(criterion=criterion, by=panel.ben)
    assert round_acts.open_round(conversation=conversation, by=panel.adam).number == 2


def test_silence_in_a_later_round_leaves_the_earlier_outcome(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    request_vote(criterion=criterion, by=panel.ben)
    round_acts.open_round(conversation=conversation, by=panel.adam)
    assert state_of(criterion) == "voting"
    round_acts.close_round(conversation=conversation, by=panel.adam)
    assert state_of(criterion) == "in_consensus"


def test_what_fails_on_the_weights_alone_is_proposed_for_the_next_round(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer, points in zip(panel.reviewers, [1, 5, 6, 10], strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    assert RoundOutcome.objects.get().failing == ["spread"]
    assert round_acts.open_round(conversation=conversation, by=panel.adam).covered.get().is_proposed


def test_what_is_unsettled_after_the_last_round_is_no_consensus(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for number in (1, 2, 3):
        for index, reviewer in enumerate(panel.reviewers):
            vote(criterion=criterion, reviewer=reviewer, choice="object" if index < 2 else "agree")
        if number < 3:
            request_vote(criterion=criterion, by=panel.ben)
            round_acts.open_round(conversation=conversation, by=panel.adam)
    assert state_of(criterion) == "no_consensus"
    with pytest.raises(round_acts.RoundsUsedUp):
        round_acts.open_round(conversation=conversation, by=panel.adam)


def test_withdrawing_the_last_open_criterion_reveals_the_round(panel: Panel) -> None:
    _, (one, two), this = make_voting(panel=panel, texts=["A?", "B?"])
    for reviewer in panel.reviewers:
        vote(criterion=one, reviewer=reviewer)
    withdraw_criterion(criterion=two, by=panel.ana)
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert (state_of(one), state_of(two)) == ("in_consensus", "withdrawn")


def test_a_reviewer_who_adds_a_criterion_in_discussion_is_its_writer(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    added = draft_criterion(conversation=conversation, writer=panel.ben, text="Names a helpline.", points=4)
    assert state_of(added) == "discussion"
    round_acts.open_round(conversation=conversation, by=panel.adam)
    with pytest.raises(WritersDoNotVote):
        vote(criterion=added, reviewer=panel.ben)
    for reviewer in [panel.ana, panel.chloe, panel.dev, panel.eva]:
        vote(criterion=added, reviewer=reviewer, points=4)
    assert state_of(added) == "in_consensus"


def test_settling_many_rounds_takes_a_fixed_number_of_queries(
    panel: Panel, django_assert_max_num_queries: object
) -> None:
    def past_date(count: int) -> None:
        for _ in range(count):
            _, criteria, this = make_voting(panel=panel, texts=["A?", "B?"])
            for criterion in criteria:
                vote(criterion=criterion, reviewer=panel.ben)
            Round.objects.filter(pk=this.pk).update(closes_at=timezone.now())

    past_date(8)
    with django_assert_max_num_queries(27):  # type: ignore[operator]
        assert len(rounds.settle(panel.study)) == 8


def test_whose_better_wording_is_taken_over_becomes_a_writer_of_it(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    better = "Asks since when the sleep is bad."
    cast_vote(
        criterion=criterion,
        seen=current(criterion),
        reviewer=panel.ben,
        ballot=Ballot(Vote.Choice.AGREE, 6, better_wording=better),
    )
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    revise(criterion, panel.chloe, better)
    assert writers_of([Criterion.objects.get(pk=criterion.pk)])[criterion.id] == {
        panel.ana.id,
        panel.ben.id,
        panel.chloe.id,
    }
    round_acts.open_round(conversation=conversation, by=panel.adam)
    with pytest.raises(WritersDoNotVote):
        vote(criterion=criterion, reviewer=panel.ben)
