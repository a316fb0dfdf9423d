"""How far a run is, told to somebody who judges by hand: never what the grader found, not even as a count."""

import pytest
from django.test import Client

from annotation.joining import add_member
from annotation.models import User
from grading.judging import open_grades
from tests.grading.graded_runs import Graded, make_graded

pytestmark = pytest.mark.django_db


def addresses(graded: Graded) -> tuple[str, str]:
    slug, run = graded.run.study.slug, graded.run.id
    return f"/studies/{slug}/runs/{run}/", f"/api/v1/studies/{slug}/runs/{run}/"


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_who_judges_is_told_no_counts_of_verdicts_before_opening_the_grades() -> None:
    graded = make_graded(verdicts="mmnmnu")
    page, api = addresses(graded)
    add_member(study=graded.run.study, email="ana@example.org", roles=["researcher"])
    ana = User.objects.get(email="ana@example.org")
    client = browser(ana)
    answer = client.get(api).json()
    assert (answer["met"], answer["not_met"], answer["reasons"]) == (None, None, {})
    assert answer["graded"] == 6
    for headers in ({}, {"HX-Request": "true"}):
        shown = client.get(page, headers=headers).content.decode()
        assert "<dt>Not met</dt>" not in shown
        assert "you judge by hand" in shown
    open_grades(run=graded.run, by=ana)
    assert client.get(api).json()["met"] == 3
    assert "<dt>Not met</dt>" in client.get(page).content.decode()


def test_a_researcher_who_does_not_judge_sees_them() -> None:
    graded = make_graded(verdicts="mmnmnu")
    page, api = addresses(graded)
    rita = User.objects.get(email="rita@example.org")
    assert browser(rita).get(api).json()["met"] == 3
    assert "<dt>Not met</dt>" in browser(rita).get(page).content.decode()
