"""Whether it is enough, at the freeze: a *no* holds its conversation out, a missing answer is only read."""

import contextlib
import io
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from annotation.models import Conversation, User
from annotation.sufficiency import answer_sufficiency, held_out, mark_of_wordings, wordings_in_consensus
from rubrics.explaining import explain
from rubrics.freezing import (
    ACKNOWLEDGE_ALL,
    ChangedSinceSeen,
    NothingInConsensus,
    freeze_version,
    mark_of,
    preview_freeze,
)
from rubrics.selecting import LeftOutKind, select
from tests.annotation.test_trying import bring, mark
from tests.factories import Panel, make_panel, vote
from tests.pages import api, at, got, shown, signed_in
from tests.rubrics.making import make_agreed, make_drafted
from tests.rubrics.test_freezing_races import own_connection, pause_before_writing

SENTENCE = "A reviewer says that a response that meets all of this would not be safe and good."


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def say(conversation: Conversation, by: User, *, is_sufficient: bool) -> None:
    seen = mark_of_wordings(wordings_in_consensus([conversation.id])[conversation.id])
    answer_sufficiency(
        conversation=conversation, by=by, seen=seen, is_sufficient=is_sufficient, missing="Nothing on risk."
    )


@pytest.mark.django_db
class TestAtTheFreeze:
    def test_a_no_holds_the_criteria_of_its_conversation_out_and_no_others(self, panel: Panel) -> None:
        held, _ = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about food."], external_id="held")
        make_agreed(panel=panel, external_id="free")
        say(held, panel.ben, is_sufficient=False)
        selection = select(study=panel.study)
        assert [this.place.external_id for this in selection.goes_in] == ["free"]
        assert {(this.kind, this.reason) for this in selection.stays_out} == {(LeftOutKind.NOT_ENOUGH, SENTENCE)}
        say(held, panel.chloe, is_sufficient=False)
        assert select(study=panel.study).stays_out[0].reason.startswith("2 reviewers say that")
        say(held, panel.ben, is_sufficient=True)
        say(held, panel.chloe, is_sufficient=True)
        assert len(select(study=panel.study).goes_in) == 3

    def test_nothing_is_frozen_where_all_is_held_out(self, panel: Panel) -> None:
        held, _ = make_agreed(panel=panel)
        say(held, panel.ben, is_sufficient=False)
        with pytest.raises(NothingInConsensus):
            freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)

    def test_a_version_keeps_what_held_then(self, panel: Panel) -> None:
        held, (criterion,) = make_agreed(panel=panel, external_id="held", points=9)
        make_agreed(panel=panel, external_id="free")
        say(held, panel.ben, is_sufficient=False)
        version = freeze_version(study=panel.study, by=panel.adam, acknowledged={criterion.id})
        left = version.left_out.get()
        assert (left.kind, left.reason, left.is_acknowledged) == ("not_enough", SENTENCE, True)
        say(held, panel.ben, is_sufficient=True)
        assert explain(criterion=criterion, version=version).standing.sentence.endswith(SENTENCE)
        assert explain(criterion=criterion).standing.is_in

    def test_what_was_shown_is_shown_anew_when_somebody_says_no(self, panel: Panel) -> None:
        conversation, _ = make_agreed(panel=panel)
        make_agreed(panel=panel, external_id="free")
        seen = mark_of(preview_freeze(study=panel.study).selection)
        say(conversation, panel.ben, is_sufficient=False)
        with pytest.raises(ChangedSinceSeen):
            freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL, seen=seen)

    def test_missing_answers_are_read_and_hold_nothing_up(self, panel: Panel) -> None:
        asked, _ = make_agreed(panel=panel, external_id="asked")
        answered, _ = make_agreed(panel=panel, external_id="answered")
        for reviewer in [panel.ana, *panel.reviewers]:
            say(answered, reviewer, is_sufficient=True)
        say(asked, panel.ben, is_sufficient=True)
        cautions = preview_freeze(study=panel.study).cautions
        assert [(this.place.external_id, this.missing) for this in cautions.not_all_answered] == [("asked", 4)]
        page = shown(signed_in(panel.adam), at(panel.study, "study_freeze"))
        assert "1 conversation: not everybody said whether it is enough" in page
        assert "4 reviewers have not answered." in page
        assert freeze_version(study=panel.study, by=panel.adam).criteria_count == 2

    def test_nothing_is_to_be_read_where_all_have_answered(self, panel: Panel) -> None:
        conversation, _ = make_agreed(panel=panel)
        for reviewer in [panel.ana, *panel.reviewers]:
            say(conversation, reviewer, is_sufficient=True)
        assert not preview_freeze(study=panel.study).cautions.has_any
        assert "Read before you freeze" not in shown(signed_in(panel.adam), at(panel.study, "study_freeze"))

    def test_page_api_and_command_tell_it(self, panel: Panel) -> None:
        held, (criterion,) = make_agreed(panel=panel, external_id="held")
        make_agreed(panel=panel, external_id="free")
        say(held, panel.ben, is_sufficient=False)
        assert SENTENCE in shown(signed_in(panel.adam), at(panel.study, "study_freeze"))
        assert SENTENCE in shown(signed_in(panel.chloe), at(panel.study, "why", criterion_id=criterion.id))
        preview = got(panel.adam, at(panel.study, "api_freeze_preview"))
        assert [this["reason"] for this in preview["stays_out"]] == [SENTENCE]
        assert preview["cautions"]["not_all_answered"] == [{"conversation": "free", "missing": 5}]
        why = got(panel.chloe, at(panel.study, "api_why", criterion_id=criterion.id))
        assert why["standing"]["sentence"].endswith(SENTENCE)
        report = frozen_by_command(panel)
        assert report["left_out"] == [{"criterion_id": criterion.external_id, "reason": SENTENCE}]
        assert len(report["cautions"]) == 1
        assert api(panel.adam).get(at(panel.study, "api_version_left_out", address="1")).json()["results"]


def frozen_by_command(panel: Panel) -> Any:
    out = io.StringIO()
    call_command("freeze", panel.study.slug, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.django_db(transaction=True)
def test_no_version_ever_holds_what_somebody_had_said_no_about(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A *no* waits for the freeze under way, or the freeze for it: what it froze has no *no* when it commits."""
    conversation, _ = make_agreed(panel=panel)
    is_chosen, found = threading.Event(), list[int]()
    pool = ThreadPoolExecutor(1)

    def say_no_now() -> None:
        with own_connection():
            is_chosen.wait(10)
            say(conversation, panel.ben, is_sufficient=False)

    saying = pool.submit(say_no_now)

    def let_them() -> None:
        is_chosen.set()
        time.sleep(0.4)  # time enough for a no that nothing holds up

    pause_before_writing(monkeypatch, let_them)
    with contextlib.suppress(NothingInConsensus), transaction.atomic():
        freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
        found.append(held_out(panel.study)[conversation.id])
    saying.result(10)
    pool.shutdown()
    assert found == [0], "nobody had said no when the version was written"
    assert held_out(panel.study)[conversation.id] == 1, "the no is there, for the next version"


@pytest.mark.django_db
class TestAppliedDifferently:
    def test_what_the_panel_applied_differently_is_read_and_holds_nothing_up(self, panel: Panel) -> None:
        conversation, (criterion, other) = make_drafted(
            panel=panel, texts=["Asks about sleep.", "Asks about food."], external_id="one"
        )
        one, _ = bring(panel, conversation)
        for each in (criterion, other):
            mark(each, one, panel.ben)
            mark(each, one, panel.chloe, "not_met" if each == criterion else "met")
        for each in (criterion, other):
            for reviewer in panel.reviewers:
                vote(criterion=each, reviewer=reviewer)
        (found,) = preview_freeze(study=panel.study).cautions.applied_differently
        assert (found.goes_in.criterion.id, found.applied.in_words) == (criterion.id, "response 1: 1 met, 1 not met")
        client = signed_in(panel.adam)
        page = shown(client, at(panel.study, "study_freeze"))
        assert "1 criterion was applied differently" in page
        assert "response 1: 1 met, 1 not met" in page
        assert shown(client, at(panel.study, "freeze_goes_in")).count("Applied differently:") == 1
        told = got(panel.adam, at(panel.study, "api_freeze_preview"))["cautions"]["applied_differently"]
        assert told == [
            {
                "id": str(criterion.id),
                "external_id": criterion.external_id,
                "conversation": "one",
                "counts": "response 1: 1 met, 1 not met",
            }
        ]
        report = frozen_by_command(panel)
        assert report["criteria"] == 2
        assert any("some marked met and some not met" in sentence for sentence in report["cautions"])
