"""The desk in a real browser: keys rest in an open form, what one did is in view and said, a phone cuts nothing off."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from annotation.assigning import assign_reviewer
from annotation.models import Conversation, Criterion, User, Vote
from annotation.round_acts import close_round
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.journeys.test_browser import session_of

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

TEXTS = [f"Asks about night {number}, and about the one before it, and who was there." for number in range(6)]


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="crisis", support_contact="Call Maya, extension 12, by day and by night, whatever it is.")


class Desk:
    """One person's page, and what its console complained of."""

    def __init__(self, browser: Browser, person: User, address: str, conversation: Conversation) -> None:
        self.page = session_of(browser, person, address)
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if "oob" in said.text else None)
        self.page.emulate_media(reduced_motion="reduce")
        self.address = f"{address}/studies/crisis/conversations/{conversation.id}/"

    def open(self, *, width: int = 1280, height: int = 700, anchor: str = "") -> Page:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(self.address + anchor)
        return self.page


@pytest.fixture
def desks(browser: Browser, live_server: Any) -> Iterator[Any]:
    opened: list[Desk] = []

    def make(person: User, conversation: Conversation) -> Desk:
        opened.append(Desk(browser, person, live_server.url, conversation))
        return opened[-1]

    yield make
    for desk in opened:
        assert desk.complaints == []
        desk.page.context.close()


def saved(page: Page) -> None:
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_role("status")).to_be_in_viewport()


def test_while_a_form_is_open_no_key_votes(panel: Panel, desks: Any) -> None:
    conversation, _, _ = make_voting(panel=panel, texts=TEXTS[:2])
    page = desks(panel.ben, conversation).open()
    page.keyboard.press("o")
    expect(page.get_by_label("unsafe", exact=True)).to_be_focused()
    page.get_by_label("ambiguous").check()
    for key in ("1", "s", "r", "w", "z"):
        page.keyboard.press(key)
    page.locator(".criterion-text").first.click()
    for key in ("1", "s", "r"):
        page.keyboard.press(key)
    expect(page.get_by_label("What is wrong, and what would mend it")).to_be_visible()
    page.get_by_label("What is wrong, and what would mend it").fill("Two claims")
    page.keyboard.press("Escape")
    expect(page.get_by_label("What is wrong, and what would mend it")).not_to_be_visible()
    page.keyboard.press("w")
    wording = page.get_by_label("A better wording")
    expect(wording).to_be_focused()
    before = wording.input_value()
    page.keyboard.type("As 1 s")
    expect(wording).to_have_value(f"{before}As 1 s")
    page.wait_for_timeout(200)
    assert not Vote.objects.exists()
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    expect(page.get_by_label("ambiguous")).to_be_focused()
    expect(page.get_by_label("What is wrong, and what would mend it")).to_have_value("Two claims")
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    expect(page.get_by_text("Criterion 2 of 2")).to_be_visible()
    assert [cast.points for cast in Vote.objects.all()] == [8]


def test_what_one_did_in_a_discussion_is_in_view(panel: Panel, desks: Any) -> None:
    conversation, criteria, _ = make_voting(panel=panel, texts=TEXTS)
    for criterion in criteria:
        vote(criterion=criterion, reviewer=panel.ben, choice="object")
    close_round(conversation=conversation, by=panel.adam)
    make_voting(panel=panel)
    page = desks(panel.chloe, conversation).open()
    last = page.locator("article.discussed").nth(4)
    last.get_by_role("link", name="Revise…", exact=True).click()
    page.get_by_label("Criterion", exact=True).fill("Asks who is with her.")
    page.locator("#side .weights label", has_text="+8").click()
    page.get_by_role("button", name="Save", exact=True).click()
    card = page.locator("article.discussed", has_text="Asks who is with her.")
    expect(card.locator(".criterion-text")).to_be_in_viewport()
    expect(card.locator(".criterion-text")).to_be_focused()
    expect(card.locator(".just-saved")).to_be_in_viewport()
    saved(page)
    box = page.locator("#discussion-end")
    page.locator("article.discussed").first.get_by_role("button", name="Ask for another vote").click()
    expect(box).to_contain_text("The next round asks about 2 criteria")
    page.keyboard.press("e")
    expect(page.get_by_role("link", name="Next conversation")).to_be_in_viewport()
    expect(box.get_by_role("heading")).to_be_focused()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_saved_draft_is_in_view_and_a_refused_one_is_there_next_time(panel: Panel, desks: Any, width: int) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    for text in TEXTS[:2]:
        draft(conversation=conversation, writer=panel.ana, text=text)
    page = desks(panel.ana, conversation).open(width=width, anchor="#criteria")
    page.locator("#new-criterion textarea").first.fill("Asks who is with her.")
    page.get_by_role("button", name="Save the criterion").click()
    expect(page.get_by_text("Choose how much it weighs.")).to_be_visible()
    page.goto(page.url.split("conversations/")[0])
    page.go_back()
    page.reload()
    expect(page.locator("#new-criterion textarea").first).to_have_value("Asks who is with her.")
    page.locator("#new-criterion .weights label", has_text="+8").click()
    page.get_by_role("button", name="Save the criterion").click()
    row = page.locator("#side li", has_text="Asks who is with her.")
    expect(row.locator(".just-saved")).to_be_in_viewport()
    expect(page.locator("#work-heading")).to_be_focused()
    saved(page)
    assert Criterion.objects.filter(conversation=conversation).count() == 3


def test_a_phone_stays_at_the_criterion_and_cuts_no_menu_off(panel: Panel, desks: Any) -> None:
    conversation, _, _ = make_voting(panel=panel, texts=TEXTS[:3])
    page = desks(panel.ben, conversation).open(width=390, height=844, anchor="#criteria")
    for number in (2, 3):
        page.locator(".weights button").nth(2).click()
        expect(page.get_by_role("heading", name=f"Criterion {number} of 3")).to_be_in_viewport()
        expect(page.locator("#ballot .criterion-text")).to_be_focused()
    support, account = page.locator("details.menu").nth(0), page.locator("details.menu").nth(1)
    for menu in (support, account):
        menu.locator("summary").click()
        box = menu.locator("summary ~ *").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert page.locator("details.menu[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("details.menu[open]").count() == 0
    expect(account.locator("summary")).to_be_focused()
    support.locator("summary").click()
    page.locator("h3").first.click()
    assert page.locator("details.menu[open]").count() == 0
    assert page.evaluate("document.querySelector('.bar').offsetHeight") <= 90
    bar = page.locator(".pane-links").bounding_box()
    assert bar is not None
    assert bar["y"] + bar["height"] == 844
    assert Axe().run(page).response["violations"] == []


def test_the_tab_of_the_page_is_in_view_on_a_phone(panel: Panel, browser: Browser, live_server: Any) -> None:
    panel.study.memberships.filter(user=panel.adam).update(roles=["admin", "clinician", "researcher"])
    page = session_of(browser, panel.adam, live_server.url)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/studies/crisis/versions/")
    expect(page.locator(".bar-nav [aria-current]")).to_be_in_viewport(ratio=1)
    page.context.close()


def test_without_javascript_no_key_is_shown(panel: Panel, browser: Browser, live_server: Any) -> None:
    conversation, _, _ = make_voting(panel=panel)
    signed_in = session_of(browser, panel.ben, live_server.url)
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(signed_in.context.cookies())  # type: ignore[arg-type]
    address = f"{live_server.url}/studies/crisis/conversations/{conversation.id}/"
    shown = []
    for page in (context.new_page(), signed_in):
        page.goto(address)
        shown.append(sum(key.is_visible() for key in page.locator("kbd").all()))
    assert shown[0] == 0
    assert shown[1] > 8
    context.close()
