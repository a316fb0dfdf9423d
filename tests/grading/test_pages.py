"""The researcher's pages and hand-judging: each role, htmx and plain forms, what blindness hides."""

import pytest
from django.test import Client

from annotation.models import User
from grading.models import Grader, GradesOpened, ReviewerVerdict, Run
from tests.factories import join
from tests.grading.graded_runs import Graded, judge, make_graded

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded() -> Graded:
    graded = make_graded()
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mmnnnm")
    return graded


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def addresses(graded: Graded) -> list[str]:
    study = f"/studies/{graded.panel.study.slug}/"
    run = f"{study}runs/{graded.run.id}/"
    return [
        f"{study}responses/",
        f"{study}graders/",
        f"{study}runs/",
        run,
        f"{run}scores/",
        f"{run}agreement/",
        f"{run}agreement.svg",
        f"{run}pairs/?grader=met&clinician=not_met",
    ]


def test_researchers_and_admins_see_the_pages_clinicians_and_outsiders_do_not(graded: Graded) -> None:
    panel = graded.panel
    for address in addresses(graded):
        assert client_of(panel.rita).get(address).status_code == 200, address
        assert client_of(panel.adam).get(address).status_code == 200, address
        assert client_of(panel.ben).get(address).status_code == 403, address
        assert client_of(panel.oscar).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address


def test_a_clinician_who_is_also_a_researcher_is_told_before_the_grades_open(graded: Graded) -> None:
    panel = graded.panel
    both = join(study=panel.study, name="ben", role="researcher")
    client = client_of(both)
    address = f"/studies/{panel.study.slug}/runs/{graded.run.id}/"
    told = client.get(f"{address}agreement/")
    assert "no longer a blind judge" in told.content.decode()
    assert not GradesOpened.objects.filter(user=both).exists()
    assert client.post(f"{address}open/").status_code == 302
    assert "Does the grader judge" in client.get(f"{address}agreement/").content.decode()
    assert GradesOpened.objects.filter(user=both, run=graded.run).exists()


def test_a_run_is_started_watched_paused_and_resumed(graded: Graded) -> None:
    client = client_of(graded.panel.rita)
    study = f"/studies/{graded.panel.study.slug}/"
    Run.objects.filter(pk=graded.run.pk).update(created_by=None)  # else hers of a moment ago
    started = client.post(f"{study}runs/start/", {"version": graded.version.id, "grader": graded.grader.id})
    run = Run.objects.latest("created_at")
    assert started.headers["Location"] == f"{study}runs/{run.id}/"
    assert client.get(f"{study}runs/{run.id}/", headers={"HX-Request": "true"}).status_code == 200
    for act, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        assert client.post(f"{study}runs/{run.id}/{act}/").status_code == 302
        run.refresh_from_db()
        assert run.state == state
    assert client.get(f"{study}runs/{run.id}/", headers={"HX-Request": "true"}).status_code == 286
    assert client.post(f"{study}runs/{run.id}/resume/").status_code == 409


def test_a_grader_is_registered_and_a_key_variable_that_is_not_listed_is_refused(graded: Graded) -> None:
    client = client_of(graded.panel.rita)
    address = f"/studies/{graded.panel.study.slug}/graders/register/"
    facts = {"name": "new", "base_url": "http://127.0.0.1:9/v1", "model": "m", "concurrency": 4}
    assert client.post(address, {**facts, "api_key_variable": "SECRET_KEY"}).status_code == 422
    assert not Grader.objects.filter(name="new").exists()
    assert client.post(address, {**facts, "api_key_variable": "none"}).status_code == 302
    made = Grader.objects.get(name="new")
    assert (made.concurrency, made.api_key_variable) == (4, "")
    page = client.get(f"/studies/{graded.panel.study.slug}/graders/").content.decode()
    assert "Key, where the endpoint needs one</label>" in page


def test_judging_shows_neither_respondent_nor_grade_nor_colleagues(graded: Graded) -> None:
    client = client_of(graded.panel.ben)
    study = f"/studies/{graded.panel.study.slug}/"
    assert client.get(f"{study}judging/").status_code == 200
    response = client.get(f"{study}judging/1/", follow=True)
    page = response.content.decode()
    assert graded.criteria[0].text is not None
    assert "How do you sleep?" in page
    for hidden in ("model-a", "model-b", "Because it does.", "chloe", "+6"):
        assert hidden not in page


def test_a_verdict_is_given_by_plain_form_and_by_htmx(graded: Graded) -> None:
    client = client_of(graded.panel.ben)
    response = graded.responses[0]
    address = f"/studies/{graded.panel.study.slug}/judging/1/{response.id}/"
    first, second, _ = graded.criteria
    assert client.post(address, {"criterion": first.id, "verdict": "met"}).status_code == 302
    answer = client.post(address, {"criterion": second.id, "verdict": "not_met"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert b"<html" not in answer.content
    assert ReviewerVerdict.objects.filter(reviewer=graded.panel.ben).count() == 2
    assert client.post(address, {"criterion": first.id, "verdict": "maybe"}).status_code == 422
