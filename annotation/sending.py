"""Sending notices: each is claimed, sent, completed. Two senders at once send one mail.

Where the mail server can't be reached nothing is claimed: all of it waits and goes out when the server is back. A mail
that is refused is tried again a counted number of times, with growing waits; an address that doesn't exist is not
tried again. A sender that dies between the claim and the end leaves its claim behind; that mail is tried again when
the claim has run out, under the same Message-ID.
"""

import logging
import smtplib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.mail import get_connection
from django.db.models import F
from django.utils import timezone

from annotation.letters import compose
from annotation.models import Notice
from annotation.models.notices import MOST_ATTEMPTS, WAITS

logger = logging.getLogger(__name__)

CLAIM = timedelta(minutes=15)
"""How long a sender has for one mail; the mail server is given some seconds (EMAIL_TIMEOUT)."""
AT_ONCE = 500
DIED = "The program that was sending it ended before it was done."


@dataclass(slots=True)
class Sent:
    """What sending did. ``unreachable`` is why the mail server could not be asked at all."""

    sent: int = 0
    empty: int = 0
    """Notices with nothing left to say."""
    refused: list[tuple[Notice, str]] = field(default_factory=list)
    unreachable: str = ""


def send_waiting(*, only: Collection[UUID] | None = None) -> Sent:
    """Send what waits to be sent, ``only`` these of it where they are named. Not to be called in a transaction."""
    done = Sent()
    Notice.objects.waiting().filter(attempts__gte=MOST_ATTEMPTS).update(dropped_at=timezone.now(), problem=DIED)
    waiting = Notice.objects.waiting()
    if only is not None:
        waiting = waiting.filter(pk__in=only)
    ids = list(waiting.order_by("asked_at", "pk").values_list("pk", flat=True)[:AT_ONCE])
    if not ids:
        return done
    connection = get_connection()
    try:
        connection.open()
    except OSError as problem:  # smtplib's are such, too
        done.unreachable = in_words(problem)
        Notice.objects.waiting().filter(pk__in=ids).update(problem=done.unreachable)
        logger.warning("The mail server can't be reached, %s notices wait: %s", len(ids), done.unreachable)
        return done
    try:
        for each in ids:
            if not _send(each, connection, done):
                break
    finally:
        connection.close()
    return done


def _send(notice_id: UUID, connection: Any, done: Sent) -> bool:
    """Send one. False: the connection is gone, and the others wait for the next time."""
    notice = claim(notice_id)
    if notice is None:
        return True
    letter = compose(notice)
    if letter is None:
        _settle(notice, dropped_at=timezone.now(), problem="")
        done.empty += 1
        return True
    try:
        letter.as_mail(connection).send()
    except OSError as problem:
        _put_back(notice, problem)
        done.refused.append((notice, in_words(problem)))
        logger.warning("Notice %s was not sent, attempt %s: %s", notice.pk, notice.attempts, in_words(problem))
        is_answer = isinstance(problem, smtplib.SMTPRecipientsRefused | smtplib.SMTPResponseException)
        return is_answer and not isinstance(problem, smtplib.SMTPServerDisconnected)
    _settle(notice, sent_at=timezone.now(), problem="")
    done.sent += 1
    return True


def claim(notice_id: UUID) -> Notice | None:
    """Take a notice that is to be sent now; None where somebody else has. The row's own UPDATE decides."""
    taken = (
        Notice.objects.waiting()
        .filter(pk=notice_id, attempts__lt=MOST_ATTEMPTS)
        .update(attempts=F("attempts") + 1, next_try_at=timezone.now() + CLAIM)
    )
    return Notice.objects.select_related("person", "study", "asked_by").get(pk=notice_id) if taken else None


def _settle(notice: Notice, **facts: Any) -> None:
    """Complete the notice, where this attempt is still the last one."""
    Notice.objects.standing().filter(pk=notice.pk, attempts=notice.attempts).update(**facts)


def _put_back(notice: Notice, problem: OSError) -> None:
    words = in_words(problem)
    if is_for_good(problem) or notice.attempts >= MOST_ATTEMPTS:
        _settle(notice, dropped_at=timezone.now(), problem=words)
    else:
        _settle(notice, next_try_at=timezone.now() + WAITS[notice.attempts - 1], problem=words)


def is_for_good(problem: OSError) -> bool:
    """Whether the server says that it will never take mail for this address (5xx)."""
    if not isinstance(problem, smtplib.SMTPRecipientsRefused):
        return False
    return all(code >= 500 for code, _ in problem.recipients.values())


def in_words(problem: OSError) -> str:
    """What a mail server or the line to it said, in one line."""
    if isinstance(problem, smtplib.SMTPRecipientsRefused):
        said = "; ".join(f"{code} {_text(words)}" for code, words in problem.recipients.values())
    elif isinstance(problem, smtplib.SMTPResponseException):
        said = f"{problem.smtp_code} {_text(problem.smtp_error)}"
    else:
        said = str(problem) or type(problem).__name__
    return " ".join(said.replace("\x00", "").split())[:500]


def _text(words: bytes | str) -> str:
    return words.decode(errors="replace") if isinstance(words, bytes) else words
