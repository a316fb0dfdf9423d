"""Practice examples from a file: checked whole, taken in whole, the same file again changes nothing."""

import json
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.importing.practice import import_practice
from annotation.importing.report import Report
from annotation.models import Conversation, FileImport, PracticeExample
from annotation.practising import answer_example, practice_of
from annotation.writing_practice import MOST_EXAMPLES, remove_example
from tests.factories import Panel, make_panel
from tests.importing_files import csv_file, jsonl, xlsx_file
from tests.pages import api, at, shown, signed_in

pytestmark = pytest.mark.django_db
AGREES: dict[str, Any] = {
    "id": "one",
    "messages": [{"role": "user", "content": "I can't sleep."}],
    "language": "en",
    "criterion": "Asks how long.",
    "wanted": True,
    "answer": "agree",
    "points_low": 4,
    "points_high": 8,
    "feedback": "One claim.",
}
OBJECTS: dict[str, Any] = {
    "id": "two",
    "messages": [{"role": "user", "content": "I can't sleep."}],
    "criterion": "Is nice.",
    "wanted": True,
    "answer": "object",
    "categories": ["not gradable", "ambiguous"],
    "feedback": "It can't be seen.",
}


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def take_in(panel: Panel, file: BinaryIO, *, check: bool = False) -> Report:
    return import_practice(study=panel.study, source=file, file_name="practice.jsonl", by=panel.adam, check=check)


def in_cells(row: dict[str, Any]) -> list[Any]:
    cells = {**row, "messages": json.dumps(row["messages"]), "categories": " | ".join(row.get("categories", []))}
    return [cells.get(name, "") for name in (*AGREES, "categories")]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "xlsx"])
def test_examples_are_taken_in_and_the_same_file_changes_nothing(panel: Panel, kind: str) -> None:
    def file() -> BinaryIO:
        if kind == "jsonl":
            return jsonl(AGREES, OBJECTS)
        make = csv_file if kind == "csv" else xlsx_file
        return make((*AGREES, "categories"), in_cells(AGREES), in_cells(OBJECTS))

    checked = take_in(panel, file(), check=True)
    assert (checked.created, checked.errors, PracticeExample.objects.count()) == (2, [], 0)
    assert (take_in(panel, file()).created, PracticeExample.objects.count()) == (2, 2)
    one, two = PracticeExample.objects.standing()
    assert (one.external_id, one.points_low, one.points_high, one.language) == ("one", 4, 8, "en")
    assert (two.choice, two.categories, two.points_low) == ("object", ["not_gradable", "ambiguous"], None)
    again = take_in(panel, file())
    assert (again.created, again.unchanged, again.warnings) == (0, 2, [])
    assert not FileImport.objects.exists()
    assert not Conversation.objects.exists()


def test_a_known_example_is_changed_in_its_place_and_answers_stay(panel: Panel) -> None:
    take_in(panel, jsonl(AGREES, OBJECTS))
    one = PracticeExample.objects.get(external_id="one")
    answer_example(example=one, by=panel.ana, choice="agree", points=2)
    report = take_in(panel, jsonl({**AGREES, "points_low": 2}))
    assert (report.created, report.unchanged) == (1, 0)
    one.refresh_from_db()
    assert (one.points_low, one.position, one.edition) == (2, 1, 2)
    exercise = practice_of(panel.study, panel.ana).exercises[0]
    assert exercise.is_same, "compared with the example as it stands now"
    assert PracticeExample.objects.standing().count() == 2, "what the file leaves out stays"


def test_without_an_id_an_example_is_known_by_what_is_asked_and_a_removed_one_comes_back_as_new(panel: Panel) -> None:
    nameless = {key: value for key, value in AGREES.items() if key != "id"}
    assert take_in(panel, jsonl(nameless)).created == 1
    assert take_in(panel, jsonl({**nameless, "feedback": "Better said."})).created == 1
    example = PracticeExample.objects.get()
    assert example.feedback == "Better said."
    remove_example(example=example, by=panel.adam)
    assert take_in(panel, jsonl(nameless)).created == 1
    assert PracticeExample.objects.count() == 2


def test_every_fault_is_told_by_line_and_column_and_nothing_is_written(panel: Panel) -> None:
    report = take_in(
        panel,
        jsonl(
            AGREES,
            {**AGREES, "id": "a", "messages": [{"role": "assistant", "content": "Hello"}]},
            {**AGREES, "id": "b", "wanted": ""},
            {**AGREES, "id": "c", "answer": "recuse"},
            {**AGREES, "id": "d", "points_low": 9},
            {**OBJECTS, "id": "e", "categories": ["rude"]},
            {**AGREES, "id": "f", "feedback": ""},
            {**AGREES, "id": "g", "answer": "abstain"},
            {**AGREES, "id": "h", "wanted": "maybe"},
            {**AGREES, "criterion": "Asks something else."},
        ),
    )
    assert [(this.line, this.column) for this in report.errors] == [
        (2, "messages"),
        (3, "wanted"),
        (4, "answer"),
        (5, "points_low"),
        (6, "categories"),
        (7, "feedback"),
        (8, "points_low"),
        (9, "wanted"),
        (10, "id"),
    ]
    assert (report.created, PracticeExample.objects.count()) == (0, 0)


def test_doubles_count_once_a_set_is_short_and_what_looks_like_a_person_is_said(panel: Panel) -> None:
    report = take_in(panel, jsonl(AGREES, AGREES))
    assert (report.created, [this.line for this in report.warnings]) == (1, [2])
    many = [{**AGREES, "id": f"id-{number}"} for number in range(MOST_EXAMPLES)]
    refused = take_in(panel, jsonl(*many))
    assert [this.line for this in refused.errors] == [None]
    assert PracticeExample.objects.count() == 1
    told = take_in(
        panel, jsonl({**AGREES, "messages": [{"role": "user", "content": "I am jo.doe@gmail.com, help"}]}), check=True
    )
    assert [this.column for this in told.warnings] == ["messages"]


def test_the_command_checks_takes_in_and_refuses(panel: Panel, tmp_path: Path) -> None:
    file = tmp_path / "practice.jsonl"
    file.write_bytes(jsonl(AGREES).read())

    def run(*words: str) -> dict[str, Any]:
        out = StringIO()
        call_command("import_practice", panel.study.slug, str(file), "--json", *words, stdout=out)
        told: dict[str, Any] = json.loads(out.getvalue())
        return told

    assert run("--check")["created"] == 1
    assert not PracticeExample.objects.exists()
    assert run()["created"] == 1
    file.write_bytes(jsonl({**AGREES, "points_low": 9}).read())
    with pytest.raises((CommandError, SystemExit)):
        run()
    assert PracticeExample.objects.get().points_low == 4


def test_the_page_and_the_api_take_a_file_in(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_import", kind="practice")
    assert f'href="{page}"' in shown(client, at(panel.study, "practice_examples"))

    def upload() -> SimpleUploadedFile:
        return SimpleUploadedFile("practice.jsonl", jsonl(AGREES).read())

    assert client.post(page, {"file": upload(), "act": "check"}).status_code == 200
    assert not PracticeExample.objects.exists()
    assert client.post(page, {"file": upload(), "act": "take"}).status_code == 302
    assert PracticeExample.objects.count() == 1
    address = at(panel.study, "api_import", kind="practice")
    answer = api(panel.adam).post(address, {"file": upload()}, format="multipart")
    assert (answer.status_code, answer.json()["unchanged"]) == (200, 1)
    assert api(panel.ana).post(address, {"file": upload()}, format="multipart").status_code == 403
