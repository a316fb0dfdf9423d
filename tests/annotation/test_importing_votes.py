"""Importing votes taken elsewhere: which round they go to, whom they assign, and what they reveal."""

import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.discussing import request_vote
from annotation.drafting import revise_criterion, withdraw_criterion
from annotation.importing.criteria import import_criteria
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.joining import leave_study
from annotation.models import Assignment, Conversation, Criterion, FileImport, Round, RoundOutcome, Vote
from annotation.round_acts import close_round, open_round
from annotation.states import with_criterion_state
from tests.factories import Panel, join, make_conversation, make_panel, make_voting, vote
from tests.importing_files import csv_file, jsonl

pytestmark = pytest.mark.django_db
COLUMNS = ["criterion_id", "reviewer", "choice", "points", "category", "reason", "round"]


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    """A conversation with nobody assigned, and a criterion by ana in round 1."""
    conversation = make_conversation(study=panel.study, external_id="sleepless")
    row = {
        "conversation_id": "sleepless",
        "criterion_id": "asks",
        "author": "ana@example.org",
        "text": "Asks about sleep.",
        "points": 6,
    }
    report = import_criteria(study=panel.study, source=jsonl(row), file_name="criteria", by=None, check=False)
    assert report.created == 1
    return conversation


def take_in(panel: Panel, file: BinaryIO, *, check: bool = False) -> Report:
    return import_votes(study=panel.study, source=file, file_name="votes", by=None, check=check)


def votes(*rows: dict[str, Any]) -> BinaryIO:
    return jsonl(*({"criterion_id": "asks", "choice": "agree", **row} for row in rows))


def by(name: str, **facts: Any) -> dict[str, Any]:
    return {"reviewer": f"{name}@example.org", **facts}


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def state(external_id: str = "asks") -> str:
    return str(with_criterion_state(Criterion.objects.filter(external_id=external_id)).get().state)


def revised(criterion: Criterion, panel: Panel, *, text: str, points: int = 6) -> None:
    criterion = Criterion.objects.select_related("current_revision", "conversation").get(pk=criterion.pk)
    assert criterion.current_revision is not None
    revise_criterion(criterion=criterion, against=criterion.current_revision, by=panel.ana, text=text, points=points)


def test_what_is_complete_is_revealed_after_the_last_row(panel: Panel, conversation: Conversation) -> None:
    file = csv_file(
        COLUMNS,
        ["asks", "ben@example.org", "agree", 7, "", "", ""],
        ["asks", "CHLOE@Example.org", "Agree", "", "", "", 1],
        ["asks", "dev@example.org", "agree", 6, "", "", ""],
        ["asks", "eva@example.org", "object", "", "Missing context", "Which sleep?", ""],
    )
    report = take_in(panel, file)
    assert (report.created, report.unchanged, report.errors, report.warnings) == (4, 0, [], [])
    outcome = RoundOutcome.objects.get()
    assert (outcome.result, outcome.points) == ("in_consensus", 6)
    cast = Vote.objects.get(reviewer=panel.eva)
    assert (cast.category, cast.reason, cast.points) == ("missing_context", "Which sleep?", None)
    record = FileImport.objects.get(kind="votes")
    assert {this.imported_from_id for this in Vote.objects.all()} == {record.id}
    assert set(Assignment.objects.values_list("origin", flat=True)) == {"imported"}
    assert state() == "in_consensus"


def test_who_agrees_without_points_agrees_with_the_criterions(panel: Panel, conversation: Conversation) -> None:
    take_in(panel, votes(by("ben"), by("chloe", points="-2")))
    assert dict(Vote.objects.values_list("reviewer__name", "points")) == {"Ben": 6, "Chloe": -2}
    assert take_in(panel, votes(by("ben", points=6))).unchanged == 1


def test_a_writers_own_vote_is_kept_and_never_counts(panel: Panel, conversation: Conversation) -> None:
    report = take_in(panel, votes(by("ana"), by("ben"), by("chloe"), by("dev", choice="abstain")))
    assert (report.created, report.errors) == (4, [])
    assert Vote.objects.filter(reviewer=panel.ana).exists()
    outcome = RoundOutcome.objects.get()
    assert (outcome.result, outcome.failing) == ("unsettled", ["agreed"])
    assert panel.ana.id not in outcome.eligible


def test_the_same_file_again_changes_nothing_before_and_after_the_reveal(
    panel: Panel, conversation: Conversation
) -> None:
    first = votes(by("ben"), by("chloe", choice="object", category="unsafe", reason="Harms."))
    take_in(panel, first)
    assert (take_in(panel, first).unchanged, Round.objects.get().revealed_at) == (2, None)
    rest = votes(by("ben"), by("dev", choice="recuse"), by("eva"))
    assert (take_in(panel, rest).created, take_in(panel, rest).unchanged) == (2, 3)
    assert Round.objects.get().revealed_at is not None
    again = take_in(panel, first)
    assert (again.created, again.unchanged, again.errors, again.warnings) == (0, 2, [], [])
    assert Vote.objects.count() == 4
    assert FileImport.objects.filter(kind="votes").count() == 2


def test_another_vote_changes_the_stored_one_in_the_open_round(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, points=4)
    row = by("ben", criterion_id=criterion.external_id, choice="object", category="duplicate", reason="As above.")
    assert take_in(panel, votes(row)).created == 1
    changed = Vote.objects.get()
    assert (changed.choice, changed.points, changed.category, changed.reason) == (
        "object",
        None,
        "duplicate",
        "As above.",
    )
    assert changed.imported_from is not None
    assert conversation.rounds.get().revealed_at is None


def test_after_a_revision_a_row_goes_to_the_open_round_and_the_same_file_is_told_of(
    panel: Panel, conversation: Conversation
) -> None:
    criterion = Criterion.objects.get()
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    file = votes(by("ben"), by("chloe"))
    take_in(panel, file)
    revised(criterion, panel, text="Asks about dreams.", points=3)
    report = take_in(panel, file)
    assert report.created == 2
    assert "imported before" in report.warnings[0].message
    assert Vote.objects.count() == 4
    assert sorted(Vote.objects.values_list("wording__number", "points")) == [(1, 6), (1, 6), (2, 3), (2, 3)]


def test_with_a_round_a_row_is_of_the_open_one_or_equals_a_vote_stored_there(
    panel: Panel, conversation: Conversation
) -> None:
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    first = votes(*(by(name, round=1) for name in ("ben", "chloe", "dev", "eva")))
    assert errors(take_in(panel, votes(by("ben", round=2)))) == [(1, "round")]
    assert take_in(panel, first).created == 4
    assert Round.objects.get().revealed_at is not None
    revised(Criterion.objects.get(), panel, text="Asks about dreams.")
    open_round(conversation=conversation, by=panel.adam)
    assert take_in(panel, first).unchanged == 4
    late = take_in(panel, votes(by("ben", round=1, points=2)))
    assert errors(late) == [(1, "round")]
    second = votes(by("ben", round=2))
    assert (take_in(panel, second).created, take_in(panel, second).unchanged) == (1, 1)
    assert Vote.objects.filter(round__number=2).get().wording.number == 2


def test_a_row_that_names_the_open_round_is_a_vote_on_the_wording_that_stands_there_now(
    panel: Panel, conversation: Conversation
) -> None:
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    file = votes(by("ben", round=1, points=6))
    take_in(panel, file)
    revised(Criterion.objects.get(), panel, text="Asks about dreams.")
    assert (take_in(panel, file).created, take_in(panel, file).unchanged) == (1, 1)
    assert sorted(Vote.objects.values_list("wording__number", flat=True)) == [1, 2]


def test_an_equal_vote_of_an_earlier_round_is_not_cast_again_unless_the_round_is_named(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    row = by("ben", criterion_id=criterion.external_id, points=6)
    assert errors(take_in(panel, votes(row, {**row, "points": 1}))) == [(2, "choice")]
    report = take_in(panel, votes(row))
    assert (report.created, report.unchanged) == (0, 1)
    assert (report.warnings[0].line, report.warnings[0].column) == (1, "round")
    assert take_in(panel, votes({**row, "round": 2})).created == 1


def test_a_vote_out_of_place_is_an_error_and_nothing_is_written(panel: Panel, conversation: Conversation) -> None:
    make_conversation(study=panel.study, external_id="drafting")
    revealed = make_conversation(study=panel.study, external_id="revealed")
    Criterion.objects.create(study=panel.study, external_name="set", external_id="0" * 16, conversation=revealed)
    for name, keep_drafting in (("drafting", True), ("revealed", False)):
        row = {"conversation_id": name, "criterion_id": name, "text": "Is kind.", "points": 2}
        import_criteria(
            study=panel.study,
            source=jsonl(row),
            file_name="",
            by=None,
            check=False,
            keep_drafting=keep_drafting,
        )
    close_round(conversation=revealed, by=panel.adam)
    gone = join(study=panel.study, name="gone")
    leave_study(study=panel.study, person=gone)
    for reviewer in (panel.ben, panel.chloe):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    report = take_in(
        panel,
        votes(
            by("chloe"),
            by("ben"),
            by("dev", criterion_id="drafting"),
            by("dev", criterion_id="revealed"),
            by("dev", criterion_id="unheard"),
            by("dev", criterion_id="0" * 16),
            by("nobody"),
            by("oscar"),
            by("rita"),
            by("gone"),
            by("eva", choice="like"),
            by("eva", points=0),
            by("eva", choice="object"),
            by("eva", choice="object", category="ugly", reason="x"),
            by("eva", category="unsafe"),
            by("eva", choice=None),
        ),
    )
    assert errors(report) == [
        (2, "reviewer"),
        (3, "criterion_id"),
        (4, "criterion_id"),
        (5, "criterion_id"),
        (6, "criterion_id"),
        (7, "reviewer"),
        (8, "reviewer"),
        (9, "reviewer"),
        (10, "reviewer"),
        (11, "choice"),
        (12, "points"),
        (13, "category"),
        (13, "reason"),
        (14, "category"),
        (15, "category"),
        (16, "choice"),
    ]
    assert (Vote.objects.count(), FileImport.objects.filter(kind="votes").count()) == (0, 0)


def test_what_the_open_round_does_not_cover_takes_no_vote(panel: Panel) -> None:
    conversation, [asked, settled, gone], _ = make_voting(panel=panel, texts=["One.", "Two.", "Three."])
    for criterion in (asked, settled, gone):
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
    request_vote(criterion=asked, by=panel.ben)
    request_vote(criterion=gone, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    withdraw_criterion(criterion=gone, by=panel.ana)
    rows = [by("ben", criterion_id=each.external_id, points=1) for each in (asked, settled, gone)]
    assert errors(take_in(panel, votes(*rows))) == [(2, "criterion_id"), (3, "criterion_id")]


def test_a_row_given_twice_counts_once_and_two_that_contradict_are_an_error_of_both_lines(
    panel: Panel, conversation: Conversation
) -> None:
    twice = take_in(panel, votes(by("ben"), by("ben", points=6), by("ben", round=1)), check=True)
    assert (twice.created, twice.errors) == (1, [])
    assert [warning.line for warning in twice.warnings] == [2, 3]
    for other in (by("ben", points=5), by("ben", points=5, round=1), by("ben", choice="abstain")):
        report = take_in(panel, votes(by("ben"), other))
        assert errors(report) == [(2, "choice")]
        assert "lines 1 and 2" in report.errors[0].message
    take_in(panel, votes(by("ben")))
    assert errors(take_in(panel, votes(by("ben"), by("ben", points=5, round=1)))) == [(2, "choice")]


def test_cells_that_a_choice_does_not_have_are_warned_of(panel: Panel, conversation: Conversation) -> None:
    report = take_in(
        panel,
        votes(
            by("ben", reason="Because."),
            by("chloe", choice="abstain", points=3, category="unsafe", reason="Hm."),
            by("dev", choice="object", points=3, category="unsafe", reason="Harms."),
            by("eva", choice="recuse", mood="low"),
        ),
    )
    assert report.created == 4
    assert [(warning.line, warning.column) for warning in report.warnings] == [
        (1, "reason"),
        (2, "points"),
        (2, "category"),
        (2, "reason"),
        (3, "points"),
        (4, "mood"),
    ]


def test_with_one_file_a_clinician_those_assigned_before_are_waited_for(
    panel: Panel, conversation: Conversation
) -> None:
    for reviewer in panel.reviewers:
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    for name in ("ben", "chloe", "dev"):
        take_in(panel, votes(by(name)))
        assert Round.objects.get().revealed_at is None
    take_in(panel, votes(by("eva")))
    assert Round.objects.get().revealed_at is not None


def test_a_check_writes_nothing_and_answers_the_same_report(panel: Panel, conversation: Conversation) -> None:
    file = votes(by("ben"), by("chloe"), by("dev"), by("dev"))
    checked = take_in(panel, file, check=True)
    assert (Vote.objects.count(), Assignment.objects.count()) == (0, 0)
    assert Round.objects.get().revealed_at is None
    assert not FileImport.objects.filter(kind="votes").exists()
    assert checked.as_plain() == take_in(panel, file).as_plain()


def test_no_query_is_made_a_row(panel: Panel) -> None:
    def count(number: int) -> int:
        _, criteria, _ = make_voting(panel=panel, texts=[f"Text {each}." for each in range(number)])
        file = votes(
            *(
                by(name, criterion_id=criterion.external_id)
                for criterion in criteria
                for name in ("ben", "chloe", "dev", "eva")
            )
        )
        with CaptureQueriesContext(connection) as queries:
            assert take_in(panel, file).created == 4 * number
            assert take_in(panel, file).unchanged == 4 * number
        return len(queries)

    assert count(1) == count(40)


def test_an_import_never_tells_what_somebody_voted_in_the_open_round(tmp_path: Path) -> None:
    """Trying every row with --check must answer the same for the vote that was cast and for any other."""
    panel = make_panel()
    _, (criterion,), _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, points=4)
    answers = set()
    for points in (2, 4, 6):
        row = {
            "criterion_id": criterion.external_id,
            "reviewer": panel.ben.email,
            "choice": "agree",
            "points": points,
        }
        file = tmp_path / f"{points}.jsonl"
        file.write_text(json.dumps(row) + "\n")
        report = import_votes(study=panel.study, source=file, file_name=file.name, by=panel.adam, check=True)
        answers.add((report.created, report.unchanged, len(report.errors), len(report.warnings)))
    assert answers == {(1, 0, 0, 0)}
