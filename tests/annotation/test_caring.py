"""Care: a lock stops everything in a conversation for everybody, a report is looked after, and all of it is kept."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.db import DatabaseError, connection, transaction
from django.http import Http404
from django.utils import timezone

from annotation.assigning import assign_reviewer, assign_reviewers, recuse_from_conversation
from annotation.care_locks import ConversationIsLocked, locked_among
from annotation.caring import (
    DecisionNeedsAReason,
    NoteMissing,
    NotLocked,
    ReportIsClosed,
    ReportSaysNothing,
    WordsTooLong,
    close_report,
    decide_lock,
    lock_conversation_for_care,
    people_to_tell,
    report_conversation,
)
from annotation.caring_seen import care_of_conversation, care_of_study
from annotation.drafting import draft_criterion, finish_drafting, resume_drafting
from annotation.joining import leave_study
from annotation.models import (
    Conversation,
    ConversationLock,
    ConversationReport,
    LockDecision,
    ReportClosing,
    Round,
    Vote,
)
from annotation.permissions import find_conversation
from annotation.round_acts import close_drafting_of_each, close_round_of_each, open_round_of_each
from annotation.rounds import settle, settle_if_due
from annotation.setting_dates import set_dates
from annotation.setting_up import set_up_study
from annotation.voting import take_back_vote
from annotation.workload import as_assigned, assigned_to, parts_of
from tests.annotation.test_races import at_once
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db

RELEASED, STAYS = LockDecision.Decision.RELEASED, LockDecision.Decision.STAYS
Kind = ConversationReport.Kind


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def lock(panel: Panel, conversation: Conversation, words: str = "") -> ConversationLock:
    return lock_conversation_for_care(conversation=conversation, by=panel.ben, words=words)


def release(panel: Panel, conversation: Conversation) -> LockDecision:
    return decide_lock(conversation=conversation, by=panel.adam, decision=RELEASED, reason="It is invented.")


# The lock


def test_nothing_is_voted_on_taken_back_or_closed_while_a_conversation_is_locked(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    lock(panel, conversation)
    with pytest.raises(ConversationIsLocked):
        vote(criterion=criterion, reviewer=panel.chloe)
    criterion.refresh_from_db()
    with pytest.raises(ConversationIsLocked):
        take_back_vote(criterion=criterion, reviewer=panel.ben)
    for act in (close_round_of_each, open_round_of_each, close_drafting_of_each):
        refused = act(study=panel.study, conversations=[conversation.id], by=panel.adam)
        assert isinstance(refused[conversation.id], ConversationIsLocked)
    assert set_dates(study=panel.study, of="round", until=timezone.now() + timedelta(days=1)).dated == []
    this.refresh_from_db()
    assert this.revealed_at is None
    assert Vote.objects.count() == 1


def test_nothing_is_drafted_while_a_conversation_is_locked(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    lock(panel, conversation)
    with pytest.raises(ConversationIsLocked):
        draft_criterion(conversation=conversation, writer=panel.ana, text="Asks.", points=3)
    for act in (finish_drafting, resume_drafting):
        with pytest.raises(ConversationIsLocked):
            act(conversation=conversation, by=panel.ana)
    release(panel, conversation)
    assert draft_criterion(conversation=conversation, writer=panel.ana, text="Asks.", points=3)


def test_only_admins_read_what_is_locked(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    lock(panel, conversation)
    assert find_conversation(panel.adam, panel.study, conversation.id) == conversation
    for person in (panel.ben, panel.rita):
        with pytest.raises(ConversationIsLocked):
            find_conversation(person, panel.study, conversation.id)
    with pytest.raises(Http404):
        find_conversation(panel.oscar, panel.study, conversation.id)
    release(panel, conversation)
    assert find_conversation(panel.ben, panel.study, conversation.id) == conversation


def test_an_open_round_stops_and_has_as_much_time_left_after_the_release(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    until = timezone.now() + timedelta(hours=1)
    Round.objects.filter(pk=this.pk).update(closes_at=until)
    made = lock(panel, conversation)
    this.refresh_from_db()
    assert this.closes_at is None
    assert made.round_closes_at == until
    decided = release(panel, conversation)
    this.refresh_from_db()
    assert this.closes_at is not None
    assert abs(this.closes_at - until - (decided.decided_at - made.locked_at)) < timedelta(seconds=1)
    vote(criterion=criterion, reviewer=panel.chloe)


def test_what_is_complete_meanwhile_is_revealed_by_the_release_and_not_before(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    lock(panel, conversation)
    recuse_from_conversation(conversation=conversation, by=panel.eva)
    settle(panel.study)
    settle_if_due(panel.study)
    this.refresh_from_db()
    assert this.revealed_at is None
    release(panel, conversation)
    this.refresh_from_db()
    assert this.revealed_at is not None


def test_drafting_and_discussion_keep_their_time_too(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    until = timezone.now() + timedelta(days=1)
    Conversation.objects.filter(pk=conversation.pk).update(drafting_closes_at=until, discussion_closes_at=until)
    lock(panel, conversation)
    conversation.refresh_from_db()
    assert (conversation.drafting_closes_at, conversation.discussion_closes_at) == (None, None)
    release(panel, conversation)
    conversation.refresh_from_db()
    assert conversation.drafting_closes_at is not None
    assert conversation.drafting_closes_at >= until
    assert conversation.discussion_closes_at is not None


def test_a_locked_conversation_waits_for_nobody_and_says_so(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    assert parts_of(panel.ben, [panel.study])[panel.study.id].waiting == (conversation.id,)
    lock(panel, conversation)
    assert parts_of(panel.ben, [panel.study])[panel.study.id].waiting == ()
    [row] = as_assigned(assigned_to(panel.ben, [panel.study]))
    assert (row.state_in_words, row.left) == ("locked", "an admin looks at it first")


def test_the_database_itself_lets_no_vote_move_in_a_locked_conversation(panel: Panel) -> None:
    conversation, (criterion,), this = make_voting(panel=panel)
    given = vote(criterion=criterion, reviewer=panel.ben)
    lock(panel, conversation)
    facts = {"round": this, "wording": given.wording, "reviewer": panel.chloe, "cast_at": timezone.now()}
    mine = Vote.objects.filter(pk=given.pk)
    for act in (partial(Vote.objects.create, choice="abstain", **facts), partial(mine.update, points=3), mine.delete):
        with pytest.raises(DatabaseError, match="its votes wait"), transaction.atomic():
            act()
    release(panel, conversation)
    assert vote(criterion=criterion, reviewer=panel.chloe)


@pytest.mark.django_db(transaction=True)
def test_a_vote_at_the_same_time_comes_before_the_lock_or_is_refused() -> None:
    panel = make_panel()
    for _ in range(6):
        conversation, (criterion,), _ = make_voting(panel=panel)
        given, locked = at_once(
            partial(vote, criterion=criterion, reviewer=panel.ben),
            partial(lock_conversation_for_care, conversation=conversation, by=panel.chloe),
        )
        assert isinstance(locked, ConversationLock)
        assert isinstance(given, Vote | ConversationIsLocked)
        if isinstance(given, Vote):
            assert given.cast_at <= locked.locked_at
        with pytest.raises(ConversationIsLocked):
            vote(criterion=criterion, reviewer=panel.dev)


@pytest.mark.django_db(transaction=True)
def test_a_vote_that_waited_for_the_round_sees_the_lock() -> None:
    """The vote begins before the lock is committed, and goes on after it."""
    panel = make_panel()
    conversation, (criterion,), _ = make_voting(panel=panel)

    def lock_slowly() -> ConversationLock:
        with transaction.atomic():
            made = lock_conversation_for_care(conversation=conversation, by=panel.chloe)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(0.6)")
        return made

    def vote_late() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.2)")
        return vote(criterion=criterion, reviewer=panel.ben)

    _, given = at_once(lock_slowly, vote_late)
    assert isinstance(given, ConversationIsLocked)
    assert Vote.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_two_at_once_lock_once() -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    made = at_once(
        *(partial(lock_conversation_for_care, conversation=conversation, by=by) for by in (panel.ben, panel.chloe))
    )
    assert len({this.id for this in made}) == 1
    assert ConversationLock.objects.count() == 1


# Whom it tells


def test_the_care_lead_is_told_without_a_word_of_the_conversation(
    panel: Panel, django_capture_on_commit_callbacks: Any
) -> None:
    set_up_study(study=panel.study, by=panel.adam, care_lead="RITA@example.org")
    conversation = make_conversation(study=panel.study, external_id="case-7", text="I walk to the bridge.")
    with django_capture_on_commit_callbacks(execute=True):
        made = lock(panel, conversation, words="She names the bridge.")
        lock(panel, conversation, words="Again.")
    [sent] = mail.outbox
    assert sent.to == ["rita@example.org"]
    assert "case-7" in sent.body
    assert "bridge" not in f"{sent.subject} {sent.body}"
    assert made.told == ["rita@example.org"]


def test_where_no_lead_is_named_or_the_lead_has_left_all_admins_are_told(panel: Panel) -> None:
    assert people_to_tell(panel.study) == ["adam@example.org"]
    set_up_study(study=panel.study, by=panel.adam, care_lead="rita@example.org")
    assert people_to_tell(panel.study) == ["rita@example.org"]
    leave_study(study=panel.study, person=panel.rita)
    assert people_to_tell(panel.study) == ["adam@example.org"]


def test_a_mail_server_that_is_away_keeps_nobody_from_locking(
    panel: Panel, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    conversation = make_conversation(study=panel.study)
    with django_capture_on_commit_callbacks(execute=True):
        lock(panel, conversation)
    assert locked_among([conversation.id]) == {conversation.id}


# What admins decide


def test_an_admin_releases_or_leaves_locked_and_every_step_is_kept(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    with pytest.raises(NotLocked):
        release(panel, conversation)
    lock(panel, conversation, "A name.")
    with pytest.raises(DecisionNeedsAReason):
        decide_lock(conversation=conversation, by=panel.adam, decision=RELEASED, reason=" \n")
    decide_lock(conversation=conversation, by=panel.adam, decision=STAYS, reason="We ask the source.")
    assert locked_among([conversation.id])
    release(panel, conversation)
    assert not locked_among([conversation.id])
    with pytest.raises(NotLocked):
        release(panel, conversation)
    lock(panel, conversation)
    newest, oldest = care_of_conversation(conversation).locks
    assert newest.is_new
    assert [(this.decision, this.decided_by) for this in oldest.decisions] == [
        ("stays", panel.adam),
        ("released", panel.adam),
    ]


def test_new_locks_come_before_those_left_locked(panel: Panel) -> None:
    one, two = (make_conversation(study=panel.study) for _ in range(2))
    lock(panel, one)
    decide_lock(conversation=one, by=panel.adam, decision=STAYS, reason="We ask.")
    lock(panel, two)
    assert [this.lock.conversation for this in care_of_study(panel.study).locks] == [two, one]
    assert care_of_study(make_panel().study).is_empty


def test_nothing_of_locks_and_reports_ever_changes(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    lock(panel, conversation)
    release(panel, conversation)
    report = report_conversation(conversation=conversation, by=panel.ben, kind=Kind.CUT_OFF)
    close_report(report=report, by=panel.adam, note="Imported again.")
    for model in (ConversationLock, LockDecision, ConversationReport, ReportClosing):
        for statement in ("DELETE FROM {}", "UPDATE {} SET id = id"):
            with (
                pytest.raises(DatabaseError, match="never changes"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement.format(model._meta.db_table))


def test_the_database_refuses_a_second_release_and_a_decision_after_it(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    made = lock(panel, conversation)
    release(panel, conversation)
    for decision in (RELEASED, STAYS):
        with pytest.raises(DatabaseError, match="is decided"), transaction.atomic():
            LockDecision.objects.create(lock=made, decision=decision, reason="Again.", decided_by=panel.adam)


# Reports


def test_a_report_changes_nothing_and_is_closed_with_a_note(panel: Panel) -> None:
    conversation, (criterion,), _ = make_voting(panel=panel)
    report = report_conversation(
        conversation=conversation, by=panel.ben, kind=Kind.WRONG_LANGUAGE, words="It is Welsh."
    )
    same = report_conversation(conversation=conversation, by=panel.ben, kind=Kind.WRONG_LANGUAGE, words="It is Welsh. ")
    assert same == report
    assert vote(criterion=criterion, reviewer=panel.ben)
    assert care_of_study(panel.study).reports == [report]
    with pytest.raises(NoteMissing):
        close_report(report=report, by=panel.adam, note=" ")
    close_report(report=report, by=panel.adam, note="The language is set.")
    with pytest.raises(ReportIsClosed):
        close_report(report=report, by=panel.adam, note="Twice.")
    assert care_of_study(panel.study).is_empty
    again = report_conversation(conversation=conversation, by=panel.ben, kind=Kind.WRONG_LANGUAGE, words="It is Welsh.")
    assert again != report


def test_a_report_of_something_else_says_what(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    with pytest.raises(ReportSaysNothing):
        report_conversation(conversation=conversation, by=panel.ben, kind=Kind.OTHER, words=" ")
    with pytest.raises(DatabaseError, match="a_report_of_something_else_says_what"), transaction.atomic():
        ConversationReport.objects.create(conversation=conversation, reported_by=panel.ben, kind="other", words="\t")
    with pytest.raises(WordsTooLong):
        report_conversation(conversation=conversation, by=panel.ben, kind=Kind.OTHER, words="x" * 5001)


def test_assigning_goes_on_but_nobody_reads_what_is_locked(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    lock(panel, conversation)
    assert assign_reviewers(study=panel.study, reviewers=3).made
    assert parts_of(panel.ana, [panel.study])[panel.study.id].waiting == ()
