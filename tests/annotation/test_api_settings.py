"""The REST API by which an admin sets a study up: settings, policy, dates."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Study
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def post(person: Any, url: str, body: object = None) -> Any:
    return api(person).post(url, body or {}, format="json")


def test_only_admins_set_a_study_up(panel: Panel) -> None:
    settings = at(panel.study, "api_settings")
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert api(person).get(settings).status_code == status
        assert api(person).patch(settings, {}, format="json").status_code == status
        for name in ("api_policy", "api_policy_preview", "api_dates"):
            assert post(person, at(panel.study, name)).status_code == status, name


def test_settings_are_changed_against_what_was_seen(panel: Panel) -> None:
    url = at(panel.study, "api_settings")
    told = got(panel.adam, url)
    assert {this["setting"] for this in told["missing"]} == {"what_to_expect", "support_contact"}

    def change(**facts: object) -> Any:
        return api(panel.adam).patch(url, {"seen": told["seen"], **facts}, format="json")

    assert change(what_to_expect="Night and worry.").json()["what_to_expect"] == "Night and worry."
    stale = change(what_to_expect="Days.")
    assert (stale.status_code, stale.json()["error"].startswith("Somebody else")) == (409, True)
    assert change(guidelines="# How").status_code == 200
    assert change(text_class="identifiable").status_code == 409
    assert api(panel.adam).patch(url, {"guidelines": "# What"}, format="json").status_code == 400
    study = Study.objects.get(pk=panel.study.pk)
    assert (study.what_to_expect, study.guidelines) == ("Night and worry.", "# How")


def test_a_policy_is_previewed_then_changed_against_the_one_in_force(panel: Panel) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    for reviewer, choice in zip(panel.reviewers, ["agree", "agree", "agree", "object"], strict=True):
        vote(criterion=criterion, reviewer=reviewer, choice=choice)
    stricter = {"against": 1, "min_ratio": 0.8}
    told = post(panel.adam, at(panel.study, "api_policy_preview"), stricter).json()
    assert [(row["criterion"], row["state_before"], row["state_after"]) for row in told["moves"]] == [
        (str(criterion.id), "in_consensus", "discussion")
    ]
    assert got(panel.adam, at(panel.study, "api_policy"))["version"] == 1
    changed = post(panel.adam, at(panel.study, "api_policy"), stricter)
    assert (changed.status_code, changed.json()["version"], changed.json()["min_ratio"]) == (201, 2, 0.8)
    assert post(panel.adam, at(panel.study, "api_policy"), {**stricter, "min_ratio": 0.9}).status_code == 409
    assert post(panel.adam, at(panel.study, "api_policy"), {"against": 2, "min_agree": 5}).status_code == 409


def test_dates_are_set_and_those_that_take_none_named(panel: Panel) -> None:
    voting, _, _ = make_voting(panel=panel)
    drafting = make_conversation(study=panel.study)
    url = at(panel.study, "api_dates")
    until = timezone.now() + timedelta(days=3)
    body = {"of": "round", "until": until.isoformat(), "conversations": [str(voting.id), str(drafting.id)]}
    told = post(panel.adam, url, body).json()
    assert told["dated"] == [str(voting.id)]
    assert [(row["id"], row["why"]) for row in told["passed_over"]] == [(str(drafting.id), "No round is open.")]
    assert voting.rounds.get().closes_at == until
    assert post(panel.adam, url, {**body, "until": "2020-01-01T00:00:00Z"}).status_code == 409
    assert post(panel.adam, url, {**body, "until": None}).status_code == 200
    assert voting.rounds.get().closes_at is None
    theirs = make_conversation(study=make_panel().study)
    assert post(panel.adam, url, {**body, "conversations": [str(theirs.id)]}).json() == {"dated": [], "passed_over": []}
