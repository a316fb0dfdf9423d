"""Making a study, from nothing or as a copy: the acts, who may, the steps on pages, the command and the API."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.changing_policy import change_policy
from annotation.copying_a_study import copy_study
from annotation.joining import AttestationMissing, SlugIsTaken, SlugIsUnreadable, StudyNeedsAName
from annotation.languages_and_countries import LanguageIsUnreadable
from annotation.making_a_study import make_study
from annotation.models import Membership, Role, Study
from annotation.permissions import may_make_studies
from annotation.setting_up import set_up_study
from consilium.environment import read_people
from consilium.errors import RuleViolation
from tests.factories import Panel, make_conversation, make_panel, make_person
from tests.pages import api, shown, signed_in

pytestmark = pytest.mark.django_db
START = {"name": "Crisis support", "slug": "crisis", "source": ""}
TEXTS = {"text_class": "synthetic", "attestation": "", "languages": "en, es-MX"}
RULE = {"preset": "two-of-three"}
WORDS = {
    "what_to_expect": "Hard texts.",
    "support_contact": "Dr. Example",
    "consent_text": "",
    "guidelines": "Write plainly.",
}


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="source")


def send(client: Client, step: str, data: dict[str, str], **more: str) -> Any:
    url = reverse("new_study") if step == "start" else reverse("new_study_step", kwargs={"step": step})
    return client.post(url, {**data, **more})


def go(client: Client, *steps: tuple[str, dict[str, str]]) -> Any:
    for step, data in steps:
        response = send(client, step, data)
        assert response.status_code == 302, (step, response.content.decode())
    return response


# The acts


def test_a_study_is_made_whole_and_its_maker_is_its_admin() -> None:
    oscar = make_person(name="oscar")
    study = make_study(slug="crisis", name=" Crisis ", preset="two-of-three", by=oscar, guidelines="Be kind.")
    assert (study.name, study.policy.preset, study.guidelines) == ("Crisis", "two-of-three", "Be kind.")
    assert Membership.objects.get(study=study).roles == [Role.ADMIN]


@pytest.mark.parametrize(
    ("facts", "refusal"),
    [
        ({"slug": "with blanks"}, SlugIsUnreadable),
        ({"slug": "SOURCE"}, SlugIsTaken),
        ({"name": " "}, StudyNeedsAName),
        ({"languages": ["Spanish!"]}, LanguageIsUnreadable),
        ({"text_class": "de_identified", "attestation": " "}, AttestationMissing),
    ],
)
def test_what_can_t_be_made_leaves_nothing(panel: Panel, facts: dict[str, Any], refusal: type[RuleViolation]) -> None:
    with pytest.raises(refusal):
        make_study(**{"slug": "crisis", "name": "Crisis", "by": panel.adam, **facts})
    assert Study.objects.count() == 1


def test_a_copy_has_settings_policy_axes_and_guidelines_and_nobody_but_its_maker(panel: Panel) -> None:
    source = panel.study
    make_conversation(study=source)
    set_up_study(study=source, by=panel.adam, guidelines="Be kind.", axes=["one", "two"], consent_text="Read this.")
    set_up_study(study=source, by=panel.adam, consent_text="Read that.", languages=["en"])
    change_policy(study=source, by=panel.adam, max_rounds=7, reviewers_per_conversation=9)
    study = copy_study(source=source, slug="copy", name="Copy", by=panel.adam, languages=["es"])
    study.refresh_from_db()
    assert (study.guidelines, study.axes, study.consent_text) == ("Be kind.", ["one", "two"], "Read that.")
    assert (study.consent_version, study.languages) == (1, ["es"])
    policy = study.policy
    assert (policy.version, policy.max_rounds, policy.reviewers_per_conversation) == (1, 7, 9)
    assert policy.created_by == panel.adam
    assert study.canary_string != source.canary_string
    assert [member.user for member in study.memberships.all()] == [panel.adam]
    assert not study.conversations.exists()
    assert source.policies.count() == 2


def test_what_was_recorded_about_other_texts_is_recorded_anew(panel: Panel) -> None:
    facts: dict[str, Any] = {
        "text_class": "de_identified",
        "attestation": "By Dr. A.",
        "outside_endpoints_basis": "Contract 7.",
    }
    set_up_study(study=panel.study, by=panel.adam, **facts)
    with pytest.raises(AttestationMissing):
        copy_study(source=panel.study, slug="copy", name="Copy", by=panel.adam)
    study = copy_study(source=panel.study, slug="copy", name="Copy", attestation="By Dr. B.", by=panel.adam)
    assert (study.text_class, study.attestation, study.outside_endpoints_basis) == ("de_identified", "By Dr. B.", "")


# Who may


def test_who_may_make_studies(panel: Panel, settings: Any) -> None:
    settings.STUDY_MAKERS = []
    assert may_make_studies(panel.adam)
    assert not any(may_make_studies(person) for person in (panel.ana, panel.rita, panel.oscar))
    settings.STUDY_MAKERS = ["oscar@example.org"]
    panel.oscar.email = "Oscar@Example.org"
    assert may_make_studies(panel.oscar)
    assert not may_make_studies(panel.ana)
    settings.STUDY_MAKERS = ["*"]
    assert may_make_studies(panel.ana)
    panel.adam.is_active = False
    assert not may_make_studies(panel.adam)


def test_who_left_administers_nothing(panel: Panel, settings: Any) -> None:
    settings.STUDY_MAKERS = []
    Membership.objects.filter(user=panel.adam).update(left_at="2026-01-01T00:00Z")
    assert not may_make_studies(panel.adam)


def test_the_setting_takes_addresses_or_a_star() -> None:
    assert read_people("X", {"X": " Ana@Example.org , b@c.d"}) == ["ana@example.org", "b@c.d"]
    assert read_people("X", {"X": "*"}) == ["*"]
    assert read_people("X", {}) == []
    with pytest.raises(SystemExit, match="X names 'everybody'"):
        read_people("X", {"X": "everybody"})


def test_pages_and_api_are_closed_to_who_may_not(panel: Panel, settings: Any) -> None:
    settings.STUDY_MAKERS = []
    client = signed_in(panel.ana)
    assert reverse("new_study") not in shown(client, reverse("my_studies"))
    assert client.get(reverse("new_study")).status_code == 403
    assert send(client, "start", START).status_code == 403
    assert api(panel.ana).post(reverse("api_studies"), {"slug": "x", "name": "X"}, format="json").status_code == 403
    assert reverse("new_study") in shown(signed_in(panel.adam), reverse("my_studies"))
    assert Study.objects.count() == 1


# The steps


def test_a_study_is_made_in_four_steps() -> None:
    client = signed_in(make_person(name="oscar"))
    assert reverse("new_study") in shown(client, reverse("my_studies"))
    made = go(client, ("start", START), ("texts", TEXTS), ("rule", RULE), ("words", WORDS))
    assert made.headers["Location"] == reverse("study", kwargs={"slug": "crisis"})
    study = Study.objects.get()
    assert (study.name, study.languages, study.policy.preset) == ("Crisis support", ["en", "es-MX"], "two-of-three")
    assert (study.what_to_expect, study.guidelines, study.consent_text) == ("Hard texts.", "Write plainly.", "")
    assert "Crisis support is there, and you are its admin." in shown(client, made.headers["Location"])
    assert 'value="Crisis support"' not in shown(client, reverse("new_study"))


def test_what_is_left_for_later_is_listed_on_the_study_s_page() -> None:
    client = signed_in(make_person(name="oscar"))
    made = go(client, ("start", START), ("texts", TEXTS), ("rule", RULE), ("words", {}))
    html = shown(client, made.headers["Location"])
    assert "Say what to expect of the texts" in html
    assert "Name somebody to talk to." in html


def test_nothing_is_lost_on_the_way_back_and_nothing_is_made_before_the_end() -> None:
    client = signed_in(make_person(name="oscar"))
    go(client, ("start", START), ("texts", {**TEXTS, "text_class": "public"}), ("rule", RULE))
    back = send(client, "words", {**WORDS, "guidelines": "Half a sent"}, act="back")
    assert back.headers["Location"] == reverse("new_study_step", kwargs={"step": "rule"})
    assert re.search(r'value="two-of-three"[^>]*checked', shown(client, back.headers["Location"]))
    html = shown(client, reverse("new_study_step", kwargs={"step": "texts"}))
    assert re.search(r'value="public"[^>]*checked', html)
    assert "en, es-MX" in html
    assert 'value="Crisis support"' in shown(client, reverse("new_study"))
    assert "Half a sent" in shown(client, reverse("new_study_step", kwargs={"step": "words"}))
    assert not Study.objects.exists()


def test_what_can_t_be_read_goes_back_too_and_is_said_on_the_way_on() -> None:
    client = signed_in(make_person(name="oscar"))
    go(client, ("start", START))
    wrong = {**TEXTS, "text_class": "de_identified", "languages": "Spanish!"}
    assert send(client, "texts", wrong, act="back").status_code == 302
    refused = send(client, "texts", wrong)
    assert refused.status_code == 422
    assert "De-identified texts need a recorded attestation" in refused.content.decode()
    assert "is no language tag" in refused.content.decode()
    skipped = client.get(reverse("new_study_step", kwargs={"step": "words"}))
    assert "De-identified texts need" in skipped.content.decode()


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"slug": "SOURCE"}, "A study with this short name exists already."),
        ({"slug": "with blanks"}, "letters, digits, hyphens and underscores only"),
        ({"slug": "", "name": "危机"}, "Please write a short name"),
        ({"name": ""}, "Please fill this in."),
    ],
)
def test_a_name_that_can_t_be_is_said_at_the_first_step(panel: Panel, facts: dict[str, str], sentence: str) -> None:
    response = send(signed_in(panel.adam), "start", {**START, **facts})
    assert response.status_code == 422
    assert sentence in response.content.decode()


def test_a_short_name_is_made_from_the_name() -> None:
    client = signed_in(make_person(name="oscar"))
    go(client, ("start", {**START, "slug": ""}), ("texts", TEXTS), ("rule", RULE), ("words", WORDS))
    assert Study.objects.get().slug == "crisis-support"


def test_a_short_name_taken_meanwhile_is_said_and_nothing_is_lost(panel: Panel) -> None:
    client = signed_in(panel.adam)
    go(client, ("start", START), ("texts", TEXTS), ("rule", RULE))
    make_study(slug="crisis", name="Another", by=panel.rita)
    refused = send(client, "words", WORDS)
    assert refused.status_code == 422
    assert "exists already" in refused.content.decode()
    made = go(client, ("start", {**START, "slug": "crisis-2"}), ("words", WORDS))
    assert made.headers["Location"] == reverse("study", kwargs={"slug": "crisis-2"})


def test_the_last_step_sent_twice_makes_one_study() -> None:
    client = signed_in(make_person(name="oscar"))
    go(client, ("start", START), ("texts", TEXTS), ("rule", RULE))
    kept = dict(client.session["new_study"])
    go(client, ("words", WORDS))
    assert send(client, "words", WORDS).headers["Location"] == reverse("my_studies")
    session = client.session
    session["new_study"] = kept  # as a second press finds it that began before the first had ended
    session.save()
    assert send(client, "words", WORDS).headers["Location"] == reverse("study", kwargs={"slug": "crisis"})
    assert Study.objects.count() == 1


def test_the_rules_are_told_with_their_consequences() -> None:
    client = signed_in(make_person(name="oscar"))
    go(client, ("start", START), ("texts", TEXTS))
    html = shown(client, reverse("new_study_step", kwargs={"step": "rule"}))
    assert "at least 3 of them agreed" in html
    assert "Nobody objected, in whatever category." in html
    assert "1 of them may be away" in html


def test_a_copy_takes_two_steps_and_is_of_an_own_study(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, guidelines="Be kind.")
    other = make_study(slug="other", name="Other", by=panel.rita)
    client = signed_in(panel.adam)
    assert "a copy of Source" in shown(client, reverse("new_study"))
    assert "a copy of Other" not in shown(client, reverse("new_study"))
    assert send(client, "start", {**START, "source": other.slug}).status_code == 422
    made = go(client, ("start", {**START, "source": "source"}), ("copy", {}))
    assert made.headers["Location"] == reverse("study", kwargs={"slug": "crisis"})
    assert Study.objects.get(slug="crisis").guidelines == "Be kind."


def test_a_copy_of_de_identified_texts_asks_who_did_it(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, text_class="de_identified", attestation="By Dr. A.")
    client = signed_in(panel.adam)
    go(client, ("start", {**START, "source": "source"}))
    refused = send(client, "copy", {"attestation": ""})
    assert refused.status_code == 422
    assert "By Dr. A." not in refused.content.decode()
    go(client, ("copy", {"attestation": "By Dr. B."}))
    assert Study.objects.get(slug="crisis").attestation == "By Dr. B."


def test_a_step_that_is_none_is_not_there_and_one_may_start_anew() -> None:
    client = signed_in(make_person(name="oscar"))
    assert client.get(reverse("new_study_step", kwargs={"step": "nowhere"})).status_code == 404
    go(client, ("start", START))
    assert client.get(reverse("new_study_step", kwargs={"step": "copy"})).headers["Location"] == reverse("new_study")
    send(client, "start", {}, act="anew")
    assert 'value="Crisis support"' not in shown(client, reverse("new_study"))


# The API and the command


def test_the_api_makes_a_study_or_a_copy(panel: Panel) -> None:
    address = reverse("api_studies")
    given = {"slug": "one", "name": "One", "preset": "two-of-three", "languages": ["en"], "guidelines": "Be kind."}
    made = api(panel.oscar).post(address, given, format="json")
    assert (made.status_code, made.json()["slug"]) == (201, "one")
    assert made.json()["roles"] == ["admin"]
    copied = api(panel.oscar).post(address, {"slug": "two", "name": "Two", "copy_of": "ONE"}, format="json")
    assert copied.status_code == 201
    assert Study.objects.get(slug="two").policy.preset == "two-of-three"
    foreign = api(panel.oscar).post(address, {"slug": "three", "name": "Three", "copy_of": "source"}, format="json")
    assert (foreign.status_code, list(foreign.json())) == (400, ["copy_of"])
    assert api(panel.oscar).post(address, given, format="json").status_code == 409
    both = {"slug": "four", "name": "Four", "copy_of": "one", "preset": "three-agree"}
    assert api(panel.oscar).post(address, both, format="json").status_code == 400


def test_the_command_copies_a_study(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, guidelines="Be kind.", languages=["en"])
    out = StringIO()
    call_command(
        "create_study", "copy", "--name", "Copy", "--copy-of", "source", "--languages", "es", "--json", stdout=out
    )
    assert json.loads(out.getvalue())["policy"] == "three-agree"
    study = Study.objects.get(slug="copy")
    assert (study.guidelines, study.languages) == ("Be kind.", ["es"])
