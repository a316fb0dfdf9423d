"""The desk while a round is open: one act a criterion, blind, and the next criterion comes with the answer."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.drafting import revise_criterion
from annotation.models import Conversation, Criterion, Policy, Vote
from annotation.round_acts import close_round
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db

TEXTS = ["Asks about sleep.", "Names a helpline.", "Tells her to wait."]


@pytest.fixture
def panel() -> Panel:
    return make_panel(support_contact="Duty lead: +49 30 1234")


@pytest.fixture
def voting(panel: Panel) -> tuple[Conversation, list[Criterion]]:
    conversation, criteria, _ = make_voting(panel=panel, texts=TEXTS, points=7)
    return conversation, in_order(criteria)


def in_order(criteria: list[Criterion]) -> list[Criterion]:
    """As they come on the desk: by position, then by random id."""
    return sorted(criteria, key=lambda criterion: criterion.id)


def text(criterion: Criterion) -> str:
    assert criterion.current_revision is not None
    return criterion.current_revision.text


def test_one_criterion_is_under_decision_and_no_weight_of_the_author_shows(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    conversation, criteria = voting
    answer = Browser(panel.ben).desk(conversation)
    page = text_of(answer)
    assert "Criterion 1 of 3" in page
    assert "Choosing a weight is agreeing." in page
    assert "You see others' votes after everyone has voted." in page
    assert "+7" not in answer.content.decode()
    assert answer.content.decode().count("waiting") == 2
    for key in "12345owsr":
        assert f'data-key="{key}"' in answer.content.decode()
    assert text(criteria[0]) in page


def test_under_a_prefilled_policy_the_authors_weight_stands_there(panel: Panel) -> None:
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, weights="prefilled")
    conversation, _, _ = make_voting(panel=panel, points=7)
    page = Browser(panel.ben).desk(conversation)
    assert "The author gave it +7." in text_of(page)
    assert 'value="7"' in page.content.decode()


@pytest.mark.parametrize("htmx", [True, False])
def test_choosing_a_weight_agrees_and_brings_the_next_criterion(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], htmx: bool
) -> None:
    _, (one, two, _) = voting
    browser = Browser(panel.ben)
    answer = browser.vote(one, htmx=htmx, points="8")
    cast = Vote.objects.get()
    assert (cast.choice, cast.points, cast.reviewer) == ("agree", 8, panel.ben)
    if htmx:
        assert answer.status_code == 200
        assert answer.content.decode().strip().startswith('<div id="side"')
        assert 'data-says="Saved."' in answer.content.decode()
    else:
        assert answer.status_code == 303
        answer = browser.client.get(answer["Location"])
    page = text_of(answer)
    assert "Criterion 2 of 3" in page
    assert f"{text(one)} agreed, +8" in page
    assert f"data-focus>{text(two)}</h3>" in answer.content.decode()


def test_after_the_last_one_the_desk_says_so_and_leads_on(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    conversation, criteria = voting
    another, _, _ = make_voting(panel=panel)
    browser = Browser(panel.ben)
    for criterion in criteria:
        answer = browser.vote(criterion, htmx=True, points="6")
    page = text_of(answer)
    assert "You have voted on all 3 criteria here" in page
    assert f"/conversations/{another.id}/" in answer.content.decode()
    changed = browser.desk(conversation, criterion=criteria[0].id)
    assert "Criterion 1 of 3" in text_of(changed)
    assert 'value="6" data-key="3" aria-pressed="true"' in changed.content.decode()


def test_a_number_between_the_words_is_a_weight(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ben)
    browser.vote(one, points="5")
    assert Vote.objects.get().points == 5
    assert 'name="points" value="5"' in browser.desk(conversation, criterion=one.id).content.decode()


@pytest.mark.parametrize("htmx", [True, False])
def test_an_objection_has_a_category_and_a_reason(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], htmx: bool
) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ben)
    answer = browser.vote(one, htmx=htmx, act="object", reason="Two claims.")
    assert answer.status_code == 422
    assert "Choose what is wrong with it." in text_of(answer)
    assert "Two claims.</textarea>" in answer.content.decode()
    assert not Vote.objects.exists()
    browser.vote(one, htmx=htmx, act="object", category="ambiguous", reason="Two claims.")
    cast = Vote.objects.get()
    assert (cast.choice, cast.category, cast.reason, cast.points) == ("object", "ambiguous", "Two claims.", None)
    assert "objected: ambiguous" in text_of(browser.desk(conversation))


def test_a_better_wording_comes_with_a_weight(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    _, (one, *_) = voting
    browser = Browser(panel.ben)
    answer = browser.vote(one, htmx=True, act="wording", better_wording="Asks about her nights.")
    assert answer.status_code == 422
    assert "Agreeing is weighing: choose one of these weights." in text_of(answer)
    chosen = re.findall(r'type="radio" name="points" value="(\d+)"', answer.content.decode())
    assert chosen == ["2", "4", "6", "8", "10"], "the same five weights as on the ballot"
    browser.vote(one, htmx=True, act="wording", better_wording="Asks about her nights.", points="4")
    cast = Vote.objects.get()
    assert (cast.choice, cast.points, cast.better_wording) == ("agree", 4, "Asks about her nights.")


def test_the_same_wording_again_is_agreeing_and_no_better_wording(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    _, (one, *_) = voting
    Browser(panel.ben).vote(one, act="wording", better_wording=f" {text(one)}\r\n", points="4")
    assert (Vote.objects.get().points, Vote.objects.get().better_wording) == (4, "")


def test_what_is_missing_is_brought_into_view(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    _, (one, *_) = voting
    answer = Browser(panel.ben).vote(one, htmx=True, act="object")
    assert answer["HX-Reswap"] == "outerHTML show:#what-is-missing:top"
    assert answer.content.decode().count('id="what-is-missing"') == 1


@pytest.mark.parametrize("act", ["abstain", "recuse"])
def test_one_abstains_or_recuses_with_one_button(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], act: str
) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ben)
    browser.vote(one, act=act)
    assert Vote.objects.get().choice == act
    assert {"abstain": "abstained", "recuse": "recused"}[act] in text_of(browser.desk(conversation))


@pytest.mark.parametrize("points", ["", "0", "12", "much"])
def test_agreeing_without_a_weight_comes_back(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], points: str
) -> None:
    _, (one, *_) = voting
    assert Browser(panel.ben).vote(one, htmx=True, points=points).status_code == 422
    assert not Vote.objects.exists()


@pytest.mark.parametrize("htmx", [True, False])
def test_undo_takes_the_last_vote_back_and_lays_it_on_the_desk(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], htmx: bool
) -> None:
    _, (one, two, _) = voting
    browser = Browser(panel.ben)
    browser.vote(one, points="8")
    page = browser.vote(two, htmx=True, points="8").content.decode()
    assert f"/criteria/{two.id}/take-back/" in page
    answer = browser.about(two, "take_back", htmx=htmx)
    if not htmx:
        answer = browser.client.get(answer["Location"])
    assert f"data-focus>{text(two)}</h3>" in answer.content.decode()
    assert Vote.objects.get().wording.criterion == one


def test_a_vote_can_be_changed_until_the_reveal_and_never_after(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ben)
    browser.vote(one, points="8")
    browser.vote(one, points="2")
    assert Vote.objects.get().points == 2
    close_round(conversation=conversation, by=panel.adam)
    for htmx in (True, False):
        answer = browser.vote(one, htmx=htmx, points="10")
        assert answer.status_code == 409
        assert "votes can't be cast or changed any more" in text_of(answer)
    assert Vote.objects.get().points == 2


def test_what_i_wrote_says_that_others_vote(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ana)
    page = text_of(browser.desk(conversation))
    assert "You have nothing to vote on here" in page
    assert page.count("yours: others vote") == 3
    assert "Your criterion" in text_of(browser.desk(conversation, criterion=one.id))
    answer = browser.vote(one, htmx=True, points="8")
    assert answer.status_code == 409
    assert "You wrote this criterion, so your vote on it would not count." in text_of(answer)


def test_nothing_tells_how_many_others_have_voted(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    conversation, criteria = voting
    browser, author = Browser(panel.ben), Browser(panel.ana)
    before = text_of(browser.desk(conversation)), text_of(author.desk(conversation))
    for criterion in criteria:
        vote(criterion=criterion, reviewer=panel.chloe, choice="object", category="unsafe")
        vote(criterion=criterion, reviewer=panel.dev, points=9)
    assert (text_of(browser.desk(conversation)), text_of(author.desk(conversation))) == before


def test_the_vote_that_completes_the_round_is_answered_with_the_reveal(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    _, criteria = voting
    for criterion in criteria:
        for reviewer in (panel.chloe, panel.dev, panel.eva):
            vote(criterion=criterion, reviewer=reviewer)
    browser = Browser(panel.ben)
    for criterion in criteria:
        answer = browser.vote(criterion, htmx=True, points="6")
    page = text_of(answer)
    assert "Round 1 is revealed" in page
    assert page.count("In consensus at +6: 4 agreed.") == 3


@pytest.mark.parametrize("htmx", [True, False])
def test_a_vote_on_a_wording_that_changed_comes_back_with_both(
    panel: Panel, voting: tuple[Conversation, list[Criterion]], htmx: bool
) -> None:
    _, (one, *_) = voting
    seen = one.current_revision
    assert seen is not None
    revise_criterion(criterion=one, against=seen, by=panel.ana, text="Asks how many nights.", points=7)
    browser = Browser(panel.ben)
    answer = browser.vote(one, htmx=htmx, seen=seen.id, act="object", category="ambiguous", reason="Two claims.")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Changed meanwhile." in text_of(answer)
    assert "Asks how many nights." in text_of(answer)
    assert "<del" in page
    assert "Two claims.</textarea>" in page
    assert not Vote.objects.exists()
    one.refresh_from_db()
    assert f'name="seen" value="{one.current_revision_id}"' in page


def test_who_voted_on_an_older_wording_is_asked_again(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    conversation, (one, *_) = voting
    vote(criterion=one, reviewer=panel.ben, points=8)
    assert one.current_revision is not None
    Browser(panel.ana).about(one, "revise", against=one.current_revision_id, text="Asks how many nights.", weight="6")
    page = text_of(Browser(panel.ben).desk(conversation))
    assert "The wording changed since you voted (agreed, +8). Please vote again." in page
    untouched = text_of(Browser(panel.chloe).desk(conversation))
    assert "changed since you voted" not in untouched


def test_only_its_writers_revise_while_the_round_is_open(
    panel: Panel, voting: tuple[Conversation, list[Criterion]]
) -> None:
    _, (one, *_) = voting
    answer = Browser(panel.ben).about(
        one, "revise", htmx=True, against=one.current_revision_id, text="Mine.", weight="6"
    )
    assert answer.status_code == 409
    assert "While a round is open, only a criterion's writers revise it." in text_of(answer)


def test_nobody_but_reviewers_votes(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    _, (one, *_) = voting
    assert Browser(panel.adam).vote(one, points="8").status_code == 403
    assert Browser(panel.oscar).vote(one, points="8").status_code == 404
    assert not Vote.objects.exists()


def test_acts_are_sent_never_fetched(panel: Panel, voting: tuple[Conversation, list[Criterion]]) -> None:
    conversation, (one, *_) = voting
    browser = Browser(panel.ben)
    for name in ("vote", "take_back", "comment", "ask_for_vote"):
        assert browser.get(name, slug=panel.study.slug, criterion_id=one.id).status_code == 405
    for name in ("draft", "finish_drafting", "resume_drafting", "end_discussion", "keep_unsent"):
        assert browser.get(name, slug=panel.study.slug, conversation_id=conversation.id).status_code == 405


def test_the_desk_takes_as_many_queries_for_many_criteria_as_for_few(panel: Panel) -> None:
    counts = []
    for texts in (["One."], [f"Criterion {number}." for number in range(12)]):
        conversation, criteria, _ = make_voting(panel=panel, texts=texts)
        for criterion in criteria:
            vote(criterion=criterion, reviewer=panel.ben)
            vote(criterion=criterion, reviewer=panel.chloe)
        browser = Browser(panel.ben)
        with CaptureQueriesContext(connection) as captured:
            assert browser.desk(conversation).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert counts[0] <= 35
