"""A run's page while it goes on: what is swapped, what is said; and the pairs that stay without a verdict."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import User
from grading import runs
from grading.models import Attempt, GradesOpened, Run
from grading.runs import start_run
from tests.factories import join
from tests.grading.graded_runs import Graded, make_graded
from tests.grading.making import empty_queue

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def graded() -> Graded:
    empty_queue()
    return make_graded()


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def address_of(run: Run) -> str:
    return f"/studies/{run.study.slug}/runs/{run.id}/"


def make_attempt(run: Run, number: int, *, status: str, problem: str = "", **facts: Any) -> Attempt:
    ended = None if status == "open" else timezone.now()
    held = run.responses.order_by("id")[0]
    criterion = run.version.criteria.order_by("external_id")[facts.pop("at", 0)]
    return Attempt.objects.create(
        run=run,
        response_id=held.response_id,
        criterion=criterion,
        number=number,
        status=status,
        problem=problem,
        sent_at=timezone.now(),
        ended_at=ended,
        request_sha256="0" * 64,
        **facts,
    )


def test_only_the_numbers_are_swapped_until_the_state_is_another(graded: Graded) -> None:
    client, run = client_of(graded.panel.rita), graded.run
    page = client.get(address_of(run)).content.decode()
    assert f'hx-get="{address_of(run)}?state=queued"' in page
    assert "aria-live" not in page
    assert f'<noscript><p><a class="button" href="{address_of(run)}">Reload</a>' in page
    same = client.get(address_of(run), {"state": "queued"}, headers=HTMX)
    assert same.content.decode().lstrip().startswith('<div id="run-numbers"')
    assert "<button" not in same.content.decode()
    assert "<a " not in same.content.decode(), "nothing in it can hold the focus"
    Run.objects.filter(pk=run.pk).update(state="completed", ended_at=timezone.now())
    other = client.get(address_of(run), {"state": "queued"}, headers=HTMX)
    assert (other.status_code, other.headers["HX-Retarget"]) == (286, "#run-progress")
    assert other.headers["HX-Reswap"] == "outerHTML"
    assert 'data-says="Completed, 6 of 6 pairs graded."' in other.content.decode()
    assert "hx-get" not in other.content.decode()
    assert "noscript" not in client.get(address_of(run)).content.decode()


def test_a_run_that_gets_no_answer_says_so_while_it_goes_on(graded: Graded) -> None:
    client, run = client_of(graded.panel.rita), graded.run
    make_attempt(run, 1, status="answered")
    make_attempt(run, 2, status="refused", problem="127.0.0.1:9 can't be reached.")
    assert "The last calls" not in client.get(address_of(run)).content.decode()
    for number in range(3, 8):
        make_attempt(run, number, status="refused", problem=f"127.0.0.1:9 can't be reached, {number}.")
    page = client.get(address_of(run)).content.decode()
    assert "The last calls got none: 127.0.0.1:9 can&#x27;t be reached, 7." in page
    Run.objects.filter(pk=run.pk).update(state="paused", stop_reason="It was tried 25 times.")
    page = client.get(address_of(run)).content.decode()
    assert "Paused by itself." in page
    assert "The last calls" not in page


def test_a_run_says_what_it_waits_for(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    client, run = client_of(graded.panel.rita), graded.run
    assert "No worker is up" in client.get(address_of(run)).content.decode()
    monkeypatch.setattr(runs, "workers_up", lambda: 1)
    assert "Waits:" not in client.get(address_of(run)).content.decode()
    other = start_run(study=graded.panel.study, version=graded.version, grader=graded.grader, by=None)
    for at in range(2):
        make_attempt(other, 1, status="open", at=at)
    page = client.get(address_of(run)).content.decode()
    assert "Waits: 2 calls of other runs are with this grader." in page
    assert "Waits:" not in client.get(address_of(other)).content.decode(), "it has calls under way itself"


def test_reasons_are_told_as_sentences_with_their_numbers(graded: Graded) -> None:
    page = client_of(graded.panel.rita).get(address_of(graded.run)).content.decode()
    assert "<li>1: The grader&#x27;s reply can&#x27;t be read.</li>" in page


def test_the_unscored_pairs_are_opened_with_their_reasons_and_the_raw_reply(graded: Graded) -> None:
    run, panel = graded.run, graded.panel
    Run.objects.filter(pk=run.pk).update(state="completed", ended_at=timezone.now())
    client = client_of(panel.rita)
    address = f"{address_of(run)}unscored/"
    assert f'href="{address}"' in client.get(address_of(run)).content.decode()
    response = graded.responses[1]
    Attempt.objects.create(
        run=run,
        response=response,
        criterion=graded.criteria[2],
        number=1,
        status="answered",
        raw_reply=b"<script>alert(1)</script>\xff\x00" + b"x" * 10_000 + b"END",
        sent_at=timezone.now(),
        ended_at=timezone.now(),
        request_sha256="0" * 64,
    )
    page = client.get(address).content.decode()
    assert "reply can&#x27;t be read" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "Only the beginning is shown." in page
    assert "END" not in page
    assert "model-b" in page
    assert GradesOpened.objects.filter(run=run, user=panel.rita).exists()
    assert "reply can&#x27;t be read" in client.get(address, {"reason": "unreadable"}).content.decode()
    assert client.get(address, {"reason": "nonsense"}).status_code == 200
    admins = client_of(panel.adam).get(address).content.decode()
    assert "reply can&#x27;t be read" in admins
    assert "alert(1)" not in admins


def test_a_clinician_is_told_before_the_unscored_pairs_open(graded: Graded) -> None:
    both = join(study=graded.panel.study, name="ben", role="researcher")
    address = f"{address_of(graded.run)}unscored/"
    assert "no longer a blind judge" in client_of(both).get(address).content.decode()
    assert client_of(graded.panel.chloe).get(address).status_code == 403
    assert client_of(graded.panel.oscar).get(address).status_code == 404
