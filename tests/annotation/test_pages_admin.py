"""The admin's pages: who may open them, what they tell while a round is open, and what they do."""

import re
from uuid import UUID

import pytest
from django.test import Client

from annotation.acting_on_many import ROUND_ACTS, act_on_each, would_act_on
from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.drafting import finish_drafting, revise_criterion, withdraw_criterion
from annotation.joining import add_member
from annotation.models import Assignment, Conversation, Membership, Round, User
from annotation.overseeing import with_work_left
from annotation.revealing import gather
from annotation.round_acts import close_drafting, close_round
from tests.factories import (
    Panel,
    draft,
    join,
    make_conversation,
    make_panel,
    make_voting,
    vote,
)
from tests.pages import at, plain, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db

PAGES = ["study_progress", "study_counts", "study_members", "study_assign", "study_policy"]


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def every_page(panel: Panel, conversation: Conversation) -> list[str]:
    pages = [at(panel.study, name) for name in PAGES]
    pages.append(at(panel.study, "admin_conversation", conversation_id=conversation.id))
    pages.append(at(panel.study, "admin_act", act="close-round") + f"?conversation={conversation.id}")
    pages += [
        at(panel.study, "study_progress") + query
        for query in ("?state=voting", f"?reviewer={panel.ben.id}", "?state=out_of_reach", "?words=sleep&page=2")
    ]
    return pages


# Who may


def test_admins_open_them_others_of_the_study_are_refused_and_outsiders_find_nothing(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    member = Membership.objects.get(study=panel.study, user=panel.ben)
    pages = [
        *every_page(panel, conversation),
        at(panel.study, "member_leaves", membership_id=member.id),
    ]
    for page in pages:
        assert signed_in(panel.adam).get(page).status_code == 200, page
        assert signed_in(panel.ana).get(page).status_code == 403, page
        assert signed_in(panel.rita).get(page).status_code == 403, page
        assert signed_in(panel.oscar).get(page).status_code == 404, page
        assert Client().get(page).status_code == 302, page


def test_what_only_writes_is_not_opened_by_a_link(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    page = at(panel.study, "assign_one", conversation_id=conversation.id)
    assert signed_in(panel.adam).get(page).status_code == 405


def test_no_act_of_an_admin_is_done_for_anybody_else(panel: Panel) -> None:
    conversation, _, round_1 = make_voting(panel=panel)
    close = at(panel.study, "admin_act", act="close-round")
    member = Membership.objects.get(study=panel.study, user=panel.ben)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        client = signed_in(person)
        assert client.post(close, {"conversation": conversation.id}).status_code == status
        assert client.post(at(panel.study, "study_assign"), {"reviewers": 3}).status_code == status
        leave = at(panel.study, "member_leaves", membership_id=member.id)
        assert client.post(leave).status_code == status
        form = {"email": "eve@example.org", "roles": ["admin"]}
        assert client.post(at(panel.study, "study_members"), form).status_code == status
    round_1.refresh_from_db()
    assert round_1.revealed_at is None
    assert not User.objects.filter(email="eve@example.org").exists()


def test_a_conversation_of_another_study_is_not_acted_on_and_not_found(panel: Panel) -> None:
    other = make_panel()
    theirs, _, round_1 = make_voting(panel=other)
    client = signed_in(panel.adam)
    assert client.get(at(panel.study, "admin_conversation", conversation_id=theirs.id)).status_code == 404
    client.post(at(panel.study, "admin_act", act="close-round"), {"conversation": theirs.id})
    round_1.refresh_from_db()
    assert round_1.revealed_at is None


# Blindness


def test_no_page_of_an_admin_tells_how_anybody_voted(panel: Panel) -> None:
    """The same pages, letter by letter, whatever ben's vote says."""
    conversation, [criterion], _ = make_voting(panel=panel)
    client = signed_in(panel.adam)
    vote(criterion=criterion, reviewer=panel.ben, points=6)
    agreed = [plain(shown(client, page)) for page in every_page(panel, conversation)]
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="It harms.")
    objected = [plain(shown(client, page)) for page in every_page(panel, conversation)]
    vote(criterion=criterion, reviewer=panel.ben, choice="recuse")
    recused = [plain(shown(client, page)) for page in every_page(panel, conversation)]
    assert agreed == objected == recused


def test_a_reviewer_who_has_not_finished_shows_as_one_who_has_not_begun(panel: Panel) -> None:
    conversation, [first, second, _], _ = make_voting(panel=panel, texts=["One.", "Two.", "Three."])
    client = signed_in(panel.adam)
    before = [plain(shown(client, page)) for page in every_page(panel, conversation)]
    vote(criterion=first, reviewer=panel.ben)
    vote(criterion=second, reviewer=panel.ben, choice="object")
    assert [plain(shown(client, page)) for page in every_page(panel, conversation)] == before


def test_who_has_finished_shows_by_name_and_in_the_order_of_names(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    client = signed_in(panel.adam)
    page = at(panel.study, "admin_conversation", conversation_id=conversation.id)
    for last in (panel.dev, panel.ben):
        vote(criterion=criterion, reviewer=last)
    html = shown(client, page)
    row = r"<span>(Ana|Ben|Chloe|Dev|Eva)</span>\s*<span class=\"cluster\">\s*<span class=\"state\">([a-z ]+)</span>"
    names = re.findall(row, html)
    assert names == [
        ("Ana", "finished"),
        ("Ben", "finished"),
        ("Chloe", "not finished"),
        ("Dev", "finished"),
        ("Eva", "not finished"),
    ]
    assert "Waits for Chloe and Eva to vote." in html
    assert "3 of 5" in shown(client, at(panel.study, "study_progress"))


def test_whose_vote_is_on_an_older_wording_has_not_finished(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text="Asks about nights.", points=6
    )
    html = shown(signed_in(panel.adam), at(panel.study, "admin_conversation", conversation_id=conversation.id))
    assert "Waits for 4 of 5 reviewers to vote." in html


def test_who_has_votes_left_is_the_same_in_sql_as_in_the_rule_of_completeness(panel: Panel) -> None:
    conversation, criteria, round_1 = make_voting(panel=panel, texts=["One.", "Two.", "Three.", "Four."])
    other, [theirs], _ = make_voting(panel=panel)
    for criterion in criteria[:3]:
        vote(criterion=criterion, reviewer=panel.ben)
    vote(criterion=criteria[0], reviewer=panel.dev, choice="abstain")
    vote(criterion=theirs, reviewer=panel.eva)
    withdraw_criterion(criterion=criteria[3], by=panel.ana)
    recuse_from_conversation(conversation=conversation, by=panel.eva)
    rows = with_work_left(Assignment.objects.active().filter(conversation__in=[conversation, other]))
    told = {(row.conversation_id, row.reviewer_id) for row in rows if row.has_votes_left}
    rounds = [round_1, other.rounds.get()]
    expected = {
        (this.conversation_id, person)
        for this in rounds
        for one in gather(rounds)[this.id]
        for person in one.waits_for()
    }
    assert told == expected
    assert (conversation.id, panel.ben.id) not in told


def test_an_admin_who_reviews_reads_no_draft_of_others(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["admin"])
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    draft(conversation=conversation, writer=panel.ana, text="Names the fear of dying.")
    page = at(panel.study, "admin_conversation", conversation_id=conversation.id)
    assert "Names the fear of dying." in shown(signed_in(panel.adam), page)
    assert "Names the fear of dying." not in shown(signed_in(panel.ben), page)


# Progress


def states_of(html: str) -> list[str]:
    return re.findall(r"</th>\s*<td>([^<]+)</td>", html.split('id="conversations"')[1].split("</form>")[1])


def test_each_conversation_says_where_it_stands_and_what_it_waits_for(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="bare", position=1)
    drafting = make_conversation(study=panel.study, external_id="drafting", position=2)
    for reviewer in (panel.ana, panel.ben, panel.chloe):
        assign_reviewer(conversation=drafting, reviewer=reviewer)
    finish_drafting(conversation=drafting, by=panel.ana)
    empty = make_conversation(study=panel.study, external_id="empty", position=3)
    close_drafting(conversation=empty, by=panel.adam)
    _, [agreed], _ = make_voting(panel=panel, external_id="settled", position=4)
    _, [split], _ = make_voting(panel=panel, external_id="split", position=5)
    for reviewer in panel.reviewers:
        vote(criterion=agreed, reviewer=reviewer)
        vote(criterion=split, reviewer=reviewer, choice="object" if reviewer in (panel.ben, panel.dev) else "agree")
    html = shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    assert states_of(html) == [
        "drafting",
        "drafting",
        "drafting, closed without a criterion",
        "in discussion, after round 1",
        "settled",
    ]
    for sentence in (
        "Waits for reviewers to be assigned.",
        "Waits for Ben and Chloe to finish drafting.",
        "Nothing to vote on: no criterion was written.",
        "1 of 1 criteria in consensus.",
        "Waits for 5 of 5 reviewers to end the discussion.",
    ):
        assert sentence in html


def test_a_round_with_too_few_eligible_reviewers_waits_for_another_one(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben, panel.chloe):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    criterion = draft(conversation=conversation, writer=panel.ana)
    close_drafting(conversation=conversation, by=panel.adam)
    for reviewer in (panel.ben, panel.chloe):
        vote(criterion=criterion, reviewer=reviewer)
    html = shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    assert "a criterion needs 3 who didn&#x27;t write it, one has 2." in html
    assert "out of reach" not in html.split("<tbody>")[-2]  # dev and eva could still be assigned


def test_a_conversation_that_too_few_can_read_is_out_of_reach(panel: Panel) -> None:
    for person in [panel.ana, *panel.reviewers]:
        User.objects.filter(pk=person.pk).update(languages=["en"])
    make_conversation(study=panel.study, external_id="in-greek", language="el")
    make_conversation(study=panel.study, external_id="in-english", language="en")
    client = signed_in(panel.adam)
    html = shown(client, at(panel.study, "study_progress"))
    assert "1 conversation is out of reach." in html
    filtered = shown(client, at(panel.study, "study_progress") + "?state=out_of_reach")
    assert "in-greek" in filtered
    assert "in-english" not in filtered


def test_the_list_is_filtered_by_state_person_and_id_and_htmx_gets_the_list_alone(panel: Panel) -> None:
    quiet = make_conversation(study=panel.study, external_id="quiet-one")
    for reviewer in (panel.ana, panel.eva):
        assign_reviewer(conversation=quiet, reviewer=reviewer)
    finish_drafting(conversation=quiet, by=panel.ana)
    _, [criterion], _ = make_voting(panel=panel, external_id="loud-one")
    vote(criterion=criterion, reviewer=panel.ben)
    client, page = signed_in(panel.adam), at(panel.study, "study_progress")

    def ids(query: str) -> list[str]:
        html = shown(client, page + query, HX_Request="true")
        assert html.strip().startswith('<div id="conversations"')
        return re.findall(r">((?:quiet|loud)-one)</a>", html)

    assert ids("?state=voting") == ["loud-one"]
    assert ids("?state=drafting") == ["quiet-one"]
    assert ids("?words=QUIET") == ["quiet-one"]
    assert ids(f"?reviewer={panel.ben.id}") == []
    assert ids(f"?reviewer={panel.dev.id}") == ["loud-one"]
    assert ids(f"?reviewer={panel.ana.id}") == []
    assert sorted(ids(f"?reviewer={panel.eva.id}")) == ["loud-one", "quiet-one"]
    assert sorted(ids("?state=nonsense")) == ["loud-one", "quiet-one"]


def test_conversations_of_an_external_version_are_not_counted(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="theirs", external_name="healthbench")
    html = shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    assert "theirs" not in html
    assert "No conversations yet" in html


def many(panel: Panel, count: int) -> None:
    for _ in range(count):
        _, [criterion], _ = make_voting(panel=panel)
        vote(criterion=criterion, reviewer=panel.ben)
        make_conversation(study=panel.study)


@pytest.mark.parametrize("name", PAGES)
def test_the_number_of_queries_does_not_grow_with_the_study(panel: Panel, name: str) -> None:
    many(panel, 1)
    client, page = signed_in(panel.adam), at(panel.study, name)
    few = queries_of(client, page)
    many(panel, 6)
    for number in range(6):
        join(study=panel.study, name=f"more-{number}")
    assert queries_of(client, page) == few
    assert few <= 30


# Acts on conversations


def test_asking_what_an_act_would_do_does_nothing(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    draft_by_ana(panel, conversation)
    client = signed_in(panel.adam)
    page = at(panel.study, "admin_act", act="close-drafting") + f"?conversation={conversation.id}"
    assert "Close drafting of 1 conversation?" in shown(client, page)
    conversation.refresh_from_db()
    assert conversation.drafting_closed_at is None


def draft_by_ana(panel: Panel, conversation: Conversation) -> None:
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    draft(conversation=conversation, writer=panel.ana)


def test_drafting_is_closed_for_those_chosen_and_the_others_are_passed_over_by_name(panel: Panel) -> None:
    open_one = make_conversation(study=panel.study, external_id="still-open")
    untouched = make_conversation(study=panel.study, external_id="untouched")
    draft_by_ana(panel, open_one)
    voting, _, _ = make_voting(panel=panel, external_id="voting-already")
    client = signed_in(panel.adam)
    chosen = {"conversation": [open_one.id, voting.id]}
    response = client.post(at(panel.study, "admin_act", act="close-drafting"), chosen, follow=True)
    html = response.content.decode()
    assert response.redirect_chain == [(at(panel.study, "study_progress"), 302)]
    assert "Drafting is closed for conversation still-open." in html
    assert "Passed over: voting-already. Drafting is closed already for this conversation." in html
    open_one.refresh_from_db()
    untouched.refresh_from_db()
    assert open_one.drafting_closed_at is not None
    assert open_one.rounds.get().number == 1
    assert untouched.drafting_closed_at is None


def test_a_round_is_closed_with_the_votes_that_there_are_and_the_record_says_by_whom(panel: Panel) -> None:
    conversation, [criterion], round_1 = make_voting(panel=panel)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    response = signed_in(panel.adam).post(
        at(panel.study, "admin_act", act="close-round"), {"conversation": conversation.id}
    )
    assert response.headers["Location"] == at(panel.study, "admin_conversation", conversation_id=conversation.id)
    round_1.refresh_from_db()
    assert round_1.revealed_at is not None
    assert round_1.closed_by == panel.adam
    assert criterion.outcomes.get().points == 6


def test_the_next_round_opens_where_there_is_something_for_it(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer, weight in zip(panel.reviewers, (2, 2, 10, 10), strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=weight)
    settled, [agreed], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=agreed, reviewer=reviewer)
    client = signed_in(panel.adam)
    html = shown(client, at(panel.study, "admin_conversation", conversation_id=conversation.id))
    assert "That is 1 criterion here." in html
    assert "Open the next round" not in shown(client, at(panel.study, "admin_conversation", conversation_id=settled.id))
    client.post(
        at(panel.study, "admin_act", act="open-round"), {"conversation": [conversation.id, settled.id]}, follow=True
    )
    assert Round.objects.get(conversation=conversation, number=2).opened_by == panel.adam
    assert settled.rounds.count() == 1


def test_all_of_a_filtered_list_are_acted_on_and_no_other(panel: Panel) -> None:
    for number in range(3):
        draft_by_ana(panel, make_conversation(study=panel.study, external_id=f"wanted-{number}"))
    draft_by_ana(panel, make_conversation(study=panel.study, external_id="spared"))
    client, page = signed_in(panel.adam), at(panel.study, "admin_act", act="close-drafting")
    assert "Close drafting of 3 conversations?" in shown(client, page + "?all=1&words=wanted")
    client.post(page, {"all": "1", "words": "wanted", "state": "", "reviewer": ""})
    closed = Conversation.objects.exclude(drafting_closed_at=None).values_list("external_id", flat=True)
    assert sorted(closed) == ["wanted-0", "wanted-1", "wanted-2"]


def test_more_than_are_done_at_once_are_left_for_another_press(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.views.progress.MOST_AT_ONCE", 2)
    closed = make_conversation(study=panel.study, external_id="closed")
    close_drafting(conversation=closed, by=panel.adam)
    for number in range(3):
        draft_by_ana(panel, make_conversation(study=panel.study, external_id=f"open-{number}", position=number))
    client, page = signed_in(panel.adam), at(panel.study, "admin_act", act="close-drafting")
    html = shown(client, page + "?all=1")
    assert "Close drafting of 2 conversations?" in html
    assert "1 more is left for another press" in html
    client.post(page, {"all": "1"})
    still_open = Conversation.objects.filter(drafting_closed_at=None).values_list("external_id", flat=True)
    assert list(still_open) == ["open-2"]
    client.post(page, {"all": "1"})
    assert not Conversation.objects.filter(drafting_closed_at=None).exists()


def test_nothing_chosen_is_said_and_an_unknown_act_is_not_there(panel: Panel) -> None:
    client = signed_in(panel.adam)
    page = at(panel.study, "admin_act", act="close-round")
    assert "No conversation is chosen." in shown(client, page)
    assert "so nothing was done" in client.post(page, {"conversation": "nonsense"}, follow=True).content.decode()
    assert client.get(at(panel.study, "admin_act", act="freeze")).status_code == 404


def test_what_an_act_would_do_is_what_it_does(panel: Panel) -> None:
    conversations = []
    for weights in ([6, 6, 6, 6], [2, 2, 10, 10], [2, 2], []):
        conversation, [criterion], _ = make_voting(panel=panel)
        for reviewer, points in zip(panel.reviewers, weights, strict=False):
            vote(criterion=criterion, reviewer=reviewer, points=points)
        conversations.append(conversation)
    short, _, _ = make_voting(panel=panel)
    close_round(conversation=short, by=panel.adam)  # nobody judged it: an admin may ask again
    conversations.append(short)
    bare = make_conversation(study=panel.study)
    draft_by_ana(panel, bare)
    conversations += [bare, make_conversation(study=panel.study)]
    ids: list[UUID] = [this.id for this in conversations]
    for act in ROUND_ACTS.values():
        wanted = would_act_on(study=panel.study, act=act, conversation_ids=ids)
        done = act_on_each(study=panel.study, conversations=conversations, act=act, by=panel.adam)
        assert {this.id for this in done.acted_on} == wanted
        assert wanted
