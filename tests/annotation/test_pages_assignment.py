"""The pages, the API and the command of assigning: what is shown is done; each role; refusals in a sentence."""

import re

import pytest

from annotation.assigning import assign_reviewer
from annotation.models import Assignment, Membership
from tests.factories import Panel, join, make_conversation, make_panel
from tests.journeys.commands import run
from tests.pages import api, at, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="pilot")


def plan_in(html: str) -> str:
    found = re.search(r'name="plan" value="(\w+)"', html)
    assert found, html
    return found[1]


def test_the_preview_names_who_would_get_what_and_that_is_done(panel: Panel) -> None:
    for number in range(3):
        make_conversation(study=panel.study, external_id=f"case-{number}", position=number)
    client, page = signed_in(panel.adam), at(panel.study, "study_assign")
    html = shown(client, page + "?reviewers=2")
    rows = dict(re.findall(r">(case-\d)</a></th>.*?<td>([^<]*)</td>\s*</tr>", html, re.DOTALL))
    assert not Assignment.objects.exists()
    client.post(page, {"reviewers": 2, "plan": plan_in(html)})
    made: dict[str, set[str]] = {}
    for one in Assignment.objects.select_related("conversation", "reviewer"):
        made.setdefault(one.conversation.external_id, set()).add(str(one.reviewer))
    assert {name: set(people.strip().split(", ")) for name, people in rows.items()} == made


def test_where_something_changed_meanwhile_it_asks_again(panel: Panel) -> None:
    make_conversation(study=panel.study)
    client, page = signed_in(panel.adam), at(panel.study, "study_assign")
    plan = plan_in(shown(client, page + "?reviewers=2"))
    make_conversation(study=panel.study)
    response = client.post(page, {"reviewers": 2, "plan": plan})
    html = response.content.decode()
    assert response.status_code == 409
    assert "Something changed since this was shown" in html
    assert "4 new assignments in 2 conversations" in html
    assert not Assignment.objects.exists()
    assert client.post(page, {"reviewers": 2}).status_code == 409, "a plan that nobody saw is none"
    assert client.post(page, {"reviewers": 2, "plan": plan_in(html)}).status_code == 302
    assert Assignment.objects.count() == 4


def test_a_long_plan_comes_in_pages(panel: Panel) -> None:
    for number in range(60):
        make_conversation(study=panel.study, external_id=f"case-{number:02}", position=number)
    client, page = signed_in(panel.adam), at(panel.study, "study_assign")
    assert len(re.findall(r">case-\d\d</a></th>", shown(client, page + "?reviewers=1"))) == 50
    second = shown(client, page + "?reviewers=1&page=2")
    assert re.findall(r">(case-\d\d)</a></th>", second) == [f"case-{number}" for number in range(50, 60)]


def test_the_number_of_queries_of_a_preview_does_not_grow(panel: Panel) -> None:
    make_conversation(study=panel.study)
    client, page = signed_in(panel.adam), at(panel.study, "study_assign") + "?reviewers=3"
    few = queries_of(client, page)
    for number in range(5):
        join(study=panel.study, name=f"more-{number}")
        make_conversation(study=panel.study, tags=["speciality: x"], country="MX")
    assert queries_of(client, page) == few


@pytest.mark.parametrize("name", ["ana", "rita", "oscar"])
def test_only_an_admin_assigns_and_unassigns(panel: Panel, name: str) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ben)
    person, status = getattr(panel, name), 404 if name == "oscar" else 403
    client = signed_in(person)
    away = at(panel.study, "unassign_one", conversation_id=conversation.id, reviewer_id=panel.ben.id)
    assert client.post(at(panel.study, "study_assign"), {"reviewers": 2}).status_code == status
    assert client.get(away).status_code == client.post(away).status_code == status
    url = at(panel.study, "api_assign_one", conversation_id=conversation.id)
    assert api(person).delete(url, {"reviewer": panel.ben.email}, format="json").status_code == status
    assert Assignment.objects.active().count() == 1


def test_an_admin_takes_a_conversation_from_a_reviewer_after_being_asked(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study, external_id="case-1")
    assign_reviewer(conversation=conversation, reviewer=panel.ben)
    client = signed_in(panel.adam)
    away = at(panel.study, "unassign_one", conversation_id=conversation.id, reviewer_id=panel.ben.id)
    page = at(panel.study, "admin_conversation", conversation_id=conversation.id)
    assert away in shown(client, page)
    assert "Take case-1 from Ben?" in shown(client, away)
    assert Assignment.objects.active().count() == 1
    html = client.post(away, follow=True).content.decode()
    assert "Ben doesn&#x27;t review this conversation any more." in html
    assert "Recused" not in html
    assert client.get(away).status_code == 404
    assert not Assignment.objects.active().exists()


def test_the_refusal_by_hand_does_not_say_why(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study, external_id="case-1")
    Membership.objects.filter(user=panel.ben).update(conflicts=["case-1"])
    url = at(panel.study, "api_assign_one", conversation_id=conversation.id)
    answer = api(panel.adam).post(url, {"reviewer": panel.ben.email}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (409, "This person can't be assigned here any more.")


def test_the_api_assigns_as_planned_and_takes_away(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    client, url = api(panel.adam), at(panel.study, "api_assignments")
    told = client.post(at(panel.study, "api_assignments_preview"), {"reviewers": 2}, format="json").json()
    [planned] = told["planned"]
    assert (planned["external_id"], planned["wanted"], planned["standing"]) == (conversation.external_id, 2, 0)
    assert client.post(url, {"reviewers": 2, "plan": "0" * 32}, format="json").status_code == 409
    assert client.post(url, {"reviewers": 2, "plan": told["plan"]}, format="json").json()["assigned"] == 2
    [first, second] = planned["added"]
    one = at(panel.study, "api_assign_one", conversation_id=conversation.id)
    assert client.delete(one, {"reviewer": first["email"]}, format="json").status_code == 204
    assert client.delete(one, {"reviewer": first["email"]}, format="json").status_code == 409
    assert client.delete(one, {"reviewer": "nobody@example.org"}, format="json").status_code == 409
    assert Assignment.objects.active().get().reviewer.email == second["email"]


def test_the_command_says_what_it_would_do_and_does_it_and_assigns_by_hand(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="case-1")
    told = run("assign", "pilot", "--reviewers", "2", "--check").data
    assert (told["would_assign"], told["conversations"]) == (2, 1)
    assert not Assignment.objects.exists()
    assert run("assign", "pilot", "--reviewers", "2", "--plan", "0" * 32).code == 1
    assert run("assign", "pilot", "--reviewers", "2", "--plan", told["plan"]).data["assigned"] == 2
    email = Assignment.objects.order_by("id")[0].reviewer.email
    by_hand = ("assign", "pilot", "--conversation", "case-1")
    assert run(*by_hand, "--remove", email, "--by", panel.adam.email).data["removed"] == email
    assert Assignment.objects.exclude(unassigned_at=None).get().unassigned_by == panel.adam
    assert run(*by_hand, "--add", email).data["added"] == email
    assert run(*by_hand, "--add", "nobody@example.org").code == 1
    assert run(*by_hand).code == 2
    assert run("assign", "pilot", "--add", email).code == 2


def test_rules_and_demands_are_settings_of_page_api_and_command(panel: Panel) -> None:
    code = run("set_study", "pilot", "--reviewers-by-rule", "emergent: 6", "--demand", "country").code
    assert code == 0
    url = at(panel.study, "api_settings")
    told = api(panel.adam).get(url).json()
    assert (told["reviewers_by_rule"], told["demands"]) == (["acuity emergent: 6"], ["country"])
    client = signed_in(panel.adam)
    page = shown(client, at(panel.study, "study_settings"))
    assert "acuity emergent: 6" in page
    assert re.search(r'value="country"[^>]*checked', page)
    body = {"seen": told["seen"], "reviewers_by_rule": ["nonsense"], "demands": []}
    assert api(panel.adam).patch(url, body, format="json").status_code == 409
    body["reviewers_by_rule"] = []
    assert api(panel.adam).patch(url, body, format="json").status_code == 200
    panel.study.refresh_from_db()
    assert (panel.study.reviewers_by_rule, panel.study.demands) == ([], [])
