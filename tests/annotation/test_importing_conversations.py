"""Importing a study's own conversations: checked whole, written whole or not at all, twice the same as once."""

import json
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.importing.conversations import import_conversations
from annotation.importing.files import FileWasChanged
from annotation.importing.report import MOST_WARNINGS_OF_A_KIND, Report
from annotation.models import Conversation, FileImport, Study
from consilium.canonical import canonical_line, sha256_hex
from rubrics.digests import conversation_sha256
from tests.factories import make_study
from tests.importing_files import ChangingFile, csv_file, decomposed, jsonl, user_says, xlsx_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study()


def take_in(study: Study, file: BinaryIO | Path, *, check: bool = False) -> Report:
    return import_conversations(study=study, source=file, file_name="conversations", by=None, check=check)


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def sleepless(**facts: Any) -> dict[str, Any]:
    return {"id": "sleepless", "messages": user_says("I can't sleep."), **facts}


def test_a_conversation_is_kept_as_given_with_its_facts(study: Study) -> None:
    messages = [
        {"role": "system", "content": "The user is 16."},
        {"role": "user", "content": "  Hi,\r\n“là” "},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "Are you there?"},
    ]
    report = take_in(
        study,
        jsonl(
            sleepless(),
            {
                "id": " 7 ",
                "messages": messages,
                "language": "pt-BR",
                "country": "br",
                "acuity": "High acuity",
                "user_profile": "TEEN",
                "has_prior_context": False,
                "tags": ["a", "b; c"],
                "source": "forum",
                "canary_string": "canary 1",
                "reviewed": {"by": 3},
            },
        ),
    )
    assert (report.created, report.unchanged, report.errors, report.warnings) == (2, 0, [], [])
    known = Conversation.objects.get(external_id="7")
    assert known.messages == messages
    assert (known.language, known.country, known.acuity, known.user_profile) == ("pt-BR", "BR", "high_acuity", "teen")
    assert (known.has_prior_context, known.tags, known.source) == (False, ["a", "b; c"], "forum")
    assert (known.canary_string, known.position) == ("canary 1", 1)
    assert json.loads(known.extra) == {"reviewed": {"by": 3}}
    assert known.item_sha256 == conversation_sha256(conversation_id="7", messages=messages)
    unknown = Conversation.objects.get(external_id="sleepless")
    assert [unknown.language, unknown.country, unknown.acuity, unknown.user_profile] == [None] * 4
    assert unknown.has_prior_context is None


def test_the_same_file_again_changes_nothing_and_says_so(study: Study) -> None:
    rows = [sleepless(language="en", tags=["x"], more=1.5), {"id": "2", "messages": user_says("No.")}]
    take_in(study, jsonl(*rows))
    report = take_in(study, jsonl(*rows))
    assert (report.created, report.unchanged, report.errors) == (0, 2, [])
    assert Conversation.objects.count() == 2
    record = FileImport.objects.get()
    assert (record.created, record.unchanged, record.kind) == (2, 0, "conversations")
    assert record.sha256 == sha256_hex(jsonl(*rows).read())


def test_a_check_writes_nothing_and_answers_the_same_report(study: Study) -> None:
    file = jsonl(sleepless(), sleepless())
    checked = take_in(study, file, check=True)
    assert not Conversation.objects.exists()
    assert not FileImport.objects.exists()
    assert checked.as_plain() == take_in(study, file).as_plain()
    assert checked.created == 1


def test_every_error_of_a_file_is_told_at_once_and_nothing_is_written(study: Study) -> None:
    report = take_in(
        study,
        jsonl(
            {"id": "good", "messages": user_says("Fine.")},
            "{broken",
            {"id": "ends on assistant", "messages": [*user_says("a"), {"role": "assistant", "content": "b"}]},
            {"id": "empty end", "messages": user_says(" \n")},
            {"id": "no role", "messages": [{"role": "doctor", "content": "x"}, *user_says("y")]},
            {"id": "no text", "messages": [{"role": "user", "content": None}]},
            {"id": "no list", "messages": "hello"},
            {"id": "nothing"},
            sleepless(language="English", country="UK", acuity="grave", user_profile="child", has_prior_context="so"),
        ),
    )
    assert errors(report) == [
        (2, None),
        (3, "messages"),
        (4, "messages"),
        (5, "messages"),
        (6, "messages"),
        (7, "messages"),
        (8, "messages"),
        (9, "language"),
        (9, "country"),
        (9, "acuity"),
        (9, "user_profile"),
        (9, "has_prior_context"),
    ]
    assert "GB" in report.errors[8].message
    assert "non_acute, high_acuity, emergent" in report.errors[9].message
    assert (report.created, Conversation.objects.count(), FileImport.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("messages", user_says("I can not sleep.")),
        ("language", "de"),
        ("country", "DE"),
        ("acuity", "emergent"),
        ("user_profile", "adult"),
        ("has_prior_context", True),
        ("tags", ["y"]),
        ("source", "elsewhere"),
        ("canary_string", "z"),
    ],
)
def test_a_known_id_with_other_content_is_an_error_that_names_the_column(
    study: Study, column: str, value: object
) -> None:
    take_in(study, jsonl(sleepless()))
    report = take_in(study, jsonl({"id": "new", "messages": user_says("x")}, sleepless(**{column: value})))
    assert errors(report) == [(2, column)]
    assert Conversation.objects.count() == 1


def test_a_row_given_twice_counts_once_and_two_that_contradict_are_an_error_of_both_lines(study: Study) -> None:
    twice = take_in(study, jsonl(sleepless(), sleepless()), check=True)
    assert (twice.created, twice.errors) == (1, [])
    assert "lines 1 and 2" in twice.warnings[0].message
    contradicting = take_in(study, jsonl(sleepless(), "", sleepless(language="en")))
    assert errors(contradicting) == [(3, "language")]
    assert "lines 1 and 3" in contradicting.errors[0].message


def test_ids_match_trimmed_and_in_nfc_and_texts_in_nfc_with_any_line_end(study: Study) -> None:
    take_in(study, jsonl({"id": "café", "messages": user_says("où?\nlà")}))
    again = {"id": decomposed(" café\t"), "messages": user_says(decomposed("où?\r\nlà"))}
    assert take_in(study, jsonl(again)).unchanged == 1


def test_rows_without_an_id_match_by_their_messages_and_never_by_position(study: Study) -> None:
    first, second = {"messages": user_says("one")}, {"messages": user_says("two")}
    assert take_in(study, jsonl(first, second, first)).created == 2
    report = take_in(study, jsonl(second, {"messages": user_says("three")}, first))
    assert (report.created, report.unchanged) == (1, 2)


def test_a_csv_file_has_messages_as_json_and_lines_as_an_editor_counts(study: Study) -> None:
    pretty = json.dumps(user_says("I can't\nsleep."), indent=1)
    file = csv_file(
        ["ID", "messages", "tags", "mood"],
        ["1", pretty, "a|b", "low"],
        ["2", pretty, "", ""],
        ["3", "[not json", "", ""],
    )
    report = take_in(study, file)
    lines = pretty.count("\n") + 1
    assert errors(report) == [(2 + 2 * lines, "messages")]
    assert [(warning.line, warning.column) for warning in report.warnings] == [(1, "mood")]
    good = csv_file(["id", "messages", "tags", "mood"], ["1", pretty, "a|b", "low"])
    assert take_in(study, good).created == 1
    known = Conversation.objects.get()
    assert (known.tags, known.extra) == (["a", "b"], "")
    assert known.messages == user_says("I can't\nsleep.")


def test_a_csv_file_without_messages_says_what_is_missing(study: Study) -> None:
    report = take_in(study, csv_file(["id", "text"], ["1", "x"]))
    assert errors(report) == [(1, "messages")]


def test_rows_of_turns_are_gathered_wherever_they_stand(study: Study) -> None:
    columns = ["id", "turn", "role", "content", "language"]
    file = csv_file(
        columns,
        ["a", 2, "assistant", "Hello.", ""],
        ["b", 0, "user", "Only one.", ""],
        ["a", 3, "user", "I can't sleep.", "en"],
        ["a", 1, "user", "", ""],
    )
    assert take_in(study, file).created == 2
    known = Conversation.objects.get(external_id="a")
    assert [message["content"] for message in known.messages] == ["", "Hello.", "I can't sleep."]
    assert known.language == "en"
    assert take_in(study, file).unchanged == 2
    whole = {"id": "a", "messages": known.messages, "language": "en"}
    assert take_in(study, jsonl(whole)).unchanged == 1


def test_rows_of_turns_with_a_gap_a_contradiction_or_an_empty_end_are_errors(study: Study) -> None:
    report = take_in(
        study,
        csv_file(
            ["id", "turn", "role", "content", "language"],
            ["gap", 1, "user", "a", ""],
            ["gap", 3, "user", "b", ""],
            ["two", 1, "user", "a", "en"],
            ["two", 1, "user", "b", ""],
            ["facts", 1, "user", "a", "en"],
            ["facts", 2, "user", "a", "de"],
            ["end", 1, "user", "a", ""],
            ["end", 2, "user", "", ""],
            ["role", 1, "nurse", "a", ""],
            ["", 1, "user", "a", ""],
        ),
    )
    assert errors(report) == [
        (2, "turn"),
        (5, "turn"),
        (7, "language"),
        (9, "content"),
        (10, "role"),
        (11, "id"),
    ]
    assert "turn 2" in report.errors[0].message
    assert "lines 4 and 5" in report.errors[1].message


def test_a_spreadsheet_is_read_by_content_and_its_numbers_are_ids(study: Study) -> None:
    file = xlsx_file(["id", "messages", "has_prior_context"], [7, json.dumps(user_says("Hi.")), True])
    assert take_in(study, file).created == 1
    known = Conversation.objects.get()
    assert (known.external_id, known.has_prior_context) == ("7", True)


def test_what_is_called_unknown_is_null(study: Study) -> None:
    take_in(study, jsonl(sleepless(language="und", country="unknown", acuity="Unknown", user_profile="unknown")))
    known = Conversation.objects.get()
    assert [known.language, known.country, known.acuity, known.user_profile] == [None] * 4


def test_texts_that_look_like_a_persons_are_warned_of_by_line_and_not_repeated(study: Study) -> None:
    report = take_in(
        study,
        jsonl(
            {"id": "1", "messages": user_says("Call 988 or 116 123, or 1-800-273-8255.")},
            {"id": "2", "messages": [*user_says("hm"), *user_says("I'm at jo.bloggs@gmail.com, 617-234-5678")]},
            {"id": "3", "messages": user_says("I live at 12 Elm Street. My MRN is 4471234.")},
        ),
    )
    assert [(warning.line, warning.column) for warning in report.warnings] == [(2, "messages")] * 2 + [
        (3, "messages")
    ] * 2
    told = " ".join(warning.message for warning in report.warnings)
    for what in ("e-mail address", "telephone number", "postal address", "record number", "Message 2"):
        assert what in told
    assert "jo.bloggs" not in told
    assert report.created == 3


def test_warnings_of_a_kind_are_counted_after_the_first_hundred(study: Study) -> None:
    rows = [{"id": str(number), "messages": user_says(f"Write to a{number}@gmail.com")} for number in range(150)]
    report = take_in(study, jsonl(*rows), check=True)
    assert len(report.warnings) == MOST_WARNINGS_OF_A_KIND + 1
    assert report.warnings[-1].line is None
    assert report.warnings[-1].message.startswith("50 more")


def test_an_id_of_an_external_version_or_another_study_is_free(study: Study) -> None:
    take_in(make_study(), jsonl(sleepless()))
    Conversation.objects.create(
        study=study, external_name="published", external_id="sleepless", messages=user_says("x"), item_sha256="0" * 64
    )
    assert take_in(study, jsonl(sleepless())).created == 1


def test_a_file_without_rows_is_refused(study: Study) -> None:
    assert take_in(study, jsonl()).errors[0].message == "The file has no rows."
    assert take_in(study, csv_file(["id", "messages"])).errors


@pytest.mark.parametrize("after", [["{broken"], [sleepless()], [sleepless(), sleepless()]])
def test_a_file_that_changes_between_the_readings_leaves_nothing(study: Study, after: list[Any]) -> None:
    before = [sleepless(), {"id": "2", "messages": user_says("x")}]
    file = ChangingFile(jsonl(*before), jsonl(*after), from_reading=4)
    with pytest.raises(FileWasChanged):
        take_in(study, file)
    assert (Conversation.objects.count(), FileImport.objects.count()) == (0, 0)


def test_no_query_is_made_a_row(study: Study) -> None:
    def count(name: str, rows: int) -> int:
        file = jsonl(*({"id": f"{name}{number}", "messages": user_says("x")} for number in range(rows)))
        with CaptureQueriesContext(connection) as queries:
            assert take_in(study, file).created == rows
        return len(queries)

    assert count("few", 2) == count("many", 90)


def test_the_hash_is_that_of_the_canonical_line(study: Study) -> None:
    take_in(study, jsonl(sleepless()))
    line = b'{"id":"sleepless","messages":[{"content":"I can\'t sleep.","role":"user"}]}'
    assert canonical_line({"id": "sleepless", "messages": user_says("I can't sleep.")}) == line
    assert Conversation.objects.get().item_sha256 == sha256_hex(line)


def generated(path: Path, *, rows: int, characters: int) -> Path:
    """A file of conversations with four messages each; ``characters`` in all a row."""
    text = ("There was nothing that I could have done about it. " * (characters // 200 + 1))[: characters // 4]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            messages = [
                {"role": role, "content": f"{number} {text}"} for role in ("user", "assistant", "assistant", "user")
            ]
            file.write(json.dumps({"id": f"c{number}", "messages": messages, "language": "en"}) + "\n")
    return path


def test_five_thousand_conversations_import_in_well_under_a_minute(study: Study, tmp_path: Path) -> None:
    file = generated(tmp_path / "file", rows=5000, characters=8000)
    start = time.perf_counter()
    report = take_in(study, file)
    assert report.created == Conversation.objects.count() == 5000
    assert time.perf_counter() - start < 90


def test_memory_does_not_grow_with_the_texts(study: Study, tmp_path: Path) -> None:
    def peak(name: str, rows: int) -> int:
        file = generated(tmp_path / name, rows=rows, characters=32_000)
        tracemalloc.start()
        try:
            report = take_in(study, file)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            assert report.created == rows

    small = peak("small", 200)
    Conversation.objects.all().delete()
    assert peak("large", 800) < 1.3 * small


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_make_each_row_once() -> None:
    study = make_study()
    rows = [{"id": str(number), "messages": user_says("x")} for number in range(300)]
    reports: list[Report] = []
    start = threading.Barrier(4)

    def run() -> None:
        try:
            start.wait()
            reports.append(take_in(study, jsonl(*rows)))
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(report.created for report in reports) == [0, 0, 0, 300]
    assert Conversation.objects.filter(study=study).count() == 300
    assert FileImport.objects.filter(study=study).count() == 1
