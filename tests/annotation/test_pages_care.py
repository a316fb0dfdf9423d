"""Pages of care: topics, the lock and its release, reports; by role, plain and for htmx."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from annotation.assigning import assign_reviewer
from annotation.caring import lock_conversation_for_care, report_conversation
from annotation.drafting import finish_drafting
from annotation.models import (
    Assignment,
    Conversation,
    ConversationLock,
    ConversationReport,
    LockDecision,
    ReportClosing,
    User,
    Vote,
)
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, join, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(support_contact="Maya, extension 12\nGB: Samaritans, 116 123\nDE: Telefon, 0800")


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    this, _, _ = make_voting(panel=panel, external_id="case-7", tags=["Self-harm"])
    return this


def on_topics(panel: Panel, person: User, **answer: Any) -> Any:
    browser = Browser(person)
    if answer:
        return browser.post("study_topics", answer, slug=panel.study.slug)
    return browser.get("study_topics", slug=panel.study.slug)


# Topics


def test_topics_are_declined_and_what_is_assigned_already_is_handed_back(
    panel: Panel, conversation: Conversation
) -> None:
    assert "Self-harm" in text_of(on_topics(panel, panel.ben))
    answer = on_topics(panel, panel.ben, topics=["Self-harm"])
    assert answer.status_code == 303
    page = on_topics(panel, panel.ben)
    assert re.search(r'value="Self-harm"[^>]* checked', page.content.decode())
    assert "These are yours already" in text_of(page)
    data = {"conversation": [str(conversation.id), "nonsense"]}
    browser = Browser(panel.ben)
    answer = browser.post("hand_back", data, slug=panel.study.slug)
    assert answer.status_code == 303
    page = text_of(browser.get("study_topics", slug=panel.study.slug))
    assert "1 conversation is handed back." in page
    assert "These are yours already" not in page
    assert not Assignment.objects.active().filter(reviewer=panel.ben).exists()


def test_topics_are_for_clinicians_and_a_made_up_one_is_refused(panel: Panel, conversation: Conversation) -> None:
    assert on_topics(panel, panel.adam).status_code == 403
    assert on_topics(panel, panel.oscar).status_code == 404
    assert on_topics(panel, panel.ben, topics=["horses"]).status_code == 422
    assert Browser(panel.adam).post("hand_back", slug=panel.study.slug).status_code == 403


def test_topics_can_be_reached_from_the_study_you_and_the_consent(panel: Panel, conversation: Conversation) -> None:
    address = f'href="/studies/{panel.study.slug}/topics/"'
    browser = Browser(panel.ben)
    for page in (browser.get("study", slug=panel.study.slug), browser.get("you")):
        assert address in page.content.decode()
    type(panel.study).objects.update(consent_text="We pay.")
    assert address in browser.get("study_consent", slug=panel.study.slug).content.decode()
    assert on_topics(panel, panel.ben).status_code == 200, "before anything is accepted"
    assert address not in Browser(panel.adam).get("study_consent", slug=panel.study.slug).content.decode()


# The lock


@pytest.mark.parametrize("htmx", [False, True])
def test_a_reviewer_locks_and_reads_it_no_more(
    panel: Panel, conversation: Conversation, htmx: bool, django_capture_on_commit_callbacks: Any
) -> None:
    browser = Browser(panel.ben)
    assert "/real-person/" in browser.desk(conversation).content.decode()
    place: dict[str, Any] = {"slug": panel.study.slug, "conversation_id": conversation.id}
    assert "May this be a real person" in text_of(browser.get("lock_conversation", **place))
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.on(conversation, "lock_conversation", htmx=htmx, words="A name.")
    assert answer.status_code == 303
    assert "case-7 is locked" in text_of(browser.get("study", slug=panel.study.slug))
    assert len(mail.outbox) == 1
    for name in ("desk", "rounds", "lock_conversation", "report_conversation", "recuse"):
        refused = browser.get(name, htmx=htmx, **place)
        assert refused.status_code == 409, name
        assert "This conversation is locked" in text_of(refused)
        assert "can't sleep" not in text_of(refused)
    assert browser.on(conversation, "lock_conversation", htmx=htmx).status_code == 303
    assert ConversationLock.objects.count() == 1


@pytest.mark.parametrize("htmx", [False, True])
def test_a_vote_sent_after_the_lock_is_refused_with_its_sentence(panel: Panel, htmx: bool) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    browser = Browser(panel.ben)
    browser.desk(conversation)
    lock_conversation_for_care(conversation=conversation, by=panel.chloe)
    answer = browser.vote(criterion, htmx=htmx, points=6)
    assert answer.status_code == 409
    assert "This conversation is locked" in text_of(answer)
    assert not Vote.objects.exists()


def test_a_clinician_who_only_judges_can_lock_but_is_not_told_the_id(panel: Panel, conversation: Conversation) -> None:
    fay = join(study=panel.study, name="fay")
    place: dict[str, Any] = {"slug": panel.study.slug, "conversation_id": conversation.id}
    page = text_of(Browser(fay).get("lock_conversation", **place))
    assert "case-7" not in page
    assert "can't sleep" not in page
    answer = Browser(fay).on(conversation, "lock_conversation")
    assert answer["Location"] == f"/studies/{panel.study.slug}/"
    assert Browser(panel.oscar).on(conversation, "lock_conversation").status_code == 404
    other = make_conversation(study=make_panel(slug="another").study)
    assert Browser(panel.ben).get("lock_conversation", **place | {"conversation_id": other.id}).status_code == 404


def test_an_admin_finds_the_lock_on_top_of_progress_reads_and_releases(
    panel: Panel, conversation: Conversation
) -> None:
    lock_conversation_for_care(conversation=conversation, by=panel.ben, words="She names her school.")
    browser = Browser(panel.adam)
    place: dict[str, Any] = {"slug": panel.study.slug, "conversation_id": conversation.id}
    progress = text_of(browser.get("study_progress", slug=panel.study.slug))
    assert progress.index("Please look at these first") < progress.index("What each conversation waits for")
    assert "Locked by Ben" in progress
    desk = text_of(browser.desk(conversation))
    assert "can't sleep" in desk
    assert "This conversation is locked" in desk
    page = browser.get("admin_conversation", **place)
    assert "She names her school." in text_of(page)
    assert "Close the round" not in text_of(page)
    assert browser.on(conversation, "decide_lock", decision="stays", reason=" ").status_code == 409
    assert browser.on(conversation, "decide_lock", decision="maybe", reason="Why not.").status_code == 404
    assert browser.on(conversation, "decide_lock", decision="stays", reason="We ask.").status_code == 302
    assert "Left locked." in text_of(browser.get("study_progress", slug=panel.study.slug))
    assert browser.on(conversation, "decide_lock", decision="released", reason="Invented.").status_code == 302
    assert "Please look" not in text_of(browser.get("study_progress", slug=panel.study.slug))
    page = text_of(browser.get("admin_conversation", **place))
    assert "Left locked by Adam" in page
    assert "Released by Adam" in page
    assert Browser(panel.ben).desk(conversation).status_code == 200


def test_only_admins_decide_and_close(panel: Panel, conversation: Conversation) -> None:
    lock_conversation_for_care(conversation=conversation, by=panel.ben)
    report = report_conversation(conversation=conversation, by=panel.ben, kind=ConversationReport.Kind.CUT_OFF)
    for person, status in ((panel.ben, 403), (panel.rita, 403), (panel.oscar, 404)):
        browser = Browser(person)
        answer = browser.on(conversation, "decide_lock", decision="released", reason="Mine.")
        assert answer.status_code == status
        answer = browser.post("close_report", {"note": "Done."}, slug=panel.study.slug, report_id=report.id)
        assert answer.status_code == status
    assert not LockDecision.objects.exists()
    assert not ReportClosing.objects.exists()


def test_an_admin_who_also_reviews_reads_but_has_no_ballot(panel: Panel, conversation: Conversation) -> None:
    join(study=panel.study, name="adam")
    assign_reviewer(conversation=conversation, reviewer=panel.adam)
    assert 'data-key="1"' in Browser(panel.adam).desk(conversation).content.decode()
    lock_conversation_for_care(conversation=conversation, by=panel.ben)
    assert 'data-key="1"' not in Browser(panel.adam).desk(conversation).content.decode()


def test_neither_lock_nor_report_shows_anything_of_votes(panel: Panel) -> None:
    """The same pages, whatever was voted before the lock."""
    found = []
    for points in (2, 9):
        other = make_panel(slug=f"world-{points}")
        this, (criterion,), _ = make_voting(panel=other, external_id="case")
        vote(criterion=criterion, reviewer=other.ben, points=points)
        lock_conversation_for_care(conversation=this, by=other.chloe)
        report_conversation(conversation=this, by=other.chloe, kind=ConversationReport.Kind.CUT_OFF)
        browser = Browser(other.adam)
        place: dict[str, Any] = {"slug": other.study.slug}
        pages = [
            text_of(browser.get("study_progress", **place)),
            text_of(browser.get("admin_conversation", conversation_id=this.id, **place)),
        ]
        found.append([re.sub(r"(?i)world.\d|\d\d:\d\d|c-\w+", "", page) for page in pages])
    assert found[0] == found[1]


# Reports


@pytest.mark.parametrize("htmx", [False, True])
def test_a_broken_conversation_is_reported_and_closed_with_a_note(
    panel: Panel, conversation: Conversation, htmx: bool
) -> None:
    browser = Browser(panel.ben)
    assert browser.on(conversation, "report_conversation", htmx=htmx, kind="other", words=" ").status_code == 422
    answer = browser.on(conversation, "report_conversation", htmx=htmx, kind="cut_off", words="After turn 3.")
    assert answer.status_code == 303
    assert "look after it" in text_of(browser.desk(conversation))
    admin = Browser(panel.adam)
    assert "After turn 3." in text_of(admin.get("study_progress", slug=panel.study.slug))
    report = ConversationReport.objects.get()
    place: dict[str, Any] = {"slug": panel.study.slug, "report_id": report.id}
    assert admin.post("close_report", {"note": ""}, htmx=htmx, **place).status_code == 409
    assert admin.post("close_report", {"note": "It ends so."}, htmx=htmx, **place).status_code == 302
    assert admin.post("close_report", {"note": "Twice."}, htmx=htmx, **place).status_code == 409
    page = text_of(admin.get("admin_conversation", slug=panel.study.slug, conversation_id=conversation.id))
    assert "Closed by Adam" in page
    assert "After turn 3." not in text_of(admin.get("study_progress", slug=panel.study.slug))


# Pause and support


def test_where_only_emergencies_are_left_the_pages_offer_a_pause(panel: Panel) -> None:
    for number in range(3):
        this = make_conversation(study=panel.study, acuity="emergent", position=number)
        for reviewer in (panel.ben, panel.chloe):
            assign_reviewer(conversation=this, reviewer=reviewer)
        if number < 2:
            finish_drafting(conversation=this, by=panel.ben)
    browser = Browser(panel.ben)
    place: dict[str, Any] = {"slug": panel.study.slug}
    for name in ("study", "study_conversations"):
        page = text_of(browser.get(name, **place))
        assert "only such ones are left for now" in page
        assert "2 emergency conversations in a row" in page
    assert browser.get("study_continue", **place).status_code == 302, "nothing is blocked"
    long_ago = timezone.now() - timedelta(days=1)
    Assignment.objects.filter(reviewer=panel.ben).update(finished_drafting_at=long_ago)
    assert "only such ones" not in text_of(Browser(panel.chloe).get("study", **place))


def test_the_own_countrys_support_comes_first_and_the_others_behind(panel: Panel) -> None:
    User.objects.filter(pk=panel.ben.pk).update(country="GB")
    for name in ("study", "study_pause"):
        page = text_of(Browser(panel.ben).get(name, slug=panel.study.slug))
        assert "Samaritans, 116 123 Maya, extension 12 In other countries DE: Telefon, 0800" in page
    page = text_of(Browser(panel.chloe).get("study_pause", slug=panel.study.slug))
    assert "Maya, extension 12 In other countries GB: Samaritans" in page
