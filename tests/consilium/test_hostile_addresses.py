"""Addresses and bodies that name nothing, or that no machine can follow: a sentence, never a server error."""

import base64

import pytest
from django.test import Client

from tests.factories import Panel, make_panel, make_voting
from tests.pages import api

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="s")


def signed_in(panel: Panel) -> Client:
    client = Client()
    client.force_login(panel.adam)
    return client


@pytest.mark.parametrize(
    "address",
    [
        "/studies/s/versions/%00/",
        "/studies/s/versions/?page=%00",
        "/studies/%00/",
        "/api/v1/studies/s/versions/%00/",
        "/api/v1/studies/s/versions/?page=%00",
    ],
)
def test_an_address_with_a_nul_is_none(panel: Panel, address: str) -> None:
    answer = signed_in(panel).get(address)
    assert answer.status_code == 404
    assert b"There is no such" in answer.content


@pytest.mark.parametrize("position", ["p=", "p=100", "p=notauuid", "r=1&p=%00"])
def test_a_cursor_that_names_no_place_is_none(panel: Panel, position: str) -> None:
    make_voting(panel=panel)
    cursor = base64.b64encode(position.encode()).decode()
    assert signed_in(panel).get(f"/api/v1/studies/s/conversations/?cursor={cursor}").status_code == 404


def test_json_nested_beyond_reason_is_answered(panel: Panel) -> None:
    body = "[" * 100_000 + "]" * 100_000
    answer = signed_in(panel).post("/api/v1/studies/s/versions/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "nested too deeply" in answer.json()["detail"]


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000])
def test_a_version_that_is_no_number_is_none(panel: Panel, number: str) -> None:
    client = signed_in(panel)
    assert client.get(f"/studies/s/versions/{number}/").status_code == 404
    assert client.get(f"/api/v1/studies/s/versions/{number}/").status_code == 404


@pytest.mark.parametrize("address", ["", "nonsense/", "studies/s/conversations/not-an-id/", "versions/\u00e9/"])
def test_an_address_that_the_api_lacks_is_said_in_json_and_only_to_who_is_known(panel: Panel, address: str) -> None:
    known = api(panel.ana)
    for answer in (known.get(f"/api/v1/{address}"), known.post(f"/api/v1/{address}", {}, format="json")):
        assert answer.status_code == 404
        assert answer.json() == {"detail": "There is no such address."}
    unknown = Client().get(f"/api/v1/{address}")
    assert (unknown.status_code, unknown["Content-Type"]) == (401, "application/json")


def test_a_missing_slash_leads_to_the_address_with_it(panel: Panel) -> None:
    answer = api(panel.ana).get("/api/v1/studies")
    assert (answer.status_code, answer["Location"]) == (301, "/api/v1/studies/")
