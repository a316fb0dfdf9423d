"""Judging and opening grades at once, with real threads and transactions: no verdict is both informed and blind."""

import threading

import pytest
from django.db import connection, transaction

from grading.judging import BlindVerdictStands, give_verdict, open_grades
from grading.models import ReviewerVerdict
from tests.grading.graded_runs import make_graded

pytestmark = pytest.mark.django_db(transaction=True)
MET, NOT_MET = ReviewerVerdict.Verdict.MET, ReviewerVerdict.Verdict.NOT_MET


def test_a_verdict_that_meets_an_opening_waits_for_it() -> None:
    graded = make_graded()
    ben, response, criterion = graded.panel.ben, graded.responses[0], graded.criteria[0]
    give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=MET)
    answers: list[object] = []

    def judge_again() -> None:
        try:
            answers.append(give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=NOT_MET))
        except BlindVerdictStands as refusal:
            answers.append(refusal)
        finally:
            connection.close()

    judging = threading.Thread(target=judge_again)
    with transaction.atomic():
        open_grades(run=graded.run, by=ben)
        judging.start()
        judging.join(1.0)
        assert not answers, "it waits until it is known whether the grades are open"
    judging.join(10.0)
    assert isinstance(answers[0], BlindVerdictStands)
    kept = ReviewerVerdict.objects.get()
    assert (kept.verdict, kept.is_blind) == ("met", True)
