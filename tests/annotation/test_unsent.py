"""Typed and not sent: kept through a refusal, for its writer alone, and gone once it is sent."""

from collections.abc import Callable
from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.drafting import revise_criterion
from annotation.models import Conversation, Criterion, UnsentText, Vote
from annotation.round_acts import close_round
from annotation.unsent import keep_unsent, sent_comment, sent_draft, sent_revision, sent_vote
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben, panel.chloe, panel.dev):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    return conversation


def kept() -> list[str]:
    return sorted(UnsentText.objects.values_list("place", flat=True))


@pytest.mark.parametrize("htmx", [True, False])
def test_a_criterion_that_came_back_is_there_after_a_walk_to_another_page(
    panel: Panel, conversation: Conversation, htmx: bool
) -> None:
    browser = Browser(panel.ana)
    answer = browser.on(conversation, "draft", htmx=htmx, text="Asks who is with her.", rationale="Alone is worse.")
    assert answer.status_code == 422
    assert "what you wrote is kept" in text_of(answer)
    page = browser.desk(conversation).content.decode()
    assert "Asks who is with her.</textarea>" in page
    assert "Alone is worse.</textarea>" in page
    assert "Asks who is with her." not in Browser(panel.ben).desk(conversation).content.decode()
    browser.on(conversation, "draft", htmx=htmx, text="Asks who is with her.", weight="6")
    assert kept() == []


def test_a_revision_that_came_back_or_was_overtaken_is_kept(panel: Panel, conversation: Conversation) -> None:
    criterion = draft(conversation=conversation, writer=panel.ana)
    seen = criterion.current_revision
    assert seen is not None
    browser = Browser(panel.ana)
    assert browser.about(criterion, "revise", against=seen.id, text="Asks about dreams.").status_code == 422
    assert kept() == [f"revise-{criterion.id}"]
    UnsentText.objects.all().delete()
    revise_criterion(criterion=criterion, against=seen, by=panel.ana, text="Asks about nights.", points=4)
    assert browser.about(criterion, "revise", against=seen.id, text="About dreams.", weight="6").status_code == 409
    form = browser.get("revise", slug=panel.study.slug, criterion_id=criterion.id)
    assert "About dreams.</textarea>" in form.content.decode()


@pytest.mark.parametrize(
    ("act", "sent"), [("object", {"reason": "Two claims."}), ("wording", {"better_wording": "Asks about her nights."})]
)
def test_a_vote_in_words_that_came_back_is_kept(panel: Panel, act: str, sent: dict[str, Any]) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    browser = Browser(panel.ben)
    assert browser.vote(criterion, htmx=True, act=act, **sent).status_code == 422
    assert kept() == [f"{act}-{criterion.id}"]
    assert f"{next(iter(sent.values()))}</textarea>" in browser.desk(conversation).content.decode()
    browser.vote(criterion, htmx=True, act=act, category="ambiguous", points="4", **sent)
    assert kept() == []


def test_a_vote_by_one_key_leaves_what_was_typed_into_a_form(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    browser = Browser(panel.ben)
    browser.on(criterion.conversation, "keep_unsent", place=f"object-{criterion.id}", reason="Two cl")
    browser.vote(criterion, points="4")
    assert kept() == [f"object-{criterion.id}"]


def test_each_act_forgets_its_own_form_alone(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, choice="object")
    close_round(conversation=conversation, by=panel.adam)
    objection = Vote.objects.get()
    one, two = f"revise-{criterion.id}", f"accept-{objection.id}"
    places = ["draft", one, two, f"object-{criterion.id}", f"wording-{criterion.id}", f"comment-{criterion.id}"]
    found = Criterion.objects.get(pk=criterion.pk)
    forgetting: list[tuple[Callable[[], None], str]] = [
        (lambda: sent_draft(writer=panel.ana, conversation=conversation), "draft"),
        (lambda: sent_revision(by=panel.ana, criterion=found), one),
        (lambda: sent_revision(by=panel.ana, criterion=found, accepts=objection.id), two),
        (lambda: sent_vote(reviewer=panel.ana, criterion=found, choice="object"), places[3]),
        (lambda: sent_vote(reviewer=panel.ana, criterion=found, choice="agree", has_wording=True), places[4]),
        (lambda: sent_vote(reviewer=panel.ana, criterion=found, choice="agree"), ""),
        (lambda: sent_comment(author=panel.ana, criterion=found), places[5]),
    ]
    for forget, gone in forgetting:
        for place in places:
            keep_unsent(person=panel.ana, conversation=conversation, place=place, fields={"text": ["x"]})
        forget()
        assert kept() == sorted(set(places) - {gone})


def test_what_is_too_long_to_be_kept_still_comes_back_in_its_form(panel: Panel, conversation: Conversation) -> None:
    answer = Browser(panel.ana).on(conversation, "draft", htmx=True, text="x" * 40_001, weight="6")
    assert answer.status_code == 422
    assert "At most 32,767 characters." in text_of(answer)
    assert kept() == []
