"""*Try it* on the desk and by the API, and pilot responses brought by file: each role, blind until the reveal."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.assigning import assign_reviewer
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.importing.report import Report
from annotation.models import Conversation, Criterion, FileImport, PilotMark, PilotResponse
from tests.annotation.browsing import Browser, text_of
from tests.annotation.test_trying import TEXTS, bring, mark, reveal, revision_of
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting
from tests.importing_files import csv_file, jsonl, xlsx_file
from tests.pages import api, at, got, shown, signed_in

pytestmark = pytest.mark.django_db
COLUMNS = ("conversation_id", "text", "id", "source")


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def voting(panel: Panel) -> tuple[Conversation, Criterion, list[PilotResponse]]:
    conversation, (criterion,), _ = make_voting(panel=panel, external_id="one")
    return conversation, criterion, bring(panel, conversation)


def trying(person: Any, criterion: Criterion, *, htmx: bool = False) -> Any:
    return Browser(person).get("try_criterion", htmx=htmx, slug=criterion.study.slug, criterion_id=criterion.id)


# On the desk


def test_a_reviewer_marks_with_and_without_htmx(panel: Panel) -> None:
    _, criterion, (one, two) = voting(panel)
    ben = Browser(panel.ben)
    seen = revision_of(criterion).id
    plain = ben.about(criterion, "try_criterion", response=one.id, seen=seen, mark="met")
    assert plain.status_code == 303
    assert plain.headers["Location"].endswith("#response-1")
    part = ben.about(criterion, "try_criterion", htmx=True, response=two.id, seen=seen, mark="not_met")
    assert part.status_code == 200
    assert b"<html" not in part.content
    assert part.content.count(b'aria-pressed="true"') == 2
    assert trying(panel.ben, criterion).content.count(b'aria-pressed="true"') == 2
    assert trying(panel.chloe, criterion).content.count(b'aria-pressed="true"') == 0
    assert "Is it met in these responses?" in text_of(trying(panel.ben, criterion))


def test_what_can_be_tried_says_so_and_nothing_says_it_where_there_is_no_response(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    address = f"/criteria/{criterion.id}/try/".encode()
    for person in (panel.ana, panel.ben):
        assert address not in Browser(person).desk(conversation).content
    bring(panel, conversation)
    assert address in Browser(panel.ben).desk(conversation).content
    assert address in Browser(panel.ana).desk(conversation, criterion=criterion.id).content


def test_a_draft_is_tried_by_who_wrote_it(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    criterion = draft(conversation=conversation, writer=panel.ana)
    bring(panel, conversation)
    assert f"/criteria/{criterion.id}/try/".encode() in Browser(panel.ana).desk(conversation).content
    assert trying(panel.ana, criterion).status_code == 200
    assert trying(panel.ben, criterion).status_code == 404


def test_nobody_who_reviews_learns_who_wrote_a_response(panel: Panel) -> None:
    conversation, criterion, _ = voting(panel)
    url = at(panel.study, "api_pilot_marks", criterion_id=criterion.id)
    for page in (trying(panel.ben, criterion), Browser(panel.ben).desk(conversation), api(panel.ben).get(url)):
        assert b"model-a" not in page.content


def test_each_role_on_the_address(panel: Panel) -> None:
    _, criterion, (one, _) = voting(panel)
    sent: dict[str, Any] = {"response": one.id, "seen": revision_of(criterion).id, "mark": "met"}
    for person, read, written in (
        (panel.ana, 200, 303),
        (panel.ben, 200, 303),
        (panel.adam, 200, 409),
        (panel.rita, 200, 409),
        (panel.oscar, 404, 404),
    ):
        assert trying(person, criterion).status_code == read, person
        assert Browser(person).about(criterion, "try_criterion", **sent).status_code == written, person
    assert Browser().about(criterion, "try_criterion", **sent).status_code == 302
    assert PilotMark.objects.count() == 2


def test_what_names_nothing_is_refused(panel: Panel) -> None:
    _, criterion, (one, _) = voting(panel)
    seen = revision_of(criterion).id
    ben = Browser(panel.ben)
    assert ben.about(criterion, "try_criterion", response=one.id, seen=seen, mark="good").status_code == 400
    assert ben.about(criterion, "try_criterion", response="x", seen=seen, mark="met").status_code == 404
    assert ben.about(criterion, "try_criterion", response=one.id, seen="x", mark="met").status_code == 404


def test_after_the_reveal_all_see_the_counts_and_nobody_marks(panel: Panel) -> None:
    conversation, criterion, (one, _) = voting(panel)
    mark(criterion, one, panel.ben)
    mark(criterion, one, panel.chloe, "not_met")
    for person in (panel.dev, panel.adam):
        assert "Applied differently" not in text_of(Browser(person).desk(conversation))
        assert "1 met" not in text_of(trying(person, criterion))
    reveal(panel, criterion)
    for person in (panel.dev, panel.adam, panel.rita):
        desk = text_of(Browser(person).desk(conversation))
        assert "Applied differently: response 1: 1 met, 1 not met." in desk
        assert "1 met, 1 not met" in text_of(trying(person, criterion))
    assert "You marked: met." in text_of(trying(panel.ben, criterion))
    late = Browser(panel.ben).about(
        criterion, "try_criterion", response=one.id, seen=revision_of(criterion).id, mark="not_met"
    )
    assert late.status_code == 409


# By the API


def test_the_api_tells_and_takes_marks(panel: Panel) -> None:
    _, criterion, (one, two) = voting(panel)
    url = at(panel.study, "api_pilot_marks", criterion_id=criterion.id)
    seen = str(revision_of(criterion).id)
    sent = {"response": str(one.id), "seen": seen, "mark": "met"}
    told = api(panel.ben).put(url, sent, format="json")
    assert told.status_code == 200
    assert told.json()["responses"][0]["own_mark"] == "met"
    assert [this["own_mark"] for this in got(panel.chloe, url)["responses"]] == [None, None]
    assert api(panel.adam).put(url, sent, format="json").status_code == 403
    assert api(panel.ben).put(url, sent | {"mark": "good"}, format="json").status_code == 400
    mark(criterion, one, panel.chloe, "not_met")
    before = got(panel.adam, url)
    assert (before["is_open"], before["is_applied_differently"]) == (True, None)
    assert [this["counts"] for this in before["responses"]] == [None, None]
    reveal(panel, criterion)
    after = got(panel.adam, url)
    assert (after["is_open"], after["is_applied_differently"]) == (False, True)
    counts = {"met": 1, "not_met": 1, "cant_tell": 0, "differ": True}
    assert [this["counts"] for this in after["responses"]] == [counts, None]
    assert api(panel.ben).put(url, sent | {"response": str(two.id)}, format="json").status_code == 409


# By file


def take_in(panel: Panel, file: Any, *, check: bool = False) -> Report:
    return import_pilot_responses(study=panel.study, source=file, file_name="p.csv", by=panel.adam, check=check)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_a_file_is_taken_in_and_the_same_file_changes_nothing(panel: Panel, kind: str) -> None:
    make_conversation(study=panel.study, external_id="one")
    rows = [("one", TEXTS[0], "p1", "model-a"), ("one", TEXTS[1], "", "")]

    def file() -> Any:
        if kind == "jsonl":
            return jsonl(*(dict(zip(COLUMNS, row, strict=True)) for row in rows))
        return (csv_file if kind == "csv" else xlsx_file)(COLUMNS, *rows)

    assert (take_in(panel, file(), check=True).created, PilotResponse.objects.count()) == (2, 0)
    assert take_in(panel, file()).created == 2
    again = take_in(panel, file())
    assert (again.created, again.unchanged, again.errors) == (0, 2, [])
    assert FileImport.objects.get().kind == FileImport.Kind.PILOT_RESPONSES


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (("two", "A text.", "", ""), "conversation_id"),
        (("one", " ", "", ""), "text"),
        (("one", "Another text.", "p1", ""), "id"),
        (("one", TEXTS[0], "p9", ""), "text"),
    ],
)
def test_what_cant_be_taken_is_named_and_nothing_lands(panel: Panel, row: tuple[str, ...], column: str) -> None:
    make_conversation(study=panel.study, external_id="one")
    take_in(panel, csv_file(COLUMNS, ("one", TEXTS[0], "p1", "")))
    report = take_in(panel, csv_file(COLUMNS, ("one", "Fine.", "", ""), row))
    assert [(error.line, error.column) for error in report.errors] == [(3, column)]
    assert PilotResponse.objects.count() == 1


def test_a_double_in_a_file_counts_once_and_a_contradiction_is_an_error(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="one")
    twice = take_in(panel, csv_file(COLUMNS, ("one", TEXTS[0], "", ""), ("one", f"{TEXTS[0]} ", "", "")))
    assert (twice.created, len(twice.warnings)) == (1, 1)
    against = take_in(panel, csv_file(COLUMNS, ("one", "A.", "p1", ""), ("one", "B.", "p1", "")))
    assert "lines 2 and 3" in against.errors[0].message


def test_the_order_of_a_file_tells_nothing_and_a_third_is_kept_and_not_shown(panel: Panel) -> None:
    for name in ("one", "two"):
        make_conversation(study=panel.study, external_id=name)
    take_in(panel, csv_file(COLUMNS, *(("one", text, "", "") for text in TEXTS)))
    take_in(panel, csv_file(COLUMNS, *(("two", text, "", "") for text in reversed(TEXTS))))
    first, second = (
        list(PilotResponse.objects.filter(conversation__external_id=name).order_by("number").values_list("text"))
        for name in ("one", "two")
    )
    assert first == second
    third = take_in(panel, csv_file(COLUMNS, ("one", "0 A third.", "", "")))
    assert "kept, and not shown" in third.warnings[0].message
    assert [this.number for this in PilotResponse.objects.filter(text="0 A third.")] == [3]


def test_the_command_the_page_and_the_api_take_a_file_in(panel: Panel, tmp_path: Path) -> None:
    make_conversation(study=panel.study, external_id="one")
    file = tmp_path / "pilots.csv"
    file.write_text('conversation_id,text\none,"How many hours do you sleep?"\n')
    out = StringIO()
    call_command("import_pilot_responses", panel.study.slug, str(file), "--json", "--check", stdout=out)
    assert (json.loads(out.getvalue())["created"], PilotResponse.objects.count()) == (1, 0)
    call_command("import_pilot_responses", panel.study.slug, str(file), stdout=StringIO())
    assert PilotResponse.objects.count() == 1
    with pytest.raises((CommandError, SystemExit)):
        call_command("import_pilot_responses", panel.study.slug, str(tmp_path / "none.csv"), stdout=StringIO())

    client = signed_in(panel.adam)
    page = at(panel.study, "study_import", kind="pilot_responses")
    assert "They never see the source" in shown(client, page)
    upload = SimpleUploadedFile("b.csv", b"conversation_id,text\none,Another text.\n")
    assert client.post(page, {"act": "take", "file": upload}).status_code == 302
    assert PilotResponse.objects.count() == 2
    by_api = api(panel.adam).post(
        at(panel.study, "api_import", kind="pilot_responses"),
        {"file": SimpleUploadedFile("c.csv", b"conversation_id,text\none,A third text.\n")},
        format="multipart",
    )
    assert (by_api.status_code, by_api.json()["created"]) == (200, 1)
    for person in (panel.ben, panel.rita):
        assert signed_in(person).get(page).status_code == 403
