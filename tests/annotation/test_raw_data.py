"""The study's own data as files: what is in them, what a blind reader's files leave out, who may have them."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pyarrow import parquet

from annotation.assigning import assign_reviewer
from annotation.caring import lock_conversation_for_care
from annotation.discussing import add_comment
from annotation.drafting import revise_criterion
from annotation.joining import add_member
from annotation.models import Criterion, Policy, User
from annotation.raw_data import RAW_TABLES, DataIsForOverseers, RawFormat, write_raw_table
from annotation.round_acts import close_drafting, open_round
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.pages import at, signed_in

pytestmark = pytest.mark.django_db


def table_of(panel: Panel, kind: str, reader: User | None = None) -> list[dict[str, Any]]:
    """The rows of a table, as a program reads them."""
    file = io.BytesIO()
    write_raw_table(study=panel.study, kind=kind, format=RawFormat.PARQUET, file=file, reader=reader)
    rows: list[dict[str, Any]] = parquet.read_table(file).to_pylist()
    return rows


def make_revealed(panel: Panel) -> Criterion:
    """A criterion that chloe objected to in round 1; the others agreed."""
    _, (criterion,), _ = make_voting(panel=panel, external_id="one")
    for reviewer in panel.reviewers:
        objects = reviewer == panel.chloe
        vote(criterion=criterion, reviewer=reviewer, choice="object" if objects else "agree", category="unsafe")
    criterion.refresh_from_db()
    return criterion


def ask_again(panel: Panel, criterion: Criterion) -> None:
    """The next round, for another wording."""
    current = criterion.current_revision
    assert current is not None
    revise_criterion(criterion=criterion, against=current, by=panel.ana, text="Asks how it was.", points=6)
    open_round(conversation=criterion.conversation, by=panel.adam)


def test_votes_are_in_the_file_once_they_are_revealed() -> None:
    panel = make_panel()
    _, (criterion,), _ = make_voting(panel=panel, external_id="one")
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    assert table_of(panel, "votes") == []
    assert table_of(panel, "rounds") == []
    vote(criterion=criterion, reviewer=panel.eva, points=8)
    rows = table_of(panel, "votes")
    assert sorted((row["choice"], row["points"]) for row in rows) == [("agree", 6)] * 3 + [("agree", 8)]
    assert {row["is_counted"] for row in rows} == {True}
    (decided,) = table_of(panel, "rounds")
    assert (decided["result"], decided["points"], decided["eligible"], decided["agreed"]) == ("in_consensus", 6, 4, 4)
    assert decided["criterion_id"] == criterion.external_id


def test_people_are_codes_that_are_the_same_in_every_table_and_tell_no_id() -> None:
    panel = make_panel()
    criterion = make_revealed(panel)
    add_comment(criterion=criterion, author=panel.dev, text="Which sleep?")
    votes, (said,) = table_of(panel, "votes"), table_of(panel, "discussion")
    assert len({row["person"] for row in votes}) == 4
    assert said["person"] in {row["person"] for row in votes}
    (written,) = table_of(panel, "criteria")
    assert written["person"] not in {row["person"] for row in votes}, "ana wrote it and has no vote on it"
    assert written["writers"] == [written["person"]]
    told = json.dumps([votes, said, written], default=str)
    for person in (panel.ana, *panel.reviewers):
        for fact in (str(person.id), person.email, person.name):
            assert fact not in told
    assert all(re.fullmatch("[0-9a-f]{12}", row["person"]) for row in votes)
    other = make_panel()
    make_revealed(other)
    assert not {row["person"] for row in table_of(other, "votes")} & {row["person"] for row in votes}


def test_addresses_stand_in_the_file_where_the_policy_of_the_reveal_shows_names() -> None:
    panel = make_panel()
    Policy.objects.bulk_create([_with_names(panel.study.policy)])
    criterion = make_revealed(panel)
    assert {row["address"] for row in table_of(panel, "votes")} == {person.email for person in panel.reviewers}
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text="Asks how it was.", points=6
    )
    open_round(conversation=criterion.conversation, by=panel.adam)
    assert {row["address"] for row in table_of(panel, "votes")} == {""}, "while the next round is open, no names"


def _with_names(policy: Policy) -> Policy:
    policy.pk, policy.version, policy.names_shown_after_reveal = None, policy.version + 1, True
    policy.id = type(policy)().id
    return policy


def test_a_discussion_is_left_out_while_a_round_is_open() -> None:
    panel = make_panel()
    criterion = make_revealed(panel)
    add_comment(criterion=criterion, author=panel.dev, text="Which sleep?")
    assert [row["text"] for row in table_of(panel, "discussion")] == ["Which sleep?"]
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text="Asks how it was.", points=6
    )
    open_round(conversation=criterion.conversation, by=panel.adam)
    assert table_of(panel, "discussion") == []
    assert len(table_of(panel, "votes")) == 4, "what round 1 revealed stays"


def test_every_revision_is_a_row() -> None:
    panel = make_panel()
    criterion = make_revealed(panel)
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ben, text="Asks how one slept.", points=3
    )
    first, second = table_of(panel, "criteria")
    assert (first["revision"], first["text"], first["points"], first["is_current"]) == (
        1,
        "Asks about sleep.",
        6,
        False,
    )
    assert (second["revision"], second["text"], second["points"], second["is_current"]) == (
        2,
        "Asks how one slept.",
        3,
        True,
    )
    assert second["state"] == "discussion"
    assert first["writers"] != second["writers"]


def test_an_admin_who_reviews_gets_what_the_own_page_shows() -> None:
    """Others' drafts not before drafting closes, and their points not before the reveal."""
    panel = make_panel()
    add_member(study=panel.study, email=panel.eva.email, roles=["admin"])
    conversation = make_conversation(study=panel.study, external_id="one")
    for reviewer in [panel.ana, *panel.reviewers]:
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    mine = draft(conversation=conversation, writer=panel.eva, text="Asks who is there.", points=7)
    others = draft(conversation=conversation, writer=panel.ana, text="Asks about sleep.", points=5)
    assert [row["criterion_id"] for row in table_of(panel, "criteria", panel.eva)] == [mine.external_id]
    assert len(table_of(panel, "criteria", panel.adam)) == 2
    close_drafting(conversation=conversation, by=panel.adam)
    points = {row["criterion_id"]: row["points"] for row in table_of(panel, "criteria", panel.eva)}
    assert points == {mine.external_id: 7, others.external_id: None}
    assert {row["points"] for row in table_of(panel, "criteria", panel.rita)} == {5, 7}


def test_a_locked_conversation_is_in_the_files_of_admins_alone() -> None:
    panel = make_panel()
    criterion = make_revealed(panel)
    lock_conversation_for_care(conversation=criterion.conversation, by=panel.dev, words="A name.")
    for kind in ("criteria", "votes", "rounds"):
        assert table_of(panel, kind, panel.rita) == []
        assert table_of(panel, kind, panel.adam)


@pytest.mark.parametrize("kind", list(RAW_TABLES))
@pytest.mark.parametrize("format", list(RawFormat))
def test_a_page_and_the_api_give_each_table_in_each_format(kind: str, format: RawFormat) -> None:
    panel = make_panel()
    criterion = make_revealed(panel)
    add_comment(criterion=criterion, author=panel.dev, text="=1+1")
    client = signed_in(panel.rita)
    page = client.get(at(panel.study, "study_data_file", kind=kind, format=format.value))
    api = client.get(at(panel.study, "api_data_file", kind=kind, file_format=format.value))
    bodies = [answer.getvalue() for answer in (page, api)]
    assert bodies[0] == bodies[1]
    assert f'filename="consilium-{panel.study.slug}-{kind}.{format.value}"' in page["Content-Disposition"]
    if format == RawFormat.CSV:
        rows = list(csv.DictReader(io.StringIO(bodies[0].decode())))
        assert len(rows) == (4 if kind == "votes" else 1)
        assert set(rows[0]) == {column.name for column in RAW_TABLES[kind].columns} | {"apostrophe_added"}
        if kind == "discussion":
            assert rows[0]["text"] == "'=1+1", "no formula"


def test_who_may_have_them() -> None:
    panel = make_panel()
    make_revealed(panel)
    address = at(panel.study, "study_data")
    file = at(panel.study, "study_data_file", kind="votes", format="csv")
    for person, code in ((panel.adam, 200), (panel.rita, 200), (panel.ben, 403), (panel.oscar, 404)):
        client = signed_in(person)
        assert client.get(address).status_code == code
        assert client.get(file).status_code == code
    client = signed_in(panel.adam)
    assert client.get(file.replace("votes", "people")).status_code == 404
    assert client.get(file.replace("csv", "pdf")).status_code == 404
    with pytest.raises(DataIsForOverseers):
        table_of(panel, "votes", panel.ben)


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    panel = make_panel()
    make_revealed(panel)
    file = tmp_path / "votes.csv"
    call_command("export_data", panel.study.slug, "--what", "votes", "--format", "csv", "--output", str(file), "--json")
    assert json.loads(capsys.readouterr().out)["rows"] == 4
    assert len(file.read_text().splitlines()) == 5
    with pytest.raises(SystemExit) as refused:
        call_command(
            "export_data",
            panel.study.slug,
            "--what",
            "votes",
            "--format",
            "csv",
            "--output",
            str(file),
            "--by",
            panel.ben.email,
        )
    assert refused.value.code == 1
    assert len(file.read_text().splitlines()) == 5, "a refusal leaves the old file"


def test_a_round_whose_date_has_passed_is_in_the_commands_file(tmp_path: Path) -> None:
    panel = make_panel()
    _, (criterion,), held = make_voting(panel=panel, external_id="one")
    vote(criterion=criterion, reviewer=panel.ben)
    type(held).objects.filter(pk=held.pk).update(closes_at=timezone.now())
    file = tmp_path / "votes.csv"
    call_command("export_data", panel.study.slug, "--what", "votes", "--format", "csv", "--output", str(file))
    assert len(file.read_text().splitlines()) == 2


@pytest.mark.parametrize("kind", list(RAW_TABLES))
def test_the_number_of_queries_does_not_grow(kind: str, django_assert_max_num_queries: Any) -> None:
    panel = make_panel()
    for name in ("one", "two", "three"):
        _, (criterion,), _ = make_voting(panel=panel, external_id=name)
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
        add_comment(criterion=criterion, author=panel.dev, text="Yes.")
    with django_assert_max_num_queries(14):
        assert len(table_of(panel, kind, panel.adam)) >= 3
