"""The desk after a reveal: what was decided, why, without names; and what leads to the next round."""

from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.discussing import add_comment
from annotation.drafting import withdraw_criterion
from annotation.models import Comment, Conversation, Criterion, Policy, Round, Vote, VoteRequest
from annotation.round_acts import close_round, open_round
from annotation.writers import writers_of
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db

REASON = "Two claims in one sentence."


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def revealed(panel: Panel) -> tuple[Conversation, Criterion, Criterion]:
    return reveal_two(panel)


def reveal_two(panel: Panel) -> tuple[Conversation, Criterion, Criterion]:
    """One criterion in consensus, and one that ben objected to and dev has a better wording for."""
    conversation, (agreed, disputed), _ = make_voting(panel=panel, texts=["Asks about sleep.", "Names a helpline."])
    for reviewer in panel.reviewers:
        vote(criterion=agreed, reviewer=reviewer, points=6)
    vote(criterion=disputed, reviewer=panel.ben, choice="object", category="unsafe", reason=REASON)
    vote(criterion=disputed, reviewer=panel.chloe, points=4)
    vote(criterion=disputed, reviewer=panel.eva, choice="abstain")
    Browser(panel.dev).vote(disputed, act="wording", points="8", better_wording="Names a helpline that is open now.")
    conversation.refresh_from_db()
    return conversation, agreed, disputed


def objection() -> Vote:
    return Vote.objects.get(choice="object")


def test_each_criterion_shows_its_outcome_and_how_the_votes_fell(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, _ = revealed
    page = text_of(Browser(panel.chloe).desk(conversation))
    assert "Round 1 is revealed" in page
    assert "1 of 2 criteria is not settled." in page
    assert "In consensus at +6: 4 agreed. You agreed, +6." in page
    assert "somebody objected that it is unsafe" in page
    assert "agreed 2 +8, +4" in page
    assert "objected 1" in page
    assert "abstained 1" in page
    assert f"A reviewer objected: unsafe {REASON}" in page
    assert "A reviewer would write" in page
    assert "that is open now" in page.replace("added: ", "")


def test_no_name_shows_unless_the_policy_shows_names(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    add_comment(criterion=disputed, author=panel.ben, text="I would split it.")
    page = text_of(Browser(panel.chloe).desk(conversation))
    for name in ("Ana", "Ben", "Dev", "Eva"):
        assert name not in page
    assert "A reviewer I would split it." in page
    assert "You I would split it." in text_of(Browser(panel.ben).desk(conversation))
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, names_shown_after_reveal=True)
    assert "Ben" not in text_of(Browser(panel.chloe).desk(conversation)), "a later policy names nobody in hindsight"


def test_names_show_where_the_policy_of_the_reveal_shows_them(panel: Panel) -> None:
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, names_shown_after_reveal=True)
    conversation, _, disputed = reveal_two(panel)
    add_comment(criterion=disputed, author=panel.ben, text="I would split it.")
    named = text_of(Browser(panel.chloe).desk(conversation))
    assert "Ben objected: unsafe" in named
    assert "Ben: objected: unsafe" in named
    assert "Ben I would split it." in named


@pytest.mark.parametrize("htmx", [True, False])
def test_a_comment_is_sent(panel: Panel, revealed: tuple[Conversation, Criterion, Criterion], htmx: bool) -> None:
    _, _, disputed = revealed
    browser = Browser(panel.chloe)
    answer = browser.about(disputed, "comment", htmx=htmx, text="I'd split it.")
    if htmx:
        assert (
            answer.content.decode()
            .strip()
            .startswith(f'<article class="criterion discussed" id="criterion-{disputed.id}"')
        )
    else:
        assert answer.status_code == 303
        answer = browser.client.get(answer["Location"])
    assert "You I'd split it." in text_of(answer)
    assert Comment.objects.get().author == panel.chloe


@pytest.mark.parametrize("htmx", [True, False])
def test_an_empty_comment_comes_back(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion], htmx: bool
) -> None:
    _, _, disputed = revealed
    answer = Browser(panel.chloe).about(disputed, "comment", htmx=htmx, text="  ")
    assert answer.status_code == 422
    assert text_of(answer).count("A comment says something.") == 1
    assert not Comment.objects.exists()


def test_an_accepted_objection_begins_with_the_text_in_place(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    browser = Browser(panel.chloe)
    where: dict[str, Any] = {"slug": panel.study.slug, "criterion_id": disputed.id, "vote_id": objection().id}
    form = browser.get("accept_objection", htmx=True, **where)
    assert "Names a helpline.</textarea>" in form.content.decode()
    assert REASON in text_of(form)
    answer = browser.post(
        "accept_objection",
        {"against": str(disputed.current_revision_id), "text": "Names one helpline.", "weight": "6"},
        htmx=True,
        **where,
    )
    assert answer.status_code == 200
    disputed.refresh_from_db()
    assert disputed.current_revision is not None
    assert disputed.current_revision.answers_vote == objection()
    assert panel.chloe.id in writers_of([disputed])[disputed.id]
    assert panel.ben.id not in writers_of([disputed])[disputed.id]
    page = text_of(browser.desk(conversation))
    assert "It comes to a vote again in the next round." in page
    history = text_of(browser.get("criterion_history", slug=panel.study.slug, criterion_id=disputed.id))
    assert f"It accepts an objection (unsafe): {REASON}" in history


def test_only_a_revealed_objection_to_this_criterion_can_be_accepted(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    _, agreed, disputed = revealed
    browser = Browser(panel.chloe)
    agreeing = Vote.objects.filter(choice="agree").first()
    assert agreeing is not None
    for criterion, ballot in ((agreed, objection()), (disputed, agreeing)):
        answer = browser.get("accept_objection", slug=panel.study.slug, criterion_id=criterion.id, vote_id=ballot.id)
        assert answer.status_code == 404


@pytest.mark.parametrize("htmx", [True, False])
def test_another_vote_is_asked_for(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion], htmx: bool
) -> None:
    conversation, agreed, _ = revealed
    browser = Browser(panel.chloe)
    answer = browser.about(agreed, "ask_for_vote", htmx=htmx)
    assert answer.status_code == (200 if htmx else 303)
    assert VoteRequest.objects.get().asked_by == panel.chloe
    assert "You asked for another vote" in text_of(browser.desk(conversation))
    other = text_of(Browser(panel.dev).desk(conversation))
    assert "You asked for another vote" not in other
    assert "It comes to a vote again in the next round." in other


def test_a_new_criterion_can_be_added(panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]) -> None:
    conversation, _, _ = revealed
    browser = Browser(panel.chloe)
    answer = browser.on(conversation, "draft", htmx=True, text="Asks who is with her.", weight="8")
    assert "New: nobody has voted on it yet." in text_of(answer)
    other = Browser(panel.dev).desk(conversation)
    assert "Asks who is with her." in text_of(other)
    assert "essential" not in text_of(other).split("Asks who is with her.")[0][-80:]


@pytest.mark.parametrize("htmx", [True, False])
def test_when_all_have_nothing_to_add_the_next_round_opens_blind(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion], htmx: bool
) -> None:
    conversation, _, disputed = revealed
    Browser(panel.chloe).about(
        disputed, "revise", against=disputed.current_revision_id, text="Names one helpline.", weight="6"
    )
    add_comment(criterion=disputed, author=panel.ben, text="I would split it.")
    for reviewer in (panel.ana, panel.ben, panel.chloe, panel.dev):
        answer = Browser(reviewer).on(conversation, "end_discussion", htmx=htmx)
        assert answer.status_code == (200 if htmx else 303)
    assert "You have nothing to add." in text_of(Browser(panel.dev).desk(conversation))
    browser = Browser(panel.eva)
    answer = browser.on(conversation, "end_discussion", htmx=htmx)
    if not htmx:
        answer = browser.client.get(answer["Location"])
    page = text_of(answer)
    assert "Criterion 1 of 1" in page
    assert "Round 1: how it went" in page
    assert REASON in page
    assert "You abstained." in page
    assert "in consensus, important, +6" in page
    assert "I would split it" not in page, "while a round is open no comment shows"
    overseer = text_of(Browser(panel.adam).desk(conversation))
    assert "I would split it" not in overseer
    assert "Round 2 is open. Votes show after its reveal." in overseer


def test_ones_last_weight_is_preset_where_only_the_weights_lay_apart(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer, points in zip(panel.reviewers, (2, 2, 9, 9), strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    open_round(conversation=conversation, by=panel.adam)
    answer = Browser(panel.ben).desk(conversation)
    assert "Your last weight was +2. Only the weights lay too far apart last time." in text_of(answer)
    assert 'value="2" data-key="1" aria-pressed="false" class="preset"' in answer.content.decode()
    assert "You agreed, +9." in text_of(Browser(panel.eva).desk(conversation))


def test_after_the_last_round_nothing_more_comes_to_a_vote(panel: Panel) -> None:
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, max_rounds=1)
    conversation, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    close_round(conversation=conversation, by=panel.adam)
    browser = Browser(panel.ben)
    page = text_of(browser.desk(conversation))
    assert "no consensus" in page
    assert "Ask for another vote" not in page
    answer = browser.about(criterion, "ask_for_vote", htmx=True)
    assert answer.status_code == 409
    assert "all the rounds that the policy allows" in text_of(answer)


def test_earlier_rounds_stay_readable(panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]) -> None:
    conversation, _, disputed = revealed
    Browser(panel.chloe).about(
        disputed, "revise", against=disputed.current_revision_id, text="Names one helpline.", weight="6"
    )
    open_round(conversation=conversation, by=panel.adam)
    browser = Browser(panel.dev)
    page = text_of(browser.get("rounds", slug=panel.study.slug, conversation_id=conversation.id))
    assert "Round 2 is open; it stands here after its reveal." in page
    assert "Names a helpline." in page
    assert REASON in page
    history = text_of(browser.get("criterion_history", slug=panel.study.slug, criterion_id=disputed.id))
    assert "removed: a added: one" in history
    assert "Round 1" in history


def test_before_a_reveal_neither_history_nor_rounds_tell_anything(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel, points=7)
    vote(criterion=criterion, reviewer=panel.chloe, choice="object", category="unsafe", reason=REASON)
    for reader in (panel.ben, panel.ana, panel.adam):
        browser = Browser(reader)
        pages = [
            browser.get("criterion_history", slug=panel.study.slug, criterion_id=criterion.id),
            browser.get("rounds", slug=panel.study.slug, conversation_id=conversation.id),
        ]
        for page in pages:
            assert page.status_code == 200
            assert REASON not in text_of(page)
            assert "unsafe" not in text_of(page)
        assert ("+7" in text_of(pages[0])) is (reader != panel.ben)


def test_a_withdrawn_criterion_stays_readable(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    withdraw_criterion(criterion=disputed, by=panel.ana)
    page = text_of(Browser(panel.dev).desk(conversation))
    assert "Withdrawn or merged: 1" in page
    assert "withdrawn" in text_of(
        Browser(panel.dev).get("criterion_history", slug=panel.study.slug, criterion_id=disputed.id)
    )


def test_who_oversees_reads_the_reveal_and_discusses_nothing(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    browser = Browser(panel.rita)
    answer = browser.desk(conversation)
    assert REASON in text_of(answer)
    assert "Send the comment" not in answer.content.decode()
    assert browser.about(disputed, "comment", text="Hm.").status_code == 403
    assert not Comment.objects.exists()


def test_a_comment_in_an_open_round_is_refused_in_a_sentence(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    answer = Browser(panel.ben).about(criterion, "comment", htmx=True, text="Hm.")
    assert answer.status_code == 409
    assert "There is no discussion now" in text_of(answer)


def test_a_whole_panel_goes_from_drafting_to_a_second_round_by_its_pages(panel: Panel) -> None:
    """Drafting, blind votes, the reveal, an accepted objection, the second round: by forms alone."""
    conversation = make_conversation(study=panel.study)
    people = [panel.ana, *panel.reviewers]
    for person in people:
        assign_reviewer(conversation=conversation, reviewer=person)
    browsers = {person: Browser(person) for person in people}
    browsers[panel.ana].on(conversation, "draft", text="Asks about sleep and food.", weight="6")
    browsers[panel.ana].on(conversation, "draft", text="Names a helpline.", weight="8")
    for number, browser in enumerate(browsers.values()):
        browser.on(conversation, "finish_drafting", htmx=number % 2 == 0)
    one, two = (Criterion.objects.get(current_revision__text__startswith=start) for start in ("Asks", "Names"))
    for number, person in enumerate(panel.reviewers):
        browsers[person].vote(two, htmx=number % 2 == 0, points="8")
        if person == panel.ben:
            browsers[person].vote(one, act="object", category="ambiguous", reason=REASON)
        elif person == panel.chloe:
            browsers[person].vote(one, htmx=True, act="object", category="not_gradable", reason="Which?")
        else:
            browsers[person].vote(one, points="6")
    page = text_of(browsers[panel.dev].desk(conversation))
    assert "In consensus at +8: 4 agreed." in page
    assert "2 agreed, 3 are needed" in page
    accepted = Vote.objects.get(category="ambiguous")
    browsers[panel.ana].post(
        "accept_objection",
        {"against": str(one.current_revision_id), "text": "Asks about sleep.", "weight": "6"},
        slug=panel.study.slug,
        criterion_id=one.id,
        vote_id=accepted.id,
    )
    for browser in browsers.values():
        browser.on(conversation, "end_discussion")
    assert Round.objects.get(conversation=conversation, revealed_at=None).number == 2
    for person in panel.reviewers:
        assert "Criterion 1 of 1" in text_of(browsers[person].desk(conversation))
        browsers[person].vote(one, htmx=True, points="6")
    page = text_of(browsers[panel.ana].desk(conversation))
    assert "Round 2 is revealed" in page
    assert "Every criterion here is settled." in page
    assert "In consensus at +6: 4 agreed." in page
    assert "settled nothing left" in text_of(browsers[panel.ana].get("study_conversations", slug=panel.study.slug))
