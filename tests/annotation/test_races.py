"""Races, with real threads and real transactions: votes, revisions and reveals against each other."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation import revealing
from annotation.drafting import revise_criterion
from annotation.locks import lock_conversation
from annotation.models import Criterion, Revision, Round, RoundOutcome, Vote
from annotation.round_acts import close_round
from annotation.rounds import open_first_rounds, settle
from consilium.errors import RuleViolation
from tests.factories import make_panel, make_voting, vote

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Run acts in threads that start together; each answers its result or the refusal that it met."""
    gate = threading.Barrier(len(acts))

    def one(act: Callable[[], Any]) -> Any:
        try:
            gate.wait(10)
            return act()
        except RuleViolation as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def current_revision(criterion: Criterion) -> Revision:
    found = Criterion.objects.select_related("current_revision").get(pk=criterion.pk).current_revision
    assert found is not None
    return found


def stored_is_recomputed(this: Round) -> bool:
    """Whether each stored outcome is what the stored votes, writers and eligible reviewers give."""
    assert this.policy is not None
    rule = revealing.rule_of(this.policy)
    for outcome in RoundOutcome.objects.filter(round=this):
        covered = revealing.Covered(
            criterion=outcome.criterion,
            wording_id=outcome.wording_id,
            writers=set(outcome.writers),
            eligible=set(outcome.eligible),
            votes=list(Vote.objects.filter(round=this, wording=outcome.wording_id)),
        )
        decision = covered.decide(rule)
        if (decision.result.value, decision.points) != (outcome.result, outcome.points):
            return False
    return True


def test_the_last_votes_at_once_are_all_kept_and_reveal_once() -> None:
    panel = make_panel()
    for _ in range(8):
        _, (criterion,), this = make_voting(panel=panel)
        answers = at_once(*(partial(vote, criterion=criterion, reviewer=reviewer) for reviewer in panel.reviewers))
        assert all(isinstance(answer, Vote) for answer in answers), answers
        this.refresh_from_db()
        assert this.revealed_at is not None
        assert RoundOutcome.objects.filter(round=this).count() == 1
        assert RoundOutcome.objects.get(round=this).result == "in_consensus"


def test_no_vote_slips_in_behind_a_closing() -> None:
    """Whatever the order, what is stored at the reveal is what the votes give: none is added after it."""
    panel = make_panel()
    for turn in range(12):
        conversation, (criterion,), this = make_voting(panel=panel)
        for reviewer in panel.reviewers[:3]:
            vote(criterion=criterion, reviewer=reviewer)
        late = "object" if turn % 2 else "agree"
        at_once(
            partial(vote, criterion=criterion, reviewer=panel.eva, choice=late, category="unsafe"),
            partial(close_round, conversation=conversation, by=panel.adam),
        )
        this.refresh_from_db()
        assert this.revealed_at is not None
        assert stored_is_recomputed(this)


def test_a_revision_and_the_last_vote_never_decide_a_wording_that_was_not_voted_on() -> None:
    panel = make_panel()
    for _ in range(12):
        _, (criterion,), this = make_voting(panel=panel)
        against = current_revision(criterion)
        for reviewer in panel.reviewers[:3]:
            vote(criterion=criterion, reviewer=reviewer)
        at_once(
            partial(vote, criterion=criterion, reviewer=panel.eva),
            partial(
                revise_criterion,
                criterion=criterion,
                against=against,
                by=panel.ana,
                text="Asks when the sleep went.",
                points=6,
            ),
        )
        this.refresh_from_db()
        for outcome in RoundOutcome.objects.filter(round=this):
            voters = Vote.objects.filter(round=this, wording=outcome.wording_id).count()
            assert outcome.result != "in_consensus" or voters >= 3
        assert this.revealed_at is None or stored_is_recomputed(this)


def test_two_who_revise_at_once_make_one_revision_and_one_refusal() -> None:
    panel = make_panel()
    for _ in range(6):
        _, (criterion,), _ = make_voting(panel=panel)
        against = current_revision(criterion)
        answers = at_once(
            *(
                partial(revise_criterion, criterion=criterion, against=against, by=panel.ana, text=text, points=6)
                for text in ("Asks when.", "Asks how long.")
            )
        )
        assert sum(isinstance(answer, RuleViolation) for answer in answers) == 1
        assert criterion.revisions.count() == 2


def test_one_person_voting_twice_at_once_has_one_vote() -> None:
    panel = make_panel()
    _, (criterion,), this = make_voting(panel=panel)
    at_once(*(partial(vote, criterion=criterion, reviewer=panel.ben, points=points) for points in range(2, 8)))
    assert Vote.objects.filter(round=this, reviewer=panel.ben).count() == 1


def test_round_1_opens_once() -> None:
    panel = make_panel()
    conversation, _, _ = make_voting(panel=panel)
    assert open_first_rounds(panel.study, [conversation.id]) == 0
    assert conversation.rounds.count() == 1


def test_settling_takes_no_round_before_it_has_the_conversation() -> None:
    """Study, conversation, round, always: else a page that settles and a revision wait for each other for ever."""
    panel = make_panel()
    conversation, (criterion,), this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    Round.objects.filter(pk=this.pk).update(closes_at=timezone.now())
    settling = threading.Thread(target=in_own_connection, args=(partial(settle, panel.study),))
    with transaction.atomic():
        lock_conversation(conversation.id)
        settling.start()
        wait_until_somebody_waits()
        Round.objects.select_for_update(nowait=True).get(pk=this.pk)  # DatabaseError where settling holds it
    settling.join(20)
    this.refresh_from_db()
    assert this.revealed_at is not None


def in_own_connection(act: Callable[[], object]) -> None:
    try:
        act()
    finally:
        connection.close()


def wait_until_somebody_waits() -> None:
    """Until another connection waits for a lock that this one holds."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("nobody waited")
