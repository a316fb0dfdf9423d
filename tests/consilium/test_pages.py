"""How pages answer: whole pages without JavaScript, fragments for htmx, refusals in a sentence, and who may ask."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

import pytest
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from consilium.errors import RuleViolation
from consilium.pages import public_page, redirect_or_fragment, respond_with_fragment, signed_in
from tests.factories import make_person

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


class RoundIsRevealed(RuleViolation):
    """This round was revealed; votes in it can't be changed."""


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse("home")


@public_page
def part(request: HttpRequest) -> HttpResponse:
    status = int(request.GET.get("status", 200))
    context = {"sentence": "A sentence."}
    if request.method == "POST":
        return redirect_or_fragment(request, "part", "_refusal.html", context, anchor="work")
    return respond_with_fragment(request, "refusal.html", "_refusal.html", context, status=status)


@public_page
def refused(request: HttpRequest) -> HttpResponse:
    raise RoundIsRevealed


@public_page
def missing(request: HttpRequest) -> HttpResponse:
    raise Http404("There is no such study, or you don't belong to it.")


@public_page
def forbidden(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied("This page is for admins.")


@public_page
def broken(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError


@public_page
def told(request: HttpRequest) -> HttpResponse:
    messages.success(request, "Frozen as version 2.")
    return respond_with_fragment(request, "refusal.html", "_refusal.html", {"sentence": "x", "messages": [{"role": 1}]})


@pytest.fixture(autouse=True)
def pages_of_a_test(settings: Any) -> Iterator[None]:
    addresses = ModuleType("addresses_of_a_test")
    views = {"part": part, "refused": refused, "missing": missing, "forbidden": forbidden, "broken": broken}
    views["told"] = told
    cast("Any", addresses).urlpatterns = [
        path("", home, name="my_studies"),
        *(path(f"{name}/", view, name=name) for name, view in views.items()),
        path("", include("consilium.site_urls")),
    ]
    sys.modules[addresses.__name__] = addresses
    settings.ROOT_URLCONF = addresses.__name__
    yield
    del sys.modules[addresses.__name__]


def test_a_plain_request_gets_the_whole_page_and_htmx_the_fragment(client: Client) -> None:
    assert b"<!doctype html>" in client.get("/part/").content
    fragment = client.get("/part/", headers=HTMX).content
    assert fragment.startswith(b'<p class="notice refusal"')
    assert b"<html" not in fragment


@pytest.mark.parametrize("also", ["HX-Boosted", "HX-History-Restore-Request"])
def test_a_followed_link_and_the_way_back_get_the_whole_page(client: Client, also: str) -> None:
    assert b"<!doctype html>" in client.get("/part/", headers={**HTMX, also: "true"}).content


def test_a_form_with_something_wrong_is_422_in_both(client: Client) -> None:
    assert client.get("/part/?status=422").status_code == 422
    assert client.get("/part/?status=422", headers=HTMX).status_code == 422


def test_an_act_redirects_to_where_it_was_done_or_answers_its_fragment(client: Client) -> None:
    assert client.post("/part/")["Location"] == "/part/#work"
    fragment = client.post("/part/", headers=HTMX)
    assert fragment.status_code == 200
    assert b"A sentence." in fragment.content


def test_a_refusal_is_409_with_its_sentence_as_page_and_as_fragment(client: Client) -> None:
    page = client.get("/refused/")
    fragment = client.get("/refused/", headers=HTMX)
    assert page.status_code == fragment.status_code == 409
    for answer in (page, fragment):
        assert b"This round was revealed; votes in it can&#x27;t be changed." in answer.content
    assert b"<html" not in fragment.content
    assert b"data-refusal" in fragment.content


def test_what_is_not_there_and_what_is_not_yours_say_why(client: Client) -> None:
    gone = client.get("/missing/")
    assert gone.status_code == 404
    assert b"There is no such study, or you don&#x27;t belong to it." in gone.content
    closed = client.get("/forbidden/")
    assert closed.status_code == 403
    assert b"This page is for admins." in closed.content


def test_a_page_that_breaks_says_so_and_tells_nothing(client: Client) -> None:
    client.raise_request_exception = False
    broken_page = client.get("/broken/")
    assert broken_page.status_code == 500
    assert b"Something here broke" in broken_page.content
    assert b"ZeroDivision" not in broken_page.content


def test_only_who_is_signed_in_opens_what_needs_a_sign_in(client: Client) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"
    client.force_login(make_person(name="oscar"))
    assert client.get("/").content == b"home"


def test_a_view_says_its_decision() -> None:
    assert cast("Any", home).decision == "signed in"
    assert cast("Any", part).decision == "public"


def test_a_notice_is_shown_also_where_a_page_has_messages_of_its_own(client: Client) -> None:
    page = client.get("/told/").content.decode()
    assert "✓ Done." in page
    assert "Frozen as version 2." in page


def test_the_page_names_who_is_signed_in_and_lets_them_out(client: Client) -> None:
    client.force_login(make_person(name="ana"))
    page = client.get("/part/").content.decode()
    assert "<summary>Ana</summary>" in page
    assert 'action="/sign-out/"' in page
    assert 'name="csrf-token"' in page


def test_a_page_in_a_right_to_left_language_runs_so(client: Client, settings: Any) -> None:
    settings.LANGUAGE_CODE = "ar"
    assert '<html lang="ar" dir="rtl">' in client.get("/part/").content.decode()
