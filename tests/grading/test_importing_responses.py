"""Importing responses: to which conversation, by which respondent, and which of them failed."""

from typing import Any, BinaryIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.importing.files import FileWasChanged
from annotation.importing.report import Report
from annotation.models import Conversation, FileImport
from grading.importing.responses import import_responses
from grading.models import Respondent, Response
from tests.factories import Panel, make_conversation, make_panel
from tests.importing_files import ChangingFile, csv_file, decomposed, jsonl

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    return make_conversation(study=panel.study, external_id="sleepless")


def take_in(panel: Panel, file: BinaryIO, *, check: bool = False) -> Report:
    return import_responses(study=panel.study, source=file, file_name="responses", by=panel.rita, check=check)


def said(**facts: Any) -> dict[str, Any]:
    return {"conversation_id": "sleepless", "respondent": "model-a", "text": "How long?", **facts}


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def test_responses_are_kept_as_given_and_respondents_made(panel: Panel, conversation: Conversation) -> None:
    report = take_in(
        panel,
        jsonl(
            said(text=" How\r\nlong? ", finish_reason="stop", prompt_style="step by step"),
            said(sample=2, text="Why?"),
            said(respondent=" counsellor ", kind="Human", text="I hear you."),
        ),
    )
    assert (report.created, report.errors, report.warnings) == (3, [], [])
    first = Response.objects.get(respondent__name="model-a", sample=1)
    assert (first.text, first.finish_reason, first.is_failed) == (" How\r\nlong? ", "stop", False)
    assert (first.respondent.kind, first.respondent.prompt_style) == ("model", "step by step")
    assert (first.conversation, first.imported_from) == (conversation, FileImport.objects.get())
    assert Respondent.objects.get(name="counsellor").kind == "human"


def test_the_same_file_again_changes_nothing_and_says_so(panel: Panel, conversation: Conversation) -> None:
    rows = [said(), said(sample=2, text="là"), said(respondent="b", finish_reason="length")]
    take_in(panel, jsonl(*rows))
    rows[1]["text"] = decomposed("là")
    again = take_in(panel, jsonl(*rows))
    assert (again.created, again.unchanged, again.errors) == (0, 3, [])
    assert (Response.objects.count(), Respondent.objects.count(), FileImport.objects.count()) == (3, 2, 1)


def test_blank_and_cut_off_responses_are_recorded_as_failed_and_told_of(
    panel: Panel, conversation: Conversation
) -> None:
    file = csv_file(
        ["conversation_id", "respondent", "sample", "text", "finish_reason"],
        ["sleepless", "m", 1, "", ""],
        ["sleepless", "m", 2, " \n", "stop"],
        ["sleepless", "m", 3, "Half of a", "Length"],
        ["sleepless", "m", 4, "x", "content-filter"],
        ["sleepless", "m", 5, "x", "error"],
        ["sleepless", "m", 6, "I can't help with that.", "refusal"],
        ["sleepless", "m", 7, "x", "stop"],
    )
    report = take_in(panel, file)
    assert (report.created, len(report.warnings)) == (7, 1)
    assert "5 responses" in report.warnings[0].message
    failed = Response.objects.filter(is_failed=True).values_list("sample", flat=True)
    assert sorted(failed) == [1, 2, 3, 4, 5]
    assert Response.objects.get(is_refusal=True).sample == 6


def test_a_respondent_is_its_name(panel: Panel, conversation: Conversation) -> None:
    report = take_in(
        panel,
        jsonl(
            said(prompt_style="zero-shot"),
            said(sample=2),
            said(sample=3, prompt_style="step by step"),
            said(sample=4, kind="human"),
            said(sample=5, kind="model"),
        ),
    )
    assert errors(report) == [(3, "prompt_style"), (5, "kind")]
    assert "lines 1 and 3" in report.errors[0].message
    take_in(panel, jsonl(said(prompt_style="zero-shot")))
    later = take_in(panel, jsonl(said(sample=2, prompt_style="other"), said(sample=3, kind="reference"), said()))
    assert errors(later) == [(1, "prompt_style"), (2, "kind")]
    assert take_in(panel, jsonl(said(sample=2), said(sample=3, prompt_style="zero-shot"))).created == 2


def test_every_error_of_a_file_is_told_at_once_and_nothing_is_written(panel: Panel, conversation: Conversation) -> None:
    take_in(panel, jsonl(said()))
    report = take_in(
        panel,
        jsonl(
            said(respondent="new"),
            said(text="Another text."),
            said(conversation_id="nowhere"),
            said(sample=0),
            said(sample=2),
            said(sample=2, text="Another text."),
            said(respondent=""),
            {"conversation_id": "sleepless", "respondent": "m"},
            said(text=["list"]),
            said(kind="robot"),
        ),
    )
    assert errors(report) == [
        (2, "text"),
        (3, "conversation_id"),
        (4, "sample"),
        (6, "sample"),
        (7, "respondent"),
        (8, "text"),
        (9, "text"),
        (10, "kind"),
        (10, "sample"),
    ]
    assert "lines 5 and 6" in report.errors[3].message
    assert (Response.objects.count(), Respondent.objects.count()) == (1, 1)


def test_a_row_given_twice_counts_once(panel: Panel, conversation: Conversation) -> None:
    report = take_in(panel, jsonl(said(), said(sample=1)))
    assert (report.created, report.errors, report.warnings[0].line) == (1, [], 2)


def test_a_conversation_is_the_studys_own_else_that_of_the_newest_external_version(
    panel: Panel, conversation: Conversation
) -> None:
    facts: dict[str, Any] = {"study": panel.study, "text": "x"}
    make_conversation(external_id="sleepless", external_name="old", **facts)
    make_conversation(external_id="only", external_name="old", **facts)
    newest = make_conversation(external_id="only", external_name="new", **facts)
    report = take_in(panel, jsonl(said(), said(conversation_id="only"), said(conversation_id="only", sample=2)))
    assert Response.objects.get(conversation__external_id="sleepless").conversation == conversation
    assert {this.conversation for this in Response.objects.filter(conversation__external_id="only")} == {newest}
    assert [(warning.line, warning.column) for warning in report.warnings] == [
        (1, "conversation_id"),
        (2, "conversation_id"),
    ]
    told = "new responses belong to the study's own, not to that of old."
    assert report.warnings[0].message == f"Several conversations have the id “sleepless”: {told}"


def test_a_response_that_stands_on_any_conversation_of_the_id_is_unchanged(panel: Panel) -> None:
    facts: dict[str, Any] = {"study": panel.study, "external_id": "sleepless", "text": "x"}
    make_conversation(external_name="set", **facts)
    rows = [said(), said(sample=2)]
    assert take_in(panel, jsonl(*rows)).created == 2
    own = make_conversation(**facts)
    again = take_in(panel, jsonl(*rows))
    assert (again.created, again.unchanged, again.errors, len(again.warnings)) == (0, 2, [], 1)
    # Another text is a response to the study's own conversation; there it is known from then on.
    assert take_in(panel, jsonl(said(text="Why?"))).created == 1
    assert Response.objects.get(text="Why?").conversation == own
    assert take_in(panel, jsonl(said(text="Why?"))).unchanged == 1
    assert take_in(panel, jsonl(*rows)).unchanged == 2
    assert errors(take_in(panel, jsonl(said(text="What?")))) == [(1, "text")]


def test_a_check_writes_nothing_and_answers_the_same_report(panel: Panel, conversation: Conversation) -> None:
    file = jsonl(said(), said(sample=2, text=""), said())
    checked = take_in(panel, file, check=True)
    assert (Response.objects.count(), Respondent.objects.count(), FileImport.objects.count()) == (0, 0, 0)
    assert checked.as_plain() == take_in(panel, file).as_plain()
    assert checked.created == 2


def test_a_file_that_changes_between_the_readings_leaves_nothing(panel: Panel, conversation: Conversation) -> None:
    file = ChangingFile(jsonl(said(), said(sample=2)), jsonl(said()), from_reading=3)
    with pytest.raises(FileWasChanged):
        take_in(panel, file)
    assert (Response.objects.count(), Respondent.objects.count(), FileImport.objects.count()) == (0, 0, 0)


def test_no_query_is_made_a_row(panel: Panel, conversation: Conversation) -> None:
    def count(name: str, rows: int) -> int:
        file = jsonl(*(said(respondent=name, sample=number + 1) for number in range(rows)))
        with CaptureQueriesContext(connection) as queries:
            assert take_in(panel, file).created == rows
            assert take_in(panel, file).unchanged == rows
        return len(queries)

    assert count("few", 2) == count("many", 90)


def test_a_faulty_row_is_looked_up_and_compared_in_its_other_cells(panel: Panel, conversation: Conversation) -> None:
    assert not take_in(panel, jsonl(said())).errors
    report = take_in(
        panel,
        jsonl(
            said(kind="robot", text="Another text."),
            said(sample=0, conversation_id="nowhere", kind="human"),
            said(respondent="", conversation_id="nowhere"),
            said(respondent="new", text=["list"], conversation_id="nowhere"),
            said(respondent="new", sample=2, kind="human", finish_reason=["list"]),
            said(respondent="new", sample=3, kind="model"),
        ),
    )
    assert sorted(errors(report)) == [
        *[(1, "kind"), (1, "text"), (2, "conversation_id"), (2, "kind"), (2, "sample")],
        *[(3, "conversation_id"), (3, "respondent"), (4, "conversation_id"), (4, "text")],
        *[(5, "finish_reason"), (6, "kind")],
    ]
    assert Response.objects.count() == 1
