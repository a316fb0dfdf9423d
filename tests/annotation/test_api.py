"""The REST API of studies, conversations, criteria and votes: roles, refusals, and its description."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.joining import accept_consent, add_member, leave_study
from annotation.models import Assignment, Comment, Criterion, User, Vote
from annotation.round_acts import close_round
from tests.factories import Panel, current, draft, make_conversation, make_panel, make_study, make_voting, vote
from tests.pages import api, api_addresses, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def ballot(criterion: Criterion, **facts: object) -> dict[str, object]:
    return {"criterion": str(criterion.id), "seen": str(current(criterion).id), "choice": "agree", **facts}


# Who may


def test_whoever_is_not_signed_in_is_401_everywhere(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for url in [*api_addresses(panel, conversation, criterion), reverse("api_schema"), reverse("api_docs")]:
        assert APIClient().get(url).status_code == 401, url
    wrong = APIClient()
    wrong.credentials(HTTP_AUTHORIZATION="Token nonsense")
    assert wrong.get(reverse("api_studies")).status_code == 401


def test_somebody_deactivated_is_401(panel: Panel) -> None:
    client = api(panel.ana)
    User.objects.filter(pk=panel.ana.pk).update(is_active=False)
    assert client.get(reverse("api_studies")).status_code == 401


def test_another_s_study_is_404_and_not_in_the_list(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for url in api_addresses(panel, conversation, criterion)[1:]:
        assert api(panel.oscar).get(url).status_code == 404, url
    assert got(panel.oscar, reverse("api_studies")) == []
    stranger = make_panel(slug="elsewhere")
    assert [each["slug"] for each in got(panel.ana, reverse("api_studies"))] == [panel.study.slug, "elsewhere"][
        :: 1 if panel.study.slug < "elsewhere" else -1
    ]
    apart = make_study(slug="apart")
    add_member(study=apart, email="zoe@example.org", roles=["admin"])
    zoe = User.objects.get(email="zoe@example.org")
    assert [each["slug"] for each in got(zoe, reverse("api_studies"))] == ["apart"]
    assert api(zoe).get(at(stranger.study, "api_study")).status_code == 404


def test_an_id_of_another_study_is_404_below_one_s_own(panel: Panel) -> None:
    add_member(study=panel.study, email="zoe@example.org", roles=["admin", "clinician"])
    zoe = User.objects.get(email="zoe@example.org")
    other = make_panel()
    theirs, [criterion], _ = make_voting(panel=other)
    for url in api_addresses(panel, theirs, criterion)[3:]:
        assert api(zoe).get(url).status_code == 404, url
    acts = [
        (at(panel.study, "api_admin_act", conversation_id=theirs.id, act="close-round"), {}),
        (at(panel.study, "api_reviewer_act", conversation_id=theirs.id, act="recuse"), {}),
        (at(panel.study, "api_criteria", conversation_id=theirs.id), {"text": "Mine.", "points": 3}),
        (at(panel.study, "api_comments", criterion_id=criterion.id), {"text": "Mine."}),
        (at(panel.study, "api_vote_requests", criterion_id=criterion.id), {}),
    ]
    for url, body in acts:
        assert api(zoe).post(url, body, format="json").status_code == 404, url


def test_who_has_left_is_out(panel: Panel) -> None:
    leave_study(study=panel.study, person=panel.ana)
    assert api(panel.ana).get(at(panel.study, "api_study")).status_code == 404


def test_a_clinician_sees_assigned_conversations_alone(panel: Panel) -> None:
    mine = make_conversation(study=panel.study, external_id="mine")
    make_conversation(study=panel.study, external_id="not-mine")
    left = make_conversation(study=panel.study, external_id="left")
    for conversation in (mine, left):
        assign_reviewer(conversation=conversation, reviewer=panel.ana)
    recuse_from_conversation(conversation=left, by=panel.ana)
    assert [row["external_id"] for row in got(panel.ana, at(panel.study, "api_conversations"))["results"]] == ["mine"]
    assert api(panel.ana).get(at(panel.study, "api_conversation", conversation_id=left.id)).status_code == 404
    assert len(got(panel.adam, at(panel.study, "api_conversations"))["results"]) == 3
    assert len(got(panel.rita, at(panel.study, "api_conversations"))["results"]) == 3


def test_each_act_belongs_to_its_role(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for_clinicians = [
        at(panel.study, "api_criteria", conversation_id=conversation.id),
        at(panel.study, "api_votes", conversation_id=conversation.id),
        at(panel.study, "api_criterion", criterion_id=criterion.id),
        at(panel.study, "api_comments", criterion_id=criterion.id),
        at(panel.study, "api_vote_requests", criterion_id=criterion.id),
        at(panel.study, "api_reviewer_act", conversation_id=conversation.id, act="recuse"),
    ]
    for_admins = [
        at(panel.study, "api_assignments"),
        *(
            at(panel.study, "api_admin_act", conversation_id=conversation.id, act=act)
            for act in ("close-drafting", "open-round", "close-round")
        ),
    ]
    for url in for_clinicians:
        assert api(panel.adam).post(url, {}, format="json").status_code == 403, url
        assert api(panel.rita).post(url, {}, format="json").status_code == 403, url
    for url in for_admins:
        assert api(panel.ana).post(url, {}, format="json").status_code == 403, url
        assert api(panel.rita).post(url, {}, format="json").status_code == 403, url
    assert api(panel.adam).delete(at(panel.study, "api_criterion", criterion_id=criterion.id)).status_code == 403
    assert api(panel.adam).delete(at(panel.study, "api_own_vote", criterion_id=criterion.id)).status_code == 403
    assert not Assignment.objects.filter(recused_at__isnull=False).exists()


def test_the_consent_text_comes_first() -> None:
    panel = make_panel(consent_text="What it is for.")
    assert api(panel.ana).get(at(panel.study, "api_study")).status_code == 403
    accept_consent(study=panel.study, person=panel.ana)
    assert api(panel.ana).get(at(panel.study, "api_study")).status_code == 200


def test_a_session_needs_its_token_to_write(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(panel.adam)
    url = at(panel.study, "api_admin_act", conversation_id=conversation.id, act="close-round")
    assert client.get(at(panel.study, "api_study")).status_code == 200
    assert client.post(url, {}, format="json").status_code == 403


def test_progress_is_for_those_who_oversee(panel: Panel) -> None:
    make_voting(panel=panel)
    assert got(panel.ana, at(panel.study, "api_study"))["progress"] is None
    assert got(panel.adam, at(panel.study, "api_study"))["progress"]["criteria"]["voting"] == 1
    assert got(panel.rita, at(panel.study, "api_study"))["roles"] == ["researcher"]


def test_unknown_acts_and_ids_are_404(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    base = f"/api/v1/studies/{panel.study.slug}/conversations/{conversation.id}/"
    assert api(panel.adam).post(base + "admin-acts/recuse/", {}, format="json").status_code == 404
    assert api(panel.ana).post(base + "reviewer-acts/close-round/", {}, format="json").status_code == 404
    assert api(panel.adam).get(base.replace(str(conversation.id), "-" * 36)).status_code == 404


# Acts


def test_a_criterion_goes_from_draft_to_consensus_over_the_api(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    response = api(panel.adam).post(at(panel.study, "api_assignments"), {"reviewers": 5}, format="json")
    assert response.json() == {"assigned": 5, "out_of_reach": []}
    facts = {"text": "Asks about sleep.", "points": 6, "rationale": "It is the first thing said.", "anchors": [1]}
    drafted = api(panel.ana).post(
        at(panel.study, "api_criteria", conversation_id=conversation.id), facts, format="json"
    )
    assert drafted.status_code == 201
    criterion = Criterion.objects.get(pk=drafted.json()["id"])
    for person in [panel.ana, *panel.reviewers]:
        act = at(panel.study, "api_reviewer_act", conversation_id=conversation.id, act="finish-drafting")
        assert api(person).post(act, {}, format="json").status_code == 204
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    for person in panel.reviewers:
        answer = api(person).post(votes, ballot(criterion, points=8), format="json")
        assert answer.status_code == 201, answer.content
    told = got(panel.ana, at(panel.study, "api_criterion", criterion_id=criterion.id))
    assert told["state"] == "in_consensus"
    assert told["outcome"] == {
        "round": 1,
        "result": "in_consensus",
        "points": 8,
        "sentence": "In consensus at +8: 4 agreed.",
    }


def test_a_vote_is_changed_and_taken_back_by_its_owner(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    api(panel.ben).post(votes, ballot(criterion, points=4), format="json")
    api(panel.ben).post(
        votes, ballot(criterion, choice="object", category="ambiguous", reason="Two things."), format="json"
    )
    assert Vote.objects.get(reviewer=panel.ben).choice == "object"
    own = at(panel.study, "api_own_vote", criterion_id=criterion.id)
    assert api(panel.ben).delete(own).status_code == 204
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"points": 0}, "a whole number from -10 to +10, not 0"),
        ({}, "Agreeing is weighing"),
        ({"choice": "object"}, "An objection has a category and a reason"),
        ({"choice": "object", "category": "unsafe", "reason": "  "}, "An objection has a category and a reason"),
    ],
)
def test_a_refused_vote_is_409_with_its_sentence(panel: Panel, facts: dict[str, object], sentence: str) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    answer = api(panel.ben).post(
        at(panel.study, "api_votes", conversation_id=conversation.id), ballot(criterion, **facts), format="json"
    )
    assert answer.status_code == 409
    assert sentence in answer.json()["error"]
    assert not Vote.objects.exists()


def test_a_writer_s_vote_is_refused(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    answer = api(panel.ana).post(votes, ballot(criterion, points=6), format="json")
    assert answer.status_code == 409
    assert answer.json()["error"] == "You wrote this criterion, so your vote on it would not count."


def test_a_vote_after_the_reveal_is_refused(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    close_round(conversation=conversation, by=panel.adam)
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    answer = api(panel.ben).post(votes, ballot(criterion, points=6), format="json")
    assert answer.status_code == 409
    assert api(panel.ben).delete(at(panel.study, "api_own_vote", criterion_id=criterion.id)).status_code == 409


def test_a_stale_revision_is_409_with_both_texts(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    seen = current(criterion)
    one = at(panel.study, "api_criterion", criterion_id=criterion.id)
    facts = {"against": str(seen.id), "text": "Asks about nights.", "points": 6}
    assert api(panel.ana).post(one, facts, format="json").status_code == 200
    stale = api(panel.ana).post(one, facts | {"text": "Asks about naps."}, format="json")
    assert stale.status_code == 409
    assert stale.json()["current_text"] == "Asks about nights."
    assert stale.json()["your_text"] == "Asks about naps."
    assert stale.json()["current_revision"] == str(current(criterion).id)
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    old = {"criterion": str(criterion.id), "seen": str(seen.id), "choice": "agree", "points": 6}
    assert api(panel.ben).post(votes, old, format="json").json()["current_text"] == "Asks about nights."


def test_a_revision_of_another_criterion_is_404(panel: Panel) -> None:
    conversation, [first, second], _ = make_voting(panel=panel, texts=["One.", "Two."])
    votes = at(panel.study, "api_votes", conversation_id=conversation.id)
    mixed = {"criterion": str(first.id), "seen": str(current(second).id), "choice": "agree", "points": 6}
    assert api(panel.ben).post(votes, mixed, format="json").status_code == 404
    elsewhere, _, _ = make_voting(panel=panel)
    wrong_place = at(panel.study, "api_votes", conversation_id=elsewhere.id)
    assert api(panel.ben).post(wrong_place, ballot(first, points=6), format="json").status_code == 404


def test_discussion_and_withdrawal_over_the_api(panel: Panel) -> None:
    conversation, [first, second], _ = make_voting(panel=panel, texts=["One.", "Two."])
    close_round(conversation=conversation, by=panel.adam)
    comments = at(panel.study, "api_comments", criterion_id=first.id)
    assert api(panel.ben).post(comments, {"text": "Why?"}, format="json").status_code == 201
    assert Comment.objects.get().author == panel.ben
    assert api(panel.ben).post(at(panel.study, "api_vote_requests", criterion_id=first.id), {}).status_code == 201
    assert api(panel.ben).delete(at(panel.study, "api_criterion", criterion_id=second.id)).status_code == 409
    withdrawn = api(panel.ana).delete(at(panel.study, "api_criterion", criterion_id=second.id))
    assert withdrawn.json()["state"] == "withdrawn"


def test_an_admin_s_acts_and_their_refusals(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)

    def act(name: str) -> Any:
        url = at(panel.study, "api_admin_act", conversation_id=conversation.id, act=name)
        return api(panel.adam).post(url, {}, format="json")

    refused = act("close-drafting")
    assert (refused.status_code, refused.json()["error"]) == (
        409,
        "Drafting is closed already for this conversation.",
    )
    assert act("open-round").json()["error"] == "A round of this conversation is still open."
    assert act("close-round").status_code == 204
    assert act("close-round").json()["error"] == "No round of this conversation is open."
    assert act("open-round").status_code == 204  # too few had judged it
    assert conversation.rounds.count() == 2


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"points": 6}, "text"),
        ({"text": "x" * 32_768, "points": 6}, "text"),
        ({"text": "Asks.\x00", "points": 6}, "text"),
        ({"text": "Asks.", "points": 11}, "points"),
        ({"text": "Asks.", "points": 2.5}, "points"),
        ({"text": "Asks.", "points": 6, "anchors": [0]}, "anchors"),
    ],
)
def test_what_can_t_be_read_is_400_with_its_field(panel: Panel, facts: dict[str, object], field: str) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    url = at(panel.study, "api_criteria", conversation_id=conversation.id)
    answer = api(panel.ana).post(url, facts, format="json")
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert not Criterion.objects.exists()


# Lists


def test_lists_come_in_pages_in_the_order_of_random_ids(panel: Panel) -> None:
    for _ in range(5):
        make_conversation(study=panel.study)
    first = got(panel.adam, at(panel.study, "api_conversations") + "?page_size=3")
    assert len(first["results"]) == 3
    second = api(panel.adam).get(first["next"]).json()
    ids = [row["id"] for row in first["results"] + second["results"]]
    assert ids == sorted(ids)
    assert len(set(ids)) == 5
    assert second["next"] is None


def test_the_number_of_queries_does_not_grow(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)

    def counted() -> list[int]:
        numbers = []
        for url in api_addresses(panel, conversation, criterion):
            client = api(panel.ben)
            with CaptureQueriesContext(connection) as captured:
                client.get(url)
            numbers.append(len(captured))
        return numbers

    few = counted()
    for _ in range(5):
        _, [another], _ = make_voting(panel=panel)
        for reviewer in panel.reviewers:
            vote(criterion=another, reviewer=reviewer)
    for text in ("Two.", "Three.", "Four."):
        draft(conversation=conversation, writer=panel.ana, text=text)
    assert counted() == few


# The description


def test_the_schema_is_complete_and_without_warnings(tmp_path: Any) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_the_schema_is_for_those_who_are_signed_in_and_comes_as_json_too(panel: Panel) -> None:
    answer = api(panel.ana).get(reverse("api_schema") + "?format=json")
    assert answer.status_code == 200
    schema = answer.json()
    acts = schema["paths"]["/api/v1/studies/{slug}/conversations/{conversation_id}/admin-acts/{act}/"]
    assert acts["post"]["operationId"] == "conversations_admin_act"
    votes = schema["paths"]["/api/v1/studies/{slug}/conversations/{conversation_id}/votes/"]["get"]
    shape = votes["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    assert set(schema["components"]["schemas"][shape]["properties"]) == {"next", "previous", "results"}
    assert api(panel.ana).get(reverse("api_docs")).status_code == 200
