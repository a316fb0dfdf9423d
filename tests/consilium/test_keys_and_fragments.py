"""In a real browser: one key an act, refusals beside the act, no word lost, pages that fit a phone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.staticfiles import finders
from django.template import engines
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from consilium.security import CONTENT_SECURITY_POLICY

pytestmark = pytest.mark.journey
SITE = "http://consilium.test"

CARD = """<form class="criterion" id="criterion" method="post" action="/vote/" hx-post="/vote/" hx-target="this"
  hx-swap="outerHTML" data-says="Saved: {points}">
  <h2 class="criterion-text">Asks about suicide directly.</h2>
  <label for="reason">Reason</label><textarea name="reason" id="reason"></textarea>
  <div class="weights" role="group" aria-label="Agree with a weight">
    <button name="points" value="2" data-key="1" aria-pressed="{one}"><kbd>1</kbd>
      <span class="word">helps a little</span><span class="points">+2</span></button>
    <button name="points" value="8" data-key="4" aria-pressed="{four}"><kbd>4</kbd>
      <span class="word">essential</span><span class="points">+8</span></button>
  </div>
  <div class="choices"><button name="choice" value="abstain" data-key="s">
    <span class="word">Abstain</span><kbd>S</kbd></button></div>
  <div data-refusals></div></form>"""
DESK = """{% extends "base.html" %}{% block title %}Conversation 14{% endblock %}{% block wide %}
<h1 class="visually-hidden">Conversation 14</h1>
<div class="desk"><section class="pane" id="conversation" aria-label="Conversation" tabindex="0">
{% include "_turns.html" with messages=said %}</section>
<section class="pane" id="work" aria-label="Criteria" tabindex="0">{{ card }}</section>
<nav class="pane-links" aria-label="On this page">
<a href="#conversation">Conversation</a><a href="#work">Criteria</a></nav>
</div>{% endblock %}"""
REFUSAL = '<p class="notice refusal" data-refusal role="alert"><strong>▲ Not done.</strong> The round is revealed.</p>'


def card(points: str = "") -> str:
    return CARD.format(points=points, one=str(points == "2").lower(), four=str(points == "8").lower())


def desk() -> str:
    said = [{"role": "user", "content": "I can't sleep. " * 12}, {"role": "assistant", "content": "مرحبا " * 30}]
    engine: Any = engines["django"]
    page: str = engine.from_string(DESK).render(
        {"said": said, "cited": {1}, "card": "CARD", "csrf_token": "a-token", "language": None}
    )
    return page.replace("CARD", card())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "These tests need the package chromium."
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield started
        started.close()


class Site:
    """What the browser is answered, and what it sent."""

    def __init__(self) -> None:
        self.pages = {"/": desk()}
        self.sent: list[tuple[str, str, dict[str, str]]] = []
        self.answer_vote: Callable[[Route], None] = self.take_vote

    def take_vote(self, route: Route) -> None:
        points = "8" if "points=8" in (route.request.post_data or "") else "2"
        route.fulfill(status=200, content_type="text/html", body=card(points))

    def answer(self, route: Route) -> None:
        address = route.request.url.removeprefix(SITE).split("#")[0]
        if address.startswith("/static/"):
            route.fulfill(path=Path(str(finders.find(address.removeprefix("/static/")))))
        elif address == "/vote/":
            self.sent.append((route.request.method, route.request.post_data or "", route.request.headers))
            self.answer_vote(route)
        else:
            headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Content-Type": "text/html; charset=utf-8"}
            route.fulfill(status=200, headers=headers, body=self.pages[address])


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    refused: list[str] = []
    opened.on("pageerror", lambda error: refused.append(str(error)))
    opened.on(
        "console", lambda message: refused.append(message.text) if "Content Security Policy" in message.text else None
    )
    opened.route("**/*", site.answer)
    opened.goto(f"{SITE}/")
    yield opened
    assert refused == []
    context.close()


def pressed(page: Page) -> list[str]:
    return page.locator('[aria-pressed="true"] .word').all_inner_texts()


def wait_for_vote(page: Page, word: str) -> None:
    page.locator('[aria-pressed="true"] .word', has_text=word).wait_for()


def type_key(page: Page, **event: object) -> None:
    """A key as a keyboard of another layout or an input method would send it."""
    page.evaluate("(e) => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...e}))", event)


def test_one_key_votes_and_the_focus_stays_on_it(page: Page, site: Site) -> None:
    page.keyboard.press("4")
    wait_for_vote(page, "essential")
    expect(page.locator('[data-key="4"]')).to_be_focused()
    expect(page.locator("#announcements")).to_have_text("Saved: 8")
    [(method, body, headers)] = site.sent
    assert method == "POST"
    assert "points=8" in body
    assert headers["x-csrftoken"] == "a-token"


def test_keys_rest_while_somebody_types(page: Page, site: Site) -> None:
    page.locator("#reason").fill("")
    page.locator("#reason").press_sequentially("4s?")
    assert page.locator("#reason").input_value() == "4s?"
    assert site.sent == []
    assert not page.locator("#keys").is_visible()


@pytest.mark.parametrize(
    "event",
    [
        {"key": "4", "code": "Digit4", "repeat": True},
        {"key": "4", "code": "Digit4", "ctrlKey": True},
        {"key": "4", "code": "Digit4", "isComposing": True},
        {"key": "Process", "code": "KeyS", "keyCode": 229},
        {"key": "x", "code": "KeyX"},
    ],
)
def test_a_held_a_combined_a_composing_and_an_unknown_key_do_nothing(
    page: Page, site: Site, event: dict[str, object]
) -> None:
    type_key(page, **event)
    page.wait_for_timeout(100)
    assert site.sent == []


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ({"key": "'", "code": "Digit4"}, "points=8"),
        ({"key": "4", "code": "Numpad4"}, "points=8"),
        ({"key": "س", "code": "KeyS"}, "choice=abstain"),
        ({"key": "S", "code": "KeyS"}, "choice=abstain"),
    ],
    ids=["French digits", "number pad", "Arabic letters", "capitals"],
)
def test_keys_work_on_other_keyboards(page: Page, site: Site, event: dict[str, object], body: str) -> None:
    with page.expect_response(f"{SITE}/vote/"):
        type_key(page, **event)
    assert body in site.sent[0][1]


def test_a_question_mark_lists_the_keys_that_work_here(page: Page, site: Site) -> None:
    page.keyboard.press("?")
    listed = page.locator("#keys").inner_text()
    for words in ("helps a little, +2", "essential, +8", "Abstain"):
        assert words in listed
    page.keyboard.press("4")
    assert site.sent == []
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


def test_keys_can_be_switched_off_and_stay_off(page: Page, site: Site) -> None:
    page.keyboard.press("?")
    page.get_by_role("button", name="Switch keys off").click()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("4")
    page.wait_for_timeout(100)
    assert site.sent == []
    page.keyboard.press("?")
    page.get_by_role("button", name="Switch keys on").click()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("4")
    wait_for_vote(page, "essential")


@pytest.mark.parametrize("status", [409, 401])
def test_a_refusal_stands_beside_the_act_and_no_word_is_lost(page: Page, site: Site, status: int) -> None:
    site.answer_vote = lambda route: route.fulfill(status=status, content_type="text/html", body=REFUSAL)
    page.locator("#reason").fill("half a page")
    page.get_by_role("button", name="essential").click()
    page.locator("#criterion [data-refusals]", has_text="The round is revealed.").wait_for()
    assert page.locator("#reason").input_value() == "half a page"
    assert pressed(page) == []
    site.answer_vote = site.take_vote
    page.get_by_role("button", name="essential").click()
    wait_for_vote(page, "essential")
    assert page.locator("[data-refusal]").count() == 0


@pytest.mark.parametrize(
    ("status", "sentence"), [(500, "Something here broke."), (403, "Your roles"), (404, "This is no longer here.")]
)
def test_what_breaks_is_said_beside_the_act(page: Page, site: Site, status: int, sentence: str) -> None:
    site.answer_vote = lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>whole page</h1>")
    page.locator("#reason").fill("half a page")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="essential").click()
    page.locator("[data-refusals]", has_text=sentence).wait_for()
    assert page.locator("#reason").input_value() == "half a page"


def test_a_lost_connection_is_said_and_the_words_stay(page: Page, site: Site) -> None:
    site.answer_vote = lambda route: route.abort()
    page.locator("#reason").fill("half a page")
    page.get_by_role("button", name="essential").click()
    page.locator("[data-refusals]", has_text="can't be reached").wait_for()
    assert page.locator("#reason").input_value() == "half a page"


@pytest.mark.parametrize("width", [320, 390, 820, 960, 1280])
def test_nothing_runs_over_the_edge(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_phone_shows_one_pane_at_a_time_without_javascript(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.route("**/*", site.answer)
    page.goto(f"{SITE}/")
    conversation, work = page.locator("#conversation"), page.locator("#work")
    assert (conversation.is_visible(), work.is_visible()) == (True, False)
    page.get_by_role("link", name="Criteria").click()
    assert (conversation.is_visible(), work.is_visible()) == (False, True)
    page.goto(f"{SITE}/#turn-2")
    assert (conversation.is_visible(), work.is_visible()) == (True, False)
    context.close()


def test_buttons_can_be_hit(page: Page) -> None:
    """Main buttons measure 44 px and everything else to press 24 px at least, on a phone too."""
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{SITE}/#work")
        for box in [found.bounding_box() for found in page.locator(".weights button, .choices button").all()]:
            assert box is not None
            assert min(box["width"], box["height"]) >= 44
        for found in page.locator("a:visible, button:visible, summary:visible").all():
            box = found.bounding_box()
            assert box is not None
            assert box["height"] >= 24, found.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_axe_finds_nothing(page: Page, scheme: Any, direction: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.reload()  # colours change at once, not over a moment
    page.evaluate("(direction) => { document.documentElement.dir = direction; }", direction)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def test_a_conversation_reads_from_its_own_side(page: Page) -> None:
    """Right-to-left text within a left-to-right page starts at the right; its number stays with the others."""
    starts = page.evaluate(
        """() => [...document.querySelectorAll(".said")].map((said) => {
            const range = document.createRange();
            range.setStart(said.firstChild, 0);
            range.setEnd(said.firstChild, 1);
            const letter = range.getBoundingClientRect(), box = said.getBoundingClientRect();
            return letter.left - box.left < box.right - letter.right ? "left" : "right";
        })"""
    )
    assert starts == ["left", "right"]
    numbers = [found.bounding_box() for found in page.locator(".turn-number").all()]
    assert len({box["x"] for box in numbers if box}) == 1
