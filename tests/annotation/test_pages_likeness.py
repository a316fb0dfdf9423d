"""Advice and criteria alike on the pages: while one types, after a save, and in the discussion, for each role."""

from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.models import Criterion, SettledLikeness
from annotation.round_acts import open_round
from tests.annotation.browsing import Browser, text_of
from tests.annotation.test_merging import ALIKE, SLEEP, in_discussion
from tests.factories import Panel, current, draft, make_conversation, make_panel

pytestmark = pytest.mark.django_db
TWO = "Asks about sleep and names a helpline."


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def test_a_saved_draft_carries_its_advice_without_javascript(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    browser = Browser(panel.ana)
    answer = browser.on(conversation, "draft", text=TWO, weight="6")
    assert answer.status_code == 303
    page = text_of(browser.client.get(answer["Location"]))
    assert "Could it be clearer? You may leave it as it is." in page
    assert "two things" in page
    assert "Could it be clearer?" not in text_of(browser.desk(conversation))


def test_the_forms_ask_for_advice_as_one_types(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    own = draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    browser = Browser(panel.ana)
    address = f"/studies/{panel.study.slug}/conversations/{conversation.id}/advice/"
    assert f'hx-post="{address}"' in browser.desk(conversation).content.decode()
    form = browser.get("revise", slug=panel.study.slug, criterion_id=own.id).content.decode()
    assert str(own.id) in form.split(f'hx-post="{address}"')[1].split(">")[0]
    assert "Like what is there already" in text_of(browser.on(conversation, "advice", text=ALIKE))
    assert "Like what" not in text_of(browser.on(conversation, "advice", text=ALIKE, criterion=str(own.id)))
    assert not text_of(browser.on(conversation, "advice", text="", points="no number", criterion="nobody"))


def test_nobody_is_shown_a_draft_that_is_somebody_elses(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    assert "Like what" in text_of(Browser(panel.ana).on(conversation, "advice", text=SLEEP))
    assert "Like what" not in text_of(Browser(panel.ben).on(conversation, "advice", text=SLEEP))
    assert Browser(panel.chloe).on(conversation, "advice", text=SLEEP).status_code == 404
    assert Browser(panel.adam).on(conversation, "advice", text=SLEEP).status_code == 403


@pytest.mark.parametrize("htmx", [True, False])
def test_both_are_kept(panel: Panel, htmx: bool) -> None:
    conversation, one, other = in_discussion(panel)
    browser = Browser(panel.eva)
    answer = browser.on(conversation, "keep_both", htmx=htmx, one=one.id, other=other.id)
    assert answer.status_code == (200 if htmx else 303)
    assert SettledLikeness.objects.get().outcome == "kept_both"
    assert "nearly the same" not in text_of(browser.desk(conversation))


def test_pairs_are_offered_to_reviewers_and_only_in_the_discussion(panel: Panel) -> None:
    conversation, one, _ = in_discussion(panel)
    assert "1 pair of criteria says nearly the same" in text_of(Browser(panel.ana).desk(conversation))
    for person in (panel.adam, panel.rita):
        assert "nearly the same" not in text_of(Browser(person).desk(conversation))
    Browser(panel.ana).about(one, "ask_for_vote")
    open_round(conversation=conversation, by=panel.adam)
    assert "nearly the same" not in text_of(Browser(panel.ana).desk(conversation))


def test_a_pair_that_changed_meanwhile_is_refused_with_its_sentence(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    seen = current(one)
    browser = Browser(panel.chloe)
    browser.about(one, "revise", against=seen.id, text="Asks how the nights are.", weight="6")
    facts = {"kept": one.id, "kept_seen": seen.id, "merged": other.id, "merged_seen": current(other).id}
    answer = browser.on(conversation, "merge", htmx=True, **facts)
    assert answer.status_code == 409
    assert "changed since you saw them" in text_of(answer)
    assert Criterion.objects.get(pk=other.pk).merged_into is None


def test_what_is_named_wrongly_is_not_found(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    browser = Browser(panel.chloe)
    wrong: list[dict[str, Any]] = [
        {},
        {"one": one.id, "other": "nobody"},
        {"one": one.id, "other": in_discussion(panel)[1].id},
    ]
    for facts in wrong:
        assert browser.on(conversation, "keep_both", **facts).status_code == 404
    assert browser.on(conversation, "merge", kept=one.id, merged=other.id).status_code == 404
    assert Browser(panel.adam).on(conversation, "keep_both", one=one.id, other=other.id).status_code == 403
