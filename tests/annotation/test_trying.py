"""*Try it*: marks on pilot responses are given until the reveal, blind; differing ones are told after it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.care_locks import ConversationIsLocked
from annotation.caring import lock_conversation_for_care
from annotation.drafting import CriterionIsGone, NotAReviewer, StaleRevision, revise_criterion, withdraw_criterion
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.models import Conversation, Criterion, PilotMark, PilotResponse, Revision, User
from annotation.models.trials import WHITE, served_as_pilot
from annotation.round_acts import open_round
from annotation.trying import (
    MarksAreRevealed,
    NotToBeTriedHere,
    NotYoursToTry,
    how_applied,
    lay_out_trial,
    mark_pilot_response,
    pilot_text_sha256,
)
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.importing_files import jsonl
from tests.raw_sql import insert_like, refusal

TEXTS = ("How many hours do you sleep?", "Drink warm milk.")


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def bring(panel: Panel, conversation: Conversation, *texts: str) -> list[PilotResponse]:
    rows = [{"conversation_id": conversation.external_id, "text": text, "source": "model-a"} for text in texts or TEXTS]
    report = import_pilot_responses(
        study=panel.study, source=jsonl(*rows), file_name="pilots.jsonl", by=panel.adam, check=False
    )
    assert not report.errors, report.errors
    return list(PilotResponse.objects.filter(conversation=conversation).order_by("number"))


def fresh(criterion: Criterion) -> Criterion:
    return Criterion.objects.select_related("current_revision", "conversation", "study").get(pk=criterion.pk)


def revision_of(criterion: Criterion) -> Revision:
    current = fresh(criterion).current_revision
    assert current is not None
    return current


def mark(criterion: Criterion, response: PilotResponse, by: User, said: str = "met", **facts: Any) -> PilotMark:
    seen = facts.get("seen") or revision_of(criterion)
    return mark_pilot_response(criterion=criterion, seen=seen, response=response, by=by, mark=PilotMark.Mark(said))


def reveal(panel: Panel, criterion: Criterion) -> None:
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)


@pytest.mark.django_db
class TestMarking:
    def test_reviewers_mark_while_voting_writers_too_and_may_change_their_marks(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, two = bring(panel, conversation)
        mark(criterion, one, panel.ana)
        mark(criterion, two, panel.ben, "cant_tell")
        mark(criterion, two, panel.ben, "not_met")
        assert sorted(PilotMark.objects.values_list("reviewer__name", "mark")) == [("Ana", "met"), ("Ben", "not_met")]

    def test_while_all_draft_alone_only_its_writer_tries_a_draft(self, panel: Panel) -> None:
        conversation = make_conversation(study=panel.study)
        for reviewer in (panel.ana, panel.ben):
            assign_reviewer(conversation=conversation, reviewer=reviewer)
        criterion = draft(conversation=conversation, writer=panel.ana)
        one, _ = bring(panel, conversation)
        mark(criterion, one, panel.ana)
        with pytest.raises(NotYoursToTry):
            mark(criterion, one, panel.ben)

    def test_only_reviewers_of_the_conversation_mark(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        recuse_from_conversation(conversation=conversation, by=panel.eva)
        for person in (panel.adam, panel.rita, panel.oscar, panel.eva):
            with pytest.raises(NotAReviewer):
                mark(criterion, one, person)

    def test_nothing_is_marked_in_a_locked_conversation_or_on_what_was_withdrawn(self, panel: Panel) -> None:
        conversation, (criterion, other), _ = make_voting(panel=panel, texts=["Asks about sleep.", "Asks about food."])
        one, _ = bring(panel, conversation)
        withdraw_criterion(criterion=criterion, by=panel.ana)
        with pytest.raises(CriterionIsGone):
            mark(criterion, one, panel.ben)
        lock_conversation_for_care(conversation=conversation, by=panel.ben, words="")
        with pytest.raises(ConversationIsLocked):
            mark(other, one, panel.ben)

    def test_a_mark_is_about_the_wording_that_was_seen(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        before = revision_of(criterion)
        mark(criterion, one, panel.ben)
        revise_criterion(criterion=criterion, against=before, by=panel.ana, text="Asks about sleep and food.", points=6)
        with pytest.raises(StaleRevision):
            mark(criterion, one, panel.ben, seen=before)
        assert not lay_out_trial(reader=panel.ben, criterion=fresh(criterion)).own, "the new wording has no mark yet"

    def test_white_space_alone_keeps_the_marks(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        revise_criterion(
            criterion=criterion, against=revision_of(criterion), by=panel.ana, text="Asks  about sleep.", points=6
        )
        assert lay_out_trial(reader=panel.ben, criterion=fresh(criterion)).own == {one.id: "met"}

    def test_marks_stand_from_the_reveal_on_in_a_later_round_too(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, two = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        reveal(panel, criterion)
        for response, said in ((one, "not_met"), (two, "met")):
            with pytest.raises(MarksAreRevealed):
                mark(criterion, response, panel.ben, said)
        revise_criterion(
            criterion=criterion, against=revision_of(criterion), by=panel.ana, text="Asks about food.", points=6
        )
        mark(criterion, one, panel.ben)  # a new wording, that nobody's marks are known of
        open_round(conversation=conversation, by=panel.adam)
        mark(criterion, one, panel.ben, "not_met")

    def test_only_the_first_two_of_the_conversation_are_tried(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        other = make_conversation(study=panel.study)
        elsewhere, *_ = bring(panel, other)
        three = bring(panel, conversation, *TEXTS, "A third.")
        assert [this.number for this in lay_out_trial(reader=panel.ben, criterion=fresh(criterion)).responses] == [1, 2]
        for response in (three[2], elsewhere):
            with pytest.raises(NotToBeTriedHere):
                mark(criterion, response, panel.ben)


@pytest.mark.django_db
class TestWhatIsSeen:
    def test_before_the_reveal_each_sees_the_own_marks_alone(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        mark(criterion, one, panel.chloe, "not_met")
        trial = lay_out_trial(reader=panel.ben, criterion=fresh(criterion))
        assert (trial.own, trial.applied, trial.is_open) == ({one.id: "met"}, None, True)
        assert lay_out_trial(reader=panel.adam, criterion=fresh(criterion)).own == {}
        assert how_applied([revision_of(criterion).wording_id]) == {}

    @pytest.mark.parametrize(
        ("said", "is_different"),
        [
            (("met", "not_met"), True),
            (("met", "met"), False),
            (("met",), False),
            (("met", "cant_tell"), False),
            (("not_met", "cant_tell", "met"), True),
        ],
    )
    def test_applied_differently_is_met_by_one_and_not_met_by_another(
        self, panel: Panel, said: tuple[str, ...], is_different: bool
    ) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        for reviewer, each in zip(panel.reviewers, said, strict=False):
            mark(criterion, one, reviewer, each)
        reveal(panel, criterion)
        applied = how_applied([revision_of(criterion).wording_id])[revision_of(criterion).wording_id]
        assert applied.is_different is is_different
        assert sum((this.met + this.not_met + this.cant_tell) for this in applied.responses) == len(said)

    def test_marks_on_different_responses_differ_in_nothing(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, two = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        mark(criterion, two, panel.chloe, "not_met")
        reveal(panel, criterion)
        assert not how_applied([revision_of(criterion).wording_id])[revision_of(criterion).wording_id].is_different

    def test_who_recused_before_the_reveal_takes_the_own_marks_out_and_after_it_nothing_moves(
        self, panel: Panel
    ) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        mark(criterion, one, panel.chloe, "not_met")
        mark(criterion, one, panel.dev)
        recuse_from_conversation(conversation=conversation, by=panel.chloe)
        for reviewer in (panel.ben, panel.dev, panel.eva):
            vote(criterion=criterion, reviewer=reviewer)
        wording = revision_of(criterion).wording_id
        assert how_applied([wording])[wording].responses[0].met == 2
        assert not how_applied([wording])[wording].is_different
        recuse_from_conversation(conversation=conversation, by=panel.dev)
        assert how_applied([wording])[wording].responses[0].met == 2

    def test_many_are_told_with_two_queries(self, panel: Panel, django_assert_num_queries: Any) -> None:
        conversation, criteria, _ = make_voting(panel=panel, texts=["One.", "Two.", "Three."])
        one, _ = bring(panel, conversation)
        for criterion in criteria:
            mark(criterion, one, panel.ben)
        for criterion in criteria:
            reveal(panel, criterion)
        wordings = [revision_of(criterion).wording_id for criterion in criteria]
        with django_assert_num_queries(2):
            assert len(how_applied(wordings)) == 3


@pytest.mark.django_db
class TestWhatTheDatabaseHolds:
    def test_marks(self, panel: Panel) -> None:
        table = "annotation_pilotmark"
        conversation, (criterion,), _ = make_voting(panel=panel)
        other, (elsewhere,), _ = make_voting(panel=panel, external_id="other")
        one, two = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        assert refusal(insert_like(table)) == "one_mark_a_wording_response_and_reviewer"
        assert (
            refusal(insert_like(table, response_id=f"'{two.id}'", mark="'good'"))
            == "a_mark_is_met_not_met_or_cant_tell"
        )
        who = "who_marks_is_assigned_to_the_conversation"
        assert refusal(insert_like(table, reviewer_id=f"'{panel.adam.id}'")) == who
        about = "a_mark_is_about_a_wording_of_its_conversation"
        assert refusal(insert_like(table, wording_id=f"'{revision_of(elsewhere).id}'")) == about
        assert refusal(f"UPDATE {table} SET response_id = '{two.id}'") == "23001"
        until = "marks_are_given_and_changed_until_the_reveal"
        reveal(panel, criterion)
        assert refusal(f"UPDATE {table} SET mark = 'not_met'") == until
        assert refusal(f"DELETE FROM {table}") == until
        assert refusal(insert_like(table, response_id=f"'{two.id}'")) == until
        assert other.rounds.exists()

    def test_a_mark_is_refused_where_the_rounds_date_has_passed_though_nobody_settled_it(self, panel: Panel) -> None:
        conversation, (criterion,), _ = make_voting(panel=panel)
        one, _ = bring(panel, conversation)
        mark(criterion, one, panel.ben)
        conversation.rounds.update(closes_at="2020-01-01T00:00Z")
        until = "marks_are_given_and_changed_until_the_reveal"
        assert refusal("UPDATE annotation_pilotmark SET mark = 'not_met'") == until
        with pytest.raises(MarksAreRevealed):
            mark(criterion, one, panel.chloe)

    def test_pilot_responses(self, panel: Panel) -> None:
        table = "annotation_pilotresponse"
        conversation = make_conversation(study=panel.study)
        other = make_panel(slug="other-study")
        bring(panel, conversation, TEXTS[0])
        digest = f"'{'0' * 64}'"
        assert refusal(f"UPDATE {table} SET source = ''") == "23001"
        assert refusal(f"DELETE FROM {table}") == "23001"
        assert refusal(insert_like(table, number="2")) == "a_pilot_response_is_brought_once_a_conversation"
        assert refusal(insert_like(table, text_sha256=digest)) == "pilot_responses_are_numbered"
        again = {"number": "2", "text_sha256": digest}
        assert refusal(insert_like(table, **again | {"number": "0"})) == "pilot_responses_count_from_1"
        assert refusal(insert_like(table, **again, text="' '")) == "a_pilot_response_says_something"
        assert refusal(insert_like(table, number="2", text_sha256="'x'")) == "a_pilot_responses_hash_is_64_hex_digits"
        own = "pilot_responses_are_of_own_conversations"
        assert refusal(insert_like(table, **again, study_id=f"'{other.study.id}'")) == own


@pytest.mark.django_db
class TestWhatServedAsAPilot:
    def test_a_text_is_known_however_its_lines_end_and_whatever_stands_around_it(self, panel: Panel) -> None:
        conversation = make_conversation(study=panel.study, external_id="a")
        bring(panel, conversation, "  Schlaf schön,\nüber Nacht. ", "Another.")
        here = PilotResponse.objects.filter(conversation=conversation)
        assert here.filter(served_as_pilot()).count() == 2
        found = {
            text: PilotResponse.objects.filter(text_sha256=pilot_text_sha256(text), conversation=conversation).exists()
            for text in ("Schlaf scho\u0308n,\r\nu\u0308ber Nacht.", "Schlaf schön, über Nacht.")
        }
        assert list(found.values()) == [True, False]


@pytest.mark.django_db(transaction=True)
def test_no_mark_slips_in_after_the_reveal(panel: Panel) -> None:
    """A mark and the vote that completes the round in the same moment: the mark is there before the reveal, or not."""
    conversation, (criterion,), this = make_voting(panel=panel)
    one, _ = bring(panel, conversation)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    start = threading.Barrier(2)

    def run(act: Any) -> bool:
        try:
            start.wait(10)
            act()
        except MarksAreRevealed:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        voting = pool.submit(run, lambda: vote(criterion=criterion, reviewer=panel.eva))
        marking = pool.submit(run, lambda: mark(criterion, one, panel.ben))
        assert voting.result(20)
        marked = marking.result(20)
    this.refresh_from_db()
    assert this.revealed_at is not None
    assert PilotMark.objects.exists() is marked
    if marked:
        assert PilotMark.objects.get().given_at < this.revealed_at


@pytest.mark.django_db(transaction=True)
def test_the_database_alone_lets_no_mark_in_after_a_reveal_that_was_under_way(panel: Panel) -> None:
    """A raw INSERT waits for the round's row and then finds the wording revealed."""
    conversation, (criterion,), _ = make_voting(panel=panel)
    one, two = bring(panel, conversation)
    mark(criterion, one, panel.ben)
    statement = insert_like("annotation_pilotmark", response_id=f"'{two.id}'")
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)

    def insert() -> str:
        try:
            return refusal(statement)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            vote(criterion=criterion, reviewer=panel.eva)
            waiting = pool.submit(insert)
            threading.Event().wait(0.4)
            assert not waiting.done(), "it waits for the round's row"
        assert waiting.result(20) == "marks_are_given_and_changed_until_the_reveal"


@pytest.mark.django_db
@given(text=st.text(min_size=1).filter(lambda text: "\x00" not in text))
def test_the_digest_is_the_same_in_python_and_in_sql(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT encode(sha256(convert_to(regexp_replace(normalize(regexp_replace(%s, %s, %s, 'g'), NFC), "
            "%s, '', 'g'), 'UTF8')), 'hex')",
            [text, r"\r\n?", "\n", f"^{WHITE}+|{WHITE}+$"],
        )
        assert cursor.fetchone()[0] == pilot_text_sha256(text)
