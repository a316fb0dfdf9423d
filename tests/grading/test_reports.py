"""Scores and agreement of a run, from the database to the numbers."""

import pytest

from grading.agreement import agreement_as_data, finding, report_agreement
from grading.score_report import report_scores, scores_as_data
from tests.grading.graded_runs import judge, make_graded

pytestmark = pytest.mark.django_db


def test_a_run_is_scored_with_coverage_and_bounds() -> None:
    graded = make_graded(verdicts="mmnmnu")
    answer = scores_as_data(report_scores(graded.run))
    one, two = answer["respondents"]
    assert answer["coverage"] == 5 / 6
    assert (one["respondent"], one["healthbench"], one["n"], one["complete"]) == ("model-a", 12 / 18, 1, 1)
    assert (two["healthbench"], two["complete"], two["bounds"]) == (None, 0, [6 / 18, 12 / 18])
    assert two["undefined"]["healthbench"] == "no_complete_responses"


def test_agreement_pools_pairs_and_counts_what_makes_none() -> None:
    graded = make_graded(verdicts="mmnmnu")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mnnc--")
    answer = agreement_as_data(report_agreement(graded.run))
    assert answer["n"] == 8
    assert answer["coverage"] == 8 / 10
    assert answer["observed"] == 6 / 8
    assert answer["confusion"] == {"met": {"met": 3, "not_met": 2}, "not_met": {"met": 0, "not_met": 3}}
    assert [row["reviewer"] for row in answer["clinicians"]] == ["ben@example.org", "chloe@example.org"]
    assert answer["by_axis"][""]["n"] == 8
    assert len(answer["by_criterion"]) == 3


def test_a_constant_grader_has_no_kappa_to_boast_of() -> None:
    graded = make_graded(verdicts="mmmmmm")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmmmmm")
    answer = agreement_as_data(report_agreement(graded.run))
    assert answer["observed"] == 1
    assert answer["kappa"] is None
    assert answer["undefined"]["kappa"] == "single_class"
    assert "can't be told" in finding(report_agreement(graded.run))


def test_verdicts_given_after_opening_the_grades_stay_out() -> None:
    graded = make_graded()
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm", is_blind=False)
    report = report_agreement(graded.run)
    assert (report.overall.n, report.not_blind) == (0, 6)


def test_without_verdicts_nothing_is_known_and_nothing_breaks() -> None:
    graded = make_graded()
    answer = agreement_as_data(report_agreement(graded.run))
    assert answer["n"] == 0
    assert answer["kappa"] is None
    assert answer["coverage"] is None


def test_reports_take_a_fixed_number_of_queries(django_assert_max_num_queries: object) -> None:
    graded = make_graded()
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        report_agreement(graded.run)
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        report_scores(graded.run)
