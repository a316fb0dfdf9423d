"""The admin's pages of people and of the rule: assigning, members, policy."""

import re
from collections.abc import Callable, Sequence

import pytest
from django.urls import reverse

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.joining import accept_consent
from annotation.models import Assignment, Membership, Policy, Role, User, Vote
from annotation.policy_words import policy_clauses, policy_consequences, worked_cases
from tests.factories import (
    Panel,
    join,
    make_conversation,
    make_panel,
    make_person,
    make_study,
    make_voting,
    vote,
)
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


# Assignment


def test_a_preview_of_assignment_counts_and_writes_nothing(panel: Panel) -> None:
    for _ in range(3):
        make_conversation(study=panel.study)
    client = signed_in(panel.adam)
    html = shown(client, at(panel.study, "study_assign") + "?reviewers=4")
    assert "12 new assignments in 3 conversations" in html
    assert not Assignment.objects.exists()
    found = re.search(r'name="plan" value="([^"]+)"', html)
    assert found is not None
    shown_plan = {"reviewers": 4, "plan": found[1]}
    response = client.post(at(panel.study, "study_assign"), shown_plan, follow=True)
    assert "12 assignments made in 3 conversations." in response.content.decode()
    assert Assignment.objects.count() == 12


@pytest.mark.parametrize("number", ["0", "-1", "many", "1000", ""])
def test_a_number_of_reviewers_that_can_t_be_is_refused_beside_its_field(panel: Panel, number: str) -> None:
    make_conversation(study=panel.study)
    response = signed_in(panel.adam).post(at(panel.study, "study_assign"), {"reviewers": number})
    assert response.status_code == 422
    assert 'class="field-error"' in response.content.decode()
    assert not Assignment.objects.exists()


def test_one_clinician_is_assigned_by_hand_and_nobody_who_recused_or_is_none(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.dev)
    recuse_from_conversation(conversation=conversation, by=panel.dev)
    Assignment.objects.exclude(reviewer=panel.dev).delete()
    client = signed_in(panel.adam)
    page = at(panel.study, "admin_conversation", conversation_id=conversation.id)
    html = shown(client, page)
    assert "Recused: Dev." in html
    assert sorted(re.findall(r"<option value=\"[0-9a-f-]+\">(\w+)</option>", html)) == ["Ana", "Ben", "Chloe", "Eva"]
    act = at(panel.study, "assign_one", conversation_id=conversation.id)
    for person in (panel.dev, panel.adam, panel.oscar):
        assert client.post(act, {"reviewer": person.id}).status_code == 422
    assert client.post(act, {"reviewer": panel.ben.id}).status_code == 302
    assert Assignment.objects.active().get(conversation=conversation).reviewer == panel.ben


# Members


def test_an_unknown_person_is_made_and_joins_with_what_was_declared(panel: Panel) -> None:
    form = {
        "email": "Eve@Example.org",
        "name": "Eve",
        "roles": ["clinician", "researcher"],
        "languages": "es-MX, en",
        "country": "mx",
        "profession": "psychologist",
        "speciality": "adolescents",
    }
    response = signed_in(panel.adam).post(at(panel.study, "study_members"), form, follow=True)
    assert "Eve is in the study, as clinician and researcher." in response.content.decode()
    eve = User.objects.get(email__iexact="eve@example.org")
    assert eve.languages == ["es-MX", "en"]
    assert eve.country == "MX"
    assert Membership.objects.get(user=eve, study=panel.study).roles == ["clinician", "researcher"]


def test_a_known_member_gets_one_more_role_in_any_letter_case(panel: Panel) -> None:
    people = User.objects.count()
    form = {"email": panel.ana.email.upper(), "roles": ["admin"]}
    assert signed_in(panel.adam).post(at(panel.study, "study_members"), form).status_code == 302
    assert Membership.objects.get(user=panel.ana, study=panel.study).roles == [Role.ADMIN, Role.CLINICIAN]
    assert User.objects.count() == people


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"email": "nobody", "roles": ["clinician"]}, "This is no e-mail address."),
        ({"email": "eve@example.org"}, "Choose at least one role."),
        ({"email": "eve@example.org", "roles": ["owner"]}, "owner"),
        ({"email": "eve@example.org", "roles": ["clinician"], "languages": "Spanish!"}, "is no language tag"),
        ({"email": "eve@example.org", "roles": ["clinician"], "country": "Mexico"}, "A country is two letters"),
    ],
)
def test_what_is_missing_for_a_member_is_said_beside_its_field(
    panel: Panel, form: dict[str, object], sentence: str
) -> None:
    response = signed_in(panel.adam).post(at(panel.study, "study_members"), form)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not User.objects.filter(email="eve@example.org").exists()


def test_a_member_leaves_after_a_page_that_says_what_it_means(panel: Panel) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    member = Membership.objects.get(user=panel.ben, study=panel.study)
    client, page = signed_in(panel.adam), at(panel.study, "member_leaves", membership_id=member.id)
    assert "1 conversation loses a reviewer." in shown(client, page)
    assert client.post(page).headers["Location"] == at(panel.study, "study_members")
    member.refresh_from_db()
    assert member.left_at is not None
    assert Vote.objects.filter(reviewer=panel.ben).count() == 1
    assert client.get(page).status_code == 404
    assert "1 has left" in shown(client, at(panel.study, "study_members"))


def test_an_admin_who_leaves_is_out_after_it(panel: Panel) -> None:
    join(study=panel.study, name="amy", role="admin")
    member = Membership.objects.get(user=panel.adam, study=panel.study)
    client, page = signed_in(panel.adam), at(panel.study, "member_leaves", membership_id=member.id)
    assert client.post(page).headers["Location"] == reverse("my_studies")
    assert client.get(at(panel.study, "study_progress")).status_code == 404


def test_who_has_accepted_the_consent_text_shows_where_there_is_one() -> None:
    panel = make_panel(consent_text="What it is for.")
    accept_consent(study=panel.study, person=panel.adam)
    html = shown(signed_in(panel.adam), at(panel.study, "study_members"))
    assert html.count("<td>accepted</td>") == 1
    without = make_panel()
    assert "Consent" not in shown(signed_in(without.adam), at(without.study, "study_members"))


# Policy


def made(rule: Callable[[Policy], Sequence[str]], preset: str) -> str:
    return "\n".join(rule(make_study(preset=preset).policy))


def test_the_policy_says_its_own_numbers() -> None:
    three = made(policy_clauses, "three-agree")
    assert "At least 3 reviewers who did not write it agreed, objected or abstained, and at least 3 of them" in three
    assert "at least 75% agreed" in three
    assert "Nobody objected that it is unsafe or clinically wrong." in three
    two = made(policy_clauses, "two-of-three")
    assert "at least 2 of them agreed" in two
    assert "Nobody objected, in whatever category." in two
    assert "a criterion has 4 who did not write it: 1 of them may be away" in made(policy_consequences, "three-agree")


def test_the_worked_cases_are_decided_by_the_rule() -> None:
    found = {case.votes: case.decision.is_in_consensus for case in worked_cases(make_study().policy)}
    assert found == {
        "4 agree with +6": True,
        "3 agree with +6, the others are silent": True,
        "3 agree with +6, 1 abstains": True,
        "3 agree with +6, 1 finds it ambiguous": True,
        "3 agree with +6, 1 finds it unsafe": False,
        "3 agree with +6, 1 with +10": True,
        "3 agree with +2, 1 with −2": False,
        "4 find it ambiguous": False,
    }
    strict = {
        case.votes: case.decision.is_in_consensus for case in worked_cases(make_study(preset="two-of-three").policy)
    }
    assert strict["3 agree with +6, 1 finds it ambiguous"] is False


def test_the_policy_page_shows_the_rule_in_force(panel: Panel) -> None:
    html = shown(signed_in(panel.adam), at(panel.study, "study_policy"))
    assert "Three agree. Policy 1" in html
    assert "Not in consensus: somebody objected that it is unsafe." in html


def test_a_person_is_shown_as_text_whatever_the_name_holds(panel: Panel) -> None:
    join(study=panel.study, name="mallory")
    User.objects.filter(email="mallory@example.org").update(name="<script>alert(1)</script>")
    html = shown(signed_in(panel.adam), at(panel.study, "study_members"))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_an_outsider_s_address_is_not_told_to_be_known(panel: Panel) -> None:
    """Adding a person says only what adding does, known to the installation or not."""
    make_person(name="quinn")
    client = signed_in(panel.adam)
    for email in ("quinn@example.org", "never-seen@example.org"):
        response = client.post(at(panel.study, "study_members"), {"email": email, "roles": ["clinician"]})
        assert response.status_code == 302
