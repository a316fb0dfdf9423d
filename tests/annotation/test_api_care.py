"""The API of care: what the pages do, for the same roles, with the same refusals."""

import pytest

from annotation.models import Conversation, ConversationReport, LockDecision, User
from tests.factories import Panel, make_panel, make_voting
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def conversation(panel: Panel) -> Conversation:
    this, _, _ = make_voting(panel=panel, tags=["war"])
    return this


def sent(person: User, url: str, *, by: str = "post", **facts: object) -> tuple[int, object]:
    answer = getattr(api(person), by)(url, facts, format="json")
    return answer.status_code, answer.json() if answer.content else None


def test_topics_are_read_declined_and_handed_back(panel: Panel, conversation: Conversation) -> None:
    url = at(panel.study, "api_topics")
    assert got(panel.ben, url) == {"topics": ["war"], "declined": [], "to_hand_back": []}
    told = {"topics": ["war"], "declined": ["war"], "to_hand_back": [str(conversation.id)]}
    assert sent(panel.ben, url, by="put", declined=["war"]) == (200, told)
    assert sent(panel.ben, url, by="put", declined=["horses"])[0] == 409
    back = at(panel.study, "api_hand_back")
    assert sent(panel.ben, back, conversations=[str(conversation.id)]) == (
        200,
        {"handed_back": [str(conversation.id)]},
    )
    assert api(panel.adam).get(url).status_code == 403
    assert api(panel.oscar).get(url).status_code == 404


def test_a_lock_refuses_reading_and_is_decided_by_an_admin(panel: Panel, conversation: Conversation) -> None:
    place = {"conversation_id": conversation.id}
    assert sent(panel.oscar, at(panel.study, "api_lock", **place))[0] == 404
    assert sent(panel.ben, at(panel.study, "api_lock", **place), words="A name.") == (204, None)
    for name in ("api_conversation", "api_desk", "api_criteria", "api_rounds", "api_votes"):
        answer = api(panel.ben).get(at(panel.study, name, **place))
        assert answer.status_code == 409, name
        assert answer.json()["error"].startswith("This conversation is locked")
    assert got(panel.adam, at(panel.study, "api_conversation", **place))["messages"]
    [lock] = got(panel.adam, at(panel.study, "api_care"))["locks"]
    assert (lock["conversation"], lock["words"], lock["decisions"]) == (str(conversation.id), "A name.", [])
    decide = at(panel.study, "api_lock_decisions", **place)
    assert sent(panel.ben, decide, decision="released", reason="Mine.")[0] == 403
    assert sent(panel.adam, decide, decision="released", reason="")[0] == 400
    assert sent(panel.adam, decide, decision="released", reason="Invented.")[0] == 201
    assert sent(panel.adam, decide, decision="released", reason="Invented.")[0] == 409
    assert LockDecision.objects.get().decided_by == panel.adam
    assert got(panel.ben, at(panel.study, "api_conversation", **place))


def test_a_report_is_made_and_closed(panel: Panel, conversation: Conversation) -> None:
    url = at(panel.study, "api_reports", conversation_id=conversation.id)
    assert sent(panel.ben, url, kind="nonsense")[0] == 400
    assert sent(panel.ben, url, kind="other")[0] == 409
    status, told = sent(panel.ben, url, kind="cut_off", words="After turn 3.")
    assert status == 201
    report = ConversationReport.objects.get()
    assert isinstance(told, dict)
    assert told["id"] == str(report.id)
    close = at(panel.study, "api_close_report", report_id=report.id)
    assert sent(panel.ben, close, note="Done.")[0] == 403
    assert sent(panel.adam, close, note="Done.") == (204, None)
    assert sent(panel.adam, close, note="Done.")[0] == 409
    assert got(panel.adam, at(panel.study, "api_care")) == {"locks": [], "reports": []}
    assert api(panel.rita).get(at(panel.study, "api_care")).status_code == 403
