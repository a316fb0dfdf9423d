"""The REST API of versions, of why a criterion is in or out, and of imports: the same rules as the pages."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.assigning import assign_reviewer
from annotation.joining import add_member
from annotation.models import Conversation, User
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.models import RubricVersion, WithdrawalEvent
from tests.factories import Panel, draft, make_conversation, make_panel, vote
from tests.pages import api, at, got
from tests.rubrics.making import make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def frozen(panel: Panel) -> RubricVersion:
    return freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)


def freeze(panel: Panel, person: User, **facts: object) -> Any:
    """Freeze what the preview shows in this moment."""
    shown = api(person).post(
        at(panel.study, "api_freeze_preview"), {"leave_out": facts.get("leave_out", {})}, format="json"
    )
    seen = shown.json().get("seen", "nothing")
    return api(person).post(at(panel.study, "api_versions"), {"seen": seen, **facts}, format="json")


def test_each_address_has_its_readers(panel: Panel) -> None:
    _, [criterion] = make_agreed(panel=panel)
    frozen(panel)
    for_members = [
        at(panel.study, "api_versions"),
        at(panel.study, "api_version", address="1"),
        at(panel.study, "api_version_criteria", address="1"),
        at(panel.study, "api_why", criterion_id=criterion.id),
    ]
    for_overseers = [
        at(panel.study, "api_version_left_out", address="1"),
        at(panel.study, "api_version_file", address="1", file_format="csv"),
    ]
    for url in for_members + for_overseers:
        assert APIClient().get(url).status_code == 401, url
        assert api(panel.oscar).get(url).status_code == 404, url
        assert api(panel.adam).get(url).status_code == 200, url
        assert api(panel.rita).get(url).status_code == 200, url
        assert api(panel.ana).get(url).status_code == (200 if url in for_members else 403), url
    preview = at(panel.study, "api_freeze_preview")
    assert [api(one).get(preview).status_code for one in (panel.adam, panel.rita, panel.ana)] == [200, 403, 403]


def test_only_an_admin_freezes_withdraws_and_imports(panel: Panel) -> None:
    make_agreed(panel=panel)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert freeze(panel, person).status_code == status
    frozen(panel)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        withdraw = at(panel.study, "api_version_withdrawal", address="1")
        assert api(person).post(withdraw, {"reason": "Wrong."}, format="json").status_code == status
        imports = at(panel.study, "api_import", kind="conversations")
        assert api(person).post(imports, {"file": a_file({"id": "a"})}, format="multipart").status_code == status
    assert not WithdrawalEvent.objects.exists()
    assert RubricVersion.objects.count() == 1


def test_a_freeze_answers_the_version_and_refuses_the_same_again(panel: Panel) -> None:
    make_agreed(panel=panel, weights=[6, 6, 8, 8])
    answer = freeze(panel, panel.adam, note="The first one.")
    assert answer.status_code == 201
    version = RubricVersion.objects.get()
    told = answer.json()
    assert (told["version"], told["digest"], told["record_digest"]) == ("1", version.digest, version.record_digest)
    assert (told["note"], told["frozen_by"], told["criteria"]) == ("The first one.", panel.adam.email, 1)
    assert told["policy"]["name"] == "Three agree"
    again = freeze(panel, panel.adam)
    assert (again.status_code, again.json()["error"]) == (409, "Nothing changed since version 1.")


def test_with_nothing_in_consensus_a_freeze_is_refused(panel: Panel) -> None:
    make_drafted(panel=panel, texts=["Asks about sleep."])
    answer = freeze(panel, panel.adam)
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("No criterion can be frozen")


def test_what_is_to_be_acknowledged_is_named_by_the_refusal(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, [heavy] = make_drafted(panel=panel, texts=["Names the crisis line."], points=8)
    answer = freeze(panel, panel.adam)
    assert answer.status_code == 409
    assert answer.json()["missing"] == [heavy.external_id]
    assert freeze(panel, panel.adam, acknowledged=[str(heavy.id)]).status_code == 201


def test_an_admin_who_reviews_is_asked_about_all_whose_points_are_hidden(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["admin"])
    make_agreed(panel=panel)
    _, [light] = make_drafted(panel=panel, texts=["Says hello."], points=2)
    assert freeze(panel, panel.ben).json()["missing"] == [light.external_id]
    asked = {row["id"]: row["must_be_acknowledged"] for row in preview_of(panel, panel.ben)["stays_out"]}
    assert asked == {str(light.id): True}
    asked = {row["id"]: row["must_be_acknowledged"] for row in preview_of(panel, panel.adam)["stays_out"]}
    assert asked == {str(light.id): False}


def test_being_acknowledged_tells_nobody_the_size_of_hidden_points(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["researcher"])
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Names the crisis line."], points=9)
    frozen(panel)
    url = at(panel.study, "api_version_left_out", address="1")
    assert [row["is_acknowledged"] for row in got(panel.rita, url)["results"]] == [True]
    assert [row["is_acknowledged"] for row in got(panel.ben, url)["results"]] == [None]


def preview_of(panel: Panel, person: User) -> Any:
    return got(person, at(panel.study, "api_freeze_preview"))


def test_a_preview_tells_what_a_freeze_does_and_no_text(panel: Panel) -> None:
    _, [criterion] = make_agreed(panel=panel)
    _, [voting] = make_drafted(panel=panel, texts=["Asks about work."])
    told = preview_of(panel, panel.adam)
    assert told["next_version"] == 1
    assert [(row["id"], row["points"]) for row in told["goes_in"]] == [(str(criterion.id), 6)]
    assert [(row["external_id"], row["kind"]) for row in told["stays_out"]] == [(voting.external_id, "voting")]
    assert [row["kinds"] for row in told["changes"]] == [["added"]]
    assert "Asks about work." not in json.dumps(told)


def test_one_is_left_out_by_name_with_its_reason(panel: Panel) -> None:
    _, [kept, spared] = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about naps."])
    assert freeze(panel, panel.adam, leave_out={"nonsense": "Why."}).status_code == 400
    assert freeze(panel, panel.adam, leave_out={str(spared.id): " "}).status_code in {400, 409}
    assert freeze(panel, panel.adam, leave_out={str(spared.id): "The same again."}).status_code == 201
    [row] = got(panel.rita, at(panel.study, "api_version_left_out", address="1"))["results"]
    assert (row["criterion"], row["kind"]) == (str(spared.id), "by_name")
    assert row["reason"] == "Left out by name: The same again."
    [conversation] = got(panel.ana, at(panel.study, "api_version_criteria", address="1"))["results"]
    assert [each["id"] for each in conversation["criteria"]] == [str(kept.id)]
    assert "messages" not in conversation


def test_versions_are_found_by_number_or_name_and_not_in_another_study(panel: Panel) -> None:
    make_agreed(panel=panel)
    own = frozen(panel)
    take_in(study=panel.study, rows=[make_row()], name="small set")
    other = make_panel()
    make_agreed(panel=other)
    frozen(other)
    listed = got(panel.rita, at(panel.study, "api_versions"))["results"]
    assert {(row["version"], row["kind"]) for row in listed} == {("1", "consensus"), ("small set", "external")}
    assert got(panel.rita, at(panel.study, "api_version", address="1"))["digest"] == own.digest
    external = got(panel.rita, at(panel.study, "api_version", address="small set"))
    assert (external["policy"], external["number"], external["frozen_by"]) == (None, None, None)
    assert api(panel.rita).get(at(panel.study, "api_version", address="2")).status_code == 404
    stranger = add_member(study=other.study, email="stranger@example.org", roles=["admin"]).user
    assert api(stranger).get(at(other.study, "api_version", address="1")).status_code == 200
    assert api(stranger).get(at(panel.study, "api_version", address="1")).status_code == 404


def test_a_version_is_withdrawn_once(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    url = at(panel.study, "api_version_withdrawal", address="1")
    assert api(panel.adam).post(url, {"reason": ""}, format="json").status_code == 400
    answer = api(panel.adam).post(url, {"reason": "A criterion was unsafe."}, format="json")
    assert answer.json()["withdrawal"]["reason"] == "A criterion was unsafe."
    again = api(panel.adam).post(url, {"reason": "Again."}, format="json")
    assert (again.status_code, again.json()["error"]) == (409, "This version is withdrawn already.")
    assert got(panel.ana, at(panel.study, "api_versions"))["results"][0]["withdrawal"] is not None


def test_a_file_is_the_one_that_the_page_gives(panel: Panel) -> None:
    make_agreed(panel=panel)
    version = frozen(panel)
    response = api(panel.rita).get(at(panel.study, "api_version_file", address="1", file_format="healthbench"))
    [row] = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]  # type: ignore[attr-defined]
    assert row["consilium"]["digest"] == version.digest
    assert 'filename="consilium-' in response.headers["Content-Disposition"]
    nothing = at(panel.study, "api_version_file", address="1", file_format="parquet")
    assert api(panel.rita).get(nothing).status_code == 404


def test_no_answer_differs_by_a_hidden_vote(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    _, [criterion] = make_drafted(panel=panel, texts=["Asks about work."])
    urls = [
        at(panel.study, "api_versions"),
        at(panel.study, "api_version", address="1"),
        at(panel.study, "api_version_left_out", address="1"),
        at(panel.study, "api_freeze_preview"),
        at(panel.study, "api_why", criterion_id=criterion.id),
    ]
    nothing = [api(panel.adam).get(url).content for url in urls]
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    assert [api(panel.adam).get(url).content for url in urls] == nothing
    own = [api(panel.chloe).get(urls[-1]).content]
    vote(criterion=criterion, reviewer=panel.ben, points=10)
    assert [api(panel.chloe).get(urls[-1]).content] == own


def test_why_tells_standing_rounds_and_revisions(panel: Panel) -> None:
    _, [criterion] = make_agreed(panel=panel, points=6, weights=[8, 8, 8, 8])
    frozen(panel)
    told = got(panel.ben, at(panel.study, "api_why", criterion_id=criterion.id) + "?version=1")
    assert told["state"] == "in_consensus"
    assert told["standing"] == {
        "version": "1",
        "is_in": True,
        "sentence": "It is in version 1, with +8 points. In consensus at +8: 4 agreed.",
    }
    assert [(row["version"], row["is_in"]) for row in told["versions"]] == [("1", True)]
    [round_1] = told["rounds"]
    assert (round_1["number"], round_1["is_open"], len(round_1["votes"])) == (1, False, 4)
    assert {vote["name"] for vote in round_1["votes"]} == {None}
    assert [vote["is_yours"] for vote in round_1["votes"]].count(True) == 1
    assert all(clause["holds"] for clause in round_1["outcomes"][0]["clauses"])
    assert [(row["number"], row["points"]) for row in told["revisions"]] == [(1, 6)]
    now = got(panel.ben, at(panel.study, "api_why", criterion_id=criterion.id))
    assert now["standing"]["version"] is None
    assert api(panel.ben).get(at(panel.study, "api_why", criterion_id=criterion.id) + "?version=9").status_code == 404


def test_why_keeps_drafts_and_points_to_whom_they_belong(panel: Panel) -> None:
    drafting = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=drafting, reviewer=reviewer)
    theirs = draft(conversation=drafting, writer=panel.ana)
    assert api(panel.ben).get(at(panel.study, "api_why", criterion_id=theirs.id)).status_code == 404
    _, [voting] = make_drafted(panel=panel, texts=["Asks about work."])
    url = at(panel.study, "api_why", criterion_id=voting.id)
    assert [row["points"] for row in got(panel.ben, url)["revisions"]] == [None]
    assert [row["points"] for row in got(panel.ana, url)["revisions"]] == [6]
    assert got(panel.ben, url)["rounds"] == [{"number": 1, "is_open": True, "votes": [], "outcomes": []}]


# Imports


def a_file(*rows: Mapping[str, object]) -> io.BytesIO:
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    file.name = "rows.jsonl"
    return file


def test_a_file_is_checked_then_taken_in(panel: Panel) -> None:
    row = {"id": "a", "messages": [{"role": "user", "content": "I can't sleep."}]}
    url = at(panel.study, "api_import", kind="conversations")
    checked = api(panel.adam).post(url, {"file": a_file(row), "check": "true"}, format="multipart")
    assert checked.json() == {"created": 1, "unchanged": 0, "warnings": [], "errors": []}
    assert not Conversation.objects.exists()
    api(panel.adam).post(url, {"file": a_file(row)}, format="multipart")
    again = api(panel.adam).post(url, {"file": a_file(row)}, format="multipart")
    assert (again.status_code, again.json()["unchanged"]) == (200, 1)


def test_a_bad_file_is_422_with_every_place(panel: Panel) -> None:
    url = at(panel.study, "api_import", kind="conversations")
    answer = api(panel.adam).post(url, {"file": a_file({"id": "a"}, {"messages": []})}, format="multipart")
    assert answer.status_code == 422
    assert {error["line"] for error in answer.json()["errors"]} == {1, 2}
    assert api(panel.adam).post(url, {}, format="multipart").status_code == 400
    nothing = at(panel.study, "api_import", kind="nothing")
    assert api(panel.adam).post(nothing, {"file": a_file({"id": "a"})}, format="multipart").status_code == 404


def test_the_number_of_queries_does_not_grow(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)

    def counted(address: str) -> list[int]:
        numbers = []
        for url in (
            at(panel.study, "api_versions"),
            at(panel.study, "api_version_criteria", address=address),
            at(panel.study, "api_version_left_out", address=address),
            at(panel.study, "api_freeze_preview"),
        ):
            client = api(panel.adam)
            with CaptureQueriesContext(connection) as captured:
                assert client.get(url).status_code == 200
            numbers.append(len(captured))
        return numbers

    few = counted("1")
    for number in range(4):
        make_agreed(panel=panel, texts=[f"Asks about {number}.", f"Names {number}."])
        make_drafted(panel=panel, texts=["Asks about work."])
    frozen(panel)
    assert counted("2") == few


# What was seen before a freeze


def test_a_freeze_brings_the_mark_of_what_was_shown(panel: Panel) -> None:
    _, [kept, spared] = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about naps."])
    url = at(panel.study, "api_versions")
    assert api(panel.adam).post(url, {}, format="json").status_code == 400
    seen = preview_of(panel, panel.adam)["seen"]
    make_agreed(panel=panel, texts=["Names a helpline."])
    stale = api(panel.adam).post(url, {"seen": seen}, format="json")
    assert stale.status_code == 409
    assert "look again" in stale.json()["error"]
    assert not RubricVersion.objects.exists()
    leave_out = {str(spared.id): "The same again."}
    without = (
        api(panel.adam).post(at(panel.study, "api_freeze_preview"), {"leave_out": leave_out}, format="json").json()
    )
    assert {row["id"] for row in without["stays_out"]} == {str(spared.id)}
    assert str(kept.id) in {row["id"] for row in without["goes_in"]}
    assert api(panel.adam).post(url, {"seen": without["seen"]}, format="json").status_code == 409
    answer = api(panel.adam).post(url, {"seen": without["seen"], "leave_out": leave_out}, format="json")
    assert answer.status_code == 201
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert api(person).post(at(panel.study, "api_freeze_preview"), {}, format="json").status_code == status


def test_a_preview_tells_what_changed_since_the_last_version(panel: Panel) -> None:
    make_agreed(panel=panel)
    frozen(panel)
    _, [added] = make_agreed(panel=panel, texts=["Names a helpline."])
    [change] = preview_of(panel, panel.adam)["changes"]
    assert (change["id"], change["kinds"], change["before"]) == (str(added.id), ["added"], None)
    assert change["after"]["text"] == "Names a helpline."


def test_files_that_were_taken_in_are_listed_to_admins(panel: Panel) -> None:
    row = {"id": "a", "messages": [{"role": "user", "content": "I can't sleep."}]}
    api(panel.adam).post(at(panel.study, "api_import", kind="conversations"), {"file": a_file(row)}, format="multipart")
    url = at(panel.study, "api_imports")
    [told] = got(panel.adam, url)["results"]
    assert (told["kind"], told["created"], told["imported_by"]) == ("conversations", 1, panel.adam.email)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert api(person).get(url).status_code == status
