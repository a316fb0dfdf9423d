"""Every error of a file is told at once: a wrong cell hides none of what its row's other cells would be refused for."""

from typing import Any, BinaryIO

import pytest

from annotation.assigning import recuse_from_conversation
from annotation.importing.conversations import import_conversations
from annotation.importing.criteria import import_criteria
from annotation.importing.members import import_members
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.models import Conversation, Criterion, FileImport
from annotation.round_acts import close_round
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.importing_files import csv_file, jsonl, user_says

pytestmark = pytest.mark.django_db
IMPORTERS = {
    "conversations": import_conversations,
    "criteria": import_criteria,
    "votes": import_votes,
    "members": import_members,
}


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def refused(panel: Panel, kind: str, file: BinaryIO) -> list[tuple[int | None, str | None]]:
    """Where a file is refused: line and column of each error. Nothing was written, and it says so."""
    before = FileImport.objects.count(), Conversation.objects.count(), Criterion.objects.count()
    report: Report = IMPORTERS[kind](study=panel.study, source=file, file_name="", by=None, check=False)
    assert report.created == 0
    assert before == (FileImport.objects.count(), Conversation.objects.count(), Criterion.objects.count())
    return sorted((error.line or 0, error.column) for error in report.errors)


def test_conversations_that_are_faulty_are_compared_with_those_stored_and_with_each_other(panel: Panel) -> None:
    stored = {"id": "old", "messages": user_says("I can't sleep."), "language": "en"}
    assert not import_conversations(study=panel.study, source=jsonl(stored), file_name="", by=None, check=False).errors
    places = refused(
        panel,
        "conversations",
        jsonl(
            {**stored, "acuity": "mild", "messages": user_says("I sleep.")},
            {**stored, "id": "new", "country": "Wonderland"},
            {**stored, "id": "new", "language": "es"},
            {**stored, "id": "third", "messages": "I sleep.", "language": "fr"},
            {**stored, "id": "third", "language": "es"},
            {"messages": [], "language": "in between"},
        ),
    )
    assert places == [
        *[(1, "acuity"), (1, "messages"), (2, "country"), (3, "language")],
        *[(4, "messages"), (5, "language"), (6, "language"), (6, "messages")],
    ]


def test_turns_that_cant_be_taken_hide_nothing_of_what_stands_beside_them(panel: Panel) -> None:
    stored = {"id": "old", "messages": user_says("I can't sleep."), "language": "en"}
    assert not import_conversations(study=panel.study, source=jsonl(stored), file_name="", by=None, check=False).errors
    file = csv_file(
        ["id", "turn", "role", "content", "language", "acuity"],
        ["old", "1", "nurse", "I can't sleep.", "es", ""],
        ["gap", "1", "user", "I can't sleep.", "", "mild"],
        ["gap", "3", "user", "Still not.", "", ""],
        ["told", "1", "assistant", "Hm.", "not a language", ""],
    )
    assert refused(panel, "conversations", file) == [
        *[(2, "language"), (2, "role"), (3, "acuity"), (3, "turn")],
        *[(5, "content"), (5, "language")],
    ]


def test_a_row_of_a_turn_that_cant_be_read_is_the_only_error_of_its_conversation(panel: Panel) -> None:
    file = csv_file(
        ["id", "turn", "role", "content"],
        ["ending", "1", "user", "I can't sleep."],
        ["ending", "2", "assistant", "Since when?"],
        ["ending", "3", "user", "Since\x00May."],
        ["middle", "1", "user", "I can't sleep."],
        ["middle", "2", "assistant", "Since when?\x00"],
        ["middle", "3", "user", "Since May."],
        ["nameless", "1", "user", "I can't sleep."],
        ["", "2", "assistant", "Since when?"],
        ["nameless", "3", "user", "Since May."],
        ["gap", "1", "user", "I can't sleep."],
        ["gap", "3", "user", "Since May."],
        ["ends wrongly", "1", "assistant", "Since when?"],
    )
    assert refused(panel, "conversations", file) == [
        *[(4, "content"), (6, "content"), (9, "id")],
        *[(11, "turn"), (13, "content")],
    ]


def criterion(**facts: Any) -> dict[str, Any]:
    return {"conversation_id": "sleepless", "criterion_id": "asks", "text": "Asks about sleep.", "points": 6, **facts}


def test_criteria_that_are_faulty_are_looked_up_and_compared(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="sleepless")
    assert not import_criteria(
        study=panel.study, source=jsonl(criterion()), file_name="", by=None, check=False, keep_drafting=True
    ).errors
    places = refused(
        panel,
        "criteria",
        jsonl(
            criterion(criterion_id="a", points=99, conversation_id="nowhere"),
            criterion(criterion_id="b", points=99, anchors=[7]),
            criterion(points="many", text="Asks about school."),
            criterion(criterion_id="c", points=99),
            criterion(criterion_id="c", text="Names a helpline."),
            criterion(criterion_id="", points=0, conversation_id="nowhere"),
            criterion(criterion_id="d", conversation_id="nowhere", author="nobody@example.org"),
        ),
    )
    assert places == [
        *[(1, "conversation_id"), (1, "points"), (2, "anchors"), (2, "points"), (3, "points"), (3, "text")],
        *[(4, "points"), (5, "text"), (6, "conversation_id"), (6, "points"), (7, "author"), (7, "conversation_id")],
    ]


def test_a_faulty_criterion_that_is_stored_otherwise_the_same_has_its_fault_alone(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="sleepless")
    import_criteria(study=panel.study, source=jsonl(criterion()), file_name="", by=None, check=False)
    assert refused(panel, "criteria", jsonl(criterion(points=99))) == [(1, "points")]


def test_votes_that_are_faulty_are_looked_up_and_placed(panel: Panel) -> None:
    conversation, [asks], _ = make_voting(panel=panel, external_id="sleepless")
    recuse_from_conversation(conversation=conversation, by=panel.dev)
    drafting = make_conversation(study=panel.study, external_id="drafting")
    assert not import_criteria(
        study=panel.study,
        source=jsonl(criterion(conversation_id="drafting", criterion_id="later")),
        file_name="",
        by=None,
        check=False,
        keep_drafting=True,
    ).errors
    assert drafting.external_id == "drafting"

    def row(reviewer: str, choice: str = "agree", **facts: Any) -> dict[str, Any]:
        return {"criterion_id": asks.external_id, "reviewer": f"{reviewer}@example.org", "choice": choice, **facts}

    places = refused(
        panel,
        "votes",
        jsonl(
            row("ben", "perhaps", criterion_id="unknown"),
            row("nobody", criterion_id="unknown"),
            row("chloe", "object", criterion_id="later"),
            row("dev", "perhaps", round=7),
            row("ben", points=99),
            row("ben", "abstain"),
            row("chloe", points=99),
            row("chloe", points=3),
        ),
    )
    assert places == [
        *[(1, "choice"), (1, "criterion_id"), (2, "criterion_id"), (2, "reviewer")],
        *[(3, "category"), (3, "criterion_id"), (3, "reason")],
        *[(4, "choice"), (4, "reviewer"), (4, "round"), (5, "points"), (6, "choice"), (7, "points")],
    ]


def test_a_faulty_vote_that_may_repeat_one_of_an_earlier_round_is_not_told_to_want_an_open_one(panel: Panel) -> None:
    conversation, [asks], _ = make_voting(panel=panel)
    vote(criterion=asks, reviewer=panel.ben)
    close_round(conversation=conversation, by=panel.adam)
    row = {"criterion_id": asks.external_id, "reviewer": "ben@example.org", "choice": "agree", "points": 99}
    assert refused(panel, "votes", jsonl(row)) == [(1, "points")]
    assert refused(panel, "votes", jsonl({**row, "reviewer": "chloe@example.org"})) == [
        (1, "criterion_id"),
        (1, "points"),
    ]


@pytest.mark.parametrize("has_voted", [True, False])
def test_of_a_hidden_vote_a_faulty_row_learns_nothing(panel: Panel, has_voted: bool) -> None:
    _, [asks], _ = make_voting(panel=panel)
    if has_voted:
        vote(criterion=asks, reviewer=panel.ben)
    row = {"criterion_id": asks.external_id, "reviewer": "ben@example.org", "choice": "agree", "points": 99, "round": 7}
    assert refused(panel, "votes", jsonl(row)) == [(1, "points"), (1, "round")]


def test_people_who_are_faulty_are_compared_with_each_other(panel: Panel) -> None:
    fern = {"email": "fern@example.org", "roles": ["clinician"]}
    gus = {"email": "gus@example.org", "roles": ["clinician"]}
    rows = [{**fern, "country": "Wonderland"}, {**fern, "name": "Fern"}, {**gus, "country": "Wonderland"}, gus]
    assert refused(panel, "members", jsonl(*rows)) == [(1, "country"), (2, "email"), (3, "country")]


def test_the_published_shapes_too(panel: Panel) -> None:
    from rubrics.importing import import_conversations as import_any

    rubrics = [{"criterion": "Asks.", "points": 3}]
    report = import_any(
        study=panel.study,
        source=jsonl(
            {"prompt_id": "p", "prompt": user_says("I can't sleep."), "rubrics": [{"criterion": "Asks.", "points": 0}]},
            {"prompt_id": "p", "prompt": user_says("I sleep."), "rubrics": rubrics},
            {"prompt_id": "q", "prompt": "I sleep.", "rubrics": rubrics},
            {"prompt_id": "q", "prompt": user_says("I sleep."), "rubrics": []},
        ),
        file_name="",
        by=None,
        check=False,
    )
    assert sorted((error.line or 0, error.column) for error in report.errors) == [
        *[(1, "rubrics"), (2, "prompt"), (3, "prompt"), (4, "rubrics")],
    ]
