"""An import is no way around blindness: nobody learns a vote, points or an author from what it answers."""

from typing import Any

import pytest

from annotation.importing.criteria import import_criteria
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.joining import add_member
from annotation.models import Conversation, Criterion, User, Vote
from annotation.round_acts import close_round
from tests.factories import Panel, join, make_panel, make_voting, vote
from tests.importing_files import jsonl

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    panel = make_panel()
    add_member(study=panel.study, email=panel.eva.email, roles=["admin"])  # eva reviews, and is an admin too
    return panel


def in_voting(panel: Panel) -> tuple[Conversation, Criterion]:
    conversation, (criterion,), _ = make_voting(panel=panel, points=7)
    return conversation, criterion


def votes(panel: Panel, by: User | None, *, check: bool = True, **facts: Any) -> Report:
    row = {"reviewer": panel.ben.email, "choice": "agree", **facts}
    return import_votes(study=panel.study, source=jsonl(row), file_name="votes", by=by, check=check)


def criteria(panel: Panel, by: User, conversation: Conversation, criterion: Criterion, **facts: object) -> Report:
    row = {"conversation_id": conversation.external_id, "criterion_id": criterion.external_id, **facts}
    return import_criteria(study=panel.study, source=jsonl(row), file_name="criteria", by=by, check=True)


def answer(report: Report) -> tuple[object, ...]:
    said = [(error.column, error.message) for error in report.errors]
    return report.created, report.unchanged, said, [str(warning) for warning in report.warnings]


def test_who_guesses_an_imported_vote_is_never_told_that_it_is_right(panel: Panel) -> None:
    _, criterion = in_voting(panel)
    facts: dict[str, Any] = {"criterion_id": criterion.external_id, "points": -4}
    assert votes(panel, panel.adam, check=False, **facts).created == 1
    gina = join(study=panel.study, name="gina", role="admin")
    guesses = {
        str(answer(votes(panel, gina, criterion_id=criterion.external_id, points=points)))
        for points in range(-10, 11)
        if points
    }
    assert len(guesses) == 1, "another admin's guesses all get one answer"
    assert votes(panel, panel.adam, **facts).unchanged == 1, "who brought it, with the same file, is told"


def test_an_admin_who_reviews_takes_nothing_in_for_the_conversation_while_it_is_blind(panel: Panel) -> None:
    conversation, criterion = in_voting(panel)
    vote(criterion=criterion, reviewer=panel.ben)
    answers = {
        str(answer(criteria(panel, panel.eva, conversation, criterion, text=text, points=points, author=author)))
        for text in ("Asks about sleep.", "Another text.")
        for points in (6, 7)
        for author in (panel.ana.email, panel.ben.email)
    }
    answers |= {
        str(answer(votes(panel, panel.eva, criterion_id=criterion.external_id, points=points))).replace(
            "criterion_id", "conversation_id"
        )
        for points in (6, 7)
    }
    assert len(answers) == 1
    assert f"You review conversation “{conversation.external_id}”" in answers.pop()
    close_round(conversation=conversation, by=panel.adam)
    known = criteria(panel, panel.eva, conversation, criterion, text="Asks about sleep.", points=7)
    assert known.unchanged == 1, "after the reveal there is nothing to hide"


def test_a_check_tells_nobody_who_has_voted_and_the_import_says_what_it_changed(panel: Panel) -> None:
    _, criterion = in_voting(panel)
    facts: dict[str, Any] = {"criterion_id": criterion.external_id, "points": 5}
    before = answer(votes(panel, panel.adam, **facts))
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="Dangerous.")
    assert answer(votes(panel, panel.adam, **facts)) == before
    report = votes(panel, panel.adam, check=False, **facts)
    assert "1 vote that its owner had cast here was changed" in str(report.warnings[0])
    assert Vote.objects.get().points == 5
