"""What a desk holds at all: what must not be seen is never fetched, whatever a template would do with it."""

import pytest

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.desk import Desk, lay_out
from annotation.discussing import add_comment, request_vote
from annotation.models import Conversation, User, Vote
from annotation.round_acts import close_round, open_round
from annotation.tallies import vote_in_words
from annotation.weighing import ladder, weight_in_words
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def desk_of(reader: User, conversation: Conversation) -> Desk:
    found = Conversation.objects.get(pk=conversation.pk)
    return lay_out(reader=reader, study=found.study, conversation=found)


def test_a_desk_holds_ones_own_drafts_alone(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    mine = draft(conversation=conversation, writer=panel.ana)
    draft(conversation=conversation, writer=panel.ben, text="Names a helpline.")
    assert [sheet.id for sheet in desk_of(panel.ana, conversation).sheets] == [mine.id]


def test_in_an_open_round_a_desk_holds_ones_own_votes_and_no_comment(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    add_comment(criterion=criterion, author=panel.ben, text="I would split it.")
    request_vote(criterion=criterion, by=panel.ben)
    assert desk_of(panel.ana, conversation).sheets[0].comments
    open_round(conversation=conversation, by=panel.adam)
    vote(criterion=criterion, reviewer=panel.chloe, points=2)
    for reader in (panel.ana, panel.ben, panel.adam):
        (sheet,) = desk_of(reader, conversation).sheets
        assert (sheet.vote, sheet.older_vote, sheet.comments) == (None, None, [])
    own = desk_of(panel.chloe, conversation).sheets[0].vote
    assert own is not None
    assert own.points == 2


def test_a_reveal_shows_no_vote_of_somebody_who_left_before_it(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="I left.")
    vote(criterion=criterion, reviewer=panel.chloe)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    close_round(conversation=conversation, by=panel.adam)
    tally = desk_of(panel.dev, conversation).sheets[0].last
    assert tally is not None
    assert tally.choices == [("agreed", 1), ("objected", 0)]
    assert tally.objections == []
    assert tally.silent == 2


def test_what_is_settled_but_asked_for_again_is_an_open_matter(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    assert desk_of(panel.ben, conversation).open_matters == []
    request_vote(criterion=criterion, by=panel.ben)
    assert len(desk_of(panel.chloe, conversation).open_matters) == 1


def test_weights_and_votes_are_said_in_words() -> None:
    assert [weight.points for weight in ladder(is_wanted=True)] == [2, 4, 6, 8, 10]
    assert [weight.points for weight in ladder(is_wanted=False)] == [-2, -4, -6, -8, -10]
    assert weight_in_words(6) == "important, +6"
    assert weight_in_words(-10) == "dangerous, −10"
    assert weight_in_words(5) == "+5"
    assert vote_in_words(Vote(choice="agree", points=-4)) == "agreed, −4"
    assert vote_in_words(Vote(choice="object", category="clinically_wrong")) == "objected: clinically wrong"
    assert vote_in_words(Vote(choice="recuse")) == "recused"
