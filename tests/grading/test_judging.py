"""Judging by hand: who may, what is left, what ends blindness."""

import pytest

from grading.judging import (
    NotAClinician,
    ResponseFailed,
    give_verdict,
    judging_progress,
    next_to_judge,
    open_grades,
)
from grading.models import ReviewerVerdict
from tests.factories import make_panel
from tests.grading.graded_runs import make_graded, make_response, make_version

pytestmark = pytest.mark.django_db
MET, NOT_MET = ReviewerVerdict.Verdict.MET, ReviewerVerdict.Verdict.NOT_MET


def test_each_pair_is_judged_once_and_can_be_changed() -> None:
    graded = make_graded()
    ben = graded.panel.ben
    for response in graded.responses:
        for criterion in graded.criteria:
            assert next_to_judge(graded.version, ben) is not None
            give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=MET)
            give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=NOT_MET)
    assert next_to_judge(graded.version, ben) is None
    assert judging_progress(graded.version, ben) == (6, 6)
    assert set(ReviewerVerdict.objects.values_list("verdict", flat=True)) == {"not_met"}


def test_a_researcher_does_not_judge() -> None:
    graded = make_graded()
    with pytest.raises(NotAClinician):
        give_verdict(
            response=graded.responses[0], criterion=graded.criteria[0], reviewer=graded.panel.rita, verdict=MET
        )


def test_who_opened_the_grades_is_no_blind_judge() -> None:
    graded = make_graded()
    open_grades(run=graded.run, by=graded.panel.ben)
    given = give_verdict(
        response=graded.responses[0], criterion=graded.criteria[0], reviewer=graded.panel.ben, verdict=MET
    )
    assert not given.is_blind


@pytest.mark.parametrize("text", ["", " \n\t ", "\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"])
def test_a_blank_response_has_failed_and_is_never_judged(text: str) -> None:
    panel = make_panel()
    version, _ = make_version(panel=panel)
    response = make_response(version=version, respondent="model-a", text=text)
    response.refresh_from_db()
    assert response.is_failed
    assert next_to_judge(version, panel.ben) is None
    with pytest.raises(ResponseFailed):
        give_verdict(response=response, criterion=version.criteria.all()[0], reviewer=panel.ben, verdict=MET)
