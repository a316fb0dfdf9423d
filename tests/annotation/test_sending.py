"""Sending: each notice once, whatever dies. The mail server is a real one, over a socket."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.inviting import invite_everybody
from annotation.models import Membership, Notice, User
from annotation.models.notices import MOST_ATTEMPTS
from annotation.sending import CLAIM, claim, send_waiting
from tests.factories import Panel, make_panel
from tests.mail_server import Post, mail_server, uses
from tests.raw_sql import insert_like, refusal, run


@pytest.fixture
def post(settings: object) -> object:
    with mail_server() as server:
        uses(settings, server)
        yield server


@pytest.fixture
def panel(transactional_db: None) -> Panel:
    """Everybody is invited: eight mails wait, but oscar's, who is in no study."""
    panel = make_panel()
    assert invite_everybody(study=panel.study, by=panel.adam) == 7
    return panel


def later(**time: float) -> None:
    """Let the time of the next try come."""
    standing = Notice.objects.standing()
    standing.update(next_try_at=timezone.now() - timedelta(**time) if time else timezone.now())


def test_what_waits_is_sent_once_and_by_one_name_each(panel: Panel, post: Post) -> None:
    assert send_waiting().sent == 7
    assert send_waiting().sent == 0
    assert sorted(mail["To"] for mail in post.taken) == sorted(
        f"{name}@example.org" for name in ("ana", "ben", "chloe", "dev", "eva", "adam", "rita")
    )
    assert len({mail["Message-ID"] for mail in post.taken}) == 7
    assert not Notice.objects.filter(sent_at=None).exists()


def test_two_who_send_at_once_send_one_mail_each(panel: Panel, post: Post) -> None:
    barrier = threading.Barrier(4)

    def send() -> None:
        barrier.wait()
        try:
            send_waiting()
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(post.taken) == 7
    assert len({mail["To"] for mail in post.taken}) == 7


def test_a_mail_server_that_is_away_loses_nothing(panel: Panel, settings: object) -> None:
    with mail_server() as gone:
        uses(settings, gone)
    for _ in range(MOST_ATTEMPTS + 2):
        assert "refused" in send_waiting().unreachable
    waiting = Notice.objects.waiting()
    assert (waiting.count(), set(waiting.values_list("attempts", flat=True))) == (7, {0})
    assert all("refused" in notice.problem for notice in waiting)
    with mail_server(port=gone.port) as back:
        assert send_waiting().sent == 7
        assert len(back.taken) == 7


def test_a_refused_mail_is_tried_again_so_many_times_and_then_told(panel: Panel, post: Post) -> None:
    post.answers["ben@example.org"] = "451 Come back later"
    first = send_waiting()
    assert (first.sent, [words for _, words in first.refused]) == (6, ["451 Come back later"])
    notice = Notice.objects.get(person=panel.ben)
    assert notice.next_try_at > timezone.now() + timedelta(minutes=4)
    assert send_waiting().refused == []
    for _ in range(MOST_ATTEMPTS - 1):
        later()
        send_waiting()
    notice.refresh_from_db()
    assert (notice.attempts, notice.sent_at, notice.problem) == (MOST_ATTEMPTS, None, "451 Come back later")
    assert notice.dropped_at is not None
    later()
    assert send_waiting().refused == []


def test_what_was_refused_and_is_then_taken_bears_the_same_message_id(panel: Panel, post: Post) -> None:
    post.answers["ben@example.org"] = "451 Come back later"
    send_waiting()
    del post.answers["ben@example.org"]
    later()
    assert send_waiting().sent == 1
    [mail] = post.to("ben@example.org")
    assert mail["Message-ID"].startswith(f"<{Notice.objects.get(person=panel.ben).pk}@")


def test_an_address_that_does_not_exist_is_not_tried_again(panel: Panel, post: Post) -> None:
    post.answers["ben@example.org"] = "550 No such mailbox"
    send_waiting()
    notice = Notice.objects.get(person=panel.ben)
    assert (notice.attempts, notice.problem) == (1, "550 No such mailbox")
    assert notice.dropped_at is not None


def test_a_line_that_breaks_costs_one_attempt_and_the_others_wait(panel: Panel, post: Post) -> None:
    for notice in Notice.objects.all():
        post.answers[notice.person.email] = "hang up"
    assert send_waiting().sent == 0
    assert sorted(Notice.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 0, 0, 1]
    post.answers.clear()
    later()
    assert send_waiting().sent == 7


def test_a_sender_that_died_is_followed_by_another_when_its_claim_has_run_out(panel: Panel, post: Post) -> None:
    notice = Notice.objects.get(person=panel.ben)
    assert claim(notice.pk) is not None
    assert claim(notice.pk) is None
    assert send_waiting().sent == 6
    notice.refresh_from_db()
    assert notice.next_try_at > timezone.now() + CLAIM - timedelta(minutes=1)
    later()
    assert send_waiting().sent == 1
    assert len(post.to("ben@example.org")) == 1


def test_a_sender_that_dies_each_time_ends_as_told(panel: Panel, post: Post) -> None:
    Notice.objects.filter(person=panel.ben).update(attempts=MOST_ATTEMPTS)
    assert send_waiting().sent == 6
    notice = Notice.objects.get(person=panel.ben)
    assert notice.dropped_at is not None
    assert "ended before it was done" in notice.problem


def test_who_left_or_can_t_sign_in_gets_nothing(panel: Panel, post: Post) -> None:
    User.objects.filter(pk=panel.ben.pk).update(is_active=False)
    Membership.objects.filter(user=panel.eva).update(left_at=timezone.now())
    done = send_waiting()
    assert (done.sent, done.empty) == (5, 2)
    assert not post.to("ben@example.org")
    assert not post.to("eva@example.org")


def test_the_database_holds_what_a_notice_is(panel: Panel, post: Post) -> None:
    like = "annotation_notice"
    assert refusal(insert_like(like)) == "invitations_to_a_study_are_numbered_by_person"
    assert refusal(insert_like(like, kind="'poem'")) == "a_notice_is_an_invitation_a_digest_or_a_reminder"
    assert refusal(insert_like(like, study_id="NULL")) == "an_invitation_and_nothing_else_is_to_one_study"
    assert refusal(insert_like(like, kind="'digest'")) == "an_invitation_and_nothing_else_is_to_one_study"
    assert refusal(insert_like(like, period="'9'", sent_at="now()")) == "what_was_sent_was_tried"
    both = insert_like(like, period="'9'", attempts="1", sent_at="now()", dropped_at="now()")
    assert refusal(both) == "a_notice_is_sent_or_given_up"
    assert refusal(insert_like(like, period="'9'", attempts="99")) == "a_notice_is_tried_a_counted_number_of_times"
    digest = insert_like(like, kind="'digest'", study_id="NULL", period="'2026-W49'")
    run(digest)
    again = insert_like(like, "kind = 'digest'")
    assert refusal(again) == "one_notice_of_a_kind_a_person_and_period"
    send_waiting()
    assert refusal("UPDATE annotation_notice SET sent_at = NULL WHERE sent_at IS NOT NULL") == "23001"
    assert refusal("DELETE FROM annotation_notice WHERE sent_at IS NOT NULL") == "23001"
