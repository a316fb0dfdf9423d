"""Why is this criterion in version n, or not: for whoever may read it, from its draft to each freeze."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.drafting import revise_criterion
from annotation.round_acts import close_round, open_round
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from tests.factories import Panel, draft, make_conversation, make_panel, vote
from tests.pages import at, plain, shown, signed_in
from tests.rubrics.making import make_agreed, make_drafted

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def test_whoever_may_read_the_criterion_may_ask_and_nobody_else(panel: Panel) -> None:
    conversation, [criterion] = make_agreed(panel=panel)
    page = at(panel.study, "why", criterion_id=criterion.id)
    for person in (panel.ana, panel.ben, panel.adam, panel.rita):
        assert signed_in(person).get(page).status_code == 200
    assert signed_in(panel.oscar).get(page).status_code == 404
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    assert signed_in(panel.ben).get(page).status_code == 404
    _, [theirs] = make_agreed(panel=make_panel())
    assert signed_in(panel.adam).get(at(panel.study, "why", criterion_id=theirs.id)).status_code == 404


def test_a_draft_answers_its_writer_alone_among_the_reviewers(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    criterion = draft(conversation=conversation, writer=panel.ana)
    page = at(panel.study, "why", criterion_id=criterion.id)
    assert signed_in(panel.ben).get(page).status_code == 404
    html = shown(signed_in(panel.ana), page)
    assert "The next version would not take it: It is a draft" in html
    assert "It was in no round yet." in html


def test_an_open_round_tells_that_it_is_open_and_no_more(panel: Panel) -> None:
    _, [criterion] = make_drafted(panel=panel, texts=["Asks about work."])
    page = at(panel.study, "why", criterion_id=criterion.id)
    readers = (panel.ana, panel.chloe, panel.adam, panel.rita)
    nothing = [plain(shown(signed_in(reader), page)) for reader in readers]
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="It harms.")
    assert [plain(shown(signed_in(reader), page)) for reader in readers] == nothing
    assert all("It is open. Votes show once everyone has voted." in html for html in nothing)
    assert "+6" not in nothing[1]  # chloe has not weighed it yet
    assert "+6" in nothing[0]


def test_it_tells_revisions_rounds_votes_clauses_and_versions(panel: Panel) -> None:
    conversation, [other, criterion] = make_drafted(panel=panel, texts=["Asks about sleep.", "Asks about work today."])
    for reviewer in panel.reviewers:
        vote(criterion=other, reviewer=reviewer)
    for reviewer, choice in zip(panel.reviewers, ("agree", "agree", "agree", "object"), strict=True):
        vote(criterion=criterion, reviewer=reviewer, choice=choice, category="unsafe", reason="Too much at once.")
    freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion,
        against=criterion.current_revision,
        by=panel.ana,
        text="Asks about work tomorrow.",
        points=6,
        axis=criterion.current_revision.axis,
    )
    open_round(conversation=conversation, by=panel.adam)
    criterion.refresh_from_db()
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer, points=8)
    freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    client, page = signed_in(panel.ana), at(panel.study, "why", criterion_id=criterion.id)
    html = shown(client, page + "?version=2")
    assert "Why is it in version 2?" in html
    assert "It is in version 2, with +8 points. In consensus at +8: 4 agreed." in html
    assert "today</del>" in html
    assert "tomorrow</ins>" in html
    assert "Somebody objected that it is unsafe, which blocks." in html
    assert "Too much at once." in html
    assert "Not in consensus: somebody objected that it is unsafe." in html
    for person in panel.reviewers:
        assert str(person) not in html.split("<main")[1]
    assert "Why is it not in version 1?" in shown(client, page + "?version=1")
    assert client.get(page + "?version=3").status_code == 404


def test_the_number_of_queries_does_not_grow_with_votes_and_versions(panel: Panel) -> None:
    conversation, [criterion] = make_drafted(panel=panel, texts=["Asks about work."])
    vote(criterion=criterion, reviewer=panel.ben)
    close_round(conversation=conversation, by=panel.adam)
    make_agreed(panel=panel)
    freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    client, page = signed_in(panel.rita), at(panel.study, "why", criterion_id=criterion.id)

    def counted() -> int:
        client.get(page)
        with CaptureQueriesContext(connection) as captured:
            client.get(page)
        return len(captured)

    few = counted()
    for _ in range(3):
        make_agreed(panel=panel, texts=["Asks about food.", "Asks about friends."])
        freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    assert counted() == few
