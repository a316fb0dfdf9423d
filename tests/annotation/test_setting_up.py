"""A study's settings: what an admin sets, who is asked again, and two admins at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.joining import AttestationMissing, IdentifiableTexts, StudyNeedsAName, accept_consent, must_consent
from annotation.languages_and_countries import LanguageIsUnreadable
from annotation.models import Study
from annotation.models.studies import DEFAULT_AXES
from annotation.setting_up import (
    SettingsChangedMeanwhile,
    StudyNeedsAnAxis,
    TextCantBeKept,
    basis_recorded,
    hashes_of,
    missing_before_start,
    set_up_study,
    settings_of,
)
from annotation.study_forms import SettingsForm
from tests.factories import Panel, draft, make_conversation, make_panel
from tests.journeys.commands import done, run
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def test_what_is_named_changes_and_the_rest_stays(panel: Panel) -> None:
    changed = set_up_study(
        study=panel.study, by=panel.adam, guidelines="One claim.\r\n", languages=["en", "en", "es-MX"]
    )
    stored = Study.objects.get(pk=panel.study.pk)
    assert changed == ["guidelines", "languages"]
    assert (stored.guidelines, stored.languages) == ("One claim.", ["en", "es-MX"])
    assert stored.axes == DEFAULT_AXES
    assert panel.study.guidelines == "One claim."
    assert set_up_study(study=panel.study, by=panel.adam, guidelines="One claim.") == []


def test_a_changed_consent_text_is_a_new_version_and_asks_everybody_again(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose.")
    assert panel.study.consent_version == 1
    accept_consent(study=panel.study, person=panel.ana)
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose.\r\n", guidelines="Write.")
    assert not must_consent(panel.study, panel.ana)
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose, and pay.")
    assert panel.study.consent_version == 2
    assert must_consent(panel.study, panel.ana)
    assert panel.ana.consents.get().text_version == 1


def test_a_consent_text_taken_away_and_put_back_is_asked_for_again(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose.")
    accept_consent(study=panel.study, person=panel.ana)
    set_up_study(study=panel.study, by=panel.adam, consent_text="")
    assert not must_consent(panel.study, panel.ana)
    set_up_study(study=panel.study, by=panel.adam, consent_text="Another.")
    assert must_consent(panel.study, panel.ana)


@pytest.mark.parametrize(
    ("facts", "refusal"),
    [
        ({"name": "  "}, StudyNeedsAName),
        ({"name": "x" * 201}, StudyNeedsAName),
        ({"axes": [" "]}, StudyNeedsAnAxis),
        ({"languages": ["english!"]}, LanguageIsUnreadable),
        ({"text_class": "identifiable"}, IdentifiableTexts),
        ({"text_class": "de_identified"}, AttestationMissing),
        ({"text_class": "de_identified", "attestation": " \n"}, AttestationMissing),
        ({"guidelines": "a\x00b"}, TextCantBeKept),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_of_it_is_kept(
    panel: Panel, facts: dict[str, Any], refusal: type[Exception]
) -> None:
    before = settings_of(panel.study)
    with pytest.raises(refusal):
        set_up_study(study=panel.study, by=panel.adam, **{"support_contact": "Bea", **facts})
    assert settings_of(Study.objects.get(pk=panel.study.pk)) == before


def test_the_attestation_of_de_identified_texts_cant_be_taken_away(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, text_class="de_identified", attestation="By Ada, in May.")
    with pytest.raises(AttestationMissing):
        set_up_study(study=panel.study, by=panel.adam, attestation="")


def test_the_legal_basis_keeps_who_recorded_it_and_is_typed_without_that(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, outside_endpoints_basis="Contract 12.")
    recorded = basis_recorded(panel.study.outside_endpoints_basis)
    assert recorded.startswith("Recorded by Adam (adam@example.org) on ")
    assert settings_of(panel.study)["outside_endpoints_basis"] == "Contract 12."
    assert set_up_study(study=panel.study, by=panel.rita, outside_endpoints_basis="Contract 12.") == []
    set_up_study(study=panel.study, by=None, outside_endpoints_basis="")
    assert panel.study.outside_endpoints_basis == ""


def test_criteria_keep_an_axis_that_is_taken_away(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    criterion = draft(conversation=conversation, writer=panel.ana, axis="communication_and_writing")
    set_up_study(study=panel.study, by=panel.adam, axes=["empathy"])
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    assert criterion.current_revision.axis == "communication_and_writing"


def test_two_admins_who_change_different_settings_keep_both(panel: Panel) -> None:
    seen = hashes_of(panel.study)
    mine = {**settings_of(panel.study), "guidelines": "Mine."}
    theirs = {**settings_of(panel.study), "support_contact": "Theirs."}
    set_up_study(study=panel.study, by=panel.adam, seen=seen, **theirs)
    set_up_study(study=panel.study, by=panel.adam, seen=seen, **mine)
    stored = Study.objects.get(pk=panel.study.pk)
    assert (stored.guidelines, stored.support_contact) == ("Mine.", "Theirs.")


def test_two_admins_who_change_the_same_setting_overwrite_nothing(panel: Panel) -> None:
    seen = hashes_of(panel.study)
    set_up_study(study=panel.study, by=panel.adam, guidelines="Theirs.")
    with pytest.raises(SettingsChangedMeanwhile) as refused:
        set_up_study(study=panel.study, by=panel.adam, seen=seen, guidelines="Mine.")
    assert refused.value.fields == ["guidelines"]
    assert Study.objects.get(pk=panel.study.pk).guidelines == "Theirs."


def test_what_is_missing_is_named_until_it_is_there(panel: Panel) -> None:
    assert [this.setting for this in missing_before_start(panel.study)] == ["what_to_expect", "support_contact"]
    set_up_study(study=panel.study, by=panel.adam, what_to_expect="Hard.", support_contact="Bea")
    assert missing_before_start(panel.study) == []


# The page


def typed(study: Study, **changed: object) -> dict[str, Any]:
    """The settings form as a browser sends it, with some fields changed."""
    form = SettingsForm(study=study)
    data = {name: form[name].value() for name in form.fields}
    data = {name: value for name, value in data.items() if value not in (None, False)}
    return {**data, **changed}


def test_the_page_is_the_admins_and_saves(panel: Panel) -> None:
    page = at(panel.study, "study_settings")
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert signed_in(person).get(page).status_code == status
        assert signed_in(person).post(page, typed(panel.study)).status_code == status
    assert "Before anybody begins" in shown(signed_in(panel.adam), page)
    sent = typed(
        panel.study, what_to_expect="Hard.\r\n", support_contact="Bea", axes="empathy\r\ntruth", languages="en, es"
    )
    answer = signed_in(panel.adam).post(page, sent)
    assert answer.status_code == 302
    stored = Study.objects.get(pk=panel.study.pk)
    assert (stored.what_to_expect, stored.axes, stored.languages) == ("Hard.", ["empathy", "truth"], ["en", "es"])
    assert "Before anybody begins" not in shown(signed_in(panel.adam), page)


def test_a_preview_shows_the_markdown_and_saves_nothing(panel: Panel) -> None:
    sent = typed(panel.study, guidelines="## One claim\n\n<script>x</script>", preview="1")
    answer = signed_in(panel.adam).post(at(panel.study, "study_settings"), sent)
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "<h3>One claim</h3>" in body
    assert "<script>x" not in body
    assert Study.objects.get(pk=panel.study.pk).guidelines == ""


def test_an_unreadable_setting_is_said_beside_its_field_and_nothing_is_saved(panel: Panel) -> None:
    client = signed_in(panel.adam)
    for changed, sentence in (
        ({"languages": "english!"}, "is no language tag"),
        ({"axes": " "}, "at least one axis"),
        ({"text_class": "de_identified"}, "need a recorded attestation"),
    ):
        answer = client.post(at(panel.study, "study_settings"), typed(panel.study, guidelines="Kept.", **changed))
        assert answer.status_code == 422
        assert sentence in answer.content.decode()
        assert "Kept." in answer.content.decode()
    assert Study.objects.get(pk=panel.study.pk).guidelines == ""


def test_a_stale_page_is_answered_with_both_texts_and_can_be_sent_again(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_settings")
    stale = typed(panel.study, guidelines="Mine.")
    set_up_study(study=panel.study, by=panel.adam, guidelines="Theirs.", support_contact="Bea")
    answer = client.post(page, stale)
    body = answer.content.decode()
    assert answer.status_code == 409
    assert "Mine." in body
    assert "Theirs." in body
    form = answer.context["form"]
    again = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    assert client.post(page, again).status_code == 302
    stored = Study.objects.get(pk=panel.study.pk)
    assert (stored.guidelines, stored.support_contact) == ("Mine.", "Bea")


def test_hashes_that_cant_be_read_overwrite_nothing(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, guidelines="Theirs.")
    sent = typed(panel.study, guidelines="Mine.", seen="[")
    assert signed_in(panel.adam).post(at(panel.study, "study_settings"), sent).status_code == 409
    assert json.loads(typed(panel.study)["seen"]) == hashes_of(panel.study)


def test_the_list_of_what_is_missing_stands_on_the_admins_pages_alone(panel: Panel) -> None:
    for name in ("study", "study_progress"):
        assert "Before anybody begins" in shown(signed_in(panel.adam), at(panel.study, name))
    assert "Before anybody begins" not in shown(signed_in(panel.ana), at(panel.study, "study"))
    assert at(panel.study, "study_settings") in shown(signed_in(panel.adam), at(panel.study, "study_guidelines"))


def test_a_consent_text_that_changed_while_it_was_read_is_not_accepted(panel: Panel) -> None:
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose.")
    set_up_study(study=panel.study, by=panel.adam, consent_text="Purpose, and pay.")
    client, page = signed_in(panel.ana), at(panel.study, "study_consent")
    answer = client.post(page, {"version": "1"})
    assert answer.status_code == 409
    assert "Purpose, and pay." in answer.content.decode()
    assert must_consent(panel.study, panel.ana)
    assert client.post(page, {"version": "2"}).status_code == 303
    assert not must_consent(panel.study, panel.ana)


# Commands


def test_set_study_takes_texts_and_files(panel: Panel, tmp_path: Path) -> None:
    guidelines = tmp_path / "guidelines.md"
    guidelines.write_text("# One claim\n", encoding="utf-8")
    answer = done(
        "set_study", panel.study.slug, "--guidelines", guidelines, "--support", "Bea, 112", "--axes", "empathy,truth",
        "--languages", "en", "es", "--not-for-public-text", "yes", "--by", panel.adam.email,
    )  # fmt: skip
    stored = Study.objects.get(pk=panel.study.pk)
    assert answer["missing"] == ["what_to_expect"]
    assert (stored.guidelines, stored.support_contact) == ("# One claim", "Bea, 112")
    assert (stored.axes, stored.languages, stored.is_not_for_public_text) == (["empathy", "truth"], ["en", "es"], True)
    assert done("set_study", panel.study.slug, "--axes", "default")["changed"] == ["axes"]
    assert Study.objects.get(pk=panel.study.pk).axes == DEFAULT_AXES


def test_set_study_refuses_in_a_sentence(panel: Panel) -> None:
    assert run("set_study", panel.study.slug).code == 2
    missing = run("set_study", panel.study.slug, "--guidelines", "no-such-file.md")
    assert (missing.code, "no-such-file.md" in missing.said) == (1, True)
    assert run("set_study", panel.study.slug, "--languages", "english!").code == 1


def test_create_study_says_when_nobody_is_its_admin(panel: Panel) -> None:
    alone = done("create_study", "crisis", "--name", "Crisis", "--support", "Bea")
    assert len(alone["warnings"]) == 1
    assert "manage.py add_member crisis EMAIL --role admin" in alone["warnings"][0]
    assert Study.objects.get(slug="crisis").support_contact == "Bea"
    assert done("create_study", "calm", "--name", "Calm", "--by", panel.adam.email)["warnings"] == []


def test_a_study_with_an_unreadable_setting_is_not_made() -> None:
    assert run("create_study", "crisis", "--name", "Crisis", "--languages", "english!").code == 1
    assert not Study.objects.filter(slug="crisis").exists()
