"""Files that a researcher brings on the pages, in the manner of the admin's; the examples are taken in as they are."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client

from annotation.models import Conversation, Criterion, Membership, PilotResponse, PracticeExample, User, Vote
from grading.models import Response, ReviewerVerdict
from grading.uploading import UPLOADS
from rubrics.uploading import UPLOADS as ADMIN_UPLOADS
from rubrics.uploading import Upload
from tests.factories import Panel, make_panel
from tests.grading.graded_runs import make_version

pytestmark = pytest.mark.django_db
ALL_UPLOADS = [*ADMIN_UPLOADS.values(), *UPLOADS.values()]


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def address_of(panel: Panel, kind: str) -> str:
    return f"/studies/{panel.study.slug}/responses/take-in/{kind}/"


def a_file(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("r.csv", f"conversation_id,respondent,text\n{text}\n".encode())


def test_a_file_of_responses_is_checked_then_taken_in(panel: Panel) -> None:
    version, _ = make_version(panel=panel)
    conversation = version.conversations.all()[0].external_id
    client, address = client_of(panel.rita), address_of(panel, "responses")
    fresh = client.get(address).content.decode()
    assert "data-is-checked" not in fresh
    row = f"{conversation},model-a,Hello"
    checked = client.post(address, {"file": a_file(row), "act": "check"}).content.decode()
    assert "Checked, nothing is written yet." in checked
    assert "data-is-checked" in checked
    assert not Response.objects.exists()
    wrong = client.post(address, {"file": a_file("nowhere,model-a,Hello"), "act": "check"})
    assert wrong.status_code == 422
    assert "nowhere" in wrong.content.decode()
    assert "data-is-checked" not in wrong.content.decode()
    part = client.post(address, {"file": a_file(row), "act": "check"}, headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<div id="report"')
    assert client.post(address, {"file": a_file(row), "act": "take"}).headers["Location"] == address
    assert "✓ Taken in." in client.get(address).content.decode()
    assert Response.objects.get().text == "Hello"


def test_taking_in_belongs_to_researchers(panel: Panel) -> None:
    for kind in UPLOADS:
        for address in (address_of(panel, kind), f"{address_of(panel, kind)}example/"):
            assert client_of(panel.rita).get(address).status_code == 200
            for person, status in ((panel.adam, 403), (panel.ben, 403), (panel.oscar, 404)):
                assert client_of(person).get(address).status_code == status
    assert client_of(panel.rita).get(address_of(panel, "votes")).status_code == 404
    assert client_of(panel.rita).get(f"{address_of(panel, 'votes')}example/").status_code == 404
    page = client_of(panel.rita).get(f"/studies/{panel.study.slug}/responses/").content.decode()
    for kind in UPLOADS:
        assert f'href="{address_of(panel, kind)}"' in page
    admins = f"/studies/{panel.study.slug}/admin/import/votes/example/"
    assert client_of(panel.adam).get(admins).headers["Content-Disposition"].endswith('example-votes.csv"')
    assert client_of(panel.rita).get(admins).status_code == 403


@pytest.mark.parametrize("upload", ALL_UPLOADS, ids=lambda upload: str(upload.kind.value))
def test_a_page_tells_the_readers_own_columns(upload: Upload) -> None:
    known = set(upload.shape.columns.known)
    assert set(upload.shape.columns.required) <= known
    assert set(upload.shape.holds) <= known
    for row in upload.shape.example:
        assert set(upload.shape.columns.required) <= set(row) <= known
    assert [column.name for column in upload.shape.rows] == list(upload.shape.columns.known)


def test_each_example_is_taken_in_as_it_is(panel: Panel) -> None:
    """In the order in which a study works: what one names was brought by the one before."""
    of_admins: list[type[Model]] = [Conversation, Criterion, Vote, PilotResponse, Membership, PracticeExample]
    of_researchers: list[type[Model]] = [Response, ReviewerVerdict]
    made = [*of_admins, *of_researchers]
    for upload, model in zip(ALL_UPLOADS, made, strict=True):
        ending, content = upload.shape.example_file()
        before = model._default_manager.count()
        options = {"keep_drafting": False, "revise": False} if upload.kind.value == "criteria" else {}
        report = upload.act(
            study=panel.study,
            source=io.BytesIO(content),
            file_name=f"example.{ending}",
            by=panel.adam,
            check=False,
            **options,
        )
        assert not report.errors, upload.kind
        assert not report.warnings, upload.kind
        assert model._default_manager.count() - before == len(upload.shape.example), upload.kind
