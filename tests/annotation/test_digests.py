"""Digests and reminders: what they say, when they come, and that they tell nothing of anybody's hidden vote."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from annotation import digests, waiting_for_you
from annotation.digests import ask_for_due_mail, due_mail
from annotation.models import Digests, Membership, Notice, Round, User
from annotation.opting_out import stop_mail
from annotation.sending import send_waiting
from annotation.tasks import ask_for_mail, send_mail
from annotation.waiting_for_you import what_waits
from tests.factories import Panel, make_panel, make_voting, vote
from tests.journeys.commands import done, run

MONDAY = datetime(2026, 12, 7, 8, 30, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock for the people's mornings: the database and all else keep their own."""

    def tell(moment: datetime) -> None:
        def local_now(person: User) -> datetime:
            return moment.astimezone(ZoneInfo(person.time_zone or "UTC"))

        for module in (digests, waiting_for_you):
            monkeypatch.setattr(module, "local_now", local_now)

    tell(MONDAY)
    return tell


@pytest.fixture
def panel(transactional_db: None, clock: Any) -> Panel:
    panel = make_panel(slug="pilot")
    make_voting(panel=panel, texts=["Asks about sleep.", "Names a helpline."])
    return panel


def told() -> set[tuple[str, str, str]]:
    return {(each.person.name, str(each.kind), each.period) for each in due_mail()}


def letter_to(name: str) -> str:
    [sent] = [each for each in mail.outbox if each.to == [f"{name}@example.org"]]
    return str(sent.body)


def test_a_weekly_digest_comes_on_a_monday_morning_once(panel: Panel, clock: Any) -> None:
    assert told() == {(name, "digest", "2026-W50") for name in ("Ben", "Chloe", "Dev", "Eva")}
    assert ask_for_due_mail() == 4
    assert ask_for_due_mail() == 0
    assert send_waiting().sent == 4
    for later in (MONDAY + timedelta(hours=2), MONDAY + timedelta(days=1)):
        clock(later)
        assert told() == set()
    clock(MONDAY + timedelta(days=7))
    assert len(told()) == 4


@pytest.mark.parametrize("hours", [-2, 4, 12])
def test_mail_comes_in_the_morning_only(panel: Panel, clock: Any, hours: int) -> None:
    clock(MONDAY + timedelta(hours=hours))
    assert told() == set()


def test_a_weekly_digest_does_not_come_on_a_wednesday_and_a_daily_one_does(panel: Panel, clock: Any) -> None:
    User.objects.filter(pk=panel.ben.pk).update(digests=Digests.DAILY)
    clock(MONDAY + timedelta(days=2))
    assert told() == {("Ben", "digest", "2026-12-09")}


def test_the_morning_is_the_person_s_own(panel: Panel, clock: Any) -> None:
    User.objects.filter(pk=panel.ben.pk).update(time_zone="America/Mexico_City")
    assert "Ben" not in {name for name, *_ in told()}
    clock(MONDAY + timedelta(hours=6))
    assert told() == {("Ben", "digest", "2026-W50")}


def test_who_wants_none_left_or_can_t_sign_in_gets_none(panel: Panel) -> None:
    stop_mail(person=panel.ben)
    Membership.objects.filter(user=panel.chloe).update(left_at=timezone.now())
    User.objects.filter(pk=panel.dev.pk).update(is_active=False)
    assert {name for name, *_ in told()} == {"Eva"}


def test_who_stopped_the_mail_after_it_was_asked_for_gets_none(panel: Panel) -> None:
    ask_for_due_mail()
    stop_mail(person=panel.ben)
    finished = send_waiting()
    assert (finished.sent, finished.empty) == (3, 1)


def test_a_digest_says_how_much_waits_and_until_when_by_the_person_s_clock(panel: Panel) -> None:
    User.objects.filter(pk=panel.ben.pk).update(time_zone="America/Mexico_City")
    Round.objects.update(closes_at=datetime(2026, 12, 31, 2, 0, tzinfo=UTC))
    ask_for_due_mail()
    done("send_digests")
    body = letter_to("ben")
    assert "- 1 conversation to vote on" in body
    assert "Wednesday 30 December 2026, 20:00 (America/Mexico_City)" in body
    assert "/studies/pilot/" in body
    assert "/mail/stop/" in body
    assert "sleep" not in body
    assert "helpline" not in body


def test_a_mail_tells_nothing_of_how_others_voted_or_whether(panel: Panel) -> None:
    """Two worlds in one: Chloe's mail before and after Ben has voted."""
    before = what_waits(panel.chloe)
    for criterion in panel.study.criteria.all():
        vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    assert what_waits(panel.chloe) == before
    assert {name for name, *_ in told()} == {"Chloe", "Dev", "Eva"}
    ask_for_due_mail()
    send_waiting()
    body = letter_to("chloe")
    assert "unsafe" not in body
    assert "object" not in body


@pytest.mark.parametrize(("days", "is_told"), [(1, True), (2, False), (3, True), (4, False)])
def test_a_reminder_comes_three_days_and_one_day_before_a_date(
    panel: Panel, clock: Any, days: int, is_told: bool
) -> None:
    wednesday = timezone.now() + timedelta(days=7 - timezone.now().weekday() + 2)
    morning = wednesday.replace(hour=8, minute=0)
    clock(morning)
    Round.objects.update(closes_at=morning + timedelta(days=days))
    digests_near = {(name, "reminder", morning.date().isoformat()) for name in ("Ben", "Chloe", "Dev", "Eva")}
    assert told() == (digests_near if is_told else set())
    if is_told:
        assert (ask_for_due_mail(), ask_for_due_mail()) == (4, 0)
        assert send_waiting().sent == 4
        assert mail.outbox[0].subject == "A date comes near"


def test_no_reminder_comes_on_the_day_of_a_digest(panel: Panel, clock: Any) -> None:
    morning = timezone.now().replace(hour=8, minute=0)
    clock(morning)
    User.objects.update(digests=Digests.DAILY)
    Round.objects.update(closes_at=morning + timedelta(days=1))
    assert {kind for _, kind, _ in told()} == {"digest"}
    ask_for_due_mail()
    assert told() == set()


def test_two_who_ask_at_once_ask_for_one_mail_each(panel: Panel) -> None:
    barrier = threading.Barrier(3)

    def ask() -> None:
        barrier.wait()
        try:
            ask_for_due_mail()
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Notice.objects.count() == 4


def test_a_worker_asks_and_sends(panel: Panel) -> None:
    ask_for_mail(timestamp=0)
    send_mail(timestamp=0)
    send_mail(timestamp=0)
    assert len(mail.outbox) == 4


def test_an_admin_is_told_what_is_late_never_how_anybody_voted(panel: Panel) -> None:
    Round.objects.update(closes_at=timezone.now() + timedelta(days=2))
    vote(criterion=panel.study.criteria.order_by("position")[0], reviewer=panel.ben)
    done("send_digests")
    body = letter_to("adam")
    assert "- 1 conversation has a date within three days" in body
    assert "- 4 reviewers have something left to do" in body
    assert "/studies/pilot/admin/" in body
    assert "Ben" not in body


def test_the_command_says_what_it_would_send_and_sends_it_once(panel: Panel, clock: Any) -> None:
    clock(MONDAY + timedelta(days=3, hours=9))
    checked = done("send_digests", "--check")
    assert {each["email"] for each in checked["due"]} == {
        f"{name}@example.org" for name in ("ben", "chloe", "dev", "eva")
    }
    assert not Notice.objects.exists()
    assert done("send_digests") == {"sent": 4, "refused": [], "waiting": 0}
    assert done("send_digests") == {"sent": 0, "refused": [], "waiting": 0}


def test_the_command_tells_of_a_mail_server_that_is_away(panel: Panel, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", 9, 5
    answer = run("send_digests")
    assert answer.code == 1
    assert answer.data["waiting"] == 4
    assert "can't be reached" in answer.data["error"]


def test_a_mail_to_one_who_has_finished_meanwhile_is_not_sent(panel: Panel) -> None:
    ask_for_due_mail()
    for criterion in panel.study.criteria.all():
        vote(criterion=criterion, reviewer=panel.ben)
    finished = send_waiting()
    assert (finished.sent, finished.empty) == (3, 1)
