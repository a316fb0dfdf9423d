"""The desk while drafting: alone, editing against what was seen, and nothing of others' drafts to be seen."""

from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.drafting import finish_drafting, revise_criterion
from annotation.models import Conversation, Criterion, Policy, UnsentText
from annotation.writers import writers_of
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, draft, make_conversation, make_panel

pytestmark = pytest.mark.django_db

FACTS: dict[str, Any] = {
    "text": "Asks how many nights.",
    "weight": "6",
    "axis": "context_seeking_and_assessment",
    "rationale": "Sleep decides.",
    "anchors": ["1"],
}


@pytest.fixture
def panel() -> Panel:
    return make_panel(support_contact="Duty lead: +49 30 1234")


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben, panel.chloe, panel.dev):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    return conversation


def test_the_desk_has_the_conversation_a_pause_and_the_support_contact(
    panel: Panel, conversation: Conversation
) -> None:
    answer = Browser(panel.ana).desk(conversation)
    page = text_of(answer)
    assert "I can't sleep." in page
    assert "Duty lead: +49 30 1234" in page
    assert f"/pause/?from={conversation.id}" in answer.content.decode()
    assert "You draft alone" in page


@pytest.mark.parametrize("htmx", [True, False])
def test_a_criterion_is_drafted(panel: Panel, conversation: Conversation, htmx: bool) -> None:
    browser = Browser(panel.ana)
    answer = browser.on(conversation, "draft", htmx=htmx, **FACTS)
    revision = Criterion.objects.get().current_revision
    assert revision is not None
    assert (revision.text, revision.points, revision.axis) == (FACTS["text"], 6, FACTS["axis"])
    assert (revision.rationale, revision.anchors) == ("Sleep decides.", [1])
    if htmx:
        assert answer.status_code == 200
        assert answer.content.decode().strip().startswith('<div id="side"')
        assert "<html" not in answer.content.decode()
    else:
        assert answer.status_code == 303
        assert answer["Location"].startswith(f"/studies/{panel.study.slug}/conversations/{conversation.id}/?")
        assert answer["Location"].endswith("#criteria")
        answer = browser.desk(conversation)
    assert FACTS["text"] in text_of(answer)
    assert "important, +6 · cites turn 1" in text_of(answer)


def test_a_number_goes_before_a_word_and_a_true_minus_sign_is_read(panel: Panel, conversation: Conversation) -> None:
    Browser(panel.ana).on(conversation, "draft", **FACTS | {"points": "−7"})
    revision = Criterion.objects.get().current_revision
    assert revision is not None
    assert revision.points == -7


def test_line_ends_of_a_browser_become_plain_and_nothing_else_is_touched(
    panel: Panel, conversation: Conversation
) -> None:
    Browser(panel.ana).on(conversation, "draft", **FACTS | {"text": " Two\r\nlines. "})
    revision = Criterion.objects.get().current_revision
    assert revision is not None
    assert revision.text == " Two\nlines. "


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"text": "  \n"}, "A criterion says something."),
        ({"weight": ""}, "Choose how much it weighs."),
        ({"points": "0"}, "A weight is a whole number from −10 to +10, not 0."),
        ({"points": "11"}, "A weight is a whole number from −10 to +10, not 0."),
        ({"axis": "vibes"}, "vibes"),
        ({"anchors": ["2"]}, "There is no turn 2. Choose among those that are here."),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_what_is_missing_is_said_beside_the_kept_text(
    panel: Panel, conversation: Conversation, wrong: dict[str, Any], sentence: str, htmx: bool
) -> None:
    answer = Browser(panel.ana).on(conversation, "draft", htmx=htmx, **FACTS | {"rationale": "Kept, too."} | wrong)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert "Kept, too." in answer.content.decode()
    assert ("<html" in answer.content.decode()) is not htmx
    assert not Criterion.objects.exists()


def test_nothing_of_others_drafts_shows_while_drafting_is_alone(panel: Panel, conversation: Conversation) -> None:
    before = text_of(Browser(panel.ben).desk(conversation))
    criterion = draft(conversation=conversation, writer=panel.ana, text="Names a helpline.")
    finish_drafting(conversation=conversation, by=panel.ana)
    browser = Browser(panel.ben)
    assert text_of(browser.desk(conversation)) == before
    for name in ("criterion_history", "revise", "withdraw"):
        assert browser.get(name, slug=panel.study.slug, criterion_id=criterion.id).status_code == 404
    assert browser.about(criterion, "revise", **FACTS).status_code == 404
    assert "Names a helpline" not in text_of(browser.get("study_conversations", slug=panel.study.slug))


def test_together_means_that_all_see_and_mend_all_drafts(panel: Panel, conversation: Conversation) -> None:
    policy = panel.study.policy
    Policy.objects.create(study=panel.study, version=2, blocks=policy.blocks, drafting="together", preset=policy.preset)
    criterion = draft(conversation=conversation, writer=panel.ana, text="Names a helpline.")
    browser = Browser(panel.ben)
    page = text_of(browser.desk(conversation))
    assert "You draft together" in page
    assert "Names a helpline." in page
    answer = browser.about(criterion, "revise", against=criterion.current_revision_id, **FACTS)
    assert answer.status_code == 303
    criterion.refresh_from_db()
    assert panel.ben.id in writers_of([criterion])[criterion.id]


@pytest.mark.parametrize("htmx", [True, False])
def test_a_draft_is_edited_against_the_revision_that_was_seen(
    panel: Panel, conversation: Conversation, htmx: bool
) -> None:
    criterion = draft(conversation=conversation, writer=panel.ana)
    browser = Browser(panel.ana)
    form = browser.get("revise", htmx=htmx, slug=panel.study.slug, criterion_id=criterion.id)
    assert "Asks about sleep." in form.content.decode()
    assert str(criterion.current_revision_id) in form.content.decode()
    answer = browser.about(criterion, "revise", htmx=htmx, against=criterion.current_revision_id, **FACTS)
    assert answer.status_code == (200 if htmx else 303)
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    assert (criterion.current_revision.number, criterion.current_revision.text) == (2, FACTS["text"])


@pytest.mark.parametrize("htmx", [True, False])
def test_a_stale_edit_shows_both_texts_and_loses_nothing(panel: Panel, conversation: Conversation, htmx: bool) -> None:
    criterion = draft(conversation=conversation, writer=panel.ana)
    seen = criterion.current_revision
    assert seen is not None
    in_between = revise_criterion(criterion=criterion, against=seen, by=panel.ana, text="Asks about nights.", points=4)
    browser = Browser(panel.ana)
    mine = FACTS | {"text": "Asks about dreams."}
    answer = browser.about(criterion, "revise", htmx=htmx, against=seen.id, **mine)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Somebody changed this criterion while you were writing" in text_of(answer)
    assert "nights" in page
    assert ">\nAsks about dreams.</textarea>" in page
    assert "Sleep decides." in page
    assert f'value="{in_between.id}"' in page
    criterion.refresh_from_db()
    assert criterion.current_revision == in_between
    browser.about(criterion, "revise", against=in_between.id, **mine)
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    assert criterion.current_revision.text == "Asks about dreams."


def test_a_draft_is_withdrawn_after_a_question(panel: Panel, conversation: Conversation) -> None:
    criterion = draft(conversation=conversation, writer=panel.ana)
    browser = Browser(panel.ana)
    ask = browser.get("withdraw", slug=panel.study.slug, criterion_id=criterion.id)
    assert "Withdraw this criterion?" in text_of(ask)
    answer = browser.about(criterion, "withdraw", htmx=True)
    assert "Withdrawn or merged: 1" in text_of(answer)
    criterion.refresh_from_db()
    assert criterion.withdrawn_at


def test_finished_is_said_and_taken_back(panel: Panel, conversation: Conversation) -> None:
    browser = Browser(panel.ana)
    assert "You have finished drafting here" in text_of(browser.on(conversation, "finish_drafting", htmx=True))
    assert browser.on(conversation, "resume_drafting").status_code == 303
    assert conversation.assignments.get(reviewer=panel.ana).finished_drafting_at is None


def test_when_the_last_one_finishes_the_answer_is_the_vote(panel: Panel, conversation: Conversation) -> None:
    draft(conversation=conversation, writer=panel.ana)
    for reviewer in (panel.ana, panel.chloe, panel.dev):
        finish_drafting(conversation=conversation, by=reviewer)
    answer = Browser(panel.ben).on(conversation, "finish_drafting", htmx=True)
    assert "Criterion 1 of 1" in text_of(answer)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at


@pytest.mark.parametrize("htmx", [True, False])
def test_a_draft_after_the_closing_is_refused_in_a_sentence(
    panel: Panel, conversation: Conversation, htmx: bool
) -> None:
    draft(conversation=conversation, writer=panel.ana)
    for reviewer in (panel.ana, panel.ben, panel.chloe, panel.dev):
        finish_drafting(conversation=conversation, by=reviewer)
    answer = Browser(panel.ana).on(conversation, "draft", htmx=htmx, **FACTS)
    assert answer.status_code == 409
    assert "Drafting is closed for this conversation." in text_of(answer)


def test_only_its_reviewers_reach_the_desk(panel: Panel, conversation: Conversation) -> None:
    assert Browser(panel.eva).desk(conversation).status_code == 404
    assert Browser(panel.oscar).desk(conversation).status_code == 404
    assert Browser(panel.eva).on(conversation, "draft", **FACTS).status_code == 404
    for overseer in (panel.adam, panel.rita):
        page = text_of(Browser(overseer).desk(conversation))
        assert "You read here: you don't review this conversation." in page
        assert Browser(overseer).on(conversation, "draft", **FACTS).status_code == 403
    assert not Criterion.objects.exists()


def test_another_studys_conversation_is_not_there_under_this_study(panel: Panel) -> None:
    other = make_panel(slug="another")
    elsewhere = make_conversation(study=other.study)
    assign_reviewer(conversation=elsewhere, reviewer=other.ana)
    answer = Browser(other.ana).get("desk", slug=panel.study.slug, conversation_id=elsewhere.id)
    assert answer.status_code == 404


# Typed and not sent


def test_what_is_typed_is_kept_for_its_writer_alone_and_gone_once_sent(
    panel: Panel, conversation: Conversation
) -> None:
    browser = Browser(panel.ana)
    answer = browser.on(conversation, "keep_unsent", htmx=True, place="draft", text="Asks who kno", weight="8")
    assert text_of(answer) == "Kept as you type, not sent yet."
    page = browser.desk(conversation).content.decode()
    assert "Asks who kno</textarea>" in page
    assert "Kept from before, not sent yet." in page
    for other in (panel.ben, panel.adam):
        assert "Asks who kno" not in Browser(other).desk(conversation).content.decode()
    browser.on(conversation, "draft", **FACTS)
    assert not UnsentText.objects.exists()
    assert "Kept from before" not in browser.desk(conversation).content.decode()


def test_an_emptied_form_is_not_kept(panel: Panel, conversation: Conversation) -> None:
    browser = Browser(panel.ana)
    browser.on(conversation, "keep_unsent", htmx=True, place="draft", text="Asks")
    browser.on(conversation, "keep_unsent", htmx=True, place="draft", text="")
    assert not UnsentText.objects.exists()


def test_an_unsent_edit_stays_against_what_was_seen_when_it_was_typed(panel: Panel, conversation: Conversation) -> None:
    criterion = draft(conversation=conversation, writer=panel.ana)
    seen = criterion.current_revision
    assert seen is not None
    browser = Browser(panel.ana)
    place = f"revise-{criterion.id}"
    browser.on(conversation, "keep_unsent", htmx=True, place=place, text="Typed.", against=str(seen.id))
    revise_criterion(criterion=criterion, against=seen, by=panel.ana, text="Asks about nights.", points=4)
    form = browser.get("revise", slug=panel.study.slug, criterion_id=criterion.id).content.decode()
    assert "Typed.</textarea>" in form
    assert f'value="{seen.id}"' in form


@pytest.mark.parametrize("place", ["", "elsewhere", "revise-", "draft; DROP"])
def test_only_forms_of_a_conversation_are_kept(panel: Panel, conversation: Conversation, place: str) -> None:
    answer = Browser(panel.ana).on(conversation, "keep_unsent", htmx=True, place=place, text="x")
    assert answer.status_code == 400
    assert not UnsentText.objects.exists()
