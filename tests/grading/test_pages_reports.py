"""The pages of a run's reports: coverage and reasons beside every number, and the pairs behind it."""

import re
from html import unescape

import pytest
from django.test import Client

from annotation.models import Conversation
from grading.models import Grade, Run
from grading.runs import start_run
from tests.factories import join
from tests.grading.graded_runs import Graded, judge, judge_pairs, make_graded, make_larger

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded() -> Graded:
    graded = make_graded(verdicts="mmnmnu")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mnnc--")
    return graded


def read(run: Run, page: str) -> str:
    """A page of a run as its words, as the study's researcher sees it."""
    client = Client()
    client.force_login(join(study=run.study, name="rita", role="researcher"))
    answer = client.get(f"/studies/{run.study.slug}/runs/{run.id}/{page}")
    assert answer.status_code == 200, page
    main = answer.content.decode().split("<main", 1)[1]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def test_scores_stand_with_their_coverage_and_reasons_in_both_ways(graded: Graded) -> None:
    words = read(graded.run, "scores/")
    assert "Respondent HealthBench Bounds over all 1 MentalHealthBench Pairs scored Critical failures" in words
    assert "model-a 0.667 over 1 of 1 0.667 to 0.667 0.667 over 1 of 1 3 of 3 0 of 1" in words
    assert "model-b undefined a over 0 of 1 0.333 to 0.667 undefined a over 0 of 1 2 of 3" in words
    assert "a No response that can be scored has all its criteria scored." in words
    assert words.count("Acuity not known 0.667 over 1 of 1 undefined a over 0 of 1") == 2, "by both formulas"
    assert "No axis 0.667 over 1 of 1 undefined a over 0 of 1" in words
    assert "Axis model-a over 1 of 1 model-b over 0 of 1 No axis 0.667 undefined a" in words


def test_acuities_have_the_words_of_every_other_page_in_the_order_of_their_weight(graded: Graded) -> None:
    run, _ = make_larger()
    for conversation, acuity in zip(
        Conversation.objects.filter(study=run.study), ("emergent", "non_acute", "high_acuity"), strict=False
    ):
        Conversation.objects.filter(pk=conversation.pk).update(acuity=acuity)
    words = read(run, "scores/")
    order = [words.index(name) for name in ("Not acute", "High acuity", "Emergency", "Acuity not known")]
    assert order == sorted(order)
    assert "Emergent" not in words


def test_what_nobody_graded_yet_is_said_and_not_called_undefined(graded: Graded) -> None:
    run = start_run(study=graded.run.study, version=graded.version, grader=graded.grader, by=None)
    words = read(run, "scores/")
    assert "0 of 6 pairs are graded so far" in words
    assert "model-a not graded yet 0.000 to 1.000 not graded yet 0 of 3" in words
    assert "undefined" not in words
    assert "0 of 6 pairs are graded so far" in read(run, "agreement/")
    assert "pairs are graded so far" not in read(graded.run, "scores/") + read(graded.run, "agreement/")


def test_agreement_names_people_and_counts_where_pairs_are_few(graded: Graded) -> None:
    words = read(graded.run, "agreement/")
    assert "Ben 5 of 6 1 counts only a 3 of 4 counts only a" in words
    assert "Chloe 3 of 4 1 counts only a 3 of 4 counts only a" in words
    assert "a Counts only: fewer than 10 pairs, or from fewer than 3 conversations" in words
    assert "ben@example.org" not in words
    assert "Said the same 6 of 8" in words


def test_a_clinician_whose_pairs_nobody_graded_yet_has_no_undefined_numbers() -> None:
    run, pairs = make_larger()
    another = start_run(study=run.study, version=run.version, grader=run.grader, by=None)
    Grade.objects.bulk_create(
        Grade(run=another, response=response, criterion=criterion, verdict="met") for response, criterion in pairs[:12]
    )
    judge_pairs(pairs=pairs[:12], reviewer=join(study=run.study, name="ben"), verdicts="mmn")
    judge_pairs(pairs=pairs[12:], reviewer=join(study=run.study, name="chloe"), verdicts="mmn")
    words = read(another, "agreement/")
    assert "12 of 24 pairs are graded so far" in words
    assert "Chloe 0 of 12 0 not graded yet" in words


def test_every_coefficient_stands_with_its_coverage() -> None:
    run, pairs = make_larger()
    for name in ("ben", "chloe"):
        judge_pairs(pairs=pairs, reviewer=join(study=run.study, name=name), verdicts="mmnmc")
    words = read(run, "agreement/")
    assert "Kappa 0.000 over 40 of 48 verdicts" in words
    assert "Alpha, clinicians alone 1.000 over 20 of 24 responses × criteria" in words
    assert "Accuracy 40 of 48 10 0.000" in words


def test_criteria_on_which_all_agree_are_left_to_the_page_of_all_criteria(graded: Graded) -> None:
    agreement, all_of_them = read(graded.run, "agreement/"), read(graded.run, "criteria/")
    conversation = graded.criteria[0].frozen_conversation.external_id
    most = agreement.split("differ most")[1]
    assert f"{conversation} · No axis · +6 2 of 3 pairs agree 4 verdicts" in most
    agreed = next(str(each.text) for each in graded.criteria if f"{each.text} {conversation}" not in most)
    assert agreed in all_of_them
    assert all(str(criterion.text) in all_of_them for criterion in graded.criteria)
    assert "All 3 judged criteria" in agreement


def test_an_empty_axis_asks_for_the_pairs_without_one() -> None:
    run, pairs = make_larger()
    judge_pairs(pairs=pairs, reviewer=join(study=run.study, name="ben"), verdicts="mmn")
    none = read(run, "pairs/?axis=")
    assert "Pairs without an axis" in none
    assert "There are none" in none
    for name in ("criterion", "reviewer", "grader", "clinician"):
        assert "There are none" in read(run, f"pairs/?{name}="), name
    assert "All pairs 24 verdicts on 24 responses × criteria" in read(run, "pairs/")


@pytest.mark.parametrize(
    ("address", "heading"),
    [
        ("differ=yes", "Pairs where grader and clinician differ 2 verdicts on 2 responses × criteria: 2 make a pair"),
        ("reviewer=chloe@example.org", "Pairs judged by Chloe 4 verdicts on 4 responses × criteria: 3 make a pair"),
        ("axis=", "Pairs without an axis 10 verdicts on 6 responses × criteria: 8 make a pair"),
        ("grader=met&clinician=not_met", "Pairs where the grader says met and the clinician not met 2 verdicts"),
        ("grader=met&clinician=met", "Pairs where grader and clinician say met 3 verdicts"),
        ("clinician=not_met&axis=", "Pairs without an axis where the clinician says not met 5 verdicts"),
    ],
)
def test_a_page_of_pairs_says_what_it_is_of(graded: Graded, address: str, heading: str) -> None:
    assert heading in read(graded.run, f"pairs/?{address}")


def test_verdicts_that_make_no_pair_are_told_apart(graded: Graded) -> None:
    assert "The rest make none: 1 can't tell, 1 on what the grader left unscored." in read(graded.run, "pairs/")


def test_one_card_holds_all_verdicts_on_a_response_and_criterion(graded: Graded) -> None:
    words = read(graded.run, "pairs/?reviewer=ben@example.org&differ=yes")
    assert words.count("The response") == 1
    assert "judge Met Because it does. How do you sleep? Ben Not met · differs from the grader" in words
    assert "Chloe also judged it Can't tell" in words
    assert "The conversation" in words
    assert "I can't sleep." in words


def test_what_a_grade_was_flagged_for_is_said_in_words() -> None:
    run, pairs = make_larger()
    another = start_run(study=run.study, version=run.version, grader=run.grader, by=None)
    response, criterion = pairs[0]
    Grade.objects.create(
        run=another,
        response=response,
        criterion=criterion,
        verdict="met",
        condition_absent=True,
        is_contradicting_itself=True,
        quotes=[{"text": "Never said.", "is_found": False}],
    )
    judge_pairs(pairs=pairs[:1], reviewer=join(study=run.study, name="ben"), verdicts="n")
    words = read(another, "pairs/")
    assert "Its explanation contradicts this verdict. The verdict is kept as given." in words
    assert "the case which the criterion speaks of does not occur here, and counts the criterion as met" in words
    assert "Never said. ▲ not found in the response" in words


def test_a_page_of_pairs_takes_a_fixed_number_of_queries(graded: Graded, django_assert_max_num_queries: object) -> None:
    client = Client()
    client.force_login(graded.panel.rita)
    address = f"/studies/{graded.run.study.slug}/runs/{graded.run.id}/pairs/"
    client.get(address)
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        client.get(address)
