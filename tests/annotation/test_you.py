"""Who somebody is: said by the person, for all studies, on the page and in the API alike."""

import pytest
from django.urls import reverse

from annotation.joining import TooLong
from annotation.languages_and_countries import CountryIsUnreadable, LanguageIsUnreadable
from annotation.models import User
from annotation.profile import describe_yourself
from tests.annotation.browsing import Browser, text_of
from tests.pages import api

pytestmark = pytest.mark.django_db

SAID = {
    "name": "Ana Ruiz",
    "languages": "es-MX, en",
    "country": "MX",
    "profession": "psychologist",
    "speciality": "adolescents",
}


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana@example.org")


def test_a_person_without_a_name_gives_one(ana: User) -> None:
    browser = Browser(ana)
    page = browser.get("you")
    assert "You sign in as ana@example.org." in text_of(page)
    assert f'href="{reverse("you")}"' in browser.get("my_studies").content.decode()
    answer = browser.post("you", SAID)
    assert (answer.status_code, answer["Location"]) == (302, reverse("you"))
    assert "What you said of yourself is saved." in text_of(browser.get("you"))
    ana.refresh_from_db()
    assert (ana.name, ana.languages, ana.country) == ("Ana Ruiz", ["es-MX", "en"], "MX")
    assert (ana.profession, ana.speciality) == ("psychologist", "adolescents")
    assert str(ana) == "Ana Ruiz"


def test_what_was_said_can_be_taken_back(ana: User) -> None:
    browser = Browser(ana)
    browser.post("you", SAID)
    browser.post("you", {"name": "Ana"})
    ana.refresh_from_db()
    assert (ana.name, ana.languages, ana.country, ana.profession) == ("Ana", [], "", "")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"languages": "Spanish!"}, "is no language tag"),
        ({"country": "Mexico"}, "This is not one of the choices."),
        ({"name": "x" * 201}, "This has at most 200 characters"),
    ],
)
def test_what_cannot_be_read_is_said_beside_its_field(ana: User, wrong: dict[str, str], sentence: str) -> None:
    answer = Browser(ana).post("you", SAID | wrong)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    ana.refresh_from_db()
    assert ana.name == ""


def test_nobody_changes_another_and_nobody_is_nobody(ana: User) -> None:
    ben = User.objects.create_user("ben@example.org", name="Ben")
    Browser(ana).post("you", SAID | {"email": ben.email, "id": str(ben.id)})
    ben.refresh_from_db()
    assert (ben.name, ben.email) == ("Ben", "ben@example.org")
    assert Browser().get("you").status_code == 302


def test_the_api_says_and_takes_the_same(ana: User) -> None:
    client, url = api(ana), reverse("api_you")
    said = SAID | {"languages": ["es-MX", "en"]}
    answer = client.put(url, said, format="json")
    assert answer.status_code == 200
    mail = {"time_zone": "", "page_language": "", "digests": "weekly"}
    assert client.get(url).json() == {"email": "ana@example.org", **said, **mail}
    assert client.put(url, said | {"languages": ["Spanish!"]}, format="json").status_code in {400, 409}
    ana.refresh_from_db()
    assert ana.languages == ["es-MX", "en"]


def test_the_rule_stands_in_the_act(ana: User) -> None:
    for wrong, refusal in [
        ({"name": "x" * 201}, TooLong),
        ({"name": "Ana", "languages": ["Spanish!"]}, LanguageIsUnreadable),
        ({"name": "Ana", "country": "QQ"}, CountryIsUnreadable),
    ]:
        with pytest.raises(refusal):
            describe_yourself(person=ana, **wrong)  # type: ignore[arg-type]


def test_time_zone_and_mail_are_chosen_and_stay_when_nothing_is_said_of_them(ana: User) -> None:
    browser = Browser(ana)
    chosen = {"time_zone": "America/Mexico_City", "digests": "daily", "page_language": "en"}
    assert browser.post("you", SAID | chosen).status_code == 302
    ana.refresh_from_db()
    assert (ana.time_zone, ana.digests, ana.page_language) == ("America/Mexico_City", "daily", "en")
    said = SAID | {"languages": ["es-MX", "en"]}
    assert api(ana).put(reverse("api_you"), said, format="json").json()["digests"] == "daily"
    assert api(ana).put(reverse("api_you"), said | {"digests": "off"}, format="json").json()["digests"] == "off"
    assert api(ana).put(reverse("api_you"), said | {"digests": "hourly"}, format="json").status_code == 400


@pytest.mark.parametrize("wrong", [{"time_zone": "Mars/Olympus"}, {"time_zone": "../etc"}, {"page_language": "tlh"}])
def test_what_is_no_zone_and_no_language_is_refused(ana: User, wrong: dict[str, str]) -> None:
    assert Browser(ana).post("you", SAID | wrong).status_code == 422
    said = SAID | {"languages": ["es-MX", "en"]} | wrong
    assert api(ana).put(reverse("api_you"), said, format="json").status_code == 409
