"""What the REST API keeps to itself: others' votes in an open round, names, points, drafts, comments, the canary."""

import pytest
from django.db import connection

from annotation.assigning import assign_reviewer
from annotation.discussing import add_comment, request_vote
from annotation.joining import add_member
from annotation.models import Criterion, Policy
from annotation.round_acts import close_round, open_round
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.pages import api, api_addresses, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def test_an_open_round_shows_everybody_their_own_votes_alone(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, points=8)
    url = at(panel.study, "api_votes", conversation_id=conversation.id)
    [own] = got(panel.ben, url)["results"]
    assert (own["points"], own["is_yours"], own["reviewer"]) == (8, True, panel.ben.email)
    for person in (panel.ana, panel.chloe, panel.adam, panel.rita):
        assert got(person, url)["results"] == []


def test_nothing_that_another_can_fetch_differs_by_a_hidden_vote(panel: Panel) -> None:
    conversation, [criterion, _], _ = make_voting(panel=panel, texts=["Asks about sleep.", "Asks about work."])
    urls = api_addresses(panel, conversation, criterion)
    readers = (panel.ana, panel.chloe, panel.adam, panel.rita)

    def all_that_can_be_fetched() -> list[bytes]:
        return [api(reader).get(url).content for reader in readers for url in urls]

    nothing = all_that_can_be_fetched()
    vote(criterion=criterion, reviewer=panel.ben, points=8)
    agreed = all_that_can_be_fetched()
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="It harms.")
    objected = all_that_can_be_fetched()
    assert nothing == agreed == objected


def test_a_round_whose_date_has_passed_is_revealed_to_the_next_reader(panel: Panel) -> None:
    conversation, [criterion], round_1 = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotation_round SET closes_at = clock_timestamp() - interval '1 second' WHERE id = %s",
            [round_1.id],
        )
    [shown] = got(panel.adam, at(panel.study, "api_votes", conversation_id=conversation.id))["results"]
    assert shown["reviewer"] is None
    assert got(panel.adam, at(panel.study, "api_conversation", conversation_id=conversation.id))["state"] == "revealed"


def test_after_the_reveal_votes_show_without_names_and_without_an_order(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    for person in (panel.ana, panel.adam):
        shown = got(person, at(panel.study, "api_votes", conversation_id=conversation.id))["results"]
        assert len(shown) == 4
        assert {each["reviewer"] for each in shown} == {None}
        assert not any("id" in each or "cast_at" in each for each in shown)
    mine = got(panel.ben, at(panel.study, "api_votes", conversation_id=conversation.id))["results"]
    assert sorted(str(each["reviewer"]) for each in mine) == ["None", "None", "None", panel.ben.email]


def named_policy(panel: Panel) -> Policy:
    old = panel.study.policy
    facts = {field.name: getattr(old, field.name) for field in Policy._meta.fields if field.name != "id"}
    facts |= {"version": old.version + 1, "names_shown_after_reveal": True}
    return Policy.objects.create(**facts)


def test_names_show_where_the_policy_of_the_reveal_said_so_and_never_in_hindsight(panel: Panel) -> None:
    before, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    named_policy(panel)
    after, [later], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=later, reviewer=reviewer)
    old = got(panel.ana, at(panel.study, "api_votes", conversation_id=before.id))["results"]
    new = got(panel.ana, at(panel.study, "api_votes", conversation_id=after.id))["results"]
    assert {each["reviewer"] for each in old} == {None}
    assert {each["reviewer"] for each in new} == {person.email for person in panel.reviewers}


def test_the_author_s_points_are_hidden_from_reviewers_until_the_first_reveal(panel: Panel) -> None:
    conversation, [wanted, unwanted], _ = make_voting(panel=panel, texts=["Asks about sleep.", "Gives a lecture."])
    Criterion.objects.filter(pk=unwanted.pk)
    url = at(panel.study, "api_criteria", conversation_id=conversation.id)
    assert [each["points"] for each in got(panel.ben, url)] == [None, None]
    assert [each["is_wanted"] for each in got(panel.ben, url)] == [True, True]
    assert [each["points"] for each in got(panel.ana, url)] == [6, 6]
    assert [each["points"] for each in got(panel.adam, url)] == [6, 6]
    one = at(panel.study, "api_criterion", criterion_id=wanted.id)
    assert got(panel.ben, one)["points"] is None
    assert "points" not in got(panel.ben, one)["revision"]
    close_round(conversation=conversation, by=panel.adam)
    assert [each["points"] for each in got(panel.ben, url)] == [6, 6]


def test_an_admin_who_reviews_sees_what_a_reviewer_sees(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["admin"])
    drafting = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=drafting, reviewer=reviewer)
    theirs = draft(conversation=drafting, writer=panel.ana)
    assert got(panel.ben, at(panel.study, "api_criteria", conversation_id=drafting.id)) == []
    assert api(panel.ben).get(at(panel.study, "api_criterion", criterion_id=theirs.id)).status_code == 404
    voting, [criterion], _ = make_voting(panel=panel)
    assert got(panel.ben, at(panel.study, "api_criterion", criterion_id=criterion.id))["points"] is None
    assert len(got(panel.adam, at(panel.study, "api_criteria", conversation_id=drafting.id))) == 1
    assert got(panel.ben, at(panel.study, "api_votes", conversation_id=voting.id))["results"] == []


def test_comments_rest_while_a_round_is_open(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer, choice="abstain")
    url = at(panel.study, "api_comments", criterion_id=criterion.id)
    add_comment(criterion=criterion, author=panel.ben, text="I would say it more plainly.")
    [seen] = got(panel.ana, url)
    assert (seen["text"], seen["author"], seen["is_yours"]) == ("I would say it more plainly.", None, False)
    assert got(panel.ben, url)[0]["author"] == panel.ben.email
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    assert got(panel.ana, url) == []
    assert got(panel.adam, url) == []


def test_the_canary_is_on_no_answer(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel, canary_string="canary-of-the-row")
    for url in api_addresses(panel, conversation, criterion):
        body = api(panel.adam).get(url).content.decode()
        assert "canary" not in body
        assert panel.study.canary_string not in body
