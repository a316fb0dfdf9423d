"""Changing the policy: what would move is shown first, what was decided stays beside what is found anew."""

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.changing_policy import (
    PolicyChangedMeanwhile,
    PolicyIsUnchanged,
    PolicyMakesNoSense,
    change_policy,
    preview_policy,
    propose_policy,
)
from annotation.consensus import ALL_CATEGORIES
from annotation.joining import UnknownPreset
from annotation.locks import share_study
from annotation.models import Conversation, Criterion, Policy, RoundOutcome, Study
from annotation.round_acts import close_round, open_round
from annotation.states import with_criterion_state
from annotation.study_forms import PolicyForm, policy_initial
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.selecting import select
from tests.factories import Panel, make_panel, make_voting, vote
from tests.journeys.commands import done, run
from tests.pages import at, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def state_of(criterion: Criterion) -> tuple[str, int | None]:
    row: Any = with_criterion_state(Criterion.objects.filter(pk=criterion.pk)).get()
    return row.state, row.consensus_points


def decided(panel: Panel) -> tuple[Conversation, Criterion, Criterion]:
    """Two criteria after round 1: three of four agree on the first, two of four on the second, nobody objects."""
    conversation, [sleep, safe], _ = make_voting(panel=panel, texts=["Asks about sleep.", "Asks about safety."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=sleep, reviewer=reviewer)
    vote(criterion=sleep, reviewer=panel.eva, choice="abstain")
    for reviewer in panel.reviewers[:2]:
        vote(criterion=safe, reviewer=reviewer)
    for reviewer in panel.reviewers[2:]:
        vote(criterion=safe, reviewer=reviewer, choice="abstain")
    return conversation, sleep, safe


def test_a_changed_policy_adds_outcomes_and_overwrites_none(panel: Panel) -> None:
    _, sleep, safe = decided(panel)
    before = list(RoundOutcome.objects.order_by("id").values())
    assert (state_of(sleep), state_of(safe)) == (("in_consensus", 6), ("discussion", None))
    policy = change_policy(study=panel.study, by=panel.adam, preset="two-of-three")
    assert (policy.version, policy.preset, policy.created_by) == (2, "two-of-three", panel.adam)
    assert (state_of(sleep), state_of(safe)) == (("in_consensus", 6), ("in_consensus", 6))
    assert [
        row for row in RoundOutcome.objects.order_by("id").values() if row["id"] in {b["id"] for b in before}
    ] == before
    assert RoundOutcome.objects.filter(policy=policy).count() == 2
    assert {outcome.round.policy_id for outcome in RoundOutcome.objects.select_related("round")} == {
        Policy.objects.get(study=panel.study, version=1).pk
    }


def test_what_a_stricter_policy_left_unsettled_can_be_voted_on_again() -> None:
    panel = make_panel(preset="two-of-three")
    conversation, sleep, safe = decided(panel)
    assert (state_of(sleep), state_of(safe)) == (("in_consensus", 6), ("in_consensus", 6))
    change_policy(study=panel.study, by=panel.adam, preset="three-agree")
    assert (state_of(sleep), state_of(safe)) == (("in_consensus", 6), ("discussion", None))
    opened = open_round(conversation=conversation, by=panel.adam)
    assert set(opened.covered.values_list("criterion_id", flat=True)) == {safe.id}


def test_the_preview_says_what_the_change_then_does_and_writes_nothing(panel: Panel) -> None:
    _, sleep, safe = decided(panel)
    policy = propose_policy(study=panel.study, min_agree=4, min_reviewed=4, names_shown_after_reveal=True)
    preview = preview_policy(study=panel.study, policy=policy)
    assert Policy.objects.filter(study=panel.study).count() == 1
    assert RoundOutcome.objects.count() == 2
    [move] = preview.moves
    assert (move.criterion.id, move.goes_out, move.comes_in) == (sleep.id, True, False)
    assert (move.state_before, move.points_before) == ("in_consensus", 6)
    assert (preview.decided, preview.unmoved) == (2, 1)
    change_policy(study=panel.study, by=panel.adam, min_agree=4, min_reviewed=4, names_shown_after_reveal=True)
    assert state_of(sleep) == (move.state_after, move.points_after)
    assert state_of(safe)[0] == "discussion"
    assert policy.preset == ""


def test_a_policy_with_fewer_rounds_ends_what_is_in_discussion(panel: Panel) -> None:
    _, _, safe = decided(panel)
    [move] = preview_policy(study=panel.study, policy=propose_policy(study=panel.study, max_rounds=1)).moves
    assert (move.criterion.id, move.state_after) == (safe.id, "no_consensus")
    change_policy(study=panel.study, by=panel.adam, max_rounds=1)
    assert state_of(safe)[0] == "no_consensus"


def test_an_open_round_is_decided_under_the_policy_in_force_at_its_reveal(panel: Panel) -> None:
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    vote(criterion=criterion, reviewer=panel.chloe)
    change_policy(study=panel.study, by=panel.adam, preset="two-of-three")
    assert RoundOutcome.objects.count() == 0
    vote(criterion=criterion, reviewer=panel.dev, choice="abstain")
    close_round(conversation=conversation, by=panel.adam)
    assert RoundOutcome.objects.get().policy.version == 2
    assert state_of(criterion) == ("in_consensus", 6)


def test_a_round_that_the_new_policy_completes_is_counted_and_revealed_at_once(panel: Panel) -> None:
    change_policy(study=panel.study, by=panel.adam, min_reviewed=5, min_agree=5)
    conversation, [criterion], _ = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    policy = propose_policy(study=panel.study, preset="three-agree")
    assert preview_policy(study=panel.study, policy=policy).revealed_at_once == 1
    change_policy(study=panel.study, by=panel.adam, preset="three-agree")
    assert state_of(criterion) == ("in_consensus", 6)
    assert conversation.rounds.get().policy == Policy.objects.get(study=panel.study, version=3)


def test_a_version_freezes_what_the_newest_policy_finds_and_says_that_it_came_after_votes(panel: Panel) -> None:
    _, _, safe = decided(panel)
    first = freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    assert (first.criteria_count, first.is_threshold_set_after_votes) == (1, False)
    change_policy(study=panel.study, by=panel.adam, preset="two-of-three")
    assert {this.criterion.id for this in select(study=panel.study).goes_in} >= {safe.id}
    second = freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)
    assert (second.criteria_count, second.is_threshold_set_after_votes) == (2, True)
    assert second.policy == Policy.objects.get(study=panel.study, version=2)
    change_policy(study=panel.study, by=panel.adam, preset="three-agree")
    assert [this.criterion.id for this in select(study=panel.study).goes_in] != []
    third = select(study=panel.study)
    assert safe.id not in {this.criterion.id for this in third.goes_in}


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"min_agree": 2}, "every category of objection blocks"),
        ({"min_agree": 4}, "4 can't agree where 3"),
        ({"min_agree": 0}, "from 1 to 100"),
        ({"max_rounds": 0}, "from 1 to 100"),
        ({"min_ratio": "0.5"}, "above one half"),
        ({"min_ratio": "0.5004"}, "above one half"),
        ({"min_ratio": "NaN"}, "above one half"),
        ({"min_ratio": "1.1"}, "above one half"),
        ({"points_tolerance": -1}, "0 to 20"),
        ({"reviewers_per_conversation": 2}, "fewer than the 3"),
        ({"drafting": "never"}, "alone or together"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_in_a_sentence(
    panel: Panel, facts: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PolicyMakesNoSense) as refused:
        propose_policy(study=panel.study, **facts)
    assert sentence in refused.value.sentence


def test_fewer_may_agree_where_every_category_blocks(panel: Panel) -> None:
    policy = change_policy(study=panel.study, by=None, min_agree=2, blocks=reversed(ALL_CATEGORIES))
    assert (policy.preset, policy.blocks) == ("two-of-three", list(ALL_CATEGORIES))


def test_the_policy_in_force_is_no_change_and_an_unknown_preset_none_either(panel: Panel) -> None:
    with pytest.raises(PolicyIsUnchanged):
        change_policy(study=panel.study, by=panel.adam, preset="three-agree")
    with pytest.raises(UnknownPreset):
        change_policy(study=panel.study, by=panel.adam, preset="most-agree")


def test_a_change_made_against_an_older_policy_is_refused(panel: Panel) -> None:
    change_policy(study=panel.study, by=panel.adam, against=1, max_rounds=4)
    with pytest.raises(PolicyChangedMeanwhile):
        change_policy(study=panel.study, by=panel.adam, against=1, max_rounds=5)
    assert panel.study.policy.max_rounds == 4


@pytest.mark.django_db(transaction=True)
def test_a_change_waits_for_acts_under_way_in_the_study() -> None:
    panel = make_panel()
    ended = threading.Event()

    def change() -> None:
        change_policy(study=Study.objects.get(pk=panel.study.pk), by=None, max_rounds=4)
        ended.set()
        connection.close()

    thread = threading.Thread(target=change)
    with transaction.atomic():
        share_study(panel.study.id)
        thread.start()
        assert not ended.wait(1)
    thread.join(30)
    assert ended.is_set()


# The page


def sent(study: Study, **changed: object) -> dict[str, Any]:
    initial = policy_initial(study.policy)
    form = PolicyForm(initial=initial)
    data = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    return {**data, **changed}


def test_the_page_shows_what_would_move_and_changes_only_when_confirmed(panel: Panel) -> None:
    _, _, safe = decided(panel)
    client, page = signed_in(panel.adam), at(panel.study, "study_policy_change")
    assert "Change the rule of consensus" in shown(client, page + "?preset=two-of-three")
    wanted = sent(panel.study, min_agree=2, blocks=list(ALL_CATEGORIES))
    answer = client.post(page, wanted)
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "1 would come into consensus, 0 would leave it" in " ".join(body.split())
    assert "Asks about safety." in body
    assert panel.study.policy.version == 1
    assert client.post(page, {**wanted, "confirm": "1"}).status_code == 302
    assert panel.study.policy.version == 2
    assert state_of(safe) == ("in_consensus", 6)
    assert "Earlier policies" in shown(client, at(panel.study, "study_policy"))


def test_the_page_refuses_nonsense_and_what_is_stale_and_keeps_what_was_typed(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_policy_change")
    answer = client.post(page, sent(panel.study, min_agree=2))
    assert answer.status_code == 409
    assert "every category of objection blocks" in answer.content.decode()
    stale = sent(panel.study, max_rounds=7)
    change_policy(study=panel.study, by=panel.adam, max_rounds=5)
    for data in (stale, {**stale, "confirm": "1"}):
        answer = client.post(page, data)
        assert answer.status_code == 409
        assert "policy 2 is in force now" in answer.content.decode()
    assert client.post(page, {**stale, "min_ratio": "x"}).status_code == 422
    assert panel.study.policy.max_rounds == 5


def test_the_page_is_the_admins(panel: Panel) -> None:
    page = at(panel.study, "study_policy_change")
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert signed_in(person).get(page).status_code == status
        assert signed_in(person).post(page, sent(panel.study, max_rounds=9, confirm="1")).status_code == status
    assert panel.study.policy.version == 1


# The command


def test_the_command_checks_first_and_then_changes(panel: Panel) -> None:
    _, _, safe = decided(panel)
    slug = panel.study.slug
    checked = done("change_policy", slug, "--preset", "two-of-three", "--check")
    assert (checked["policy"], checked["come_in"], checked["go_out"]) == (2, 1, 0)
    assert panel.study.policy.version == 1
    changed = done("change_policy", slug, "--preset", "two-of-three", "--by", panel.adam.email)
    assert changed["moves"] == checked["moves"]
    assert changed["moves"][0]["criterion"] == safe.external_id
    assert panel.study.policy.created_by == panel.adam
    assert done("change_policy", slug, "--min-agree", 3, "--min-ratio", "80%", "--blocks", "none")["policy"] == 3
    assert (float(panel.study.policy.min_ratio), panel.study.policy.blocks) == (0.8, [])


def test_the_command_refuses_in_a_sentence(panel: Panel) -> None:
    assert run("change_policy", panel.study.slug).code == 2
    assert run("change_policy", panel.study.slug, "--min-ratio", "most").code == 2
    refused = run("change_policy", panel.study.slug, "--min-agree", 2)
    assert (refused.code, "every category of objection blocks" in refused.said) == (1, True)
