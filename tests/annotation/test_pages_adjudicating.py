"""An admin ends the work on an unsettled criterion, on the conversation's page."""

from typing import Any

import pytest

from annotation.models import Conversation, Criterion
from annotation.states import with_criterion_state
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db
REASON = "The guideline says otherwise."


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def disputed(panel: Panel) -> tuple[Conversation, Criterion]:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers[1:]:
        vote(criterion=criterion, reviewer=reviewer)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    return conversation, criterion


def state_of(criterion: Criterion) -> str:
    return str(with_criterion_state(Criterion.objects.filter(pk=criterion.pk)).get().state)


def test_an_admin_adjudicates_with_a_reason_that_reviewers_read(panel: Panel) -> None:
    conversation, criterion = disputed(panel)
    browser = Browser(panel.adam)
    address: dict[str, Any] = {"slug": panel.study.slug, "conversation_id": conversation.id}
    assert "Adjudicate…" in text_of(browser.get("admin_conversation", **address))
    empty = browser.about(criterion, "adjudicate_criterion", reason=" ")
    assert empty.status_code == 409
    assert "carries its reason" in text_of(empty)
    assert browser.about(criterion, "adjudicate_criterion", reason=REASON).status_code == 302
    assert state_of(criterion) == "adjudicated"
    page = text_of(browser.get("admin_conversation", **address))
    assert f"Adjudicated: {REASON}" in page
    assert "Adjudicate…" not in page
    read = text_of(Browser(panel.chloe).desk(conversation))
    assert REASON in read
    assert "Accept this objection" not in read


def test_nobody_else_does_and_nobody_while_a_round_is_open(panel: Panel) -> None:
    _, criterion = disputed(panel)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        answer = Browser(person).about(criterion, "adjudicate_criterion", reason=REASON)
        assert answer.status_code == status
    _, (voting,), _ = make_voting(panel=panel)
    assert Browser(panel.adam).about(voting, "adjudicate_criterion", reason=REASON).status_code == 409
    elsewhere, (other,), _ = make_voting(panel=make_panel())
    answer = Browser(panel.adam).post(
        "adjudicate_criterion", {"reason": REASON}, slug=panel.study.slug, criterion_id=other.id
    )
    assert answer.status_code == 404
    assert {state_of(criterion), state_of(voting), state_of(other)} == {"discussion", "voting"}
    assert elsewhere.study != panel.study
