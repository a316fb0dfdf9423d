"""The import commands: one JSON object, exit 0, or 1 where the file is refused, whatever the file is called."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Conversation, Criterion, FileImport, RoundOutcome, Study, Vote
from grading.models import Response, ReviewerVerdict
from tests.factories import Panel, make_panel
from tests.importing_files import Row, csv_file, jsonl, user_says

pytestmark = pytest.mark.django_db
COMMANDS = ["conversations", "criteria", "votes", "responses", "verdicts"]


@pytest.fixture
def study() -> Study:
    panel: Panel = make_panel(slug="pilot")
    return panel.study


def run(name: str, *words: str) -> tuple[int, Any, str]:
    """Answer (exit code, the JSON object, what stands on standard error)."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command(f"import_{name}", "pilot", *words, "--json", stdout=out, stderr=err)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, json.loads(out.getvalue()), err.getvalue()


def written(folder: Path, name: str, *rows: Row) -> str:
    path = folder / name
    path.write_bytes(jsonl(*rows).read())
    return str(path)


def journey(folder: Path) -> dict[str, str]:
    """A file of each kind that fit each other: one conversation, one criterion, four votes, one response judged."""
    named = {"conversation_id": "1", "criterion_id": "asks"}
    return {
        "conversations": written(folder, "a.txt", {"id": 1, "messages": user_says("I can't sleep.")}),
        "criteria": written(folder, "b.csv", {**named, "author": "ana@example.org", "text": "Asks.", "points": 6}),
        "votes": written(
            folder,
            "c",
            *(
                {"criterion_id": "asks", "reviewer": f"{name}@example.org", "choice": "agree"}
                for name in ("ana", "ben", "chloe", "dev")
            ),
        ),
        "responses": written(folder, "d", {"conversation_id": 1, "respondent": "m", "text": "Hm."}),
        "verdicts": written(folder, "e", {**named, "respondent": "m", "reviewer": "ben@example.org", "verdict": "met"}),
    }


def test_a_whole_journey_by_commands_and_every_file_twice(study: Study, tmp_path: Path) -> None:
    files = journey(tmp_path)
    made = {"conversations": 1, "criteria": 1, "votes": 4, "responses": 1, "verdicts": 1}
    for name in COMMANDS:
        empty: dict[str, Any] = {"warnings": [], "errors": []}
        would = run(name, files[name], "--check")
        assert would[:2] == (0, {"created": made[name], "unchanged": 0, **empty})
        assert run(name, files[name], "--by", "ADAM@example.org") == (0, would[1], "")
        assert run(name, files[name])[:2] == (0, {"created": 0, "unchanged": made[name], **empty})
    assert RoundOutcome.objects.get().result == "in_consensus"
    assert (Vote.objects.count(), Response.objects.count(), ReviewerVerdict.objects.count()) == (4, 1, 1)
    assert {record.imported_by.name for record in FileImport.objects.all() if record.imported_by} == {"Adam"}
    assert FileImport.objects.get(kind="conversations").file_name == "a.txt"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_refused_file_answers_its_report_and_exit_1(study: Study, tmp_path: Path, name: str) -> None:
    code, report, told = run(name, written(tmp_path, "file", {"conversation_id": "1"}))
    assert code == 1
    assert (report["created"], report["unchanged"]) == (0, 0)
    assert report["errors"]
    assert all(set(error) == {"line", "column", "message"} and error["line"] == 1 for error in report["errors"])
    assert told.startswith("Nothing was written")


@pytest.mark.parametrize("name", COMMANDS)
def test_any_other_refusal_answers_its_sentence(study: Study, tmp_path: Path, name: str) -> None:
    file = written(tmp_path, "file", {"id": 1, "messages": user_says("x")})
    for words in [(str(tmp_path / "none"),), (str(tmp_path),), (file, "--by", "nobody@example.org")]:
        code, report, told = run(name, *words)
        assert (code, set(report)) == (1, {"error"})
        assert told.strip() == report["error"]
    Study.objects.update(slug="other")
    assert run(name, file)[:2] == (1, {"error": 'There is no study "pilot".'})


def test_words_for_people_name_the_line_and_the_column(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(csv_file(["id", "messages"], ["1", "[]"]).read())
    err = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("import_conversations", "pilot", str(file), stderr=err)
    assert "line 2, messages: Expected a list of messages" in err.getvalue()
    out = io.StringIO()
    call_command("import_conversations", "pilot", journey(tmp_path)["conversations"], stdout=out)
    assert out.getvalue().strip() == "1 conversations new or changed, 0 unchanged."


def test_options_of_criteria_and_published_sets(study: Study, tmp_path: Path) -> None:
    files = journey(tmp_path)
    run("conversations", files["conversations"])
    run("criteria", files["criteria"], "--keep-drafting")
    assert Conversation.objects.get().drafting_closed_at is None
    row = {"conversation_id": "1", "criterion_id": "asks", "author": "ana@example.org", "text": "Asks!", "points": 6}
    changed = written(tmp_path, "changed", row)
    assert run("criteria", changed)[0] == 1
    assert run("criteria", changed, "--revise")[:2] == (
        0,
        {"created": 1, "unchanged": 0, "warnings": [], "errors": [], "revised": 1},
    )
    revision = Criterion.objects.select_related("current_revision").get().current_revision
    assert revision is not None
    assert revision.text == "Asks!"
    rubrics = [{"criterion": "Asks.", "points": 2, "tags": ["axis:accuracy"]}]
    published = written(tmp_path, "set", {"prompt_id": "p", "prompt": user_says("x"), "rubrics": rubrics})
    code, report, _ = run("conversations", published, "--name", "mine")
    assert (code, report["external"]["name"], report["external"]["criteria"]) == (0, "mine", 1)
    assert run("conversations", published, "--name", "7")[1].keys() == {"error"}
