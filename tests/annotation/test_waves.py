"""Waves: what waits is seen by no clinician and not begun; planned by count, at random with a seed, or by hand."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.assigning import assign_reviewer, assign_reviewers
from annotation.drafting import draft_criterion, finish_drafting
from annotation.models import Conversation, Wave
from annotation.rounds import WaveIsClosed, settle_if_due
from annotation.waves import (
    DateHasPassed,
    IsOutOrBegun,
    NoSuchWave,
    NothingToPlan,
    SeedIsUnreadable,
    SizesAreUnreadable,
    WaveIsOpen,
    date_wave,
    drawn,
    open_wave,
    plan_waves,
    put_in_wave,
)
from annotation.workload import parts_of
from tests.annotation.test_races import at_once
from tests.factories import Panel, draft, make_conversation, make_panel
from tests.journeys.commands import run
from tests.pages import api, at, got, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="pilot")


def some(panel: Panel, count: int) -> list[Conversation]:
    return [make_conversation(study=panel.study, external_id=f"case-{n:02}", position=n) for n in range(count)]


def sizes(panel: Panel) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    rows = Conversation.objects.filter(wave__study=panel.study).order_by("position")
    for number, external_id in rows.values_list("wave__number", "external_id"):
        found.setdefault(number, []).append(external_id)
    return found


def test_what_waits_is_seen_by_no_clinician_and_nothing_is_begun_until_it_is_opened(panel: Panel) -> None:
    [first, second] = some(panel, 2)
    plan_waves(study=panel.study, sizes=[1])
    assert assign_reviewers(study=panel.study).made, "it can be assigned beforehand"
    client = signed_in(panel.ana)
    desk = at(panel.study, "desk", conversation_id=first.id)
    assert client.get(desk).status_code == 404
    assert "case-0" not in shown(client, at(panel.study, "study_conversations"))
    assert got(panel.ana, at(panel.study, "api_conversations"))["results"] == []
    assert got(panel.ana, at(panel.study, "api_own_conversations"))["results"] == []
    assert api(panel.ana).get(at(panel.study, "api_conversation", conversation_id=first.id)).status_code == 404
    assert parts_of(panel.ana, [panel.study])[panel.study.id].waiting == ()
    with pytest.raises(WaveIsClosed):
        draft(conversation=first, writer=panel.ana)
    with pytest.raises(WaveIsClosed):
        finish_drafting(conversation=first, by=panel.ana)
    assert signed_in(panel.adam).get(desk).status_code == 200, "an admin reads it"
    open_wave(study=panel.study, number=1, by=panel.adam)
    assert client.get(desk).status_code == 200
    assert parts_of(panel.ana, [panel.study])[panel.study.id].waiting == (first.id,)
    assert draft(conversation=first, writer=panel.ana)
    assert client.get(at(panel.study, "desk", conversation_id=second.id)).status_code == 404


def test_a_wave_opens_on_its_date(panel: Panel) -> None:
    [first] = some(panel, 1)
    assign_reviewer(conversation=first, reviewer=panel.ana)
    plan_waves(study=panel.study, sizes=[1])
    date_wave(study=panel.study, number=1, opens_at=timezone.now() + timedelta(days=1))
    desk = at(panel.study, "desk", conversation_id=first.id)
    assert signed_in(panel.ana).get(desk).status_code == 404
    Wave.objects.update(opens_at=timezone.now() - timedelta(seconds=1))
    assert signed_in(panel.ana).get(desk).status_code == 200
    with pytest.raises(WaveIsOpen):
        open_wave(study=panel.study, number=1, by=panel.adam)
    with pytest.raises(WaveIsOpen):
        date_wave(study=panel.study, number=1, opens_at=None)


def test_a_date_of_drafting_closes_nothing_that_waits_and_is_lifted_when_it_has_passed(panel: Panel) -> None:
    [first] = some(panel, 1)
    plan_waves(study=panel.study, sizes=[1])
    Conversation.objects.update(drafting_closes_at=timezone.now() - timedelta(hours=1))
    settle_if_due(panel.study)
    first.refresh_from_db()
    assert first.drafting_closed_at is None
    open_wave(study=panel.study, number=1, by=panel.adam)
    settle_if_due(panel.study)
    first.refresh_from_db()
    assert (first.drafting_closed_at, first.drafting_closes_at) == (None, None)


def test_planned_by_count_in_the_order_of_the_file_with_a_pilot_and_a_rest(panel: Panel) -> None:
    some(panel, 5)
    made = plan_waves(study=panel.study, sizes=[1, 2])
    assert [(wave.number, wave.is_pilot, wave.seed) for wave in made] == [
        (1, True, None),
        (2, False, None),
        (3, False, None),
    ]
    assert sizes(panel) == {1: ["case-00"], 2: ["case-01", "case-02"], 3: ["case-03", "case-04"]}
    open_wave(study=panel.study, number=1, by=panel.adam)
    make_conversation(study=panel.study, external_id="late", position=9)
    assert [wave.number for wave in plan_waves(study=panel.study, sizes=[9])] == [2]
    assert sizes(panel) == {1: ["case-00"], 2: ["case-01", "case-02", "case-03", "case-04", "late"]}


def test_what_is_begun_is_not_planned(panel: Panel) -> None:
    [begun, _] = some(panel, 2)
    assign_reviewer(conversation=begun, reviewer=panel.ana)
    draft_criterion(conversation=begun, writer=panel.ana, text="Asks.", points=2)
    plan_waves(study=panel.study, sizes=[9])
    assert sizes(panel) == {1: ["case-01"]}
    with pytest.raises(IsOutOrBegun, match="case-00"):
        put_in_wave(study=panel.study, number=1, conversations=[begun.id])
    open_wave(study=panel.study, number=1, by=panel.adam)
    with pytest.raises(NothingToPlan):
        plan_waves(study=panel.study, sizes=[9])


def test_refusals(panel: Panel) -> None:
    some(panel, 2)
    for wrong in ([], [0], [1] * 100):
        with pytest.raises(SizesAreUnreadable):
            plan_waves(study=panel.study, sizes=wrong)
    with pytest.raises(SeedIsUnreadable):
        plan_waves(study=panel.study, sizes=[1], choice=Wave.Choice.RANDOM, seed=-1)
    with pytest.raises(NoSuchWave):
        open_wave(study=panel.study, number=1, by=panel.adam)
    plan_waves(study=panel.study, sizes=[1])
    with pytest.raises(DateHasPassed):
        date_wave(study=panel.study, number=1, opens_at=timezone.now())


def test_by_hand_into_a_new_wave_another_one_and_out_at_once(panel: Panel) -> None:
    [first, second, third] = some(panel, 3)
    assert put_in_wave(study=panel.study, number=1, conversations=[first.id, second.id]) == 2
    assert put_in_wave(study=panel.study, number=2, conversations=[second.id, third.id]) == 2
    assert sizes(panel) == {1: ["case-00"], 2: ["case-01", "case-02"]}
    put_in_wave(study=panel.study, number=None, conversations=[third.id])
    assert sizes(panel) == {1: ["case-00"], 2: ["case-01"]}
    with pytest.raises(NoSuchWave):
        put_in_wave(study=panel.study, number=4, conversations=[third.id])


@given(
    st.lists(st.tuples(st.sampled_from([None, "emergent"]), st.sampled_from(["en", "es", "ar"])), max_size=30),
    st.integers(0, 2**63 - 1),
)
def test_every_beginning_of_a_draw_holds_each_stratum_in_proportion(kinds: list[Any], seed: int) -> None:
    rows = [
        Conversation(external_id=str(n), acuity=acuity, language=language) for n, (acuity, language) in enumerate(kinds)
    ]
    order = drawn(rows, seed)
    assert sorted(this.external_id for this in order) == sorted(this.external_id for this in rows)
    assert [this.external_id for this in drawn(rows[::-1], seed)] == [this.external_id for this in order]
    whole = Counter((this.acuity, this.language) for this in order)
    for end in range(len(order) + 1):
        part = Counter((this.acuity, this.language) for this in order[:end])
        for stratum, size in whole.items():
            assert abs(part[stratum] - end * size / len(order)) <= len(whole)


def test_a_random_order_keeps_its_seed(panel: Panel) -> None:
    some(panel, 9)
    [first, _] = plan_waves(study=panel.study, sizes=[4], choice=Wave.Choice.RANDOM)
    before, seed = sizes(panel), first.seed
    assert seed is not None
    plan_waves(study=panel.study, sizes=[4], choice=Wave.Choice.RANDOM, seed=seed)
    assert sizes(panel) == before


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"number": 1}, "waves_are_numbered"),
        ({"number": 0}, "waves_count_from_1"),
        ({"is_pilot": True}, "only_the_first_wave_is_a_pilot"),
        ({"choice": "by_lot"}, "a_wave_is_chosen_in_order_at_random_or_by_hand"),
        ({"choice": "random"}, "what_was_drawn_keeps_its_seed"),
    ],
)
def test_the_database_holds_what_a_wave_is(panel: Panel, facts: dict[str, Any], name: str) -> None:
    Wave.objects.create(study=panel.study, number=1)
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        Wave.objects.create(study=panel.study, **{"number": 2, **facts})
    with pytest.raises(IntegrityError, match="who_opened_a_wave_did_so_at_a_time"), transaction.atomic():
        Wave.objects.update(opened_by=panel.adam)


@pytest.mark.django_db(transaction=True)
def test_a_wave_opened_twice_and_planned_anew_at_once_is_opened_once_and_keeps_what_is_out(panel: Panel) -> None:
    some(panel, 4)
    plan_waves(study=panel.study, sizes=[2])
    opening = partial(open_wave, study=panel.study, number=1, by=panel.adam)
    answers = at_once(opening, opening, partial(plan_waves, study=panel.study, sizes=[1]))
    assert sum(isinstance(answer, Wave) for answer in answers) == 1, answers
    assert sum(isinstance(answer, WaveIsOpen) for answer in answers) == 1
    assert len(Wave.objects.exclude(opened_at=None)) == 1
    assert Conversation.objects.filter(wave=None).count() == 0


# Page, API, command


def test_the_page_plans_opens_dates_and_moves_by_hand(panel: Panel) -> None:
    some(panel, 4)
    client, page = signed_in(panel.adam), at(panel.study, "study_waves")
    assert "4 conversations are neither begun nor out" in shown(client, page)
    assert client.post(page, {"sizes": "1, x", "choice": "in_order"}).status_code == 422
    client.post(page, {"sizes": "1 2", "choice": "random", "seed": "7", "is_pilot": "on"})
    html = shown(client, page)
    assert "pilot" in html
    assert "(seed 7)" in html
    hand = at(panel.study, "waves_by_hand")
    assert client.post(hand, {"number": "1", "ids": "nothing"}).status_code == 422
    client.post(hand, {"number": "4", "ids": "case-00\ncase-01"})
    assert sizes(panel)[4] == ["case-00", "case-01"]
    date = at(panel.study, "wave_date", number=2)
    assert client.post(date, {"opens_at": "soon"}).status_code == 422
    assert client.post(date, {"opens_at": "2020-01-01T10:00"}).status_code == 409
    client.post(date, {"opens_at": "2090-01-01T10:00"})
    assert "opens 1 Jan 2090" in shown(client, page)
    opened = client.post(at(panel.study, "wave_opens", number=4), follow=True).content.decode()
    assert "Wave 4 is open" in opened
    assert client.post(at(panel.study, "wave_opens", number=4)).status_code == 409


@pytest.mark.parametrize("name", ["ana", "rita", "oscar"])
def test_only_an_admin_sees_and_moves_waves(panel: Panel, name: str) -> None:
    some(panel, 1)
    plan_waves(study=panel.study, sizes=[1])
    status, client = 404 if name == "oscar" else 403, signed_in(getattr(panel, name))
    assert client.get(at(panel.study, "study_waves")).status_code == status
    for address in ("study_waves", "waves_by_hand"):
        assert client.post(at(panel.study, address)).status_code == status
    for address in ("wave_opens", "wave_date"):
        assert client.post(at(panel.study, address, number=1)).status_code == status
    assert api(getattr(panel, name)).get(at(panel.study, "api_waves")).status_code == status
    assert not Wave.objects.exclude(opened_at=None).exists()


def test_the_api_and_the_command_do_the_same(panel: Panel) -> None:
    some(panel, 4)
    client, url = api(panel.adam), at(panel.study, "api_waves")
    told = client.post(url, {"sizes": [1, 1]}, format="json")
    assert (told.status_code, [wave["conversations"] for wave in told.json()]) == (201, [1, 1, 2])
    assert client.post(url, {"sizes": []}, format="json").status_code == 400
    moved = client.patch(url, {"number": 1, "conversations": ["case-03"]}, format="json").json()
    assert [wave["conversations"] for wave in moved] == [2, 1, 1]
    date = at(panel.study, "api_wave_date", number=2)
    assert client.post(date, {"opens_at": "2090-01-01T00:00:00Z"}, format="json").status_code == 204
    assert client.post(at(panel.study, "api_wave_opens", number=2), format="json").status_code == 204
    assert run("open_wave", "pilot", "1", "--by", panel.adam.email).data["conversations"] == 2
    assert run("open_wave", "pilot", "1").code == 1
    assert [wave["is_open"] for wave in got(panel.adam, url)] == [True, True, False]
    assert Wave.objects.get(number=1).opened_by == panel.adam


def test_the_number_of_queries_does_not_grow_with_the_waves(panel: Panel) -> None:
    some(panel, 8)
    plan_waves(study=panel.study, sizes=[4])
    client, page = signed_in(panel.adam), at(panel.study, "study_waves")
    few = queries_of(client, page)
    plan_waves(study=panel.study, sizes=[1] * 6)
    assert queries_of(client, page) == few
