"""Files that an admin brings on the pages: checked first, taken in whole or not at all, and told once."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from annotation.models import Conversation, Criterion, FileImport, Vote
from rubrics.forms import FILE_FORMS
from rubrics.models import RubricVersion
from rubrics.uploading import UPLOADS
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def a_file(*rows: Mapping[str, object], name: str = "rows.jsonl") -> io.BytesIO:
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    file.name = name
    return file


def conversation_row(external_id: str, text: str = "I can't sleep.") -> dict[str, object]:
    return {"id": external_id, "messages": [{"role": "user", "content": text}]}


def send(panel: Panel, kind: str, *rows: Mapping[str, object], htmx: bool = False, **facts: object) -> Any:
    data = {"file": a_file(*rows), **facts}
    headers = {"HX-Request": "true"} if htmx else {}
    return signed_in(panel.adam).post(at(panel.study, "study_import", kind=kind), data, headers=headers)


def test_every_kind_of_upload_has_its_form() -> None:
    assert UPLOADS.keys() == FILE_FORMS.keys()
    for kind, upload in UPLOADS.items():
        assert set(upload.options) <= FILE_FORMS[kind].base_fields.keys()


def test_imports_belong_to_admins(panel: Panel) -> None:
    pages = [at(panel.study, "study_imports"), *(at(panel.study, "study_import", kind=kind) for kind in UPLOADS)]
    for page in pages:
        assert signed_in(panel.adam).get(page).status_code == 200
        for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
            assert signed_in(person).get(page).status_code == status
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        for page in pages[1:]:
            assert signed_in(person).post(page, {"file": a_file(conversation_row("a"))}).status_code == status
    assert signed_in(panel.adam).get(at(panel.study, "study_import", kind="responses")).status_code == 404
    assert not Conversation.objects.exists()


def test_a_check_writes_nothing_and_says_what_it_would_do(panel: Panel) -> None:
    response = send(panel, "conversations", conversation_row("a"), conversation_row("b"), act="check")
    assert response.status_code == 200
    assert "Checked, nothing is written yet." in response.content.decode()
    assert "2 new or changed, 0 unchanged" in response.content.decode()
    assert not Conversation.objects.exists()
    assert not FileImport.objects.exists()


def test_a_file_is_taken_in_and_told_once(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_import", kind="conversations")
    response = client.post(page, {"file": a_file(conversation_row("a")), "act": "take"})
    assert (response.status_code, response.headers["Location"]) == (302, page)
    assert "1 new or changed, 0 unchanged" in shown(client, page)
    assert "✓ Taken in." not in shown(client, page)
    record = FileImport.objects.get()
    assert (record.file_name, record.imported_by, record.created) == ("rows.jsonl", panel.adam, 1)
    assert "rows.jsonl" in shown(client, at(panel.study, "study_imports"))
    client.post(page, {"file": a_file(conversation_row("a")), "act": "take"})
    assert "0 new or changed, 1 unchanged" in shown(client, page)
    assert Conversation.objects.count() == 1


def test_htmx_gets_the_report_alone(panel: Panel) -> None:
    checked = send(panel, "conversations", conversation_row("a"), htmx=True, act="check")
    assert checked.content.decode().strip().startswith('<div id="report"')
    taken = send(panel, "conversations", conversation_row("a"), htmx=True, act="take")
    assert taken.status_code == 200
    assert "✓ Taken in." in taken.content.decode()
    assert Conversation.objects.count() == 1


@pytest.mark.parametrize("act", ["check", "take"])
def test_every_bad_row_is_told_with_its_line_and_column_and_nothing_is_written(panel: Panel, act: str) -> None:
    rows: list[dict[str, object]] = [
        conversation_row("a"),
        {"id": "b", "messages": "hello"},
        conversation_row("c") | {"acuity": "very"},
    ]
    response = send(panel, "conversations", *rows, act=act)
    html = response.content.decode()
    assert response.status_code == 422
    assert "2 places in the file need another look" in html
    assert '<td class="number">2</td><td>messages</td>' in html
    assert '<td class="number">3</td><td>acuity</td>' in html
    assert not Conversation.objects.exists()


def test_what_a_file_holds_is_shown_as_text(panel: Panel) -> None:
    row = {"id": "a", "messages": [{"role": "<script>alert(1)</script>", "content": "Hello."}]}
    html = send(panel, "conversations", row, act="check").content.decode()
    assert "<script>alert" not in html


def test_no_file_an_empty_one_and_no_table_are_said_in_words(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_import", kind="conversations")
    missing = client.post(page, {"act": "check"})
    assert missing.status_code == 422
    assert "Choose a file first." in missing.content.decode()
    empty = io.BytesIO(b"")
    empty.name = "empty.csv"
    assert "The file is empty." in client.post(page, {"file": empty, "act": "check"}).content.decode()
    picture = io.BytesIO(b"\x89PNG\r\n\x1a\n" + b"\0" * 100)
    picture.name = "conversations.csv"
    response = client.post(page, {"file": picture, "act": "check"})
    assert response.status_code == 422
    assert "This is a picture, not a table." in response.content.decode()


def test_a_published_set_becomes_an_external_version_under_the_name_given(panel: Panel) -> None:
    row = {
        "prompt_id": "p-1",
        "prompt": [{"role": "user", "content": "I can't sleep."}],
        "rubrics": [{"criterion": "Asks about sleep.", "points": 5, "tags": ["axis:accuracy"]}],
        "example_tags": [],
    }
    checked = send(panel, "conversations", row, act="check", name="small set").content.decode()
    assert "would become the external version small set with 1 criterion" in checked
    assert not RubricVersion.objects.exists()
    assert send(panel, "conversations", row, act="take", name="small set").status_code == 302
    assert RubricVersion.objects.get().name == "small set"
    refused = send(panel, "conversations", conversation_row("a"), act="take", name="small set")
    assert refused.status_code == 409
    assert "A name is given to a published set with its criteria." in refused.content.decode()


def test_criteria_close_drafting_unless_it_is_kept_open(panel: Panel) -> None:
    kept = make_conversation(study=panel.study, external_id="kept")
    closed = make_conversation(study=panel.study, external_id="closed")
    row = {"criterion_id": "k-1", "conversation_id": "kept", "text": "Asks about sleep.", "points": 6}
    assert send(panel, "criteria", row, act="take", keep_drafting="on").status_code == 302
    row = {"criterion_id": "c-1", "conversation_id": "closed", "text": "Asks about sleep.", "points": 6}
    assert send(panel, "criteria", row, act="take").status_code == 302
    kept.refresh_from_db()
    closed.refresh_from_db()
    assert kept.drafting_closed_at is None
    assert closed.drafting_closed_at is not None
    changed = row | {"text": "Asks about nights."}
    assert send(panel, "criteria", changed, act="take").status_code == 422
    assert send(panel, "criteria", changed, act="take", revise="on").status_code == 302
    assert Criterion.objects.get(external_id="c-1").revisions.count() == 2


def test_votes_taken_elsewhere_are_kept_marked(panel: Panel) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    row = {"criterion_id": criterion.external_id, "reviewer": panel.ben.email, "choice": "agree", "points": 6}
    assert send(panel, "votes", row, act="take").status_code == 302
    kept = Vote.objects.get()
    assert kept.imported_from == FileImport.objects.get()
    vote(criterion=criterion, reviewer=panel.chloe)
    assert Vote.objects.filter(imported_from=None).count() == 1
