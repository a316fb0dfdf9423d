"""Scores and agreement of a run, from the database to the numbers."""

import pytest

from grading.agreement import agreement_as_data, finding, is_too_few, report_agreement
from grading.models import Run
from grading.runs import start_run
from grading.score_report import Slice, report_scores, scores_as_data
from tests.factories import join
from tests.grading.graded_runs import judge, judge_pairs, make_graded, make_larger

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


def test_very_few_pairs_get_counts_only_and_json_keeps_the_numbers() -> None:
    assert [is_too_few(n=n, conversations=3) for n in (0, 1, 9, 10)] == [False, True, True, False]
    assert is_too_few(n=500, conversations=2)
    graded = make_graded(verdicts="mnmmnm")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mnnmnm")
    report = report_agreement(graded.run)
    assert report.overall.shown("kappa") is None
    assert agreement_as_data(report)["kappa"] == pytest.approx(2 / 3)
    assert finding(report) == (
        "Too few to tell: the grader and the clinicians say the same on 5 of 6 pairs, from one conversation."
    )


def test_one_value_among_the_clinicians_is_said_as_one() -> None:
    run, pairs = make_larger()
    for name in ("ben", "chloe"):
        judge_pairs(pairs=pairs, reviewer=join(study=run.study, name=name), verdicts="mmn")
    assert finding(report_agreement(run)).endswith("that of each clinician with the others is 1.00.")


def test_clinicians_are_compared_with_each_other_on_the_pairs_that_the_grader_graded() -> None:
    graded = make_graded(verdicts="mmuuuu")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mnnnn-")
    others = report_agreement(graded.run).among_clinicians["ben@example.org"]
    assert (others.n, others.judged, others.agreed, others.conversations) == (2, 5, 1, 1)


def test_people_are_named_and_told_apart_by_address_only_where_two_share_a_name() -> None:
    graded = make_graded()
    panel = graded.panel
    for person in (panel.ben, panel.chloe):
        person.name = "Sam Lee"
        person.save(update_fields=["name"])
    for person in (panel.ben, panel.chloe, panel.dev):
        judge(graded=graded, reviewer=person, verdicts="mmnnnm")
    assert report_agreement(graded.run).names == {
        "ben@example.org": "Sam Lee (ben@example.org)",
        "chloe@example.org": "Sam Lee (chloe@example.org)",
        "dev@example.org": "Dev",
    }


def test_alpha_says_over_how_many_units_it_is() -> None:
    graded = make_graded(verdicts="mmnmnu")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mc----")
    report = report_agreement(graded.run)
    assert (report.units, report.alpha_units, report.alpha_clinicians_units) == (6, 5, 1)


def _another_run(run: Run) -> Run:
    """A run like this one, with nothing graded yet."""
    return start_run(study=run.study, version=run.version, grader=run.grader, by=None)


def test_scores_know_what_is_graded_and_what_waits() -> None:
    graded = make_graded()
    report = report_scores(graded.run)
    assert (report.graded, report.is_unfinished, report.waiting) == (6, False, frozenset())
    run, _ = make_larger()
    waiting = report_scores(_another_run(run)).waiting
    assert {Slice("model-0"), Slice("model-1", axis="accuracy"), Slice("model-0", acuity="unknown")} <= waiting


def test_a_mean_says_over_how_many_of_the_responses_that_could_be_scored() -> None:
    answer = scores_as_data(report_scores(make_graded(verdicts="mmnmnu").run))
    one, two = answer["respondents"]
    assert (one["averaged"], one["scorable"], two["averaged"], two["scorable"]) == (1, 1, 0, 1)
    assert two["by_axis"][""]["scorable"] == two["by_acuity"]["unknown"]["scorable"] == 1
    assert two["by_axis"][""]["undefined"]["healthbench"] == "no_complete_responses"
