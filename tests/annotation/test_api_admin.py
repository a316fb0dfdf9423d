"""The REST API of an admin: members, policy, progress, assignment, acts on many; and that others are kept out."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.joining import add_member, leave_study
from annotation.models import Assignment, Conversation, Criterion, Membership
from annotation.round_acts import close_round
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def post(person: Any, url: str, body: object = None) -> Any:
    return api(person).post(url, body or {}, format="json")


def read_by_admins(panel: Panel, conversation: Conversation) -> list[str]:
    membership = Membership.objects.get(study=panel.study, user=panel.ana)
    return [
        at(panel.study, "api_members"),
        at(panel.study, "api_member", membership_id=membership.id),
        at(panel.study, "api_policy"),
        at(panel.study, "api_progress"),
        at(panel.study, "api_progress_conversations"),
        at(panel.study, "api_progress_conversation", conversation_id=conversation.id),
    ]


def test_only_admins_read_and_act(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for url in read_by_admins(panel, conversation):
        for person, status in ((panel.adam, 200), (panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
            assert api(person).get(url).status_code == status, url
    acts = [
        at(panel.study, "api_members"),
        at(panel.study, "api_assignments_preview"),
        at(panel.study, "api_assign_one", conversation_id=conversation.id),
        at(panel.study, "api_act_on_many", act="close-round"),
        at(panel.study, "api_adjudication", criterion_id=criterion.id),
    ]
    for url in acts:
        for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
            assert post(person, url).status_code == status, url
    member = read_by_admins(panel, conversation)[1]
    assert api(panel.rita).delete(member).status_code == 403
    assert api(panel.oscar).delete(member).status_code == 404


def test_another_study_s_conversation_and_member_are_404(panel: Panel) -> None:
    other = make_panel()
    theirs = make_conversation(study=other.study)
    membership = Membership.objects.get(study=other.study, user=other.rita)
    assert api(panel.adam).get(at(panel.study, "api_member", membership_id=membership.id)).status_code == 404
    one = at(panel.study, "api_progress_conversation", conversation_id=theirs.id)
    assert api(panel.adam).get(one).status_code == 404
    assign = at(panel.study, "api_assign_one", conversation_id=theirs.id)
    assert post(panel.adam, assign, {"reviewer": panel.ben.email}).status_code == 404
    many = post(panel.adam, at(panel.study, "api_act_on_many", act="close-drafting"), {"conversations": [theirs.id]})
    assert many.json() == {"acted_on": [], "passed_over": []}
    theirs.refresh_from_db()
    assert theirs.drafting_closed_at is None


def test_a_member_is_added_listed_and_leaves(panel: Panel) -> None:
    url = at(panel.study, "api_members")
    facts = {"email": "zoe@example.org", "roles": ["clinician"], "name": "Zoe", "languages": ["es"], "country": "mx"}
    added = post(panel.adam, url, facts)
    assert added.status_code == 201
    assert (added.json()["roles"], added.json()["country"], added.json()["assigned"]) == (["clinician"], "MX", 0)
    assert post(panel.adam, url, {**facts, "roles": ["admin"]}).json()["roles"] == ["admin", "clinician"]
    assert post(panel.adam, url, {**facts, "roles": ["owner"]}).status_code == 400
    assert post(panel.adam, url, {**facts, "roles": []}).status_code == 400
    assert "zoe@example.org" in {row["email"] for row in got(panel.adam, url)["results"]}
    one = at(panel.study, "api_member", membership_id=added.json()["id"])
    assert api(panel.adam).delete(one).status_code == 204
    assert api(panel.adam).get(one).status_code == 404


def test_the_policy_is_told_in_numbers_and_words(panel: Panel) -> None:
    told = got(panel.adam, at(panel.study, "api_policy"))
    assert (told["version"], told["name"], told["min_ratio"]) == (1, "Three agree", 0.75)
    assert len(told["clauses"]) == 4
    assert {case["result"] for case in told["cases"]} >= {"in_consensus", "out"}


def test_progress_tells_who_has_finished_and_who_recused(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="It harms.")
    recuse_from_conversation(conversation=conversation, by=panel.eva)
    url = at(panel.study, "api_progress_conversation", conversation_id=conversation.id)
    response = api(panel.adam).get(url)
    told = response.json()
    finished = {row["reviewer"]["name"]: row["is_finished"] for row in told["reviewers"]}
    assert finished == {"Ana": True, "Ben": True, "Chloe": False, "Dev": False}
    assert [person["name"] for person in told["recused"]] == ["Eva"]
    assert told["acts"] == ["close-round"]
    assert b"harms" not in response.content
    assert b"object" not in response.content
    progress = got(panel.adam, at(panel.study, "api_progress"))
    assert progress["conversations"]["voting"] == 1
    assert {row["reviewer"]["name"]: row["to_vote"] for row in progress["reviewers"]}["Chloe"] == 1


def test_progress_is_narrowed_by_stage_reviewer_words_and_reach(panel: Panel) -> None:
    voting, [criterion], _ = make_voting(panel=panel, external_id="in-voting")
    alone = make_conversation(study=panel.study, external_id="drafting-one", language="xx")
    assign_reviewer(conversation=alone, reviewer=panel.ben)
    vote(criterion=criterion, reviewer=panel.ben)
    url = at(panel.study, "api_progress_conversations")

    def ids(query: str) -> set[str]:
        return {row["external_id"] for row in got(panel.adam, f"{url}?{query}")["results"]}

    assert ids("") == {"in-voting", "drafting-one"}
    assert ids("stage=voting") == {"in-voting"}
    assert ids("words=drafting") == {"drafting-one"}
    assert ids(f"reviewer={panel.ben.email}") == {"drafting-one"}
    assert ids("stage=out_of_reach") == set()
    for person in (panel.chloe, panel.dev, panel.eva):
        leave_study(study=panel.study, person=person)
    assert ids("stage=out_of_reach") == {"in-voting", "drafting-one"}
    assert api(panel.adam).get(f"{url}?reviewer={panel.oscar.email}").status_code == 404
    assert voting.external_id == "in-voting"


def test_nothing_that_an_admin_reads_differs_by_what_a_hidden_vote_says(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    urls = read_by_admins(panel, conversation)

    def all_read() -> list[bytes]:
        return [api(panel.adam).get(url).content for url in urls]

    vote(criterion=criterion, reviewer=panel.ben, points=8)
    agreed = all_read()
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="It harms.")
    assert all_read() == agreed


def test_a_preview_says_what_assigning_would_do_and_does_nothing(panel: Panel) -> None:
    make_conversation(study=panel.study)
    told = post(panel.adam, at(panel.study, "api_assignments_preview"), {"reviewers": 3}).json()
    assert (told["assigned"], told["conversations"], told["out_of_reach"]) == (3, 1, [])
    assert sorted(load["added"] for load in told["loads"]) == [0, 0, 1, 1, 1]
    assert not Assignment.objects.exists()


def test_one_clinician_is_assigned_by_hand_and_not_again_after_recusing(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    url = at(panel.study, "api_assign_one", conversation_id=conversation.id)
    answer = post(panel.adam, url, {"reviewer": panel.ben.email})
    assert answer.status_code == 201
    assert [row["reviewer"]["email"] for row in answer.json()["reviewers"]] == [panel.ben.email]
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    for email in (panel.ben.email, panel.rita.email, panel.oscar.email, "nobody@example.org"):
        assert post(panel.adam, url, {"reviewer": email}).status_code == 409, email
    assert post(panel.adam, url, {}).status_code == 400


def test_many_are_acted_on_and_those_without_anything_to_do_named(panel: Panel) -> None:
    voting, _, _ = make_voting(panel=panel)
    drafting = make_conversation(study=panel.study)
    body = {"conversations": [str(voting.id), str(drafting.id)]}
    url = at(panel.study, "api_act_on_many", act="close-round")
    asked = post(panel.adam, url, {**body, "check": True}).json()
    assert asked["acted_on"] == [str(voting.id)]
    assert voting.rounds.get().revealed_at is None
    done = post(panel.adam, url, body).json()
    assert done["acted_on"] == [str(voting.id)]
    assert [(row["external_id"], row["why"]) for row in done["passed_over"]] == [
        (drafting.external_id, "No round of this conversation is open.")
    ]
    assert voting.rounds.get().revealed_at is not None
    assert post(panel.adam, at(panel.study, "api_act_on_many", act="nothing"), body).status_code == 404
    assert post(panel.adam, url, {"conversations": []}).status_code == 400


def test_an_unsettled_criterion_is_adjudicated_with_a_reason(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    url = at(panel.study, "api_adjudication", criterion_id=criterion.id)
    assert post(panel.adam, url, {"reason": "Settled by hand."}).status_code == 409
    close_round(conversation=conversation, by=panel.adam)
    assert post(panel.adam, url, {"reason": ""}).status_code == 400
    answer = post(panel.adam, url, {"reason": "Settled by hand."})
    assert (answer.json()["state"], answer.json()["adjudication"]) == ("adjudicated", "Settled by hand.")


def test_an_admin_who_reviews_reads_no_draft_by_adjudicating(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["admin"])
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    theirs: Criterion = draft(conversation=conversation, writer=panel.ana)
    url = at(panel.study, "api_adjudication", criterion_id=theirs.id)
    assert post(panel.ben, url, {"reason": "Mine."}).status_code == 404


def test_the_number_of_queries_does_not_grow(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    urls = read_by_admins(panel, conversation)

    def counted() -> list[int]:
        numbers = []
        for url in urls:
            client = api(panel.adam)
            with CaptureQueriesContext(connection) as captured:
                assert client.get(url).status_code == 200
            numbers.append(len(captured))
        return numbers

    few = counted()
    for number in range(3):
        make_voting(panel=panel, texts=["One.", "Two."])
        add_member(study=panel.study, email=f"more-{number}@example.org", roles=["researcher"])
    assert counted() == few
