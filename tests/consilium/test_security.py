"""What browsers and strangers may do: policies on every answer, no stored copy, sign-in by code and nothing else."""

import re
import time
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client
from django.urls import NoReverseMatch, reverse

from annotation.models import User
from consilium.security import CONTENT_SECURITY_POLICY
from tests.factories import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_attempt_counted_yet() -> None:
    """Attempts to sign in are counted in the cache, over tests too."""
    cache.clear()


@pytest.fixture
def ana() -> User:
    return make_person(name="ana")


def code_in(body: str) -> str:
    found = re.search(r"^[A-Z0-9]{4}-[A-Z0-9]{4}$", body, re.MULTILINE)
    assert found
    return found[0]


@pytest.mark.parametrize("address", ["/sign-in/", "/nothing-here/", "/healthz", "/robots.txt", "/"])
def test_every_answer_carries_the_policies_and_is_kept_by_nobody(client: Client, address: str) -> None:
    answer = client.get(address)
    policy = answer["Content-Security-Policy"]
    assert policy == CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "camera=()" in answer["Permissions-Policy"]
    assert "no-store" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"


def test_a_page_holds_nothing_that_its_policy_refuses(client: Client) -> None:
    page = client.get("/sign-in/").content.decode()
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", page) == []


def test_htmx_keeps_no_page_and_runs_no_text_as_code(client: Client) -> None:
    page = client.get("/sign-in/").content.decode()
    for setting in (
        '"historyCacheSize": 0',
        '"allowEval": false',
        '"allowScriptTags": false',
        '"includeIndicatorStyles": false',
        '"selfRequestsOnly": true',
    ):
        assert setting in page


@pytest.mark.parametrize(
    "name",
    [
        "account_signup",
        "account_email",
        "account_change_password",
        "account_set_password",
        "account_reset_password",
        "account_reauthenticate",
        "account_email_verification_sent",
    ],
)
def test_nobody_signs_up_and_there_are_no_passwords(name: str) -> None:
    with pytest.raises(NoReverseMatch):
        reverse(name)


def test_a_person_comes_in_with_the_code_from_the_mail(client: Client, ana: User) -> None:
    answer = client.post("/sign-in/", {"email": "ANA@Example.org"})
    assert answer["Location"] == "/sign-in/code/"
    [sent] = mail.outbox
    assert [address.lower() for address in sent.to] == ["ana@example.org"]
    assert sent.subject == "Consilium: Your code to sign in"
    wrong = client.post("/sign-in/code/", {"code": "AAAA-AAAA"})
    assert b"This is not the code that was sent." in wrong.content
    right = client.post("/sign-in/code/", {"code": code_in(str(sent.body)).lower()})
    assert right.status_code == 302
    assert right["Location"] == reverse("my_studies")
    assert client.session["_auth_user_id"] == str(ana.pk)


def test_a_stranger_s_address_is_answered_alike_and_gets_no_mail(client: Client, ana: User) -> None:
    known = Client().post("/sign-in/", {"email": "ana@example.org"}, follow=True)
    mail.outbox.clear()
    unknown = client.post("/sign-in/", {"email": "eve@example.org"}, follow=True)
    assert mail.outbox == []
    assert unknown.redirect_chain == known.redirect_chain
    same = re.compile(r'content="[A-Za-z0-9]{64}"|value="[A-Za-z0-9]{64}"')
    assert same.sub("", unknown.content.decode()).replace("eve@", "ana@") == same.sub("", known.content.decode())


def test_who_is_no_longer_active_gets_no_code(client: Client) -> None:
    make_person(name="ben", is_active=False)
    client.post("/sign-in/", {"email": "ben@example.org"})
    assert mail.outbox == []


def test_a_code_ends_after_five_wrong_ones(client: Client, ana: User) -> None:
    client.post("/sign-in/", {"email": "ana@example.org"})
    code = code_in(str(mail.outbox[0].body))
    for _ in range(5):
        client.post("/sign-in/code/", {"code": "AAAA-AAAA"})
    client.post("/sign-in/code/", {"code": code})
    assert "_auth_user_id" not in client.session


def test_a_code_ends_after_fifteen_minutes(client: Client, ana: User) -> None:
    client.post("/sign-in/", {"email": "ana@example.org"})
    code = code_in(str(mail.outbox[0].body))
    later = time.time() + timedelta(minutes=16).total_seconds()
    with patch("time.time", return_value=later):
        client.post("/sign-in/code/", {"code": code})
    assert "_auth_user_id" not in client.session


def test_signing_out_is_asked_and_done_by_a_form(client: Client, ana: User) -> None:
    client.force_login(ana)
    assert b"Sign out?" in client.get("/sign-out/").content
    assert "_auth_user_id" in client.session
    client.post("/sign-out/")
    assert "_auth_user_id" not in client.session


def test_a_page_that_needs_a_sign_in_leads_there_and_back(client: Client) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"


def test_a_fragment_that_needs_a_sign_in_is_a_sentence_so_that_no_word_is_lost(client: Client) -> None:
    answer = client.post("/", {"text": "half a page"}, headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert b"data-refusal" in answer.content
    assert b"You were signed out meanwhile." in answer.content


def test_a_form_from_before_the_sign_in_is_refused_in_words(ana: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ana)
    page = strict.post("/sign-out/")
    assert page.status_code == 403
    assert b"This page was open too long" in page.content
    fragment = strict.post("/sign-out/", headers={"HX-Request": "true"})
    assert fragment.status_code == 409
    assert b"data-refusal" in fragment.content
    assert "_auth_user_id" in strict.session


def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(client: Client, ana: User) -> None:
    client.force_login(ana)
    client.get("/sign-out/")
    assert client.cookies["csrftoken"]["httponly"] is True
    assert client.cookies["csrftoken"]["samesite"] == "Lax"
    answer = Client().post("/sign-in/", {"email": "ana@example.org"})
    assert answer.cookies["sessionid"]["httponly"] is True
    assert answer.cookies["sessionid"]["samesite"] == "Lax"


def test_asking_for_codes_again_and_again_comes_to_an_end(client: Client, ana: User) -> None:
    for _ in range(8):
        client.post("/sign-in/", {"email": "ana@example.org"})
    assert 1 <= len(mail.outbox) <= 4


def test_whether_the_site_is_well_needs_no_sign_in(client: Client) -> None:
    assert client.get("/healthz").content == b"ok\n"
    with patch.object(connection, "cursor", side_effect=OperationalError("gone")):
        ill = client.get("/healthz")
    assert ill.status_code == 503
    assert b"does not answer" in ill.content


def test_no_search_engine_is_asked_in(client: Client) -> None:
    assert client.get("/robots.txt").content == b"User-agent: *\nDisallow: /\n"
    assert b'<meta name="robots" content="noindex, nofollow">' in client.get("/sign-in/").content
