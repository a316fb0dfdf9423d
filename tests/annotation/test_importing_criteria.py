"""Importing draft criteria: whose they are, what round they come into, and what a changed one would cost."""

from typing import Any, BinaryIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.drafting import revise_criterion, withdraw_criterion
from annotation.importing.criteria import import_criteria
from annotation.importing.report import Report
from annotation.models import Conversation, Criterion, FileImport, Policy, Revision, Round, Vote
from annotation.round_acts import close_drafting, close_round, open_round
from annotation.states import with_criterion_state
from annotation.writers import writers_of
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.importing_files import csv_file, decomposed, jsonl

pytestmark = pytest.mark.django_db
EMPATHY = "empathy_emotional_attunement_and_support"


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    return make_conversation(study=panel.study, external_id="sleepless")


def take_in(panel: Panel, file: BinaryIO, **options: Any) -> Report:
    facts: dict[str, Any] = {"file_name": "criteria", "by": None, "check": False, **options}
    return import_criteria(study=panel.study, source=file, **facts)


def asks(**facts: Any) -> dict[str, Any]:
    return {
        "conversation_id": "sleepless",
        "criterion_id": "asks",
        "author": "ana@example.org",
        "text": "Asks about sleep.",
        "points": 6,
        **facts,
    }


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def stored(external_id: str = "asks") -> Criterion:
    return Criterion.objects.select_related("current_revision", "conversation").get(external_id=external_id)


def current(external_id: str = "asks") -> Revision:
    revision = stored(external_id).current_revision
    assert revision is not None
    return revision


def covered(conversation: Conversation) -> set[str]:
    this = conversation.rounds.get(revealed_at=None)
    return set(this.covered.values_list("criterion__external_id", flat=True))


def test_a_criterion_is_its_authors_and_kept_as_given(panel: Panel, conversation: Conversation) -> None:
    report = take_in(
        panel,
        jsonl(
            asks(
                author=" ANA@Example.org",
                text=" Asks\tabout sleep. ",
                axis="Empathy, emotional attunement and support".replace(",", ""),
                rationale="Why not?",
                scale="Binary",
                anchors=[1],
                seen="twice",
            )
        ),
    )
    assert (report.created, report.errors, report.warnings) == (1, [], [])
    revision = current()
    assert (revision.text, revision.points, revision.axis) == (" Asks\tabout sleep. ", 6, EMPATHY)
    assert (revision.rationale, revision.anchors, revision.number) == ("Why not?", [1], 1)
    assert writers_of([stored()])[stored().id] == {panel.ana.id}
    assert stored().extra == '{"seen": "twice"}'


def test_drafting_closes_for_the_conversations_named_and_round_1_covers_all_their_criteria(
    panel: Panel, conversation: Conversation
) -> None:
    other = make_conversation(study=panel.study, external_id="other")
    take_in(panel, jsonl(asks(criterion_id="early")), keep_drafting=True)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None
    assert not conversation.rounds.exists()
    take_in(panel, jsonl(asks(), asks(criterion_id="second", text="Names a helpline.", points=-3)))
    assert covered(conversation) == {"early", "asks", "second"}
    assert conversation.rounds.get().number == 1
    other.refresh_from_db()
    assert other.drafting_closed_at is None


def test_a_new_criterion_joins_the_open_round_and_waits_after_a_reveal(
    panel: Panel, conversation: Conversation
) -> None:
    take_in(panel, jsonl(asks()))
    take_in(panel, jsonl(asks(criterion_id="joins")))
    assert covered(conversation) == {"asks", "joins"}
    close_round(conversation=conversation, by=panel.adam)
    take_in(panel, jsonl(asks(criterion_id="waits")))
    assert not conversation.rounds.filter(revealed_at=None).exists()
    open_round(conversation=conversation, by=panel.adam)
    assert "waits" in covered(conversation)
    take_in(panel, jsonl(asks(criterion_id="joins round 2")))
    assert "joins round 2" in covered(conversation)
    first = conversation.rounds.get(number=1)
    assert set(first.covered.values_list("criterion__external_id", flat=True)) == {"asks", "joins"}


def test_where_drafting_closed_without_any_criterion_round_1_opens_with_the_first(
    panel: Panel, conversation: Conversation
) -> None:
    close_drafting(conversation=conversation, by=panel.adam)
    take_in(panel, jsonl(asks()), keep_drafting=True)
    assert covered(conversation) == {"asks"}


def test_the_same_file_again_changes_nothing_and_says_so(panel: Panel, conversation: Conversation) -> None:
    rows = [asks(axis=EMPATHY), asks(criterion_id="", text="Names a helpline.")]
    assert take_in(panel, jsonl(*rows)).created == 2
    again = take_in(panel, jsonl(*rows))
    assert (again.created, again.unchanged, again.errors, again.warnings) == (0, 2, [], [])
    assert take_in(panel, jsonl(*rows), revise=True).facts == {"revised": 0}
    assert (Criterion.objects.count(), Revision.objects.count(), FileImport.objects.count()) == (2, 2, 1)
    assert conversation.rounds.count() == 1


def test_the_same_file_after_a_revision_on_a_page_leaves_the_revision(panel: Panel, conversation: Conversation) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    row = asks(conversation_id=criterion.conversation.external_id, criterion_id=criterion.external_id)
    assert take_in(panel, jsonl(row)).unchanged == 1
    revise_criterion(
        criterion=criterion, against=current(criterion.external_id), by=panel.ana, text="Asks why.", points=6
    )
    report = take_in(panel, jsonl(row))
    assert (report.created, report.unchanged, report.errors) == (0, 1, [])
    assert "revised since" in report.warnings[0].message
    assert current(criterion.external_id).text == "Asks why."
    assert take_in(panel, jsonl(row), revise=True).facts == {"revised": 1}
    assert current(criterion.external_id).text == "Asks about sleep."


def test_other_content_is_an_error_that_names_the_votes_which_would_stop_counting(panel: Panel) -> None:
    conversation, [criterion, other], this = make_voting(panel=panel, texts=["Asks about sleep.", "Is kind."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer, choice="object" if reviewer == panel.dev else "agree")
    Vote.objects.create(  # the writer's own vote, as an import keeps it: it never counted
        round=this,
        wording=current(criterion.external_id),
        reviewer=panel.ana,
        choice="abstain",
        cast_at=this.opened_at,
    )
    row = asks(conversation_id=conversation.external_id, criterion_id=criterion.external_id)
    close_round(conversation=conversation, by=panel.adam)
    report = take_in(panel, jsonl({**row, "text": "Asks about dreams."}))
    assert errors(report) == [(1, "text")]
    assert "and 3 votes of round 1 (2 agree, 1 object) would stop counting" in report.errors[0].message
    kind = {**row, "criterion_id": other.external_id, "text": "Is kind.", "points": 5}
    assert "no vote would stop counting" in take_in(panel, jsonl(kind)).errors[0].message
    spaced = {**row, "text": "Asks  about sleep."}
    assert "no vote would stop counting" in take_in(panel, jsonl(spaced)).errors[0].message
    assert current(criterion.external_id).number == 1


def test_votes_that_would_stop_counting_have_names_where_the_round_shows_them(panel: Panel) -> None:
    Policy.objects.create(study=panel.study, version=2, blocks=panel.study.policy.blocks, names_shown_after_reveal=True)
    conversation, [criterion], _ = make_voting(panel=panel, texts=["Asks about sleep."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer, choice="object" if reviewer == panel.dev else "agree")
    close_round(conversation=conversation, by=panel.adam)
    row = asks(conversation_id=conversation.external_id, criterion_id=criterion.external_id, points=3)
    told = take_in(panel, jsonl(row)).errors[0].message
    assert "and 3 votes of round 1 (agree: Ben, Chloe; object: Dev) would stop counting" in told


def test_of_an_open_round_it_is_never_told_whether_there_are_votes(panel: Panel) -> None:
    conversation, [criterion, other], _ = make_voting(panel=panel, texts=["Asks about sleep.", "Is kind."])
    vote(criterion=criterion, reviewer=panel.ben)
    named = {"conversation_id": conversation.external_id, "text": "Other."}
    ids = [criterion.external_id, other.external_id]
    voted, not_voted = take_in(panel, jsonl(*(asks(criterion_id=this, **named) for this in ids))).errors
    assert voted.message.replace(ids[0], ids[1]) == not_voted.message
    assert voted.message.endswith("and what is voted in the open round 1 would stop counting.")


def test_revise_writes_a_new_revision_whose_author_becomes_a_writer(panel: Panel, conversation: Conversation) -> None:
    take_in(panel, jsonl(asks(), asks(criterion_id="stays")))
    close_round(conversation=conversation, by=panel.adam)
    file = jsonl(asks(text="Asks about dreams.", author="ben@example.org"), asks(criterion_id="stays"))
    report = take_in(panel, file, revise=True)
    assert (report.created, report.unchanged, report.facts) == (1, 1, {"revised": 1})
    assert (current().number, current().text, current().wording_id) == (2, "Asks about dreams.", current().id)
    assert writers_of([stored()])[stored().id] == {panel.ana.id, panel.ben.id}
    assert take_in(panel, file, revise=True).unchanged == 2
    assert take_in(panel, file).unchanged == 2


def test_a_change_of_white_space_or_rationale_keeps_the_wording_and_makes_nobody_a_writer(
    panel: Panel, conversation: Conversation
) -> None:
    take_in(panel, jsonl(asks()))
    first = current()
    take_in(panel, jsonl(asks(text="Asks  about sleep.\n", rationale="Because.")), revise=True)
    assert (current().number, current().wording_id) == (2, first.id)
    assert writers_of([stored()])[stored().id] == {panel.ana.id}
    assert list(current().writers.all()) == []
    by_another = take_in(panel, jsonl(asks(author="ben@example.org")), revise=True)
    assert errors(by_another) == [(1, "author")]


def test_in_an_open_round_only_a_writer_revises(panel: Panel, conversation: Conversation) -> None:
    take_in(panel, jsonl(asks()))
    by_another = take_in(panel, jsonl(asks(author="ben@example.org", points=3)), revise=True)
    assert errors(by_another) == [(1, "author")]
    assert take_in(panel, jsonl(asks(points=3)), revise=True).created == 1
    assert current().points == 3


def test_a_withdrawn_criterion_is_not_revised_and_its_own_content_is_known(
    panel: Panel, conversation: Conversation
) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    row = asks(conversation_id=criterion.conversation.external_id, criterion_id=criterion.external_id)
    withdraw_criterion(criterion=criterion, by=panel.ana)
    assert take_in(panel, jsonl(row)).unchanged == 1
    assert errors(take_in(panel, jsonl({**row, "points": 2}), revise=True)) == [(1, "points")]


def test_every_error_of_a_file_is_told_at_once_and_nothing_is_written(panel: Panel, conversation: Conversation) -> None:
    Conversation.objects.create(
        study=panel.study, external_name="set", external_id="published", messages=[], item_sha256="0" * 64
    )
    file = csv_file(
        ["conversation_id", "criterion_id", "author", "text", "points", "axis", "scale", "anchors"],
        ["sleepless", "1", "ana@example.org", "Good.", "+5", "", "", "1"],
        ["nowhere", "2", "", "x", 1, "", "", ""],
        ["published", "3", "", "x", 1, "", "", ""],
        ["", "4", "", "x", 1, "", "", ""],
        ["sleepless", "5", "oscar@example.org", "x", 1, "", "", ""],
        ["sleepless", "6", "", " ", 0, "", "", ""],
        ["sleepless", "7", "", "x", 11, "", "", ""],
        ["sleepless", "8", "", "x", "2.5", "warmth", "", ""],
        ["sleepless", "9", "", "x", "", "", "ordinal", ""],
        ["sleepless", "10", "", "x" * 32_768, 1, "", "", ""],
        ["sleepless", "11", "", "x", 1, "", "", "2"],
    )
    report = take_in(panel, file)
    assert errors(report) == [
        (3, "conversation_id"),
        (4, "conversation_id"),
        (5, "conversation_id"),
        (6, "author"),
        (7, "text"),
        (7, "points"),
        (8, "points"),
        (9, "points"),
        (9, "axis"),
        (10, "points"),
        (10, "scale"),
        (11, "text"),
        (12, "anchors"),
    ]
    assert EMPATHY in report.errors[8].message
    assert not Criterion.objects.exists()
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None


def test_an_id_names_one_criterion_of_the_study(panel: Panel, conversation: Conversation) -> None:
    make_conversation(study=panel.study, external_id="other")
    report = take_in(panel, jsonl(asks(), asks(), asks(conversation_id="other")))
    assert errors(report) == [(3, "conversation_id")]
    assert "lines 1 and 3" in report.errors[0].message
    assert "lines 1 and 2" in report.warnings[0].message
    take_in(panel, jsonl(asks()))
    elsewhere = take_in(panel, jsonl(asks(conversation_id="other")), revise=True)
    assert errors(elsewhere) == [(1, "conversation_id")]


def test_without_an_id_a_criterion_is_its_content_and_its_author(panel: Panel, conversation: Conversation) -> None:
    rows = [
        asks(criterion_id=None),
        asks(criterion_id=None),
        asks(criterion_id=None, author="ben@example.org"),
        asks(criterion_id=None, points=5),
    ]
    assert take_in(panel, jsonl(*rows)).created == 3
    assert take_in(panel, jsonl(*reversed(rows))).unchanged == 3
    assert take_in(panel, jsonl(asks(criterion_id=None, text=decomposed("Asks about sleep.")))).unchanged == 1


def test_a_criterion_without_an_author_has_no_writer(panel: Panel, conversation: Conversation) -> None:
    assert take_in(panel, jsonl(asks(author=None)), by=panel.adam).created == 1
    assert writers_of([stored()])[stored().id] == set()
    assert current().created_by == panel.adam
    assert FileImport.objects.get().imported_by == panel.adam


def test_a_check_writes_nothing_and_answers_the_same_report(panel: Panel, conversation: Conversation) -> None:
    file = jsonl(asks(), asks(criterion_id="2"))
    checked = take_in(panel, file, check=True)
    assert not Criterion.objects.exists()
    assert not Round.objects.exists()
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None
    assert checked.as_plain() == take_in(panel, file).as_plain()


def test_criteria_of_one_file_stand_in_its_order_after_those_before(panel: Panel, conversation: Conversation) -> None:
    take_in(panel, jsonl(asks(criterion_id="b"), asks(criterion_id="a")))
    take_in(panel, jsonl(asks(criterion_id="d"), asks(criterion_id="a"), asks(criterion_id="c")))
    order = Criterion.objects.in_reading_order().values_list("external_id", flat=True)
    assert list(order) == ["b", "a", "d", "c"]
    assert {criterion.state for criterion in with_criterion_state(Criterion.objects.all())} == {"voting"}


def test_no_query_is_made_a_row(panel: Panel) -> None:
    def count(name: str, rows: int) -> int:
        for number in range(rows):
            make_conversation(study=panel.study, external_id=f"{name}{number}")
        file = jsonl(*(asks(conversation_id=f"{name}{n}", criterion_id=f"{name}{n}") for n in range(rows)))
        with CaptureQueriesContext(connection) as queries:
            assert take_in(panel, file).created == rows
            assert take_in(panel, file).unchanged == rows
        return len(queries)

    assert count("few", 2) == count("many", 60)
