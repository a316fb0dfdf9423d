"""The REST API of a clinician's way through a study: consent, what waits, the desk, rounds, accepted objections."""

from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.discussing import end_discussion, request_vote
from annotation.drafting import finish_drafting, revise_criterion
from annotation.models import Membership, UnsentText, Vote
from annotation.round_acts import close_round, open_round
from annotation.setting_up import set_up_study
from annotation.unsent import keep_unsent
from tests.factories import Panel, current, draft, make_conversation, make_panel, make_voting, vote
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def post(person: Any, url: str, body: object = None) -> Any:
    return api(person).post(url, body or {}, format="json")


# Before the first text


def test_consent_is_read_and_accepted_in_the_version_that_was_read() -> None:
    panel = make_panel(consent_text="What it is for.")
    url = at(panel.study, "api_consent")
    assert api(panel.ana).get(at(panel.study, "api_own_part")).status_code == 403
    told = got(panel.ana, url)
    assert told == {"text": "What it is for.", "version": 1, "must_accept": True, "accepted_at": None}
    set_up_study(study=panel.study, by=panel.adam, consent_text="What else it is for.")
    stale = post(panel.ana, url, {"version": 1})
    assert stale.status_code == 409
    assert "changed meanwhile" in stale.json()["error"]
    assert post(panel.ana, url).status_code == 400
    accepted = post(panel.ana, url, {"version": 2}).json()
    assert (accepted["must_accept"], accepted["accepted_at"] is None) == (False, False)
    assert api(panel.ana).get(at(panel.study, "api_own_part")).status_code == 200
    assert api(panel.oscar).get(url).status_code == 404
    assert post(panel.oscar, url, {"version": 2}).status_code == 404


def test_without_a_consent_text_there_is_nothing_to_accept(panel: Panel) -> None:
    url = at(panel.study, "api_consent")
    assert got(panel.ana, url)["must_accept"] is False
    assert post(panel.ana, url, {"version": 1}).status_code == 409


def test_guidelines_can_be_read_before_the_consent_text_is_accepted() -> None:
    panel = make_panel(consent_text="What it is for.", guidelines="# How we write")
    assert got(panel.ana, at(panel.study, "api_guidelines"))["guidelines"] == "# How we write"
    assert api(panel.oscar).get(at(panel.study, "api_guidelines")).status_code == 404


# What waits


def test_what_waits_is_the_clinician_s_own(panel: Panel) -> None:
    first = make_conversation(study=panel.study, position=1)
    second = make_conversation(study=panel.study, position=2)
    for conversation in (first, second):
        for reviewer in (panel.ana, panel.ben):
            assign_reviewer(conversation=conversation, reviewer=reviewer)
    draft(conversation=first, writer=panel.ben)
    finish_drafting(conversation=first, by=panel.ana)
    url = at(panel.study, "api_own_part")
    assert got(panel.ana, url) == {"assigned": 2, "done": 1, "next": str(second.id), "waiting": [str(second.id)]}
    rows = {row["id"]: row for row in got(panel.ana, at(panel.study, "api_own_conversations"))["results"]}
    assert (rows[str(first.id)]["has_finished"], rows[str(first.id)]["drafts"]) == (True, 0)
    # others' drafts are not even counted
    assert (rows[str(first.id)]["criteria"], rows[str(first.id)]["unsettled"]) == (None, None)
    for address in (url, at(panel.study, "api_own_conversations")):
        for person, status in ((panel.adam, 403), (panel.rita, 403), (panel.oscar, 404)):
            assert api(person).get(address).status_code == status


def test_own_marks_of_voting_and_of_the_ended_discussion(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    url = at(panel.study, "api_own_conversations")
    vote(criterion=criterion, reviewer=panel.ben)
    [row] = got(panel.ben, url)["results"]
    assert (row["to_vote"], row["voted"], row["waits"], row["left"]) == (1, 1, False, "1 of 1 voted")
    close_round(conversation=conversation, by=panel.adam)
    assert got(panel.ben, url)["results"][0]["has_ended"] is False
    end_discussion(conversation=conversation, by=panel.ben)
    [row] = got(panel.ben, url)["results"]
    assert (row["has_ended"], row["voted"], row["unsettled"]) == (True, None, 1)


# The desk and the rounds


def test_the_desk_tells_the_own_vote_and_nobody_else_s(panel: Panel) -> None:
    conversation, [first, second], _ = make_voting(panel=panel, texts=["One.", "Two."])
    vote(criterion=first, reviewer=panel.ben, points=8)
    url = at(panel.study, "api_desk", conversation_id=conversation.id)
    mine = {row["criterion"]: row for row in got(panel.ben, url)["criteria"]}
    assert mine[str(first.id)]["own_vote"]["points"] == 8
    assert mine[str(second.id)]["own_vote"] is None
    assert got(panel.ben, url)["next"] == str(second.id)
    assert {row["own_vote"] for row in got(panel.chloe, url)["criteria"]} == {None}
    assert {row["votes_here"] for row in got(panel.ana, url)["criteria"]} == {False}
    read = got(panel.adam, url)
    assert (read["mode"], read["round"], {row["own_vote"] for row in read["criteria"]}) == ("reading", 1, {None})


def test_a_proposed_criterion_has_one_s_last_weight_preset(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer, points in zip(panel.reviewers, [2, 2, 10, 10], strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    request_vote(criterion=criterion, by=panel.ben)
    url = at(panel.study, "api_desk", conversation_id=conversation.id)
    [asked], [not_asked] = got(panel.ben, url)["criteria"], got(panel.chloe, url)["criteria"]
    assert (asked["is_asked_by_you"], not_asked["is_asked_by_you"], not_asked["is_due"]) == (True, False, True)
    open_round(conversation=conversation, by=panel.adam)
    [sheet] = got(panel.ben, url)["criteria"]
    given = Vote.objects.get(reviewer=panel.ben).points
    assert (sheet["is_proposed"], sheet["preset"], sheet["own_vote"]) == (True, given, None)


def test_rounds_tell_the_distribution_and_the_decision_after_the_reveal_only(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    url = at(panel.study, "api_rounds", conversation_id=conversation.id)
    for reviewer, points in zip(panel.reviewers[:3], [6, 6, 8], strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    [this] = got(panel.ana, url)
    assert (this["number"], this["is_open"], this["revealed_at"], this["policy"]) == (1, True, None, None)
    assert this["criteria"] == [{"criterion": str(criterion.id), "is_proposed": False, "decision": None}]
    close_round(conversation=conversation, by=panel.adam)
    [this] = got(panel.ana, url)
    decision = this["criteria"][0]["decision"]
    assert (this["is_open"], this["policy"]) == (False, 1)
    assert (decision["result"], decision["points"]) == ("in_consensus", 6)
    assert decision["votes"] == {"agree": 3, "object": 0, "abstain": 0, "recuse": 0, "silent": 1}
    assert decision["weights"] == [{"points": 8, "count": 1}, {"points": 6, "count": 2}]
    assert panel.ben.email not in str(this)


# Votes and objections


def test_votes_that_did_not_count_are_marked_after_the_reveal(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    vote(criterion=criterion, reviewer=panel.chloe)
    vote(criterion=criterion, reviewer=panel.dev)
    url = at(panel.study, "api_votes", conversation_id=conversation.id)
    assert [row["is_counted"] for row in got(panel.ben, url)["results"]] == [None]
    # who is no clinician any more at the reveal was not eligible
    Membership.objects.filter(study=panel.study, user=panel.dev).update(roles=["researcher"])
    close_round(conversation=conversation, by=panel.adam)
    assert sorted(row["is_counted"] for row in got(panel.adam, url)["results"]) == [False, True, True]


def test_a_vote_on_a_wording_that_was_changed_did_not_count(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    revise_criterion(criterion=criterion, against=current(criterion), by=panel.ana, text="Asks about nights.", points=6)
    vote(criterion=criterion, reviewer=panel.chloe)
    close_round(conversation=conversation, by=panel.adam)
    rows = got(panel.ana, at(panel.study, "api_votes", conversation_id=conversation.id))["results"]
    assert {row["wording"]: row["is_counted"] for row in rows} == {
        str(criterion.revisions.get(number=1).id): False,
        str(current(criterion).id): True,
    }


def test_an_objection_is_accepted_by_a_revision_that_answers_it(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    objected = vote(criterion=criterion, reviewer=panel.ben, choice="object", reason="Which sleep?")
    url = at(panel.study, "api_accepted_objections", criterion_id=criterion.id)
    body = {
        "objection": str(objected.id),
        "against": str(current(criterion).id),
        "text": "Asks how many hours of sleep.",
        "points": 6,
    }
    assert post(panel.chloe, url, body).status_code == 404, "an open round tells of no objection"
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    assert [row["objection"] for row in got(panel.ben, votes)["results"]] == [None]
    close_round(conversation=conversation, by=panel.adam)
    [row] = got(panel.chloe, votes)["results"]
    assert row["objection"] == str(objected.id)
    place = f"accept-{objected.id}"
    keep_unsent(person=panel.chloe, conversation=conversation, place=place, fields={"text": ["Asks how"]})
    for person, status in ((panel.adam, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert post(person, url, body).status_code == status
    answer = post(panel.chloe, url, body)
    assert answer.status_code == 201
    assert answer.json()["revision"]["text"] == "Asks how many hours of sleep."
    assert current(criterion).answers_vote_id == objected.id
    assert not UnsentText.objects.exists()
    stale = post(panel.dev, url, body)
    assert (stale.status_code, stale.json()["current_text"]) == (409, "Asks how many hours of sleep.")


def test_what_was_typed_on_a_page_is_gone_once_it_is_sent_by_the_api(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    keep_unsent(
        person=panel.ben, conversation=conversation, place=f"object-{criterion.id}", fields={"reason": ["Which"]}
    )
    ballot = {
        "criterion": str(criterion.id),
        "seen": str(current(criterion).id),
        "choice": "object",
        "category": "ambiguous",
        "reason": "Which sleep?",
    }
    assert post(panel.ben, at(panel.study, "api_votes", conversation_id=conversation.id), ballot).status_code == 201
    assert not UnsentText.objects.exists()
