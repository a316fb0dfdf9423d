"""The entrance: who gets in where, what stands there, and the consent text that comes first."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer
from annotation.demo import demo_people
from annotation.joining import add_member, create_study
from annotation.models import Consent
from tests.annotation.browsing import Browser, text_of
from tests.factories import Panel, make_conversation, make_panel, make_person, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(
        what_to_expect="Some speak of **suicide**.",
        support_contact="Duty lead: +49 30 1234",
        guidelines="# How\n\nOne claim. <script>alert(1)</script>",
    )


def test_who_is_not_signed_in_is_led_to_the_entrance() -> None:
    answer = Browser().get("my_studies")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


def test_my_studies_shows_mine_with_roles_and_one_next_thing(panel: Panel) -> None:
    make_voting(panel=panel)
    make_panel(slug="another")
    page = text_of(Browser(panel.ben).get("my_studies"))
    assert panel.study.name in page
    assert "You are a clinician here." in page
    assert "Continue: 1 conversation" in page
    admin = text_of(Browser(panel.adam).get("my_studies"))
    assert "You are an admin here." in admin
    assert "Continue" not in admin


def test_who_is_in_no_study_is_told_what_happens_next(panel: Panel) -> None:
    page = text_of(Browser(panel.oscar).get("my_studies"))
    assert "You are in no study yet" in page
    assert panel.study.name not in page


def test_somebody_elses_study_is_not_there(panel: Panel) -> None:
    browser = Browser(panel.oscar)
    for name in ("study", "study_guidelines", "study_pause", "study_consent", "study_conversations"):
        assert browser.get(name, slug=panel.study.slug).status_code == 404


def test_the_front_page_says_what_to_expect_and_whom_to_turn_to(panel: Panel) -> None:
    make_voting(panel=panel)
    answer = Browser(panel.ben).get("study", slug=panel.study.slug)
    page = text_of(answer)
    assert "Some speak of suicide ." in page
    assert "Duty lead: +49 30 1234" in page
    assert "0 of 1 conversations done for now" in page
    assert "Begin" in page
    assert "As its admin" not in page
    assert "As its admin" in text_of(Browser(panel.adam).get("study", slug=panel.study.slug))


def test_guidelines_are_markdown_and_never_run(panel: Panel) -> None:
    body = Browser(panel.ben).get("study_guidelines", slug=panel.study.slug).content.decode()
    assert "<h2>How</h2>" in body
    assert "<script>alert(1)" not in body


def test_the_consent_text_comes_before_the_first_conversation(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    panel.study.consent_text = "**Purpose.** To try."
    panel.study.save(update_fields=["consent_text"])
    browser = Browser(panel.ben)
    consent = f"/studies/{panel.study.slug}/consent/"
    for name in ("study_conversations", "study_continue"):
        answer = browser.get(name, slug=panel.study.slug)
        assert (answer.status_code, answer["Location"]) == (302, consent)
    assert browser.desk(conversation)["Location"] == consent
    assert "First, the consent text" in text_of(browser.get("study", slug=panel.study.slug))
    assert "Purpose." in text_of(browser.get("study_consent", slug=panel.study.slug))
    answer = browser.post("study_consent", slug=panel.study.slug)
    assert (answer.status_code, answer["Location"]) == (303, f"/studies/{panel.study.slug}/")
    accepted = Consent.objects.get(user=panel.ben)
    assert accepted.text_version == panel.study.consent_version
    assert browser.desk(conversation).status_code == 200
    assert "You accepted this version" in text_of(browser.get("study_consent", slug=panel.study.slug))


def test_without_a_consent_text_nothing_is_confirmed(panel: Panel) -> None:
    browser = Browser(panel.ben)
    assert "Nothing must be confirmed" in text_of(browser.get("study_consent", slug=panel.study.slug))
    browser.post("study_consent", slug=panel.study.slug)
    assert not Consent.objects.exists()


def test_the_pause_shows_no_text_of_the_study_and_leads_back(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel, text="I can't go on.")
    browser = Browser(panel.ben)
    answer = browser.get("study_pause", query={"from": str(conversation.id)}, slug=panel.study.slug)
    page = answer.content.decode()
    assert "Duty lead: +49 30 1234" in page
    assert f'href="/studies/{panel.study.slug}/conversations/{conversation.id}/"' in page
    assert "I can't go on" not in text_of(answer)
    assert "Asks about sleep" not in page
    outside = browser.get("study_pause", query={"from": "nonsense"}, slug=panel.study.slug)
    assert outside.status_code == 200


def test_the_list_says_where_each_conversation_stands_and_what_is_left(panel: Panel) -> None:
    _, criteria, _ = make_voting(panel=panel, texts=["One.", "Two."], external_id="voting-one")
    drafting = make_conversation(study=panel.study, external_id="drafting-one")
    assign_reviewer(conversation=drafting, reviewer=panel.ben)
    make_conversation(study=panel.study, external_id="not-mine")
    vote(criterion=criteria[0], reviewer=panel.ben)
    page = text_of(Browser(panel.ben).get("study_conversations", slug=panel.study.slug))
    assert "1 of 2 voted" in page
    assert "no draft yet" in page
    assert "not-mine" not in page
    author = text_of(Browser(panel.ana).get("study_conversations", slug=panel.study.slug))
    assert "all yours: others vote" in author


def test_what_is_due_comes_first_then_what_was_begun(panel: Panel) -> None:
    make_voting(panel=panel, external_id="plain", position=1)
    begun, (one, _), _ = make_voting(panel=panel, texts=["One.", "Two."], external_id="begun", position=2)
    due, _, this = make_voting(panel=panel, external_id="due", position=3)
    vote(criterion=one, reviewer=panel.ben)
    browser = Browser(panel.ben)
    assert browser.get("study_continue", slug=panel.study.slug)["Location"].endswith(f"{begun.id}/")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_round SET closes_at = now() + interval '1 day' WHERE id = %s", [this.id])
    assert browser.get("study_continue", slug=panel.study.slug)["Location"].endswith(f"{due.id}/")
    page = text_of(browser.get("study_conversations", slug=panel.study.slug))
    assert page.index("due") < page.index("begun") < page.index("plain")


def test_when_nothing_waits_continue_leads_to_the_list(panel: Panel) -> None:
    answer = Browser(panel.ben).get("study_continue", slug=panel.study.slug)
    assert answer["Location"] == f"/studies/{panel.study.slug}/conversations/"
    assert "Nothing is assigned to you yet" in text_of(
        Browser(panel.ben).get("study_conversations", slug=panel.study.slug)
    )


def test_the_clinicians_list_is_for_clinicians(panel: Panel) -> None:
    assert Browser(panel.adam).get("study_conversations", slug=panel.study.slug).status_code == 403


def test_who_recused_has_the_conversation_no_more(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel, external_id="left-behind")
    browser = Browser(panel.ben)
    ask = browser.get("recuse", slug=panel.study.slug, conversation_id=conversation.id)
    assert "You need no reason" in text_of(ask)
    answer = browser.on(conversation, "recuse")
    assert answer.status_code == 303
    page = text_of(browser.client.get(answer["Location"]))
    assert "You have left that conversation" in page
    assert "left-behind" not in page
    assert browser.desk(conversation).status_code == 404


def count_queries(browser: Browser, name: str, **address: Any) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert browser.get(name, **address).status_code == 200
    return len(captured)


def test_lists_take_as_many_queries_for_many_rows_as_for_few(panel: Panel) -> None:
    make_voting(panel=panel)
    browser = Browser(panel.ben)
    few = [
        count_queries(browser, "study_conversations", slug=panel.study.slug),
        count_queries(browser, "my_studies"),
        count_queries(browser, "study", slug=panel.study.slug),
    ]
    for _ in range(6):
        make_voting(panel=panel, texts=["One.", "Two."])
    for number in range(3):
        other = create_study(slug=f"other-{number}", name="Other", by=panel.adam)
        add_member(study=other, email=panel.ben.email, roles=["clinician"])
    many = [
        count_queries(browser, "study_conversations", slug=panel.study.slug),
        count_queries(browser, "my_studies"),
        count_queries(browser, "study", slug=panel.study.slug),
    ]
    assert many == few
    assert max(many) <= 15


def test_a_long_list_is_turned_page_by_page(panel: Panel) -> None:
    for number in range(53):
        conversation = make_conversation(study=panel.study, external_id=f"c{number:02}", position=number)
        assign_reviewer(conversation=conversation, reviewer=panel.ben)
    browser = Browser(panel.ben)
    first = text_of(browser.get("study_conversations", slug=panel.study.slug))
    second = text_of(browser.get("study_conversations", query={"page": "2"}, slug=panel.study.slug))
    assert "c49" in first
    assert "c50" not in first
    assert "c52" in second


@pytest.fixture
def demo_cast() -> None:
    study = create_study(slug="demo", name="Demo")
    for email, role in [
        ("abena.mensah@example.org", "clinician"),
        ("maeve.donnelly@example.org", "admin"),
        ("sanne.visser@example.org", "researcher"),
    ]:
        add_member(study=study, email=email, roles=[role], name=email.split(".")[0].title())


def test_without_the_demo_there_is_no_way_in_without_a_code(demo_cast: None, settings: pytest.FixtureRequest) -> None:
    settings.DEMO = False  # type: ignore[attr-defined]
    browser = Browser()
    assert browser.get("demo_sign_in").status_code == 404
    assert browser.post("demo_sign_in", {"role": "admin"}).status_code == 404
    assert "_auth_user_id" not in browser.client.session


@pytest.mark.parametrize("role", ["clinician", "admin", "researcher"])
def test_one_comes_into_the_demo_by_one_button(demo_cast: None, settings: pytest.FixtureRequest, role: str) -> None:
    settings.DEMO = True  # type: ignore[attr-defined]
    browser = Browser()
    assert f"Come in as {role}" in text_of(browser.get("demo_sign_in"))
    answer = browser.post("demo_sign_in", {"role": role})
    assert (answer.status_code, answer["Location"]) == (303, "/studies/demo/")
    assert browser.client.session["_auth_user_id"] == str(dict(demo_people())[role].pk)
    assert browser.get("study", slug="demo").status_code == 200


def test_the_demo_lets_nobody_else_in(demo_cast: None, settings: pytest.FixtureRequest) -> None:
    settings.DEMO = True  # type: ignore[attr-defined]
    make_person(name="oscar")
    browser = Browser()
    for role in ("", "oscar@example.org", "owner"):
        assert browser.post("demo_sign_in", {"role": role}).status_code == 404
    assert "_auth_user_id" not in browser.client.session
