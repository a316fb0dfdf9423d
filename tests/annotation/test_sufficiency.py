"""Whether all that is in consensus is enough: who says it and when, what stands, and what the database holds."""

from typing import Any

import pytest

from annotation.assigning import recuse_from_conversation
from annotation.care_locks import ConversationIsLocked
from annotation.caring import lock_conversation_for_care
from annotation.deactivating import deactivate_person
from annotation.discussing import request_vote
from annotation.drafting import NotAReviewer, draft_criterion, withdraw_criterion
from annotation.models import Conversation, Criterion, SufficiencyAnswer, User
from annotation.round_acts import close_round, open_round
from annotation.sufficiency import (
    NoSaysNothing,
    SomethingElseIsInConsensus,
    SufficiencyIsNotAsked,
    answer_sufficiency,
    held_out,
    mark_of_wordings,
    sufficiency_of,
    unanswered,
    wordings_in_consensus,
)
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.raw_sql import insert_like, refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def agreed(panel: Panel, *texts: str, **facts: Any) -> tuple[Conversation, list[Criterion]]:
    """A conversation whose criteria are in consensus, revealed."""
    conversation, criteria, _ = make_voting(panel=panel, texts=texts or ("Asks about sleep.",), **facts)
    for criterion in criteria:
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
    return conversation, criteria


def seen(conversation: Conversation) -> str:
    return mark_of_wordings(wordings_in_consensus([conversation.id]).get(conversation.id, []))


def say_yes(conversation: Conversation, by: User) -> SufficiencyAnswer:
    return answer_sufficiency(conversation=conversation, by=by, seen=seen(conversation), is_sufficient=True)


def say_no(conversation: Conversation, by: User, missing: str = "Nothing asks about risk.") -> SufficiencyAnswer:
    return answer_sufficiency(
        conversation=conversation, by=by, seen=seen(conversation), is_sufficient=False, missing=missing
    )


def noes(panel: Panel, conversation: Conversation) -> int:
    return held_out(panel.study)[conversation.id]


def not_answered(conversation: Conversation) -> int | None:
    return unanswered(wordings_in_consensus([conversation.id])).get(conversation.id)


# Who says it, and when


def test_each_reviewer_is_asked_after_the_reveal_a_writer_too(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    assert not_answered(conversation) == 5
    for reviewer in [panel.ana, *panel.reviewers]:
        say_yes(conversation, reviewer)
    assert not_answered(conversation) is None
    assert noes(panel, conversation) == 0


def test_nobody_is_asked_while_drafting_or_while_a_round_is_open(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    with pytest.raises(SufficiencyIsNotAsked):
        say_yes(conversation, panel.ben)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    with pytest.raises(SufficiencyIsNotAsked):
        say_yes(conversation, panel.ben)


def test_nobody_is_asked_where_nothing_is_in_consensus(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer, choice="abstain")
    with pytest.raises(SufficiencyIsNotAsked):
        say_no(conversation, panel.ben)


def test_only_who_reviews_the_conversation_is_asked(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    for person in (panel.adam, panel.rita, panel.oscar):
        with pytest.raises(NotAReviewer):
            say_no(conversation, person)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    with pytest.raises(NotAReviewer):
        say_no(conversation, panel.ben)


def test_nothing_is_said_of_a_locked_conversation(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    lock_conversation_for_care(conversation=conversation, by=panel.ben, words="")
    with pytest.raises(ConversationIsLocked):
        say_yes(conversation, panel.ben)


@pytest.mark.parametrize("missing", ["", "  \n", "a\x00b"])
def test_a_no_says_what_is_missing_or_what_contradicts(panel: Panel, missing: str) -> None:
    conversation, _ = agreed(panel)
    with pytest.raises(NoSaysNothing):
        say_no(conversation, panel.ben, missing=missing)
    answer_sufficiency(
        conversation=conversation, by=panel.ben, seen=seen(conversation), is_sufficient=False, contradicts="1 and 2."
    )
    assert noes(panel, conversation) == 1


def test_a_yes_brings_no_words(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    given = answer_sufficiency(
        conversation=conversation, by=panel.ben, seen=seen(conversation), is_sufficient=True, missing="left over"
    )
    assert given.missing == ""


def test_nobody_answers_about_what_was_not_shown(panel: Panel) -> None:
    conversation, (_, other) = agreed(panel, "Asks about sleep.", "Asks about food.")
    before = seen(conversation)
    withdraw_criterion(criterion=other, by=panel.ana)
    with pytest.raises(SomethingElseIsInConsensus):
        answer_sufficiency(conversation=conversation, by=panel.ben, seen=before, is_sufficient=True)
    assert not SufficiencyAnswer.objects.exists()


# What stands


def test_who_thinks_otherwise_answers_anew_and_the_answer_before_is_kept(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    say_no(conversation, panel.ben)
    assert noes(panel, conversation) == 1
    say_yes(conversation, panel.ben)
    assert noes(panel, conversation) == 0
    say_no(conversation, panel.ben)
    assert noes(panel, conversation) == 1
    assert list(SufficiencyAnswer.objects.order_by("number").values_list("is_sufficient", flat=True)) == [
        False,
        True,
        False,
    ]


def test_the_same_form_sent_twice_is_one_answer(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    assert say_no(conversation, panel.ben) == say_no(conversation, panel.ben)
    assert SufficiencyAnswer.objects.count() == 1


def test_a_yes_is_asked_again_when_what_is_in_consensus_changes_and_a_no_stands(panel: Panel) -> None:
    conversation, (_, other) = agreed(panel, "Asks about sleep.", "Asks about food.")
    say_yes(conversation, panel.ben)
    say_no(conversation, panel.chloe)
    assert not_answered(conversation) == 3
    withdraw_criterion(criterion=other, by=panel.ana)
    assert noes(panel, conversation) == 1, "somebody else's change lifts no doubt"
    assert not_answered(conversation) == 5, "all are asked again"
    say_yes(conversation, panel.chloe)
    assert noes(panel, conversation) == 0
    assert not_answered(conversation) == 4


def test_a_later_round_that_keeps_the_wordings_keeps_the_answers(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    say_yes(conversation, panel.ben)
    draft_criterion(conversation=conversation, writer=panel.ana, text="Asks about food.", points=4)
    open_round(conversation=conversation, by=panel.adam)
    close_round(conversation=conversation, by=panel.adam)
    assert not_answered(conversation) == 4


def test_a_no_ends_with_its_owners_part_in_the_conversation(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    say_no(conversation, panel.ben)
    say_no(conversation, panel.chloe)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    assert noes(panel, conversation) == 1
    deactivate_person(person=panel.chloe)
    assert noes(panel, conversation) == 0


def test_a_conversation_that_nobody_reviews_any_more_was_not_asked_about(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    for reviewer in [panel.ana, *panel.reviewers]:
        recuse_from_conversation(conversation=conversation, by=reviewer)
    assert not_answered(conversation) == 0


def test_while_a_round_is_open_nobody_but_its_owner_is_given_an_answer(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    say_no(conversation, panel.ben)
    wordings = wordings_in_consensus([conversation.id])[conversation.id]
    readers = {"conversation": conversation, "wordings": wordings, "is_reviewer": True}
    assert sufficiency_of(reader=panel.chloe, is_round_open=False, **readers).no == 1  # type: ignore[arg-type]
    assert sufficiency_of(reader=panel.chloe, is_round_open=True, **readers).answers == []  # type: ignore[arg-type]
    assert len(sufficiency_of(reader=panel.ben, is_round_open=True, **readers).answers) == 1  # type: ignore[arg-type]


def test_what_is_asked_of_many_conversations_takes_a_fixed_number_of_queries(
    panel: Panel, django_assert_num_queries: Any
) -> None:
    conversations = [agreed(panel, external_id=f"c{number}")[0] for number in range(3)]
    for few in (conversations[:1], conversations):
        wordings = wordings_in_consensus([this.id for this in few])
        with django_assert_num_queries(2):
            assert len(unanswered(wordings)) == len(few)


# What the database holds


TABLE = "annotation_sufficiencyanswer"


def test_the_database_refuses_what_the_act_refuses(panel: Panel) -> None:
    conversation, (criterion,) = agreed(panel)
    given = say_no(conversation, panel.ben)
    elsewhere, (other,) = agreed(panel, external_id="elsewhere")
    assert refusal(f"UPDATE {TABLE} SET is_sufficient = true") == "23001"
    assert refusal(f"DELETE FROM {TABLE}") == "23001"
    assert refusal(insert_like(TABLE)) == "a_reviewers_answers_are_numbered"
    assert refusal(insert_like(TABLE, number="0")) == "a_reviewers_answers_count_from_1"
    says = "a_no_says_what_is_missing_or_contradicts_a_yes_neither"
    assert refusal(insert_like(TABLE, number="2", missing="' '")) == says
    assert refusal(insert_like(TABLE, number="2", is_sufficient="true")) == says
    assert refusal(insert_like(TABLE, number="2", wordings="'{}'")) == "an_answer_is_about_something"
    assigned = "who_says_whether_it_is_enough_is_assigned"
    assert refusal(insert_like(TABLE, reviewer_id=f"'{panel.adam.id}'")) == assigned
    about = "an_answer_is_about_wordings_of_its_conversation"
    assert refusal(insert_like(TABLE, number="2", wordings=f"'{{{other.current_revision_id}}}'")) == about
    asked = "sufficiency_is_asked_after_a_reveal"
    there = {"number": "2", "conversation_id": f"'{elsewhere.id}'", "wordings": f"'{{{other.current_revision_id}}}'"}
    assert refusal(insert_like(TABLE, **there)) == asked, "after a round of another conversation"
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    assert refusal(insert_like(TABLE, number="2")) == asked
    assert SufficiencyAnswer.objects.get() == given


def test_an_unassigned_conversation_has_no_answer(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    with pytest.raises(NotAReviewer):
        say_yes(conversation, panel.ben)
