"""Keys of JSON Lines are compared as headings are, and a finding names the file's own key or column."""

from typing import Any, BinaryIO

import pytest

from annotation.importing.conversations import import_conversations
from annotation.importing.criteria import import_criteria
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.models import Conversation, Criterion, Vote
from annotation.writers import writers_of
from rubrics.importing import import_conversations as import_any
from rubrics.models import FrozenCriterion
from tests.factories import Panel, make_conversation, make_panel
from tests.importing_files import csv_file, decomposed, jsonl, user_says

pytestmark = pytest.mark.django_db
FACTS: dict[str, Any] = {"file_name": "file", "by": None, "check": False}
HEALTHBENCH: dict[str, Any] = {
    "prompt_id": "p",
    "prompt": user_says("x"),
    "rubrics": [{"criterion": "Asks.", "points": 2, "tags": ["axis:accuracy"]}],
    "example_tags": ["theme:hedging"],
}
MENTALHEALTHBENCH: dict[str, Any] = {
    "id": "m",
    "conversation": {"messages": user_says("x")},
    "rubric_items": [{"criterion_text": "Asks.", "points": 2, "behavior_axis": "own_axis"}],
    "acuity": "emergent",
    "language": "de",
}


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def found(report: Report) -> list[tuple[int | None, str | None, str]]:
    return [(error.line, error.column, error.message) for error in report.errors]


def with_other_keys(value: Any) -> Any:
    """The same JSON with every key in other letters."""
    if isinstance(value, dict):
        return {f" {key.upper()}": with_other_keys(each) for key, each in value.items()}
    return [with_other_keys(each) for each in value] if isinstance(value, list) else value


def conversations(panel: Panel, file: BinaryIO) -> Report:
    return import_conversations(study=panel.study, source=file, **FACTS)


def test_a_key_in_other_letters_is_the_column_in_every_file(panel: Panel) -> None:
    row = {"Id": 1, " MESSAGES ": user_says("x"), "Language": "de", "Acuity": "emergent", "Team": "a"}
    assert not conversations(panel, jsonl(row)).errors
    this = Conversation.objects.get()
    assert (this.external_id, this.language, this.acuity, this.extra) == ("1", "de", "emergent", '{"Team": "a"}')
    criterion = {"Conversation_ID": "1", "criterion_id": "asks", "Author": "ana@example.org"}
    file = jsonl({**criterion, "TEXT": "Asks.", "Points": 6})
    assert not import_criteria(study=panel.study, source=file, **FACTS).errors
    stored = Criterion.objects.select_related("current_revision").get()
    assert writers_of([stored])[stored.id] == {panel.ana.id}
    votes = jsonl({"Criterion_id": "asks", "reviewer": "ben@example.org", "Choice": "agree", "POINTS": 5})
    report = import_votes(study=panel.study, source=votes, **FACTS)
    assert (report.errors, report.warnings) == ([], [])
    assert Vote.objects.get().points == 5


def test_rows_of_turns_and_messages_have_their_keys_in_any_letters(panel: Panel) -> None:
    turns = jsonl({"ID": "t", "Turn": 1, "Role": "user", "Content": "x"})
    assert not conversations(panel, turns).errors
    whole = jsonl({"id": "w", "messages": [{"Role": "user", "CONTENT": "x"}]})
    assert not conversations(panel, whole).errors
    assert {this.messages[0]["content"] for this in Conversation.objects.all()} == {"x"}


def test_two_keys_of_one_column_are_an_error_that_names_both(panel: Panel) -> None:
    report = conversations(panel, jsonl({"id": "1", "messages": user_says("x"), "Language": "de", "language": "de"}))
    told = "The keys “Language” and “language” mean one column. Expected one of them."
    assert found(report) == [(1, "language", told)]
    message = {"role": "user", "content": "x", "Content": "y"}
    report = conversations(panel, jsonl({"id": "1", "messages": [message]}))
    assert "“content” and “Content” mean one column" in report.errors[0].message
    assert not Conversation.objects.exists()


def test_an_unknown_key_stays_as_it_is_written(panel: Panel) -> None:
    row = {"id": "1", "messages": user_says("x"), "Note": 1, "note": 2, decomposed("é"): 3}
    assert not conversations(panel, jsonl(row)).errors
    assert Conversation.objects.get().extra == f'{{"Note": 1, "note": 2, "{decomposed("é")}": 3}}'


@pytest.mark.parametrize("row", [HEALTHBENCH, MENTALHEALTHBENCH])
def test_a_published_set_is_known_and_read_with_its_keys_in_any_letters(panel: Panel, row: dict[str, Any]) -> None:
    exact = import_any(study=panel.study, source=jsonl(row), name="exact", **FACTS)
    other = import_any(study=panel.study, source=jsonl(with_other_keys(row)), name="other", **FACTS)
    assert (exact.errors, other.errors) == ([], [])
    assert exact.facts["external"]["digest"] == other.facts["external"]["digest"]
    one, two = FrozenCriterion.objects.values_list("text", "points", "axis", "extra")
    assert one == two


def test_a_finding_names_the_files_own_key(panel: Panel) -> None:
    other = {**HEALTHBENCH, "prompt": user_says("y")}
    report = import_any(study=panel.study, source=jsonl(HEALTHBENCH, other), **FACTS)
    assert found(report) == [(2, "prompt", "The lines 1 and 2 both have the id “p”, but differ in prompt.")]
    other = {**MENTALHEALTHBENCH, "rubric_items": [], "team": "b"}
    report = import_any(study=panel.study, source=jsonl({**MENTALHEALTHBENCH, "team": "a"}, other), **FACTS)
    assert [error.column for error in report.errors] == ["rubric_items"]
    assert report.errors[0].message.endswith("differ in rubric_items, team.")
    own = {"id": "1", "messages": user_says("x"), "team": "a"}
    assert not conversations(panel, jsonl(own)).errors
    assert conversations(panel, jsonl({**own, "team": "b"})).errors[0].column == "team"
    again = conversations(panel, jsonl({"team": "a", **own}))
    assert (again.errors, again.unchanged) == ([], 1)


def test_rows_of_turns_are_told_of_by_their_content(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="t", text="other")
    report = conversations(panel, csv_file(["id", "turn", "role", "content"], ["t", 1, "user", "I am ann@web.de"]))
    assert [warning.column for warning in report.warnings] == ["content"]
    assert [error.column for error in report.errors] == ["content"]


def test_a_criterion_with_another_unknown_key_names_it(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="s")
    row = {"conversation_id": "s", "criterion_id": "asks", "text": "Asks.", "points": 6, "team": "a"}
    assert not import_criteria(study=panel.study, source=jsonl(row), **FACTS).errors
    report = import_criteria(study=panel.study, source=jsonl({**row, "team": "b"}), **FACTS)
    told = "Criterion “asks” is stored with another team; expected the same, or another id."
    assert found(report) == [(1, "team", told)]


def test_messages_that_are_no_json_are_answered_with_an_example(panel: Panel) -> None:
    example = 'Expected messages as JSON: [{"role": "user", "content": "..."}].'
    file = csv_file(["id", "messages"], ["1", "I can't sleep."], ["2", '[{"role": "user"'], ["3", "7"])
    assert found(conversations(panel, file)) == [
        (2, "messages", f"{example} Found a plain text."),
        (
            3,
            "messages",
            f"{example} This can't be read as JSON: at character 17, a comma, or the end of the list or object, "
            "is missing.",
        ),
        (
            4,
            "messages",
            "Expected a list of messages, each {role, content}; found something else. "
            'Write messages as JSON: [{"role": "user", "content": "..."}].',
        ),
    ]
    report = conversations(panel, jsonl({"id": "1", "messages": user_says("x"), "acuity": "high"}))
    told = "Expected one of non_acute, high_acuity, emergent, unknown; found “high”."
    assert found(report) == [(1, "acuity", told)]
