"""The sufficiency question on the desk and by the API: asked after a reveal, blind while a round is open."""

from typing import Any

import pytest

from annotation.changing_policy import change_policy
from annotation.discussing import request_vote
from annotation.models import Conversation, SufficiencyAnswer, UnsentText
from annotation.round_acts import open_round
from tests.annotation.browsing import Browser, text_of
from tests.annotation.test_sufficiency import agreed, noes, say_no, say_yes, seen
from tests.factories import Panel, make_panel, make_voting
from tests.pages import api, at, got, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def told(panel: Panel, person: Any, conversation: Conversation) -> Any:
    return got(person, at(panel.study, "api_sufficiency", conversation_id=conversation.id))


def test_a_reviewer_answers_on_the_desk_with_and_without_htmx(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    ben = Browser(panel.ben)
    assert "Is it enough?" in text_of(ben.desk(conversation))
    plain = ben.on(conversation, "answer_sufficiency", seen=seen(conversation), answer="yes")
    assert plain.status_code == 303
    assert "You answered: yes" in text_of(ben.desk(conversation))
    part = ben.on(
        conversation, "answer_sufficiency", htmx=True, seen=seen(conversation), answer="no", missing="Nothing on risk."
    )
    assert part.status_code == 200
    assert part.content.strip().startswith(b'<div id="side"') or b'id="side"' in part.content
    assert "You answered: no" in text_of(part)
    assert noes(panel, conversation) == 1


def test_a_no_without_words_comes_back_with_what_is_missing(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    answer = Browser(panel.ben).on(conversation, "answer_sufficiency", seen=seen(conversation), answer="no")
    assert answer.status_code == 422
    assert "Say what is missing or what contradicts" in text_of(answer)
    assert Browser(panel.ben).on(conversation, "answer_sufficiency", seen="x").status_code == 422


def test_what_changed_meanwhile_is_shown_and_what_was_written_is_kept(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    answer = Browser(panel.ben).on(conversation, "answer_sufficiency", seen="0" * 64, answer="no", missing="On risk.")
    assert answer.status_code == 409
    assert "changed while you were reading" in text_of(answer)
    assert b"On risk." in answer.content
    assert seen(conversation).encode() in answer.content, "sent again, it is about what stands now"
    assert UnsentText.objects.filter(person=panel.ben, place="sufficiency").exists()
    Browser(panel.ben).on(conversation, "answer_sufficiency", seen=seen(conversation), answer="no", missing="On risk.")
    assert not UnsentText.objects.filter(person=panel.ben).exists(), "what is sent is purged"


def test_what_is_typed_is_kept(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    ben = Browser(panel.ben)
    assert ben.on(conversation, "keep_unsent", place="sufficiency", missing="Half a sen").status_code == 200
    assert b"Half a sen" in ben.desk(conversation).content
    assert b"Half a sen" not in Browser(panel.chloe).desk(conversation).content


def test_answers_show_without_names_unless_the_policy_shows_names(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    say_no(conversation, panel.ben, missing="Nothing on risk.")
    for person in (panel.chloe, panel.adam, panel.rita):
        page = text_of(Browser(person).desk(conversation))
        assert "A reviewer: not enough" in page
        assert "Nothing on risk." in page
        assert "Ben" not in page.split("Is it enough?")[1].split("Settled")[0]
    assert told(panel, panel.chloe, conversation)["answers"][0]["name"] is None

    change_policy(study=panel.study, by=panel.adam, names_shown_after_reveal=True)
    named, _ = agreed(panel, external_id="named")
    say_yes(named, panel.ben)
    assert "Ben: enough" in text_of(Browser(panel.chloe).desk(named))
    assert told(panel, panel.chloe, named)["answers"][0]["name"] == "Ben"


def test_while_a_round_is_open_no_page_and_no_answer_of_the_api_tells(panel: Panel) -> None:
    conversation, (criterion,) = agreed(panel)
    say_no(conversation, panel.ben, missing="Nothing on risk.")
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    for person in (panel.chloe, panel.adam, panel.rita):
        assert "not enough" not in text_of(Browser(person).desk(conversation))
        answer = told(panel, person, conversation)
        assert (answer["answers"], answer["unanswered"], answer["is_asked"]) == ([], None, False)
    assert len(told(panel, panel.ben, conversation)["answers"]) == 1
    sent = Browser(panel.chloe).on(conversation, "answer_sufficiency", seen=seen(conversation), answer="yes")
    assert sent.status_code == 409


def test_each_role_on_the_address(panel: Panel) -> None:
    conversation, _ = agreed(panel)
    sent: dict[str, Any] = {"seen": seen(conversation), "answer": "yes"}
    assert Browser(panel.adam).on(conversation, "answer_sufficiency", **sent).status_code == 403
    assert Browser(panel.rita).on(conversation, "answer_sufficiency", **sent).status_code == 403
    assert Browser(panel.oscar).on(conversation, "answer_sufficiency", **sent).status_code == 404
    assert Browser().on(conversation, "answer_sufficiency", **sent).status_code == 302
    assert Browser(panel.ana).on(conversation, "answer_sufficiency", **sent).status_code == 303
    assert SufficiencyAnswer.objects.count() == 1


def test_the_api_asks_and_takes_answers(panel: Panel) -> None:
    conversation, (criterion,) = agreed(panel)
    url = at(panel.study, "api_sufficiency", conversation_id=conversation.id)
    asked = got(panel.ben, url)
    assert asked["is_asked"] is True
    assert asked["wordings"] == [str(criterion.current_revision_id)]
    assert asked["unanswered"] == 5
    assert got(panel.adam, url)["is_asked"] is False
    client = api(panel.ben)
    given = {"seen": asked["seen"], "is_sufficient": False, "contradicts": "1 and 2."}
    made = client.post(url, given, format="json")
    assert made.status_code == 201
    assert made.json()["answers"] == [
        {
            "is_sufficient": False,
            "missing": "",
            "contradicts": "1 and 2.",
            "is_current": True,
            "is_yours": True,
            "name": None,
        }
    ]
    assert client.post(url, {"seen": asked["seen"], "is_sufficient": False}, format="json").status_code == 409
    assert client.post(url, {"seen": "other", "is_sufficient": True}, format="json").status_code == 409
    assert client.post(url, {}, format="json").status_code == 400
    assert api(panel.adam).post(url, given, format="json").status_code == 403


def test_nothing_is_asked_before_the_first_reveal(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    assert "Is it enough?" not in text_of(Browser(panel.ben).desk(conversation))
    assert told(panel, panel.ben, conversation)["wordings"] == []
    assert "Is it enough?" not in shown(signed_in(panel.adam), at(panel.study, "desk", conversation_id=conversation.id))
