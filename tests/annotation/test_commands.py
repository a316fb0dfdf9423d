"""Commands about a study and its people: what they refuse, in a sentence, and what they say beside their report."""

import pytest
from django.core.management import CommandError, call_command
from django.db import DataError, ProgrammingError, connection, transaction

from annotation.importing.conversations import import_conversations
from annotation.joining import LONGEST, LONGEST_STUDY_NAME
from annotation.management.commands.status import Command as Status
from annotation.models import Assignment, Conversation, Study, User
from tests.factories import Panel, make_conversation, make_panel, make_person
from tests.importing_files import jsonl, user_says
from tests.journeys.commands import done, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="pilot")


def add(*words: str, email: str = "new@example.org") -> tuple[int, str]:
    answer = run("add_member", "pilot", email, "--role", "clinician", *words)
    return answer.code, answer.data.get("error", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--country", "Germany"), '"GERMANY" is no country\'s two letters. Write letters such as DE or BR.'),
        (("--country", "zz"), '"ZZ" is no country\'s two letters. Write letters such as DE or BR.'),
        (
            ("--country", "uk"),
            '"UK" is no country\'s two letters. Write letters such as DE or BR. Perhaps GB is meant.',
        ),
        (("--language", "klingon!!"), '"klingon!!" is no language tag. Write tags such as en, es-MX, zh-Hans.'),
        (("--language", "en,German"), '"German" is no language tag. Write tags such as en, es-MX, zh-Hans.'),
        (("--name", "x" * 400), "Expected a name of at most 200 characters, found 400."),
        (("--profession", "x" * 500), "Expected a profession of at most 100 characters, found 500."),
        (("--speciality", "x" * 101), "Expected a speciality of at most 100 characters, found 101."),
    ],
)
def test_what_a_person_cant_be_is_refused_with_a_sentence(panel: Panel, words: tuple[str, ...], sentence: str) -> None:
    assert add(*words) == (1, sentence)
    assert not User.objects.filter(email="new@example.org").exists()


def test_an_address_that_is_too_long_is_refused(panel: Panel) -> None:
    address = f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.org"
    sentence = f"Expected a mail address of at most 254 characters, found {len(address)}."
    assert add(email=address) == (1, sentence)


def test_the_lengths_are_those_of_the_columns() -> None:
    columns = {field.name: field.max_length for field in User._meta.fields}
    assert {name: columns[name] for name in LONGEST} == LONGEST
    assert {field.name: field.max_length for field in Study._meta.fields}["name"] == LONGEST_STUDY_NAME


def test_one_rule_for_the_languages_and_countries_of_people_and_conversations(panel: Panel) -> None:
    for column, value in (("language", "German"), ("country", "Germany")):
        file = jsonl({"id": "1", "messages": user_says("x"), column: value})
        report = import_conversations(study=panel.study, source=file, file_name="f", by=None, check=False)
        assert [error.column for error in report.errors] == [column]
        assert add(f"--{column}", value)[0] == 1
    assert add("--language", "zh-Hans", "--country", "de") == (0, "")
    assert User.objects.get(email="new@example.org").country == "DE"


def test_what_is_said_of_a_known_person_and_stays_as_it_was_is_told(panel: Panel) -> None:
    make_person(name="kim", country="DE", languages=["de"])
    words = ("--name", "Other", "--country", "BR", "--language", "en", "--profession", "nurse")
    answer = run("add_member", "pilot", "KIM@example.org", "--role", "clinician", *words)
    told = [
        f"kim@example.org is known with {fact}: what is known stays." for fact in ("another name", "another country")
    ]
    told.append("kim@example.org is known with other languages: what is known stays.")
    assert answer.data["warnings"] == told
    assert answer.said.splitlines() == told
    assert (answer.data["name"], answer.data["languages"]) == ("Kim", ["de"])
    assert User.objects.get(email="kim@example.org").profession == "nurse"
    same = ("--name", "Kim", "--country", "de")
    assert done("add_member", "pilot", "kim@example.org", "--role", "admin", *same)["warnings"] == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_a_study_has_a_name(name: str) -> None:
    answer = run("create_study", "other", "--name", name)
    assert (answer.code, answer.data) == (1, {"error": "A study has a name, of at most 200 characters."})


def test_a_class_of_texts_that_isnt_known_is_wrong_use() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'bogus'"):
        call_command("create_study", "other", "--name", "x", "--text-class", "bogus")
    refused = run("create_study", "other", "--name", "x", "--text-class", "identifiable")
    assert refused.code == 1
    assert refused.data["error"].startswith("Texts that identify people are refused")


@pytest.mark.parametrize("number", ["-2", "0", "101"])
def test_a_number_of_reviewers_that_is_none_is_wrong_use(panel: Panel, number: str) -> None:
    make_conversation(study=panel.study)
    answer = run("assign", "pilot", "--reviewers", number)
    assert (answer.code, answer.data) == (2, {"error": "--reviewers takes a whole number from 1 to 100."})
    assert not Assignment.objects.exists()


def test_drafting_that_closes_without_a_criterion_is_told_of(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="empty")
    answer = run("close_drafting", "pilot")
    assert (answer.code, answer.data["closed"]) == (0, 1)
    assert answer.said == "Conversation empty has no criterion to vote on: it has no round, and counts as drafting.\n"
    assert Conversation.objects.get().drafting_closed_at is not None
    assert done("status", "pilot")["conversations"]["drafting"] == 1


@pytest.mark.parametrize("name", ["status", "assign", "add_member"])
def test_every_command_takes_by_and_refuses_an_unknown_address(panel: Panel, name: str) -> None:
    words = ["new@example.org", "--role", "clinician"] if name == "add_member" else []
    assert run(name, "pilot", *words, "--by", "nobody@example.org").code == 1
    assert run(name, "pilot", *words, "--by", "ADAM@example.org").code == 0


def test_a_database_that_isnt_migrated_is_told_of(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    def asks_for(sql: str) -> None:
        def act(self: Status, **options: object) -> dict[str, object]:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(sql)
            return {}

        monkeypatch.setattr(Status, "act", act)

    asks_for("SELECT * FROM no_such_table")
    answer = run("status", "pilot")
    assert (answer.code, answer.data) == (
        1,
        {"error": "The database isn't set up for this release. Run: manage.py migrate"},
    )
    asks_for("SELECT FROM FROM")
    with pytest.raises(ProgrammingError):
        run("status", "pilot")


def test_a_value_that_the_database_cant_hold_is_a_sentence(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    def act(self: Status, **options: object) -> dict[str, object]:
        raise DataError("value too long for type character varying(2)\nDETAIL: x")

    monkeypatch.setattr(Status, "act", act)
    sentence = "A value is too long, or one that the database can't hold: value too long for type character varying(2)"
    answer = run("status", "pilot")
    assert (answer.code, answer.data) == (1, {"error": sentence})
