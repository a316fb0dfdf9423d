"""Criteria that are alike: found among those that one may see, offered in the discussion, merged or both kept."""

import pytest

from annotation.assigning import assign_reviewer
from annotation.desk import lay_out
from annotation.discussing import NotInDiscussion
from annotation.drafting import CriterionIsGone, NotAReviewer
from annotation.finding_alike import find_similar, seen_in_study
from annotation.likeness import find_pairs
from annotation.merging import ChangedMeanwhile, NotOneConversation, keep_both, merge_criteria, offered_pairs
from annotation.models import Conversation, Criterion, Revision, User, VoteRequest
from annotation.permissions import visible_criteria
from annotation.round_acts import close_drafting, close_round, open_round
from annotation.states import with_criterion_state
from annotation.voting import WritersDoNotVote
from annotation.writers import writers_of
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, current, draft, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db
SLEEP = "Asks since when the user has slept badly, before advising anything."
ALIKE = "Asks since when the user has slept so badly, before advising anything."
MIRRORED = "Fails to ask since when the user has slept badly, before advising anything."


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def in_discussion(panel: Panel) -> tuple[Conversation, Criterion, Criterion]:
    """Two likenesses by ana and ben, decided in round 1."""
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, *panel.reviewers):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    one = draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    other = draft(conversation=conversation, writer=panel.ben, text=ALIKE)
    close_drafting(conversation=conversation, by=panel.adam)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=one, reviewer=reviewer)
        vote(criterion=other, reviewer=reviewer)
    close_round(conversation=conversation, by=panel.adam)
    conversation.refresh_from_db()
    return conversation, one, other


def merge(kept: Criterion, merged: Criterion, by: User, *, seen: Revision | None = None) -> None:
    kept, merged = (Criterion.objects.get(pk=each.pk) for each in (kept, merged))
    merge_criteria(kept=kept, kept_seen=seen or current(kept), merged=merged, merged_seen=current(merged), by=by)


def test_pairs_are_alike_or_mirrored() -> None:
    [alike] = find_pairs([(SLEEP, 8), ("Names a helpline.", 6), (ALIKE, 4)])
    assert (alike.one, alike.other, alike.is_mirrored) == (0, 2, False)
    [mirrored] = find_pairs([(SLEEP, 8), (MIRRORED, -8)])
    assert mirrored.is_mirrored
    assert find_pairs([("Asks about sleep.", 8), ("Asks about food.", 8)]) == []


def test_nothing_is_found_that_the_person_may_not_see(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    assert find_similar(reader=panel.ben, conversation=conversation, text=ALIKE) == []
    [found] = find_similar(reader=panel.ana, conversation=conversation, text=ALIKE)
    assert (found.text, found.is_here) == (SLEEP, True)


def test_what_is_seen_in_a_study_is_what_is_visible_in_each_conversation(panel: Panel) -> None:
    in_discussion(panel)
    make_voting(panel=panel, texts=["Names a helpline."])
    drafting = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=drafting, reviewer=reviewer)
        draft(conversation=drafting, writer=reviewer, text=f"Is kind, says {reviewer.name}.")
    for person in (panel.ana, panel.ben, panel.eva, panel.adam, panel.rita):
        conversations = Conversation.objects.visible_to(person).filter(study=panel.study)
        expected = {each.id for this in conversations for each in visible_criteria(person, this)}
        assert set(seen_in_study(person, panel.study).values_list("id", flat=True)) == expected


def test_merging_keeps_writers_and_asks_for_another_vote(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    desk = lay_out(reader=panel.chloe, study=panel.study, conversation=conversation)
    [pair] = offered_pairs(desk)
    assert {pair.one.id, pair.other.id} == {one.id, other.id}
    merge(one, other, panel.chloe)
    assert with_criterion_state(Criterion.objects.filter(pk=other.pk)).get().state == "merged"
    assert writers_of([Criterion.objects.select_related("current_revision").get(pk=one.pk)])[one.id] == {
        panel.ana.id,
        panel.ben.id,
    }
    assert VoteRequest.objects.get().criterion == one
    open_round(conversation=conversation, by=panel.adam)
    with pytest.raises(WritersDoNotVote):
        vote(criterion=one, reviewer=panel.ben)
    vote(criterion=one, reviewer=panel.chloe)


def test_both_are_kept_and_the_pair_is_not_asked_about_again(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    keep_both(one=other, other=one, by=panel.dev)
    assert offered_pairs(lay_out(reader=panel.chloe, study=panel.study, conversation=conversation)) == []


def test_refusals(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    _, (elsewhere,), _ = make_voting(panel=panel)
    with pytest.raises(NotOneConversation):
        merge(one, elsewhere, panel.chloe)
    with pytest.raises(NotOneConversation):
        merge(one, one, panel.chloe)
    with pytest.raises(NotAReviewer):
        merge(one, other, panel.rita)
    with pytest.raises(ChangedMeanwhile):
        merge(one, other, panel.chloe, seen=current(other))
    merge(one, other, panel.chloe)
    with pytest.raises(CriterionIsGone):
        merge(other, one, panel.chloe)
    open_round(conversation=conversation, by=panel.adam)
    with pytest.raises(NotInDiscussion):
        keep_both(one=Criterion.objects.get(pk=one.pk), other=Criterion.objects.get(pk=other.pk), by=panel.chloe)


@pytest.mark.parametrize("htmx", [True, False])
def test_the_page_offers_and_merges(panel: Panel, htmx: bool) -> None:
    conversation, one, other = in_discussion(panel)
    browser = Browser(panel.chloe)
    assert "1 pair of criteria says nearly the same" in text_of(browser.desk(conversation))
    answer = browser.on(
        conversation,
        "merge",
        htmx=htmx,
        kept=one.id,
        kept_seen=current(one).id,
        merged=other.id,
        merged_seen=current(other).id,
    )
    assert answer.status_code == (200 if htmx else 303)
    assert Criterion.objects.get(pk=other.pk).merged_into == one
    assert Browser(panel.oscar).on(conversation, "keep_both", one=one.id, other=other.id).status_code == 404
