"""The API of advice, of criteria that are like a text, and of merging: what the pages do, under the same rules."""

from typing import Any

import pytest

from annotation.assigning import assign_reviewer
from annotation.models import Conversation, Criterion, Drafting, SettledLikeness
from tests.annotation.test_merging import ALIKE, SLEEP, in_discussion
from tests.factories import Panel, current, draft, make_conversation, make_panel
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def drafting(panel: Panel) -> Conversation:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    return conversation


def facts_of(one: Criterion, other: Criterion) -> dict[str, str]:
    return {
        "kept": str(one.id),
        "kept_seen": str(current(one).id),
        "merged": str(other.id),
        "merged_seen": str(current(other).id),
    }


def test_a_draft_and_a_revision_are_answered_with_advice(panel: Panel) -> None:
    conversation = drafting(panel)
    address = at(panel.study, "api_criteria", conversation_id=conversation.id)
    facts = {"text": "Asks about sleep and names a helpline.", "points": 6}
    answer = api(panel.ana).post(address, facts, format="json")
    assert answer.status_code == 201
    written = answer.json()
    assert "two things" in written["advice"][0]
    answer = api(panel.ana).post(
        at(panel.study, "api_criterion", criterion_id=written["id"]),
        {"text": "Asks about sleep.", "points": 6, "against": written["revision"]["id"]},
        format="json",
    )
    assert (answer.status_code, answer.json()["advice"]) == (200, [])


def test_a_text_is_advised_on_and_what_is_like_it_is_named(panel: Panel) -> None:
    conversation = drafting(panel)
    own = draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    address = at(panel.study, "api_advice", conversation_id=conversation.id)

    def advised(**facts: Any) -> Any:
        return api(panel.ana).post(address, facts, format="json").json()

    told = advised(text=ALIKE, points=6)
    assert told["similar"] == [
        {"id": str(own.id), "conversation": str(conversation.id), "text": SLEEP, "is_wanted": True}
    ]
    assert advised(text=ALIKE, criterion=str(own.id))["similar"] == []
    assert "sounds like something unwanted" in advised(text="Fails to ask about the baby.", points=6)["advice"][0]


def test_nobody_is_told_of_a_draft_that_is_somebody_elses(panel: Panel) -> None:
    """Alone means alone: not even that there is one like it."""
    conversation, elsewhere = drafting(panel), drafting(panel)
    draft(conversation=conversation, writer=panel.ana, text=SLEEP)
    for place in (conversation, elsewhere):
        address = at(panel.study, "api_advice", conversation_id=place.id)
        assert api(panel.ben).post(address, {"text": SLEEP}, format="json").json()["similar"] == []
        assert api(panel.chloe).post(address, {"text": SLEEP}, format="json").status_code == 404
    assert panel.study.policy.drafting == Drafting.ALONE


def test_the_conversations_own_come_before_the_studys(panel: Panel) -> None:
    conversation, elsewhere = drafting(panel), drafting(panel)
    there = draft(conversation=elsewhere, writer=panel.ana, text=SLEEP)
    here = draft(conversation=conversation, writer=panel.ana, text=ALIKE)
    address = at(panel.study, "api_advice", conversation_id=conversation.id)
    found = api(panel.ana).post(address, {"text": SLEEP}, format="json").json()["similar"]
    assert [each["id"] for each in found] == [str(here.id), str(there.id)]


def test_likenesses_are_listed_for_reviewers_in_the_discussion(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    address = at(panel.study, "api_likenesses", conversation_id=conversation.id)
    [pair] = got(panel.chloe, address)
    assert {pair["one"], pair["other"]} == {str(one.id), str(other.id)}
    assert (pair["is_mirrored"], pair["voters_left"]) == (False, 3)
    assert got(panel.adam, address) == []
    assert got(panel.ana, at(panel.study, "api_likenesses", conversation_id=drafting(panel).id)) == []


def test_two_are_merged(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    address = at(panel.study, "api_merges", conversation_id=conversation.id)
    assert api(panel.chloe).post(address, facts_of(one, other), format="json").status_code == 204
    assert Criterion.objects.get(pk=other.pk).merged_into == one
    assert api(panel.chloe).post(address, facts_of(one, other), format="json").status_code == 409


def test_both_are_kept(panel: Panel) -> None:
    conversation, one, other = in_discussion(panel)
    address = at(panel.study, "api_kept_pairs", conversation_id=conversation.id)
    for first, second in ((one, other), (other, one)):
        answer = api(panel.dev).post(address, {"one": str(first.id), "other": str(second.id)}, format="json")
        assert answer.status_code == 204
    settled = SettledLikeness.objects.get()
    assert (settled.outcome, settled.settled_by) == (SettledLikeness.Outcome.KEPT_BOTH, panel.dev)
    assert got(panel.chloe, at(panel.study, "api_likenesses", conversation_id=conversation.id)) == []


@pytest.mark.parametrize("name", ["api_merges", "api_kept_pairs"])
def test_who_may_not(panel: Panel, name: str) -> None:
    conversation, one, other = in_discussion(panel)
    address = at(panel.study, name, conversation_id=conversation.id)
    facts = {**facts_of(one, other), "one": str(one.id), "other": str(other.id)}
    for person, status in ((panel.adam, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert api(person).post(address, facts, format="json").status_code == status
    elsewhere = at(panel.study, name, conversation_id=in_discussion(panel)[0].id)
    assert api(panel.chloe).post(elsewhere, facts, format="json").status_code == 404
    assert not SettledLikeness.objects.exists()
