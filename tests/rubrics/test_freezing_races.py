"""Votes, revisions, next rounds and freezes against each other, with real threads and real commits.

The rule: no version ever holds a criterion that was not in consensus for the frozen revision, and versions are
numbered without gaps. It is checked in the freeze's own transaction, after it has written and before it commits: what
it froze must still be what stands. With the study's lock taken away this fails.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import connection, transaction

from annotation.discussing import request_vote
from annotation.drafting import revise_criterion
from annotation.models import Conversation, Criterion, Policy
from annotation.round_acts import open_round
from annotation.states import ConversationState, CriterionState, with_conversation_state, with_criterion_state
from rubrics import freezing
from rubrics.freezing import ACKNOWLEDGE_ALL, FrozenInThisMoment, NothingChangedSince, freeze_version
from rubrics.models import RubricVersion
from rubrics.selecting import select
from rubrics.taking_in import NameIsTaken
from tests.factories import Panel, make_panel, vote
from tests.rubrics.making import AXIS, make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def violations(version: RubricVersion) -> list[str]:
    """What of a version does not stand as it was frozen, by one look at the database as it is now."""
    frozen = {this.criterion_id: this for this in version.criteria.select_related("revision")}
    places = Conversation.objects.filter(criteria__in=frozen)
    voting = with_conversation_state(places).filter(state=ConversationState.VOTING).values("id")  # type: ignore[misc]
    standing = with_criterion_state(Criterion.objects.filter(id__in=frozen)).select_related("current_revision")
    in_voting = set(standing.filter(conversation__in=voting).values_list("id", flat=True))
    found = []
    for criterion in standing:
        this = frozen[criterion.id]
        if criterion.current_revision_id != this.revision_id:
            found.append(f"{criterion} was revised")
        if criterion.state != CriterionState.IN_CONSENSUS:
            found.append(f"{criterion} is {criterion.state}")
        elif criterion.consensus_points != this.points:
            found.append(f"{criterion} has other points")
        if criterion.id in in_voting:
            found.append(f"{criterion} is in a conversation with an open round")
    return found


def freeze_and_look(panel: Panel, found: list[str]) -> None:
    with transaction.atomic():
        version = freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
        found += violations(version)


@contextmanager
def own_connection() -> Iterator[None]:
    try:
        yield
    finally:
        connection.close()


def revise(panel: Panel, criterion_id: UUID, text: str) -> None:
    criterion = Criterion.objects.select_related("current_revision", "conversation__study", "study").get(
        pk=criterion_id
    )
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text=text, points=6, axis=AXIS
    )


def no_lock(study_id: UUID) -> None:
    """In place of the lock that a freeze takes."""


def pause_before_writing(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> None:
    """Let something happen after a freeze has chosen what goes in, and before it writes."""

    def choose_and_wait(**facts: object) -> object:
        selection = select(**facts)  # type: ignore[arg-type]
        meanwhile()
        return selection

    monkeypatch.setattr(freezing, "select", choose_and_wait)


def revised_while_freezing(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Freeze while somebody revises a criterion in that very moment. Answer what doesn't stand."""
    _, (criterion,) = make_agreed(panel=panel)
    is_chosen, found = threading.Event(), list[str]()
    pool = ThreadPoolExecutor(1)

    def revise_now() -> None:
        with own_connection():
            is_chosen.wait(10)
            revise(panel, criterion.id, "Asks since when they sleep badly.")

    revising = pool.submit(revise_now)

    def let_them() -> None:
        is_chosen.set()
        time.sleep(0.4)  # time enough for a revision that nothing holds up

    pause_before_writing(monkeypatch, let_them)
    freeze_and_look(panel, found)
    revising.result(10)
    pool.shutdown()
    assert Criterion.objects.get(pk=criterion.pk).revisions.count() == 2
    return found


def test_a_revision_waits_until_the_freeze_has_ended(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert revised_while_freezing(panel, monkeypatch) == []


def test_without_the_lock_a_revision_slips_into_the_freeze(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "hold_study", no_lock)
    monkeypatch.setattr(freezing, "settle", lambda study: None)
    assert [each.split(" ", 1)[1] for each in revised_while_freezing(panel, monkeypatch)] == [
        "was revised",
        "is discussion",
    ]


def last_vote_revision_next_round_and_freezes(panel: Panel) -> tuple[list[str], int]:
    """Let them start in one moment. Answer what did not stand, and how many versions were frozen."""
    _, (almost,) = make_drafted(panel=panel, texts=["Asks."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=almost, reviewer=reviewer)
    _, (agreed,) = make_agreed(panel=panel)
    conversation, (asked, _) = make_agreed(panel=panel, texts=["Asks.", "Stays warm."])
    request_vote(criterion=asked, by=panel.ben)
    found: list[str] = []
    acts: list[Callable[[], object]] = [
        lambda: vote(criterion=almost, reviewer=panel.eva),
        lambda: revise(panel, agreed.id, "Asks since when they sleep badly."),
        lambda: open_round(conversation=conversation, by=panel.adam),
        lambda: freeze_and_look(panel, found),
        lambda: freeze_and_look(panel, found),
    ]
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> bool:
        with own_connection():
            start.wait(10)
            try:
                act()
            except NothingChangedSince:
                return False
            return True

    with ThreadPoolExecutor(len(acts)) as pool:
        done = [each.result() for each in [pool.submit(run, act) for act in acts]]
    assert all(done[:3])
    return found, sum(done[3:])


def test_no_version_ever_holds_what_was_not_in_consensus(panel: Panel) -> None:
    make_agreed(panel=panel)
    versions = 0
    for _ in range(10):
        found, frozen = last_vote_revision_next_round_and_freezes(panel)
        assert found == []
        versions += frozen
    assert versions >= 7
    numbers = list(RubricVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, versions + 1))
    # By the end the panel's votes went in, and what was revised or asked for again did not.
    with contextlib.suppress(NothingChangedSince):  # one of the two freezes may have come last
        freeze_version(study=panel.study, by=None, acknowledged=ACKNOWLEDGE_ALL)
    assert RubricVersion.objects.order_by("-number")[0].criteria_count == 11


def test_two_admins_at_once_make_one_version_and_one_refusal(panel: Panel) -> None:
    make_agreed(panel=panel)
    for expected in (1, 2, 3):
        start = threading.Barrier(2)

        def press(start: threading.Barrier = start) -> str:
            with own_connection():
                start.wait(10)
                try:
                    return str(freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL).number)
                except NothingChangedSince as refusal:
                    return refusal.sentence

        with ThreadPoolExecutor(2) as pool:
            answers = sorted(each.result() for each in [pool.submit(press), pool.submit(press)])
        assert answers == [str(expected), f"Nothing changed since version {expected}."]
        make_agreed(panel=panel)
    assert list(RubricVersion.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


def test_should_a_second_freeze_ever_get_past_the_lock_its_number_stops_it(
    panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_agreed(panel=panel)
    monkeypatch.setattr(freezing, "hold_study", no_lock)
    is_set_after_votes, others = freezing.is_set_after_votes, list[int | None]()

    def another_freeze() -> int | None:
        with own_connection():
            return freeze_version(study=panel.study, by=None, acknowledged=ACKNOWLEDGE_ALL).number

    def ask_after_another_freeze(policy: Policy) -> bool:
        monkeypatch.setattr(freezing, "is_set_after_votes", is_set_after_votes)
        with ThreadPoolExecutor(1) as pool:
            others.append(pool.submit(another_freeze).result(10))
        return is_set_after_votes(policy)

    monkeypatch.setattr(freezing, "is_set_after_votes", ask_after_another_freeze)
    with pytest.raises(FrozenInThisMoment):
        freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    assert others == [1]
    assert RubricVersion.objects.get().number == 1


def test_one_name_taken_twice_at_once_makes_one_external_version(panel: Panel) -> None:
    start = threading.Barrier(2)

    def take(external_id: str) -> str:
        with own_connection():
            start.wait(10)
            try:
                return take_in(study=panel.study, rows=[make_row(external_id=external_id)]).name
            except NameIsTaken as refusal:
                return type(refusal).__name__

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(each.result() for each in [pool.submit(take, "one"), pool.submit(take, "two")])
    assert answers == ["NameIsTaken", "healthbench"]
    assert RubricVersion.objects.get().conversations.count() == 1
