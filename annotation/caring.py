"""Care for the people whom a conversation may be about, and for those who read it.

*This may be a real person, or a person at risk*: who sees a conversation locks it for everybody. Its open round
stops, its votes wait, its dates are lifted; the study's care lead is told by mail, without a word of the conversation.
An admin reads it and releases it or leaves it locked. *This conversation is broken* changes nothing: an admin looks
after it and says so in a note. Who did what and when stands in rows that never change.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import DatabaseError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation.care_locks import standing_lock
from annotation.models import (
    Conversation,
    ConversationLock,
    ConversationReport,
    LockDecision,
    Membership,
    ReportClosing,
    Role,
    Round,
    Study,
    User,
)
from annotation.rounds import enter_conversation, settle
from consilium.errors import RuleViolation, violated_constraint
from consilium.speaking import chosen_language

LONGEST_WORDS = 5000


class NotLocked(RuleViolation):
    """This conversation is not locked."""


class DecisionNeedsAReason(RuleViolation):
    """Say in a sentence what you found: it is kept with the lock."""


class ReportSaysNothing(RuleViolation):
    """Say what is wrong with the conversation."""


class NoteMissing(RuleViolation):
    """Say in a note what was done about it."""


class ReportIsClosed(RuleViolation):
    """Somebody has closed this report already."""


class WordsTooLong(RuleViolation):
    """Please say it in at most 5,000 characters."""


def lock_conversation_for_care(*, conversation: Conversation, by: User, words: str = "") -> ConversationLock:
    """Lock a conversation for everybody and tell the care lead. Locked already, it stays so, and nobody is told twice.

    Whoever votes in the same moment comes before or is refused: a lock holds the conversation and its open round.
    """
    text = _words(words)
    study = conversation.study
    with transaction.atomic():
        held, open_round = enter_conversation(study.id, conversation.id, may_be_locked=True)
        standing = standing_lock(held)
        if standing is not None:
            return standing
        told = people_to_tell(study)
        lock = ConversationLock.objects.create(
            conversation=held,
            words=text,
            told=told,
            locked_by=by,
            drafting_closes_at=held.drafting_closes_at if held.drafting_closed_at is None else None,
            round_closes_at=open_round.closes_at if open_round else None,
            discussion_closes_at=held.discussion_closes_at,
        )
        _set_dates(lock, None)
        # A mail server that is away keeps nobody from locking. (Django names what failed: no partial here.)
        transaction.on_commit(lambda: _tell(study, held.external_id, told), robust=True)
    return lock


def people_to_tell(study: Study) -> list[str]:
    """The addresses that hear of a lock: the care lead's; where none is named or the lead has left, all admins'."""
    members = Membership.objects.filter(study=study, left_at=None, user__is_active=True)
    lead = members.filter(user__email__iexact=study.care_lead) if study.care_lead else members.none()
    found = lead if lead.exists() else members.filter(roles__contains=[Role.ADMIN])
    return sorted(found.values_list("user__email", flat=True))


def _tell(study: Study, external_id: str, told: Iterable[str]) -> None:
    """One mail each, so that no address shows to another. It says where to look, and nothing of what stands there."""
    for address in told:
        person = User.objects.filter(email__iexact=address).first()
        with translation.override(chosen_language(person) or settings.LANGUAGE_CODE):
            mail = EmailMessage(
                subject=gettext("Consilium: please look at a conversation of {study}").format(
                    study=" ".join(study.name.split())
                ),
                body="\n".join(
                    [
                        gettext(
                            "Somebody in the study thinks that a conversation may be about a real person, or a person "
                            "at risk."
                        ),
                        "",
                        gettext("Study: {study}").format(study=study.name),
                        gettext("Conversation: {name}").format(name=external_id),
                        "",
                        gettext(
                            "It is locked: nobody drafts, votes or judges there now. An admin of the study finds it at "
                            "the top of Progress, reads it, and releases it or leaves it locked."
                        ),
                        "",
                        gettext("This mail holds nothing of its text."),
                        "",
                    ]
                ),
                to=[address],
            )
        mail.send()


def decide_lock(*, conversation: Conversation, by: User, decision: LockDecision.Decision, reason: str) -> LockDecision:
    """An admin releases a conversation, or leaves it locked, with the reason.

    Released, it goes on where it stood, and has as much time left as it had. Raises NotLocked, DecisionNeedsAReason.
    """
    text = _words(reason)
    if not text:
        raise DecisionNeedsAReason
    with transaction.atomic():
        held, _ = enter_conversation(conversation.study_id, conversation.id, may_be_locked=True)
        lock = standing_lock(held)
        if lock is None:
            raise NotLocked
        decided = LockDecision.objects.create(lock=lock, decision=decision, reason=text, decided_by=by)
        if decision == LockDecision.Decision.RELEASED:
            _set_dates(lock, timezone.now() - lock.locked_at)
            settle(held.study, conversations=[held.id])
    return decided


def _set_dates(lock: ConversationLock, added: timedelta | None) -> None:
    """Give the dates of what was open back, with the time of the lock added; None takes them away."""

    def later(date: datetime | None) -> datetime | None:
        return date + added if date is not None and added is not None else None

    this = Conversation.objects.filter(pk=lock.conversation_id)
    if lock.drafting_closes_at is not None:
        this.filter(drafting_closed_at=None).update(drafting_closes_at=later(lock.drafting_closes_at))
    if lock.discussion_closes_at is not None:
        this.update(discussion_closes_at=later(lock.discussion_closes_at))
    if lock.round_closes_at is not None:
        rounds = Round.objects.unsettled().filter(conversation=lock.conversation_id)
        rounds.update(closes_at=later(lock.round_closes_at))


def report_conversation(
    *, conversation: Conversation, by: User, kind: ConversationReport.Kind, words: str = ""
) -> ConversationReport:
    """Somebody says that a conversation is broken. The same said twice by one person is one report while it is open."""
    text = _words(words)
    if kind == ConversationReport.Kind.OTHER and not text:
        raise ReportSaysNothing
    with transaction.atomic():
        enter_conversation(conversation.study_id, conversation.id, may_be_locked=True)
        same = ConversationReport.objects.filter(
            conversation=conversation, reported_by=by, kind=kind, words=text, closings=None
        )
        return same.first() or ConversationReport.objects.create(
            conversation=conversation, reported_by=by, kind=kind, words=text
        )


def close_report(*, report: ConversationReport, by: User, note: str) -> ReportClosing:
    """An admin closes a report with a note. Raises NoteMissing, ReportIsClosed."""
    text = _words(note)
    if not text:
        raise NoteMissing
    try:
        with transaction.atomic():
            return ReportClosing.objects.create(report=report, note=text, closed_by=by)
    except DatabaseError as error:
        if violated_constraint(error) == "a_report_is_closed_once":
            raise ReportIsClosed from error
        raise


def _words(text: str) -> str:
    """Words as they are kept: without what can't be, and without white space around them."""
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if len(text) > LONGEST_WORDS:
        raise WordsTooLong
    return text
