"""Commands about runs: which there are, and that whoever reads grades by command is no blind judge any more."""

from uuid import uuid4

import pytest
from django.core.management import call_command

from grading.judging import has_opened
from grading.models import GradesOpened
from rubrics.models import RubricVersion
from tests.factories import make_panel
from tests.grading.graded_runs import Graded, make_graded
from tests.journeys.commands import done, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded() -> Graded:
    return make_graded()


def test_the_runs_of_a_study_are_listed_with_their_ids(graded: Graded) -> None:
    report = done("runs", graded.panel.study.slug)
    assert report == {
        "study": graded.panel.study.slug,
        "runs": [
            {
                "run": str(graded.run.id),
                "version": 1,
                "grader": "judge",
                "state": graded.run.state,
                "created": graded.run.created_at.isoformat(),
            }
        ],
    }
    assert done("scores", report["runs"][0]["run"])["run"] == str(graded.run.id)
    assert done("runs", make_panel(slug="other").study.slug)["runs"] == []
    assert run("runs", "nowhere").code == 1


def test_the_runs_are_told_in_words(graded: Graded, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("runs", graded.panel.study.slug)
    words = capsys.readouterr().out
    assert words.startswith(str(graded.run.id))
    assert words.strip().endswith(f"{graded.run.state}     version 1, grader judge")
    call_command("runs", make_panel(slug="other").study.slug)
    assert capsys.readouterr().out == "No run has been started yet.\n"


@pytest.mark.parametrize("name", ["scores", "agreement"])
def test_who_reads_the_grades_by_command_has_opened_them(graded: Graded, name: str) -> None:
    assert run(name, graded.run.id, "--by", "nobody@example.org").code == 1
    assert done(name, graded.run.id)
    assert not GradesOpened.objects.exists()
    answer = run(name, graded.run.id, "--by", "ANA@example.org")
    assert answer.said == (
        "It is recorded that ana@example.org opened the grades of this run, and judges its pairs blind no more.\n"
    )
    assert has_opened(graded.run, graded.panel.ana)
    unknown = run(name, uuid4(), "--by", "ana@example.org")
    assert (unknown.code, unknown.said.count("recorded")) == (1, 0)


@pytest.mark.parametrize("name", ["run_status", "pause_run", "resume_run", "cancel_run"])
def test_every_command_about_a_run_refuses_an_unknown_by(graded: Graded, name: str) -> None:
    answer = run(name, graded.run.id, "--by", "nobody@example.org")
    assert (answer.code, answer.data) == (1, {"error": 'Nobody is known by the address "nobody@example.org".'})


@pytest.mark.parametrize("name", ["scores", "agreement"])
def test_a_version_is_its_number_as_where_it_was_frozen(graded: Graded, name: str) -> None:
    assert done(name, graded.run.id)["version"] == 1
    assert RubricVersion.objects.get().number == 1


@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
def test_a_port_that_is_none_is_wrong_use(port: str) -> None:
    answer = run("local_grader", "--port", port)
    assert (answer.code, answer.data) == (2, {"error": "--port takes a whole number from 0 to 65,535."})


def test_an_export_needs_the_name_of_a_file(graded: Graded) -> None:
    answer = run("export_version", graded.panel.study.slug, "1", "--format", "csv", "--output", "")
    assert (answer.code, answer.data) == (2, {"error": "--output takes the name of a file."})
