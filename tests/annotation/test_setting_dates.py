"""Dates of drafting, rounds and discussions: who sets them, what takes none, and where they show."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.assigning import assign_reviewer
from annotation.models import Conversation, Round
from annotation.round_acts import close_drafting, close_round
from annotation.setting_dates import DateIsPast, DateIsUnreadable, DateOf, read_date, set_dates, would_take_date
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.journeys.commands import done, run
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db

SOON = timedelta(days=3)


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def in_discussion(panel: Panel) -> Conversation:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben, choice="object")
    close_round(conversation=conversation, by=panel.adam)
    return conversation


def test_drafting_takes_a_date_and_loses_it_again(panel: Panel) -> None:
    until = timezone.now() + SOON
    conversation = make_conversation(study=panel.study)
    assert set_dates(study=panel.study, of="drafting", until=until).dated == [conversation]
    conversation.refresh_from_db()
    assert conversation.drafting_closes_at == until
    set_dates(study=panel.study, of="drafting", until=None, conversations=[conversation.id])
    conversation.refresh_from_db()
    assert conversation.drafting_closes_at is None


def test_only_the_conversations_named_take_it_and_none_of_another_study(panel: Panel) -> None:
    one, two = make_conversation(study=panel.study), make_conversation(study=panel.study)
    foreign = make_conversation(study=make_panel().study)
    done = set_dates(study=panel.study, of="drafting", until=timezone.now() + SOON, conversations=[one.id, foreign.id])
    assert done.dated == [one]
    assert not Conversation.objects.filter(pk__in=[two.pk, foreign.pk], drafting_closes_at__isnull=False).exists()


def test_each_kind_passes_over_what_it_can_not_end(panel: Panel) -> None:
    drafting = make_conversation(study=panel.study, position=1)
    voting, _, _ = make_voting(panel=panel, position=2)
    discussed = in_discussion(panel)
    until = timezone.now() + SOON
    ids = [drafting.id, voting.id, discussed.id]
    for of, takes in (
        (DateOf.DRAFTING, [drafting]),
        (DateOf.ROUND, [voting]),
        (DateOf.DISCUSSION, [drafting, voting, discussed]),
    ):
        assert would_take_date(study=panel.study, of=of, conversations=ids) == {this.id for this in takes}
        result = set_dates(study=panel.study, of=of, until=until, conversations=ids)
        assert set(result.dated) == set(takes)
        assert len(result.passed_over) == 3 - len(takes)
        assert all(why for _, why in result.passed_over)
    assert voting.rounds.get().closes_at == until
    assert Conversation.objects.get(pk=discussed.pk).discussion_closes_at == until


def test_a_date_in_the_past_is_refused(panel: Panel) -> None:
    make_conversation(study=panel.study)
    for of in DateOf:
        with pytest.raises(DateIsPast):
            set_dates(study=panel.study, of=of, until=timezone.now() - timedelta(seconds=1))


def test_a_round_past_its_date_is_revealed_and_gets_no_other(panel: Panel) -> None:
    conversation, [criterion], this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    past = timezone.now() - timedelta(minutes=1)
    Round.objects.filter(pk=this.pk).update(closes_at=past)
    done = set_dates(study=panel.study, of="round", until=timezone.now() + SOON, conversations=[conversation.id])
    this.refresh_from_db()
    assert done.dated == []
    assert (this.closes_at, this.revealed_at is not None) == (past, True)


def test_drafting_past_its_date_is_closed_and_gets_no_other(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    draft(conversation=conversation, writer=panel.ana)
    Conversation.objects.filter(pk=conversation.pk).update(drafting_closes_at=timezone.now() - timedelta(minutes=1))
    done = set_dates(study=panel.study, of="drafting", until=None)
    conversation.refresh_from_db()
    assert (done.dated, conversation.drafting_closed_at is not None) == ([], True)


def test_the_last_round_is_followed_by_no_discussion(panel: Panel) -> None:
    conversation = in_discussion(panel)
    for number in (2, 3):
        Round.objects.create(conversation=conversation, number=number)
        close_round(conversation=conversation, by=panel.adam)
    [(_, why)] = set_dates(study=panel.study, of="discussion", until=timezone.now() + SOON).passed_over
    assert why == "No round is left that could follow a discussion."


def test_dates_are_read_as_they_are_typed() -> None:
    assert read_date("2027-05-31") == datetime(2027, 5, 31, 23, 59, 59, tzinfo=UTC)
    assert read_date("2027-05-31T18:00") == datetime(2027, 5, 31, 18, tzinfo=UTC)
    assert read_date(" 2027-05-31T18:00+02:00 ") == datetime(2027, 5, 31, 16, tzinfo=UTC)
    assert read_date("None") is None
    for words in ("soon", "2027-02-31", "2027-05-31T25:00", ""):
        with pytest.raises(DateIsUnreadable):
            read_date(words)


# Pages and the command


def test_the_page_dates_those_chosen_and_names_the_others(panel: Panel) -> None:
    drafting = make_conversation(study=panel.study, external_id="in-drafting")
    voting, _, _ = make_voting(panel=panel, external_id="in-voting")
    client, page = signed_in(panel.adam), at(panel.study, "study_dates")
    assert page in shown(client, at(panel.study, "study_progress"))
    assert "in-drafting" in shown(client, f"{page}?conversation={drafting.id}&conversation={voting.id}")
    assert "No conversation is chosen" in shown(client, page)
    sent: dict[str, Any] = {"conversation": [drafting.id, voting.id], "of": "drafting", "until": "2099-05-31T18:00"}
    answer = client.post(page, sent, follow=True)
    body = answer.content.decode()
    assert "goes on until 31 May 2099, 18:00 UTC" in body
    assert "Passed over: in-voting." in body
    assert Conversation.objects.get(pk=drafting.pk).drafting_closes_at == datetime(2099, 5, 31, 18, tzinfo=UTC)
    assert "31 May 2099, 18:00 UTC" in shown(client, at(panel.study, "study_progress"))


def test_the_page_dates_all_that_the_filter_names(panel: Panel) -> None:
    one = make_conversation(study=panel.study, external_id="sleep-1")
    other = make_conversation(study=panel.study, external_id="grief-1")
    sent = {"all": "1", "words": "sleep", "of": "drafting", "until": "2099-05-31T18:00"}
    signed_in(panel.adam).post(at(panel.study, "study_dates"), sent)
    assert Conversation.objects.get(pk=one.pk).drafting_closes_at is not None
    assert Conversation.objects.get(pk=other.pk).drafting_closes_at is None


def test_the_page_refuses_what_is_past_or_unreadable_and_everybody_but_admins(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    page = at(panel.study, "study_dates")
    for until, status in (("2001-01-01T00:00", 422), ("soon", 422)):
        sent = {"conversation": conversation.id, "of": "drafting", "until": until}
        assert signed_in(panel.adam).post(page, sent).status_code == status
    assert signed_in(panel.adam).post(page, {"conversation": conversation.id, "of": "drafting"}).status_code == 422
    without = {"conversation": conversation.id, "of": "drafting", "has_no_date": "on", "until": ""}
    assert signed_in(panel.adam).post(page, without).status_code == 302
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert signed_in(person).post(page, {"conversation": conversation.id, "of": "drafting"}).status_code == status


def test_a_clinician_sees_until_when_a_discussion_goes_on(panel: Panel) -> None:
    conversation = in_discussion(panel)
    set_dates(study=panel.study, of="discussion", until=datetime(2099, 5, 31, 18, tzinfo=UTC))
    client = signed_in(panel.ben)
    assert "31 May 2099, 18:00 UTC" in " ".join(shown(client, at(panel.study, "study_conversations")).split())
    assert "31 May, 18:00 UTC" in shown(client, at(panel.study, "desk", conversation_id=conversation.id))


def test_the_command_dates_and_refuses_in_a_sentence(panel: Panel) -> None:
    make_conversation(study=panel.study, external_id="a")
    closed = make_conversation(study=panel.study, external_id="b")
    close_drafting(conversation=closed, by=panel.adam)
    answer = done("set_dates", panel.study.slug, "--drafting-until", "2099-05-31")
    assert answer["drafting"] == {"until": "2099-05-31T23:59:59+00:00", "conversations": 1}
    assert [this["conversation"] for this in answer["passed_over"]] == ["b"]
    assert done("set_dates", panel.study.slug, "a", "--drafting-until", "none")["drafting"]["until"] is None
    for words, code in (
        (["b", "--drafting-until", "2099-05-31"], 1),
        (["--drafting-until", "2001-01-01"], 1),
        (["--round-until", "soon"], 1),
        ([], 2),
    ):
        assert run("set_dates", panel.study.slug, *words).code == code
