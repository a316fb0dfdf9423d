"""Why a criterion is in version n, or not: told from the draft to the freeze, and to whom what."""

from uuid import uuid4

import pytest

from annotation.assigning import assign_reviewer
from annotation.discussing import accept_objection, request_vote
from annotation.drafting import revise_criterion
from annotation.models import Criterion, Vote
from annotation.round_acts import close_round, open_round
from rubrics.explaining import Explanation, explain, standing_in
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.models import RubricVersion
from tests.factories import Panel, draft, make_conversation, make_panel, vote
from tests.rubrics.making import AXIS, make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def freeze(panel: Panel) -> RubricVersion:
    return freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)


def told(criterion: Criterion, **facts: object) -> Explanation:
    return explain(criterion=Criterion.objects.get(pk=criterion.pk), **facts)  # type: ignore[arg-type]


def revise(panel: Panel, criterion: Criterion, text: str, points: int = 6) -> None:
    criterion = Criterion.objects.select_related("current_revision").get(pk=criterion.pk)
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text=text, points=points, axis=AXIS
    )


def test_a_criterion_in_a_version_is_told_from_its_draft_to_the_freeze(panel: Panel) -> None:
    conversation, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."], points=5)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer, choice="object", category="ambiguous", reason="When?")
    vote(criterion=criterion, reviewer=panel.eva, points=5)
    objection = Vote.objects.filter(choice="object").first()
    assert objection is not None
    current = Criterion.objects.get(pk=criterion.pk).current_revision
    assert current is not None
    accept_objection(
        vote=objection, against=current, by=panel.ana, text="Asks since when they sleep badly.", points=7, axis=AXIS
    )
    open_round(conversation=conversation, by=panel.adam)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer, points=7)
    version = freeze(panel)
    why = told(criterion, version=version)
    assert [(this.revision.text, this.points, this.accepted_objection) for this in why.revisions] == [
        ("Asks about sleep.", 5, ""),
        ("Asks since when they sleep badly.", 7, "When?"),
    ]
    first, second = why.rounds
    assert [(this.choice, this.category) for this in first.votes] == [("agree", "")] + [("object", "ambiguous")] * 3
    assert [this.points for this in second.votes] == [7, 7, 7, 7]
    assert why.state == "in_consensus"
    assert why.standing.is_in
    assert why.standing.sentence == "It is in version 1, with +7 points. In consensus at +7: 4 agreed."
    assert why.standing.frozen == version.criteria.get()
    assert told(criterion).standing.sentence.startswith("The next version would take it, with +7 points.")


def test_the_policy_is_told_clause_by_clause_with_the_numbers(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."])
    for reviewer, points in zip(panel.reviewers[:3], (9, 2, -3), strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=points)
    vote(criterion=criterion, reviewer=panel.eva, choice="object", category="unsafe", reason="Delays help.")
    (this,) = told(criterion).rounds
    (outcome,) = this.outcomes
    assert [(clause.clause.value, clause.holds, clause.sentence) for clause in outcome.clauses] == [
        ("reviewed", True, "4 eligible reviewers judged it; at least 3 are needed."),
        ("agreed", True, "3 agreed; at least 3 are needed."),
        ("ratio", True, "3 of the 4 who decided agreed; at least 75% are needed."),
        ("blocked", False, "Somebody objected that it is unsafe, which blocks."),
        ("sign", False, "Some weights are positive and some negative; all must have one sign."),
        ("spread", False, "1 of 3 weights lie within 2 of the middle one (+2); at least 75% are needed."),
    ]


def test_an_open_round_tells_nothing_but_that_it_is_open(panel: Panel) -> None:
    conversation, (criterion,) = make_agreed(panel=panel)
    request_vote(criterion=criterion, by=panel.ben)
    open_round(conversation=conversation, by=panel.adam)
    before = told(criterion, reader=panel.chloe)
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe", reason="Secret.")
    after = told(criterion, reader=panel.chloe)
    assert after.rounds == before.rounds
    first, second = after.rounds
    assert len(first.votes) == 4
    assert (second.number, second.revealed_at, second.votes, second.outcomes) == (2, None, [], [])
    assert after.standing == before.standing
    assert after.standing.sentence == (
        "The next version would not take it: It is in voting, in round 2 of its conversation."
    )
    close_round(conversation=conversation, by=panel.adam)
    assert len(told(criterion).rounds[1].votes) == 1


def test_votes_are_told_without_names_unless_the_policy_of_the_reveal_shows_them(panel: Panel) -> None:
    _, (criterion,) = make_agreed(panel=panel)
    named = panel.study.policy
    named.pk, named.version, named.names_shown_after_reveal = uuid4(), 2, True
    named.save(force_insert=True)
    (this,) = told(criterion, reader=panel.ben).rounds
    assert {vote.name for vote in this.votes} == {None}
    assert [vote.is_readers_own for vote in this.votes].count(True) == 1
    _, (later,) = make_agreed(panel=panel)
    (this,) = told(later).rounds
    assert {vote.name for vote in this.votes} == {"Ben", "Chloe", "Dev", "Eva"}


def test_votes_on_an_older_wording_are_told_and_said_not_to_count(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."])
    vote(criterion=criterion, reviewer=panel.ben, choice="object", reason="Since when?")
    revise(panel, criterion, "Asks since when they sleep badly.")
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    (this,) = told(criterion).rounds
    assert [(vote.revision_number, vote.is_counted) for vote in this.votes] == [(2, True)] * 4 + [(1, False)]


def test_the_authors_points_are_hidden_from_a_reviewer_until_the_first_reveal(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks about sleep."], points=9)
    assert told(criterion, reader=panel.ben).revisions[0].points is None
    assert told(criterion, reader=panel.ana).revisions[0].points == 9
    assert told(criterion, reader=panel.adam).revisions[0].points == 9
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    assert told(criterion, reader=panel.ben).revisions[0].points == 9


def test_a_change_of_white_space_is_told_as_the_same_wording(panel: Panel) -> None:
    _, (criterion,) = make_drafted(panel=panel, texts=["Asks  about sleep."])
    revise(panel, criterion, "Asks about sleep.")
    revise(panel, criterion, "Asks since when.")
    assert [this.is_same_wording for this in told(criterion).revisions] == [False, True, False]


def test_what_is_not_in_a_version_says_why(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (heavy,) = make_drafted(panel=panel, texts=["In voting."], points=9)
    version = freeze(panel)
    why = told(heavy, version=version).standing
    assert (why.is_in, why.is_acknowledged) == (False, True)
    assert why.sentence == "It is not in version 1: It is in voting, in round 1 of its conversation."
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    later = draft(conversation=conversation, writer=panel.ana)
    assert told(later, version=version).standing.sentence == "It was written after version 1 was frozen."
    assert told(later).state == "draft"


def test_what_the_reason_was_then_stays_though_the_criterion_moved_on(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (criterion,) = make_drafted(panel=panel, texts=["In voting."])
    first = freeze(panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    second = freeze(panel)
    assert not told(criterion, version=first).standing.is_in
    assert told(criterion, version=second).standing.is_in
    assert standing_in(criterion, first).sentence.startswith("It is not in version 1: It is in voting")


def test_a_criterion_names_those_merged_into_it(panel: Panel) -> None:
    _, (kept, merged) = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks how they sleep."])
    Criterion.objects.filter(pk=merged.pk).update(merged_into=kept)
    assert told(kept).merged_from == [merged.external_id]
    assert told(merged).standing.sentence == (
        f"The next version would not take it: It was merged into criterion {kept.external_id}."
    )


def test_published_and_own_criteria_are_kept_apart(panel: Panel) -> None:
    _, (own,) = make_agreed(panel=panel)
    version = freeze(panel)
    published = take_in(study=panel.study, rows=[make_row()])
    theirs = published.criteria.get().criterion
    assert told(theirs, version=published).standing.sentence == "It is in version healthbench, with +5 points."
    assert not told(theirs, version=version).standing.is_in
    assert not told(own, version=published).standing.is_in
    assert told(theirs).standing.sentence == "It belongs to a published version, and is never frozen again."
    assert told(theirs).state is None
