"""What an act is answered with: the changed criterion in view, and nothing beside it that contradicts it."""

import pytest
from django.test import override_settings

from annotation.models import Conversation, Criterion, Policy, Vote
from annotation.round_acts import close_round
from tests.annotation.browsing import Browser, text_of
from tests.annotation.test_pages_discussion import reveal_two
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.pages import at

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def revealed(panel: Panel) -> tuple[Conversation, Criterion, Criterion]:
    return reveal_two(panel)


def revise(panel: Panel, criterion: Criterion, *, htmx: bool, text: str = "Names one helpline.") -> str:
    current = Criterion.objects.get(pk=criterion.pk).current_revision_id
    answer = Browser(panel.chloe).about(criterion, "revise", htmx=htmx, against=current, text=text, weight="6")
    return str(answer.content.decode() if htmx else answer["Location"])


def test_a_revision_is_answered_with_its_criterion_in_view_and_saved_beside_it(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    page = revise(panel, disputed, htmx=True)
    card = page.split(f'id="criterion-{disputed.id}"')[1].split("</article>")[0]
    assert card.startswith(" data-changed")
    assert '<p class="just-saved">Saved.</p>' in card
    assert "data-focus" in card
    assert page.count("data-focus") == 1
    assert page.count("data-changed") == 1
    address = revise(panel, disputed, htmx=False, text="Names a helpline that is open.")
    assert address.endswith(f"{conversation.id}/?criterion={disputed.id}#criterion-{disputed.id}")


def test_asking_for_another_vote_brings_along_what_the_next_round_asks(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    _, agreed, disputed = revealed
    browser = Browser(panel.chloe)
    for number, criterion in enumerate((disputed, agreed), 1):
        answer = browser.about(criterion, "ask_for_vote", htmx=True)
        page = answer.content.decode()
        assert "It comes to a vote again in the next round." in text_of(answer)
        assert "Nothing comes to a vote again yet" not in page
        assert f"The next round asks about {number} criteri" in text_of(answer)
        assert f"{number} of 2 criteria" in text_of(answer)
        for part in ("discussion-end", "discussion-lede", "own-part"):
            assert page.count(f'id="{part}" hx-swap-oob="true"') == 1


@pytest.mark.parametrize("settled", [True, False])
def test_every_part_that_an_answer_replaces_is_on_the_page(panel: Panel, settled: bool) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    for reviewer in panel.reviewers if settled else panel.reviewers[:1]:
        vote(criterion=criterion, reviewer=reviewer)
    if not settled:
        close_round(conversation=conversation, by=panel.adam)
    browser = Browser(panel.ana)
    pages = [
        browser.desk(conversation),
        browser.get("revise", slug=panel.study.slug, criterion_id=criterion.id),
        browser.get("withdraw", slug=panel.study.slug, criterion_id=criterion.id),
    ]
    for page in pages:
        assert 'id="own-part"' in page.content.decode()
        assert 'id="turns"' in page.content.decode()
    for part in ("discussion-end", "discussion-lede"):
        assert pages[0].content.decode().count(f'id="{part}"') == 1


def test_an_accepted_objection_says_so_and_is_not_offered_again(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, disputed = revealed
    browser, objection = Browser(panel.chloe), Vote.objects.get(choice="object")
    offer = at(panel.study, "accept_objection", criterion_id=disputed.id, vote_id=objection.id)
    assert offer in browser.desk(conversation).content.decode()
    browser.client.post(offer, {"against": str(disputed.current_revision_id), "text": "Names one.", "weight": "6"})
    page = browser.desk(conversation)
    assert offer not in page.content.decode()
    assert "Accepted in revision 2" in text_of(page)
    history = browser.get("criterion_history", slug=panel.study.slug, criterion_id=disputed.id)
    assert "Accepted in revision 2" in text_of(history)
    assert ", revised by you" in text_of(history)
    written = Browser(panel.ana).get("criterion_history", slug=panel.study.slug, criterion_id=disputed.id)
    assert ", written by you" in text_of(written)


def test_the_writers_weight_is_said_to_be_a_proposal_beside_what_was_agreed(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, _ = revealed
    page = text_of(Browser(panel.dev).desk(conversation))
    assert "proposed: important, +6" in page
    assert page.count("proposed: ") == 2


def test_a_writer_withdraws_after_the_last_round_too(panel: Panel) -> None:
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, max_rounds=1)
    conversation, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    close_round(conversation=conversation, by=panel.adam)
    link = at(panel.study, "withdraw", criterion_id=criterion.id)
    for browser, offers in ((Browser(panel.ana), True), (Browser(panel.ben), False)):
        page = browser.desk(conversation)
        history = browser.get("criterion_history", slug=panel.study.slug, criterion_id=criterion.id)
        assert "Revise…" not in text_of(page)
        for found in (page, history):
            assert (f'href="{link}#criteria"' in found.content.decode()) is offers


def test_the_next_conversation_is_offered_before_and_after_the_end_of_a_discussion(
    panel: Panel, revealed: tuple[Conversation, Criterion, Criterion]
) -> None:
    conversation, _, _ = revealed
    another, _, _ = make_voting(panel=panel)
    browser = Browser(panel.dev)
    assert f"/conversations/{another.id}/" in browser.desk(conversation).content.decode()
    page = browser.on(conversation, "end_discussion", htmx=True).content.decode()
    box = page.split('id="discussion-end"')[1].split("</section>")[0]
    assert box.startswith(" data-changed")
    assert f"/conversations/{another.id}/" in box


def test_a_saved_draft_is_marked_among_the_others(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    drafting = make_conversation(study=panel.study)
    for assignment in conversation.assignments.all():
        drafting.assignments.create(reviewer=assignment.reviewer)
    draft(conversation=drafting, writer=panel.ana)
    answer = Browser(panel.ana).on(drafting, "draft", htmx=True, text="Asks who is with her.", weight="6")
    (marked,) = answer.content.decode().split("data-changed>")[1:]
    assert "Saved." in marked.split("</li>")[0]
    assert "Asks who is with her." in marked.split("</li>")[0]


def test_the_bar_counts_on_with_each_act(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    make_voting(panel=panel)
    browser = Browser(panel.ben)
    assert "0 of 2 conversations" in text_of(browser.desk(criterion.conversation))
    assert "1 of 2 conversations" in text_of(browser.vote(criterion, htmx=True, points="6"))
    assert "0 of 2 conversations" in text_of(browser.about(criterion, "take_back", htmx=True))


@override_settings(DEMO=True)
def test_only_the_demo_and_pages_outside_a_study_say_that_they_are_a_demo(panel: Panel) -> None:
    demo = make_panel(slug="demo")
    says = "A demo: every text in it"
    browser = Browser(panel.ana)
    assert says not in text_of(browser.get("study", slug=panel.study.slug))
    assert says in text_of(Browser(demo.ana).get("study", slug="demo"))
    mine = browser.get("my_studies")
    assert says in text_of(mine)
    assert "See the demo as somebody else" in text_of(mine)


def test_without_the_demo_nothing_leads_to_it(panel: Panel) -> None:
    page = text_of(Browser(panel.ana).get("my_studies"))
    assert "demo" not in page.lower()
