"""Pages of the versions: the list, one version, what stayed out, files, withdrawing; for whom, and what they hide."""

import hashlib
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.joining import add_member
from annotation.round_acts import close_round
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.models import RubricVersion, WithdrawalEvent
from tests.factories import Panel, make_panel
from tests.pages import at, shown, signed_in
from tests.rubrics.making import make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def frozen(panel: Panel, **facts: object) -> RubricVersion:
    return freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL, **facts)  # type: ignore[arg-type]


def test_every_member_reads_versions_and_outsiders_find_none(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    for page in (at(panel.study, "study_versions"), at(panel.study, "version", address="1")):
        for person in (panel.ana, panel.adam, panel.rita):
            assert signed_in(person).get(page).status_code == 200
        assert signed_in(panel.oscar).get(page).status_code == 404


def test_files_and_what_stayed_out_are_for_those_who_oversee(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    for page in (
        at(panel.study, "version_left_out", address="1"),
        at(panel.study, "version_file", address="1", format="csv"),
    ):
        assert signed_in(panel.adam).get(page).status_code == 200
        assert signed_in(panel.rita).get(page).status_code == 200
        assert signed_in(panel.ana).get(page).status_code == 403
        assert signed_in(panel.oscar).get(page).status_code == 404
    html = shown(signed_in(panel.ana), at(panel.study, "version", address="1"))
    assert "As a file" not in html
    assert "each with the reason" not in html


def test_a_version_of_another_study_is_not_here(panel: Panel) -> None:
    other = make_panel()
    make_agreed(panel=other)
    frozen(other)
    for name in ("version", "version_left_out", "version_withdraw"):
        assert signed_in(panel.adam).get(at(panel.study, name, address="1")).status_code == 404


@pytest.mark.parametrize("address", ["0", "2", "99999999999999", "nothing", "1.0", "-1", "①"])
def test_an_address_that_names_none_is_404(panel: Panel, address: str) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    assert signed_in(panel.adam).get(at(panel.study, "version", address=address)).status_code == 404


def test_a_version_says_what_it_is_and_holds(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Gives a lecture."], weights=[6, 6, 8, 8])
    version = frozen(panel, note="For the pilot.")
    html = shown(signed_in(panel.rita), at(panel.study, "version", address="1"))
    for text in (version.digest, version.record_digest, "For the pilot.", "Asks about sleep.", "+7", "Three agree"):
        assert text in html
    assert "In consensus at +7: 4 agreed." in html
    assert "2 criteria of 1 conversation" in html
    assert panel.study.canary_string not in html


def test_messages_show_to_those_who_may_read_the_conversation(panel: Panel) -> None:
    make_agreed(panel=panel, text="The words of a person.")
    outside, _ = make_agreed(panel=panel, text="Others' words.")
    frozen(panel)
    outside.assignments.filter(reviewer=panel.ana).delete()
    html = shown(signed_in(panel.ana), at(panel.study, "version", address="1"))
    assert "The words of a person." in html
    assert "Others" not in html
    assert "Others" in shown(signed_in(panel.adam), at(panel.study, "version", address="1"))


def test_a_published_set_is_marked_as_not_of_the_panel(panel: Panel) -> None:
    version = take_in(study=panel.study, rows=[make_row()], name="health bench")
    client = signed_in(panel.rita)
    assert "External, not consensus of this study." in shown(client, at(panel.study, "study_versions"))
    html = shown(client, at(panel.study, "version", address="health bench"))
    assert "External, not consensus of this study." in html
    assert version.digest in html
    assert "Stayed out" not in html
    assert shown(client, at(panel.study, "version", address="HEALTH BENCH"))


def test_what_stayed_out_is_filtered_by_reason(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, [voting] = make_drafted(panel=panel, texts=["Asks about work."])
    undecided, [unsettled] = make_drafted(panel=panel, texts=["Asks about food."])
    close_round(conversation=undecided, by=panel.adam)
    frozen(panel)
    client, page = signed_in(panel.rita), at(panel.study, "version_left_out", address="1")
    assert "2 criteria, each with the reason" in shown(client, page)
    part = shown(client, page + "?reason=unsettled", HX_Request="true")
    assert part.strip().startswith('<div id="left-out"')
    assert unsettled.external_id in part
    assert voting.external_id not in part


def test_being_acknowledged_tells_nobody_the_size_of_hidden_points(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["researcher"])
    make_agreed(panel=panel)
    _, [heavy] = make_drafted(panel=panel, texts=["Names the crisis line."], points=9)
    frozen(panel)
    left_out = at(panel.study, "version_left_out", address="1")
    why = at(panel.study, "why", criterion_id=heavy.id)
    assert "acknowledged" in shown(signed_in(panel.rita), left_out)
    assert "acknowledged" not in shown(signed_in(panel.ben), left_out)
    assert "acknowledged" in shown(signed_in(panel.rita), why)
    assert "acknowledged" not in shown(signed_in(panel.ben), why)


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("healthbench", "consilium-{slug}-v1.healthbench.jsonl"),
        ("mentalhealthbench", "consilium-{slug}-v1.mentalhealthbench.jsonl"),
        ("csv", "consilium-{slug}-v1.csv"),
        ("xlsx", "consilium-{slug}-v1.xlsx"),
    ],
)
def test_a_file_is_an_attachment_with_the_same_bytes_each_time(panel: Panel, format: str, name: str) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    client, page = signed_in(panel.rita), at(panel.study, "version_file", address="1", format=format)
    digests = set()
    for _ in range(2):
        response = client.get(page)
        assert response.headers["Content-Disposition"] == f'attachment; filename="{name.format(slug=panel.study.slug)}"'
        assert "no-store" in response.headers["Cache-Control"]
        digests.add(hashlib.sha256(b"".join(response.streaming_content)).hexdigest())  # type: ignore[attr-defined]
    assert len(digests) == 1
    assert client.get(at(panel.study, "version_file", address="1", format="parquet")).status_code == 404


def test_a_file_carries_the_digest_of_its_version(panel: Panel) -> None:
    make_agreed(panel=panel)
    version = frozen(panel)
    response = signed_in(panel.rita).get(at(panel.study, "version_file", address="1", format="healthbench"))
    [row] = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]  # type: ignore[attr-defined]
    assert row["consilium"]["digest"] == version.digest


def test_a_version_is_withdrawn_once_with_a_reason_that_readers_see(panel: Panel) -> None:
    make_agreed(panel=panel)
    version = frozen(panel)
    page = at(panel.study, "version_withdraw", address="1")
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert signed_in(person).post(page, {"reason": "Wrong."}).status_code == status
    client = signed_in(panel.adam)
    assert client.post(page, {"reason": "  "}).status_code == 422
    assert not WithdrawalEvent.objects.exists()
    assert client.post(page, {"reason": "A criterion was unsafe."}).status_code == 302
    assert WithdrawalEvent.objects.get().withdrawn_by == panel.adam
    html = shown(signed_in(panel.ana), at(panel.study, "version", address="1"))
    assert "A criterion was unsafe." in html
    assert "▲ withdrawn" in shown(signed_in(panel.ana), at(panel.study, "study_versions"))
    again = client.post(page, {"reason": "Again."})
    assert again.status_code == 409
    assert "This version is withdrawn already." in again.content.decode()
    version.refresh_from_db()
    assert version.criteria_count == 1


def test_the_number_of_queries_does_not_grow(panel: Panel) -> None:
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Asks about work."])
    frozen(panel)
    client = signed_in(panel.adam)

    def counted(address: str) -> list[int]:
        pages = [
            at(panel.study, "study_versions"),
            at(panel.study, "version", address=address),
            at(panel.study, "version_left_out", address=address),
        ]
        numbers = []
        for page in pages:
            client.get(page)
            with CaptureQueriesContext(connection) as captured:
                client.get(page)
            numbers.append(len(captured))
        return numbers

    few = counted("1")
    for number in range(5):
        make_agreed(panel=panel, texts=[f"Asks about {number}.", f"Names {number}."])
        make_drafted(panel=panel, texts=["Asks about work.", "Asks about food."])
    frozen(panel)
    assert counted("2") == few
    assert max(few) <= 20
