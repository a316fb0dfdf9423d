"""Agreement on blind votes: which votes count, first and last rounds, and of whom nothing is told."""

import csv
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.changing_policy import change_policy
from annotation.drafting import revise_criterion
from annotation.importing.criteria import import_criteria
from annotation.importing.votes import import_votes
from annotation.models import DEFAULT_AXES, Study, Vote
from annotation.round_acts import close_round, open_round
from grading.counted_votes import Beside, Pattern, Voters, count_open, read_votes
from grading.own_votes import compare_own, report_own_votes
from grading.statistics.undefined import Reason, undefined
from grading.vote_agreement import When, axes_told, figures_of, majority_of, report_votes
from tests.factories import make_conversation, make_panel, make_voting, vote
from tests.grading.voted_criteria import names_of, vote_all
from tests.importing_files import jsonl

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "votes" / "three_clinicians_83_items.csv"


def pattern(*, agreed: int = 0, objected: int = 0, criteria: int = 1, weights: tuple[int, ...] = ()) -> Pattern:
    return Pattern("", True, True, agreed, objected, 0, 0, 0, weights, criteria)


def voters(axis: str, *people: UUID) -> Voters:
    return Voters(axis, True, True, people=set(people))


# Pure


def test_a_majority_takes_two_others_and_no_tie() -> None:
    assert [majority_of(*votes) for votes in ((1, 0), (0, 1), (1, 1), (2, 0), (1, 2), (2, 2))] == [
        None,
        None,
        None,
        True,
        False,
        None,
    ]


def test_figures_of_nothing_are_undefined_and_never_nan() -> None:
    figures = figures_of([])
    assert {number.reason for number in figures.coefficients.values()} == {Reason.NO_PAIRS}
    assert (figures.criteria, figures.votes, figures.with_majority, figures.beside_majority) == (0, 0, 0, 0)
    single = figures_of([pattern(agreed=1), pattern(objected=1)])
    assert {number.reason for number in single.coefficients.values()} >= {Reason.NO_PAIRS}
    assert all(number.value is None for number in single.coefficients.values())


def test_alpha_is_near_zero_where_nearly_all_agree_and_the_others_say_so() -> None:
    figures = figures_of([pattern(agreed=4, criteria=96), pattern(agreed=3, objected=1, criteria=4)])
    values = {name: number.value for name, number in figures.coefficients.items()}
    assert values["alpha"] == pytest.approx(-0.0076, abs=1e-4)
    assert values["observed"] == pytest.approx(0.98)
    assert values["ac1"] == pytest.approx(0.9796, abs=1e-4)
    assert values["agree"] == pytest.approx(1176 / 1188)
    assert values["object"] == 0
    assert (figures.with_majority, figures.beside_majority) == (396, 400)


def test_all_the_same_has_no_alpha_and_says_why() -> None:
    figures = figures_of([pattern(agreed=3, criteria=20)])
    assert figures.coefficients["alpha"] == undefined(Reason.SINGLE_CLASS)
    assert figures.coefficients["object"] == undefined(Reason.CLASS_ABSENT)
    assert figures.coefficients["ac1"].value == 1


def test_an_axis_of_few_people_is_left_out_with_as_many_as_hide_them() -> None:
    one, two, *others = (uuid4() for _ in range(8))
    whole = [voters("a", *others, one), voters("b", *others), voters("few", one, two)]
    assert axes_told(whole[:2]) == (["a", "b"], 0)
    assert axes_told(whole) == (["a"], 2), "the smallest goes too: else the whole less a and b would tell of two"
    assert axes_told([voters("a", *others), voters("few", one, two)]) == ([], 2)
    assert axes_told([voters("a", *others), voters("b", one, two, *others[:2]), voters("c", *others[2:5])]) == (
        ["a"],
        2,
    )
    assert axes_told([voters("a", *others), voters("silent")]) == (["a"], 0)


def test_an_own_weight_is_compared_in_the_criterions_direction() -> None:
    rows = [
        Beside(True, True, True, False, agreed=2, objected=0, weight=8, weights=10, criteria=2),
        Beside(True, True, True, False, agreed=1, objected=1, weight=-2, weights=4, criteria=1),
        Beside(True, True, False, True, agreed=0, objected=3, weight=None, weights=None, criteria=1),
        Beside(True, True, False, False, agreed=3, objected=0, weight=None, weights=18, criteria=1),
    ]
    own = compare_own(rows)
    assert (own.votes, own.imported, own.without_majority, own.weighed) == (5, 1, 1, 3)
    assert (own.others_agreed, own.agreed_too, own.others_objected, own.objected_too) == (3, 2, 1, 1)
    assert own.weight_difference.value == pytest.approx((3 + 3 - 6) / 3)
    assert own.shares["with_majority"].value == pytest.approx(3 / 4)


# From the database


@pytest.mark.django_db
def test_only_what_counted_is_read() -> None:
    """A writer's imported vote, one on an old wording and an open round's are none; an imported one is, and is said."""
    panel = make_panel()
    conversation, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text="Asks how long.", points=6
    )
    rows = [{"criterion_id": criterion.external_id, "reviewer": "ana@example.org", "choice": "agree"}]
    rows += [{**rows[0], "reviewer": "chloe@example.org"}]
    assert not import_votes(study=panel.study, source=jsonl(*rows), file_name="votes", by=None, check=False).errors
    vote(criterion=criterion, reviewer=panel.dev, choice="object")
    vote(criterion=criterion, reviewer=panel.eva, choice="abstain")
    assert read_votes(panel.study) == ([], []), "the round is open"
    assert (count_open(panel.study), count_open(panel.study, panel.rita)) == (1, 0)
    close_round(conversation=conversation, by=panel.adam)
    [found], [who] = read_votes(panel.study)
    assert (found.agreed, found.objected, found.abstained, found.imported, found.weights) == (1, 1, 1, 1, (6,))
    assert (who.people, who.categories) == ({panel.chloe.id, panel.dev.id}, {"ambiguous": 1})
    assert count_open(panel.study) == 0


@pytest.mark.django_db
def test_a_later_policy_counts_nothing_twice() -> None:
    panel = make_panel()
    vote_all(panel, dict.fromkeys(["ben", "chloe", "dev"], "agree"), external_id="one")
    before = read_votes(panel.study)
    change_policy(study=panel.study, by=panel.adam, preset="two-of-three")
    assert read_votes(panel.study) == before


@pytest.mark.django_db
def test_the_first_round_and_the_last_are_told_apart() -> None:
    panel = make_panel()
    conversation, (criterion, other), _ = make_voting(panel=panel, texts=["Asks about sleep.", "Asks about work."])
    for person in panel.reviewers:
        vote(criterion=criterion, reviewer=person, choice="object" if person in panel.reviewers[:2] else "agree")
        vote(criterion=other, reviewer=person)
    assert conversation.rounds.get().revealed_at
    criterion.refresh_from_db()
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text="Asks how long.", points=6
    )
    open_round(conversation=conversation, by=panel.adam)
    half, _ = read_votes(panel.study)
    assert [row.is_first and row.is_last for row in half] == [True, True], "the open round is not looked at"
    for person in panel.reviewers:
        vote(criterion=criterion, reviewer=person)
    patterns, _ = read_votes(panel.study)

    def counts(when: When) -> tuple[int, int, int]:
        figures = figures_of([row for row in patterns if when.holds(row)])
        return figures.criteria, figures.agreed, figures.objected

    assert counts(When.FIRST) == (2, 6, 2)
    assert counts(When.LAST) == (2, 8, 0)
    assert counts(When.AGAIN_FIRST) == (1, 2, 2)
    assert counts(When.AGAIN_LAST) == (1, 4, 0)
    own = report_own_votes(panel.study, panel.ben).figures
    assert (own[When.FIRST].votes, own[When.FIRST].agreed_too, own[When.FIRST].without_majority) == (2, 1, 0)
    assert own[When.LAST].agreed_too == 2


@pytest.mark.django_db
def test_nothing_is_told_of_fewer_than_five_people() -> None:
    panel = make_panel()
    names = names_of(panel)
    vote_all(panel, dict.fromkeys(names[:4], "agree"), external_id="one")
    report = report_votes(panel.study)
    assert report.has_votes
    assert set(report.figures.values()) == {None}
    assert report.axes == {When.FIRST: {}, When.LAST: {}} == report.categories
    vote_all(panel, {names[4]: "object", names[3]: "agree"}, external_id="two", axis=DEFAULT_AXES[0])
    report = report_votes(panel.study)
    first = report.figures[When.FIRST]
    assert first is not None
    assert (first.people, first.agreed, first.objected) == (5, 5, 1)
    assert report.axes[When.FIRST] == {}, "each axis has too few, and the other is the rest of the whole"
    assert report.left_out[When.FIRST] == 2
    assert report.categories[When.FIRST]["ambiguous"] == 1


@pytest.mark.django_db
def test_the_queries_do_not_grow() -> None:
    panel = make_panel()
    names = names_of(panel)

    def queries() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as captured:
            report_votes(panel.study)
        with CaptureQueriesContext(connection) as own:
            report_own_votes(panel.study, panel.ben)
        return len(captured), len(own)

    vote_all(panel, dict.fromkeys(names, "agree"), external_id="one")
    few = queries()
    for number in range(3):
        vote_all(panel, dict.fromkeys(names, "object"), external_id=f"more-{number}", axis=DEFAULT_AXES[number])
    assert queries() == few == (2, 2)


@pytest.mark.django_db
def test_own_votes_in_the_database_are_those_of_one_person() -> None:
    panel = make_panel()
    choices = {"ben": "object", "chloe": "agree", "dev": "agree", "eva": "agree"}
    vote_all(panel, choices, external_id="one")
    vote_all(panel, choices | {"ben": "agree"}, external_id="two", weights={"ben": 9, "eva": 3})
    own = report_own_votes(panel.study, panel.ben).figures[When.FIRST]
    assert (own.votes, own.others_agreed, own.agreed_too, own.weighed) == (2, 2, 1, 1)
    assert own.weight_difference.value == pytest.approx(9 - 5)
    chloe = report_own_votes(panel.study, panel.chloe).figures[When.FIRST]
    assert (chloe.others_agreed, chloe.agreed_too, chloe.weighed) == (2, 2, 2)
    assert report_own_votes(panel.study, panel.ana).figures[When.FIRST].votes == 0


# A published panel


@pytest.mark.django_db
@pytest.mark.skipif(not SHARED.is_file(), reason="the shared folder is not beside this repository")
def test_three_clinicians_on_83_items_agree_as_published() -> None:
    """Yes and no of three psychiatrists as votes, through the product's own import."""
    panel = make_panel()
    study: Study = panel.study
    with SHARED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    items = sorted({row["review_id"] for row in rows})
    for item in items:
        make_conversation(study=study, external_id=item)
    criteria = [
        {"conversation_id": item, "criterion_id": item, "author": "ana@example.org", "text": f"Is {item}.", "points": 5}
        for item in items
    ]
    report = import_criteria(study=study, source=jsonl(*criteria), file_name="criteria", by=None, check=False)
    assert (report.created, report.errors) == (83, [])
    names = {"R1": "ben", "R2": "chloe", "R3": "dev"}
    votes = [
        {
            "criterion_id": row["review_id"],
            "reviewer": f"{names[row['reviewer']]}@example.org",
            **({"choice": "agree"} if row["is_mental_health"] == "Y" else {"choice": "object", "category": "unsafe"}),
            **({"reason": "No."} if row["is_mental_health"] == "N" else {}),
        }
        for row in rows
    ]
    report = import_votes(study=study, source=jsonl(*votes), file_name="votes", by=None, check=False)
    assert (report.created, report.errors) == (249, [])
    assert Vote.objects.filter(round__revealed_at=None).count() == 0

    patterns, who = read_votes(study)
    figures = figures_of(patterns, who)
    assert (figures.people, figures.criteria, figures.agreed, figures.objected, figures.imported) == (
        3,
        83,
        182,
        67,
        249,
    )
    numbers = {name: number.value for name, number in figures.coefficients.items()}
    assert numbers["observed"] == pytest.approx(0.8554, abs=5e-5)
    assert numbers["alpha"] == pytest.approx(0.6339, abs=5e-5)
    assert fleiss_kappa(patterns) == pytest.approx(0.6324, abs=5e-5)
    assert report_votes(study).figures[When.FIRST] is None, "three people: nothing is told"


def fleiss_kappa(patterns: list[Pattern]) -> float:
    """Fleiss 1971, with as many raters for each criterion: the chance is that of the pooled votes."""
    criteria = sum(row.criteria for row in patterns)
    raters = patterns[0].agreed + patterns[0].objected
    share = sum(row.agreed * row.criteria for row in patterns) / (criteria * raters)
    chance = share**2 + (1 - share) ** 2
    same = sum(
        row.criteria * (row.agreed * (row.agreed - 1) + row.objected * (row.objected - 1)) for row in patterns
    ) / (criteria * raters * (raters - 1))
    return (same - chance) / (1 - chance)
