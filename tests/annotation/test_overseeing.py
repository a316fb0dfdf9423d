"""The admin's list: what waits stands first, its words are those of the filter, and who has still something to do."""

import pytest

from annotation.discussing import end_discussion
from annotation.joining import leave_study
from annotation.overseeing import Stage, conversations_to_oversee, count_stages, oversee, shares_of_reviewers
from annotation.previewing_assignment import preview_assignment
from annotation.round_acts import close_round
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def one_of_each(panel: Panel) -> None:
    _, [agreed], _ = make_voting(panel=panel, external_id="a-settled", position=1)
    discussed, [split], _ = make_voting(panel=panel, external_id="b-discussed", position=2)
    vote(criterion=split, reviewer=panel.ben, choice="object")
    for reviewer in panel.reviewers:
        vote(criterion=agreed, reviewer=reviewer)
    close_round(conversation=discussed, by=panel.adam)
    make_voting(panel=panel, external_id="c-voting", position=3)
    make_conversation(study=panel.study, external_id="d-drafting", position=4)


def test_what_waits_comes_first_and_what_is_settled_last(panel: Panel) -> None:
    one_of_each(panel)
    rows = list(conversations_to_oversee(panel.study))
    assert [row.external_id for row in rows] == ["b-discussed", "c-voting", "d-drafting", "a-settled"]
    assert [row.stage for row in rows] == [Stage.DISCUSSION, Stage.VOTING, Stage.DRAFTING, Stage.SETTLED]


def test_rows_filter_and_counts_use_one_set_of_words(panel: Panel) -> None:
    one_of_each(panel)
    rows = oversee(panel.study, conversations_to_oversee(panel.study))
    assert all(row.state_in_words.startswith(Stage(row.stage).label) for row in rows)
    assert count_stages(panel.study) == {"drafting": 1, "voting": 1, "discussion": 1, "settled": 1}
    client, page = signed_in(panel.adam), at(panel.study, "study_progress")
    for stage in Stage:
        html = shown(client, f"{page}?state={stage.value}")
        assert f"?state={stage.value}#conversations" in html
        assert "1 conversation in this list" in html


def test_reviewers_are_counted_while_they_still_have_to_discuss(panel: Panel) -> None:
    one_of_each(panel)
    shares = {share.reviewer: share for share in shares_of_reviewers(panel.study)}
    assert (shares[panel.ben].to_vote, shares[panel.ben].to_discuss) == (1, 1)
    discussed = conversations_to_oversee(panel.study, stage=Stage.DISCUSSION).get()
    assert discussed in conversations_to_oversee(panel.study, reviewer=panel.ben.id)
    end_discussion(conversation=discussed, by=panel.ben)
    shares = {share.reviewer: share for share in shares_of_reviewers(panel.study)}
    assert (shares[panel.ben].to_discuss, shares[panel.dev].to_discuss) == (0, 1)
    assert discussed not in conversations_to_oversee(panel.study, reviewer=panel.ben.id)
    assert "Still to discuss" in shown(signed_in(panel.adam), at(panel.study, "study_progress"))


def test_assigning_says_when_no_conversation_reaches_the_number(panel: Panel) -> None:
    leave_study(study=panel.study, person=panel.eva)
    make_conversation(study=panel.study)
    make_conversation(study=panel.study)
    assert preview_assignment(panel.study, 4).shortfall == ""
    sentence = "No conversation reaches that number: the study has 4 clinicians, and at most 4 can be found for one."
    assert preview_assignment(panel.study, 5).shortfall == sentence
    client, page = signed_in(panel.adam), at(panel.study, "study_assign")
    assert sentence in shown(client, page + "?reviewers=5")
    plan = preview_assignment(panel.study, 5).plan.digest
    assert sentence in client.post(page, {"reviewers": 5, "plan": plan}, follow=True).content.decode()


def test_assigning_says_how_many_conversations_stay_below(panel: Panel) -> None:
    for name in ("ana", "ben"):
        person = getattr(panel, name)
        person.languages = ["en"]
        person.save(update_fields=["languages"])
    make_conversation(study=panel.study, language="en")
    make_conversation(study=panel.study, language="ja")
    assert preview_assignment(panel.study, 5).shortfall.startswith("1 conversation stays below that number")
