"""What a freeze takes and leaves, what it writes, and when it refuses."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer
from annotation.discussing import adjudicate, request_vote
from annotation.drafting import revise_criterion, withdraw_criterion
from annotation.models import Acuity, Criterion, Policy, Revision, RoundOutcome, Vote
from annotation.round_acts import close_round, open_round
from rubrics import digests
from rubrics.freezing import (
    ACKNOWLEDGE_ALL,
    AlreadyWithdrawn,
    NotAcknowledged,
    NothingChangedSince,
    NothingInConsensus,
    WithdrawalNeedsAReason,
    freeze_version,
    policy_facts_of,
    preview_freeze,
    withdraw_version,
)
from rubrics.models import FrozenConversation, FrozenCriterion, FrozenLeftOut, FrozenVote, RubricVersion
from rubrics.selecting import (
    LeavingOutNeedsAReason,
    LeftOutKind,
    NoSuchCriterion,
    StoredDecisionDiffers,
    select,
)
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.rubrics.making import AXIS, make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def freeze(panel: Panel, **facts: object) -> RubricVersion:
    facts = {"note": "", "acknowledged": ACKNOWLEDGE_ALL, **facts}
    return freeze_version(study=panel.study, by=panel.adam, **facts)  # type: ignore[arg-type]


def current(criterion: Criterion) -> Criterion:
    return Criterion.objects.select_related("current_revision").get(pk=criterion.pk)


def revise(panel: Panel, criterion: Criterion, text: str, *, by: object = None, points: int = 6) -> None:
    criterion = current(criterion)
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion,
        against=criterion.current_revision,
        by=by or panel.ana,  # type: ignore[arg-type]
        text=text,
        points=points,
        axis=AXIS,
    )


def kinds(version: RubricVersion) -> dict[str, str]:
    return dict(version.left_out.values_list("criterion__external_id", "kind"))


def another_policy(panel: Panel, **facts: object) -> Policy:
    policy = panel.study.policy
    policy.pk, policy.version = uuid4(), policy.version + 1
    for name, value in facts.items():
        setattr(policy, name, value)
    policy.save(force_insert=True)
    return policy


# What goes in


def test_the_first_version_takes_what_is_in_consensus_with_the_panels_points(panel: Panel) -> None:
    conversation, (criterion,) = make_agreed(panel=panel, points=6, weights=[8, 9, 8, 9], acuity=Acuity.NON_ACUTE)
    version = freeze(panel, note="For the pilot.")
    assert (version.number, version.name, version.kind) == (1, "", "consensus")
    assert (version.criteria_count, version.conversations_count) == (1, 1)
    assert (version.note, version.frozen_by, version.policy) == ("For the pilot.", panel.adam, panel.study.policy)
    assert version.canary_string == panel.study.canary_string
    frozen = version.criteria.get()
    assert (frozen.criterion, frozen.revision) == (criterion, current(criterion).current_revision)
    assert (frozen.text, frozen.points, frozen.axis, frozen.scale) == ("Asks about sleep.", 8, AXIS, "binary")
    assert frozen.sentence == "In consensus at +8: 4 agreed."
    assert frozen.round_number == 1
    held = version.conversations.get()
    assert (held.conversation, held.messages, held.acuity) == (conversation, conversation.messages, "non_acute")


def test_both_digests_are_over_what_was_frozen(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Names a next step."])
    make_agreed(panel=panel, texts=["Stays warm."])
    version = freeze(panel, note="First.")
    items = [
        digests.conversation_sha256(conversation_id=this.external_id, messages=this.messages or [])
        for this in version.conversations.all()
    ] + [
        digests.criterion_sha256(
            conversation_id=this.frozen_conversation.external_id,
            text=this.text or "",
            points=this.points,
            axis=this.axis,
            scale=this.scale,
        )
        for this in version.criteria.all()
    ]
    assert len(items) == 5
    assert version.digest == digests.digest_of(items)
    votes = [
        digests.vote_sha256(
            criterion=this.criterion.item_sha256,
            person=str(this.person),
            choice=this.choice,
            points=this.points,
            category=this.category,
            reason=this.reason or "",
            round_number=this.round_number,
        )
        for this in FrozenVote.objects.filter(criterion__version=version)
    ]
    assert len(votes) == 12
    assert version.record_digest == digests.record_digest_of(
        digest=version.digest,
        votes=votes,
        policy=digests.policy_sha256(policy_facts_of(panel.study.policy)),
        note=digests.note_sha256("First."),
    )


def test_the_votes_that_carried_a_criterion_are_kept_by_the_persons_id(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."])
    # A writer's own vote, as an import may bring it, is kept and never counts.
    Vote.objects.create(
        round=criterion.rounds.get().round,
        wording=Revision.objects.get(criterion=criterion),
        reviewer=panel.ana,
        choice="agree",
        points=10,
        cast_at=criterion.created_at,
    )
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer, points=5)
    vote(criterion=criterion, reviewer=panel.eva, choice="object", category="duplicate", reason="As the other one.")
    freeze(panel)
    votes = {this.person: this for this in FrozenVote.objects.all()}
    assert votes.keys() == {person.id for person in panel.reviewers}
    against = votes[panel.eva.id]
    assert (against.choice, against.points, against.category) == ("object", None, "duplicate")
    assert against.reason == "As the other one."


def test_the_text_frozen_is_the_current_revisions_though_votes_belong_to_its_wording(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about  sleep."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    revise(panel, criterion, "Asks about sleep.")
    vote(criterion=criterion, reviewer=panel.eva)
    freeze(panel)
    frozen = FrozenCriterion.objects.get()
    assert frozen.text == "Asks about sleep."
    assert frozen.revision.number == 2
    assert frozen.wording.number == 1


def test_a_version_holds_only_the_conversations_of_its_criteria(panel: Panel) -> None:
    conversation, _ = make_agreed(panel=panel)
    make_conversation(study=panel.study)
    make_drafted(panel=panel, texts=["Stays warm."])
    version = freeze(panel)
    assert [this.conversation for this in version.conversations.all()] == [conversation]


def test_what_belongs_to_a_published_set_is_never_frozen(panel: Panel) -> None:
    take_in(study=panel.study, rows=[make_row()])
    with pytest.raises(NothingInConsensus):
        freeze(panel)
    make_agreed(panel=panel)
    version = freeze(panel)
    assert version.criteria_count == 1
    assert not version.left_out.exists()


def test_what_is_due_is_settled_first(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."])
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    this = criterion.rounds.get().round
    this.closes_at = this.opened_at
    this.save(update_fields=["closes_at"])
    assert freeze(panel).criteria_count == 1


# What stays out


def test_what_is_not_settled_stays_out_with_a_sentence(panel: Panel) -> None:
    make_agreed(panel=panel)
    drafting = make_conversation(study=panel.study)
    assign_reviewer(conversation=drafting, reviewer=panel.ana)
    a_draft = draft(conversation=drafting, writer=panel.ana, text="A draft.")
    _, (voting,) = make_drafted(panel=panel, texts=["In voting."])
    vote(criterion=voting, reviewer=panel.ben, choice="object", reason="Nobody may know of this yet.")
    version = freeze(panel)
    reasons = dict(version.left_out.values_list("criterion", "reason"))
    assert reasons[a_draft.id] == "It is a draft: drafting of its conversation is still open."
    assert reasons[voting.id] == "It is in voting, in round 1 of its conversation."
    assert kinds(version) == {a_draft.external_id: "draft", voting.external_id: "voting"}


def test_what_the_votes_did_not_carry_stays_out_with_the_outcomes_sentence(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (unsettled, out, revised, withdrawn, ended) = make_drafted(
        panel=panel, texts=["Unsettled.", "Out.", "Revised.", "Withdrawn.", "Adjudicated."]
    )
    for reviewer, choice in zip(panel.reviewers, ["agree", "agree", "object", "abstain"], strict=True):
        for criterion in (unsettled, withdrawn, ended):
            vote(criterion=criterion, reviewer=reviewer, choice=choice)
        vote(criterion=out, reviewer=reviewer, choice="object")
        vote(criterion=revised, reviewer=reviewer)
    revise(panel, revised, "Revised after the reveal.")
    withdraw_criterion(criterion=withdrawn, by=panel.ana)
    adjudicate(criterion=ended, by=panel.adam, reason="The lead decided against it")
    version = freeze(panel)
    assert kinds(version) == {
        unsettled.external_id: "unsettled",
        out.external_id: "out",
        revised.external_id: "not_voted_on",
        withdrawn.external_id: "withdrawn",
        ended.external_id: "adjudicated",
    }
    reasons = dict(version.left_out.values_list("criterion", "reason"))
    assert reasons[unsettled.id] == RoundOutcome.objects.get(criterion=unsettled).sentence
    assert "2 agreed, 3 are needed" in reasons[unsettled.id]
    assert reasons[out.id] == "Out: 4 objected and nobody agreed."
    assert reasons[revised.id] == "This wording was never voted on."
    assert reasons[ended.id] == "Adjudicated, which is not consensus: The lead decided against it."


def test_a_merged_criterion_stays_out_and_names_the_other(panel: Panel) -> None:
    _, (kept, merged) = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks how they sleep."])
    Criterion.objects.filter(pk=merged.pk).update(merged_into=kept)
    left = freeze(panel).left_out.get()
    assert (left.kind, left.reason) == ("merged", f"It was merged into criterion {kept.external_id}.")


def test_after_the_last_round_what_is_unsettled_is_without_consensus(panel: Panel) -> None:
    another_policy(panel, max_rounds=1)
    _, (kept, unsettled) = make_drafted(panel=panel, texts=["Kept.", "Unsettled."])
    for reviewer, choice in zip(panel.reviewers, ["agree", "agree", "object", "abstain"], strict=True):
        vote(criterion=kept, reviewer=reviewer)
        vote(criterion=unsettled, reviewer=reviewer, choice=choice)
    left = freeze(panel).left_out.get()
    assert left.kind == "no_consensus"
    assert left.reason.startswith("No consensus after 1 round: 2 agreed, 3 are needed")


def test_a_conversation_with_an_open_round_stays_out_whole(panel: Panel) -> None:
    make_agreed(panel=panel)
    conversation, (settled, asked) = make_agreed(panel=panel, texts=["Settled.", "Asked again."])
    request_vote(criterion=asked, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    version = freeze(panel)
    assert kinds(version) == {settled.external_id: "open_round", asked.external_id: "voting"}
    close_round(conversation=conversation, by=panel.adam)
    assert freeze(panel).criteria_count == 3


def test_a_conversation_without_positive_points_stays_out(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (unwanted,) = make_agreed(panel=panel, texts=["Blames the person."], points=-6)
    left = freeze(panel).left_out.get()
    assert (left.criterion, left.kind) == (unwanted, "no_positive_points")
    assert "could be scored" in left.reason


def test_a_conversation_whose_positive_points_are_left_out_by_name_stays_out_whole(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (wanted, unwanted) = make_drafted(panel=panel, texts=["Asks.", "Blames."])
    for reviewer in panel.reviewers:
        vote(criterion=wanted, reviewer=reviewer, points=5)
        vote(criterion=unwanted, reviewer=reviewer, points=-5)
    version = freeze(panel, leave_out={wanted.id: "Not in this study"})
    assert kinds(version) == {wanted.external_id: "by_name", unwanted.external_id: "no_positive_points"}
    assert version.left_out.get(criterion=wanted).reason == "Left out by name: Not in this study."


def test_the_later_of_two_equal_texts_in_one_conversation_stays_out(panel: Panel) -> None:
    texts = ["Asks about sleep.", "Asks  about\nsleep. ", "asks about sleep."]
    _, (first, double, other_case) = make_agreed(panel=panel, texts=texts)
    make_agreed(panel=panel, texts=["Asks about sleep."])
    version = freeze(panel)
    left = version.left_out.get()
    assert (left.criterion, left.kind) == (double, "duplicate")
    assert left.reason == f"The older criterion {first.external_id} has the same text."
    assert {first.id, other_case.id} <= set(version.criteria.values_list("criterion", flat=True))


def test_equal_texts_are_compared_in_nfc(panel: Panel) -> None:
    _, (_, decomposed) = make_agreed(panel=panel, texts=["Fragt nach Müdigkeit.", "Fragt nach Mu\u0308digkeit."])
    assert freeze(panel).left_out.get().criterion == decomposed


def test_the_later_text_goes_in_where_the_older_is_left_out_by_name(panel: Panel) -> None:
    _, (first, double) = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about sleep."])
    version = freeze(panel, leave_out={first.id: "Kept under the other id."})
    assert version.criteria.get().criterion == double


def test_what_would_stay_out_anyway_keeps_its_own_reason(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (voting,) = make_drafted(panel=panel, texts=["In voting."])
    assert freeze(panel, leave_out={voting.id: "By name."}).left_out.get().kind == "voting"


def test_what_was_decided_under_another_policy_than_the_one_in_force_stays_out(panel: Panel) -> None:
    make_agreed(panel=panel)
    another_policy(panel)
    selection = select(study=panel.study)
    assert [this.kind for this in selection.stays_out] == [LeftOutKind.OTHER_POLICY]
    assert selection.stays_out[0].reason == (
        "It was decided under version 1 of the rule of consensus, and version 2 is in force."
    )


def test_every_criterion_of_the_study_is_in_or_out(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["One.", "Two."])
    make_drafted(panel=panel, texts=["Three."])
    version = freeze(panel)
    told = set(version.criteria.values_list("criterion", flat=True)) | set(
        version.left_out.values_list("criterion", flat=True)
    )
    assert told == set(Criterion.objects.values_list("id", flat=True))
    assert version.criteria.count() + version.left_out.count() == 3


def test_leaving_out_needs_a_reason_and_a_criterion_of_the_study(panel: Panel) -> None:
    _, (criterion,) = make_agreed(panel=panel)
    with pytest.raises(LeavingOutNeedsAReason):
        freeze(panel, leave_out={criterion.id: "  "})
    with pytest.raises(NoSuchCriterion):
        freeze(panel, leave_out={uuid4(): "Somebody else's."})


# Acknowledging


def test_heavy_criteria_and_those_of_an_emergency_are_acknowledged_one_by_one(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (heavy,) = make_drafted(panel=panel, texts=["Names the emergency number."], points=-8)
    _, (light,) = make_drafted(panel=panel, texts=["Stays warm."], points=7)
    _, (emergency,) = make_drafted(panel=panel, texts=["Asks if they are safe."], points=3, acuity=Acuity.EMERGENT)
    with pytest.raises(NotAcknowledged) as refusal:
        freeze(panel, acknowledged=[heavy.id])
    assert [this.criterion.id for this in refusal.value.missing] == [emergency.id]
    assert emergency.external_id in refusal.value.sentence
    assert not RubricVersion.objects.exists()
    version = freeze(panel, acknowledged=[heavy.id, emergency.id, light.id])
    acknowledged = set(version.left_out.filter(is_acknowledged=True).values_list("criterion", flat=True))
    assert acknowledged == {heavy.id, emergency.id}


def test_what_its_writers_took_back_needs_no_acknowledging(panel: Panel) -> None:
    _, (kept, merged) = make_agreed(panel=panel, texts=["Asks.", "Asks it."], points=9)
    _, (withdrawn, _) = make_drafted(panel=panel, texts=["Withdrawn.", "Other."], points=5, acuity=Acuity.EMERGENT)
    Criterion.objects.filter(pk=merged.pk).update(merged_into=kept)
    withdraw_criterion(criterion=withdrawn, by=panel.ana)
    missing = {this.criterion.id for this in select(study=panel.study).to_acknowledge}
    assert merged.id not in missing
    assert withdrawn.id not in missing
    assert len(missing) == 1


def test_what_is_left_out_by_name_is_acknowledged_too(panel: Panel) -> None:
    _, (heavy, _) = make_agreed(panel=panel, texts=["Asks.", "Stays warm."], points=9)
    with pytest.raises(NotAcknowledged):
        freeze(panel, leave_out={heavy.id: "Elsewhere."}, acknowledged=[])


# Refusals and numbers


def test_a_version_without_criteria_is_refused(panel: Panel) -> None:
    make_drafted(panel=panel, texts=["In voting."])
    with pytest.raises(NothingInConsensus):
        freeze(panel)


def test_versions_are_numbered_and_one_that_changes_nothing_is_refused(panel: Panel) -> None:
    make_agreed(panel=panel)
    assert freeze(panel).number == 1
    with pytest.raises(NothingChangedSince) as refusal:
        freeze(panel, note="Another note is no other rubric.")
    assert refusal.value.sentence == "Nothing changed since version 1."
    make_agreed(panel=panel)
    assert freeze(panel).number == 2
    with pytest.raises(NothingChangedSince) as refusal:
        freeze(panel)
    assert refusal.value.sentence == "Nothing changed since version 2."


def test_a_rubric_may_return_to_what_an_older_version_held(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (second,) = make_agreed(panel=panel)
    first = freeze(panel, leave_out={second.id: "Later."})
    freeze(panel)
    third = freeze(panel, leave_out={second.id: "Not after all."})
    assert (third.number, third.digest) == (3, first.digest)


def test_a_version_of_another_study_is_no_version_of_this_one(panel: Panel) -> None:
    make_agreed(panel=panel)
    freeze(panel)
    other = make_panel()
    make_agreed(panel=other)
    assert freeze(other).number == 1


def test_a_policy_that_was_made_after_a_vote_says_so(panel: Panel) -> None:
    make_agreed(panel=panel)
    assert not freeze(panel).is_threshold_set_after_votes
    another_policy(panel, points_tolerance=3)
    make_agreed(panel=panel)
    version = freeze(panel)
    assert version.is_threshold_set_after_votes
    assert version.policy_sha256 != RubricVersion.objects.get(number=1).policy_sha256


def test_a_vote_of_an_open_round_makes_no_version_say_so(panel: Panel) -> None:
    """Else a freeze would tell that somebody had voted there before the policy was changed."""
    _, (waiting,), _ = make_voting(panel=panel)
    vote(criterion=waiting, reviewer=panel.ben)
    another_policy(panel, points_tolerance=3)
    make_agreed(panel=panel)
    assert not freeze(panel).is_threshold_set_after_votes


def test_a_policy_that_was_changed_before_the_first_vote_does_not(panel: Panel) -> None:
    another_policy(panel, points_tolerance=3)
    make_agreed(panel=panel)
    assert not freeze(panel).is_threshold_set_after_votes


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE annotation_vote SET choice = 'object', points = NULL, category = 'unsafe', reason = 'x'",
        "UPDATE annotation_vote SET points = 9",
        "DELETE FROM annotation_vote",
        "UPDATE annotation_roundoutcome SET points = 7",
        "UPDATE annotation_roundoutcome SET eligible = eligible[1:2]",
    ],
)
def test_a_decision_that_its_votes_do_not_give_stops_the_freeze(panel: Panel, tampering: str) -> None:
    make_agreed(panel=panel)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(tampering)
        assert cursor.rowcount > 0
        cursor.execute("SET LOCAL session_replication_role = origin")
    with pytest.raises(StoredDecisionDiffers):
        freeze(panel)
    assert not RubricVersion.objects.exists()


def test_a_freeze_takes_as_many_queries_for_many_criteria_as_for_few(panel: Panel) -> None:
    def queries(note: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            freeze(panel, note=note)
        return len(captured)

    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["In voting."])
    few = queries("few")
    for _ in range(4):
        make_agreed(panel=panel, texts=["One.", "Two.", "Three."])
        make_drafted(panel=panel, texts=["In voting.", "Too."])
    assert queries("many") == few
    assert few < 40


# Before and after


def test_the_preview_says_what_the_freeze_then_does(panel: Panel) -> None:
    _, (one, two) = make_agreed(panel=panel, texts=["One.", "Two."])
    make_drafted(panel=panel, texts=["In voting."])
    preview = preview_freeze(study=panel.study, leave_out={two.id: "Later."})
    assert preview.newest is None
    assert not RubricVersion.objects.exists()
    version = freeze(panel, leave_out={two.id: "Later."})
    assert [this.criterion.id for this in preview.selection.goes_in] == list(
        version.criteria.values_list("criterion", flat=True)
    )
    assert {(this.criterion.id, this.reason) for this in preview.selection.stays_out} == set(
        version.left_out.values_list("criterion", "reason")
    )
    again = preview_freeze(study=panel.study)
    assert again.newest == version
    assert [(this.criterion_id, list(this.kinds)) for this in again.changes] == [(two.id, ["added"])]
    assert one.id not in {this.criterion_id for this in again.changes}


def test_a_version_is_marked_withdrawn_beside_it(panel: Panel) -> None:
    make_agreed(panel=panel)
    version = freeze(panel)
    with pytest.raises(WithdrawalNeedsAReason):
        withdraw_version(version=version, by=panel.adam, reason=" ")
    event = withdraw_version(version=version, by=panel.adam, reason="A criterion is unsafe.")
    assert (event.version, event.reason, event.withdrawn_by) == (version, "A criterion is unsafe.", panel.adam)
    with pytest.raises(AlreadyWithdrawn):
        withdraw_version(version=version, by=panel.adam, reason="Again.")
    assert RubricVersion.objects.get().digest == version.digest


def test_reading_order_is_the_files_and_positions_are_without_gaps(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="b", position=2)
    make_agreed(panel=panel, external_id="c", position=1)
    make_agreed(panel=panel, external_id="a", position=2)
    freeze(panel)
    assert list(FrozenConversation.objects.order_by("position").values_list("external_id", "position")) == [
        ("c", 0),
        ("a", 1),
        ("b", 2),
    ]
    assert list(FrozenCriterion.objects.order_by("position").values_list("position", flat=True)) == [0, 1, 2]
    assert not FrozenLeftOut.objects.exists()
