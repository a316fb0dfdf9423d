"""The REST API of responses, judging by hand, runs and reports: roles, blindness, refusals."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import User
from grading.judging import open_grades
from grading.models import GradesOpened, Response, ReviewerVerdict
from rubrics.freezing import withdraw_version
from tests.factories import join
from tests.grading.graded_runs import Graded, judge, make_graded, make_response
from tests.pages import api, at, got

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded() -> Graded:
    graded = make_graded()
    judge(graded=graded, reviewer=graded.panel.chloe, verdicts="mmnnnm")
    return graded


def post(person: User, url: str, body: object = None) -> Any:
    return api(person).post(url, body or {}, format="json")


def a_file(*rows: Mapping[str, object]) -> io.BytesIO:
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    file.name = "rows.jsonl"
    return file


def reports(graded: Graded) -> list[str]:
    names = ("api_scores", "api_agreement", "api_agreement_chart", "api_pairs")
    return [at(graded.panel.study, name, run_id=graded.run.id) for name in names]


# Who may


def test_overseers_read_clinicians_and_outsiders_do_not(graded: Graded) -> None:
    panel = graded.panel
    open_grades(run=graded.run, by=panel.rita)
    open_grades(run=graded.run, by=panel.adam)
    urls = [
        at(panel.study, "api_responses"),
        at(panel.study, "api_respondents"),
        at(panel.study, "api_graders"),
        at(panel.study, "api_runs"),
        at(panel.study, "api_run", run_id=graded.run.id),
        *reports(graded),
    ]
    for url in urls:
        for person, status in ((panel.rita, 200), (panel.adam, 200), (panel.ben, 403), (panel.oscar, 404)):
            assert api(person).get(url).status_code == status, url


def test_judging_is_for_clinicians(graded: Graded) -> None:
    panel = graded.panel
    urls = [
        at(panel.study, "api_judging"),
        at(panel.study, "api_to_judge", address="1"),
        at(panel.study, "api_one_to_judge", address="1", response_id=graded.responses[0].id),
        at(panel.study, "api_verdicts"),
    ]
    for url in urls:
        for person, status in ((panel.ben, 200), (panel.rita, 403), (panel.adam, 403), (panel.oscar, 404)):
            assert api(person).get(url).status_code == status, url
    for person, status in ((panel.rita, 403), (panel.adam, 403), (panel.oscar, 404)):
        assert post(person, at(panel.study, "api_verdicts")).status_code == status


# Blindness


def test_who_judges_by_hand_is_not_told_who_wrote_a_response(graded: Graded) -> None:
    panel = graded.panel
    url = at(panel.study, "api_responses")
    assert {row["respondent"] for row in got(panel.rita, url)["results"]} == {"model-a", "model-b"}
    both = join(study=panel.study, name="ben", role="researcher")
    response = api(both).get(url)
    assert b"model-" not in response.content
    hidden = ("respondent", "kind", "prompt_style", "sample", "finish_reason")
    for row in response.json()["results"]:
        assert row["text"] == "How do you sleep?"
        assert [row[name] for name in hidden] == [None] * 5


def test_grades_are_refused_until_they_are_opened_and_reading_opens_nothing(graded: Graded) -> None:
    both = join(study=graded.panel.study, name="ben", role="researcher")
    for person in (both, graded.panel.rita):
        for url in reports(graded):
            refused = api(person).get(url)
            assert refused.status_code == 409, url
            assert "no longer a blind judge" in refused.json()["error"]
        assert not GradesOpened.objects.filter(user=person).exists()
        opening = at(graded.panel.study, "api_open_grades", run_id=graded.run.id)
        assert post(person, opening).status_code == 204
        assert post(person, opening).status_code == 204
        assert GradesOpened.objects.filter(user=person, run=graded.run).count() == 1
        for url in reports(graded):
            assert api(person).get(url).status_code == 200, url
    assert post(graded.panel.chloe, opening).status_code == 403
    assert post(graded.panel.oscar, opening).status_code == 404


def test_what_is_to_be_judged_tells_no_respondent_grade_points_or_colleague(graded: Graded) -> None:
    panel = graded.panel
    url = at(panel.study, "api_to_judge", address="1")
    response = api(panel.ben).get(url)
    told = response.json()["results"]
    assert {row["response"] for row in told} == {str(this.id) for this in graded.responses}
    for word in (b"model-", b"points", b"Because it does", panel.chloe.email.encode(), b"judge"):
        assert word not in response.content, word
    assert [criterion["verdict"] for row in told for criterion in row["criteria"]] == [None] * 6
    assert told[0]["conversation"]["messages"][0]["content"] == "I can't sleep."
    assert told[0]["is_blind"] is True


# Judging by hand


def test_all_is_judged_by_what_the_api_lists(graded: Graded) -> None:
    panel = graded.panel
    url = at(panel.study, "api_to_judge", address="1")
    assert got(panel.ben, at(panel.study, "api_judging")) == [{"version": "1", "judged": 0, "pairs": 6}]
    for row in got(panel.ben, url)["results"]:
        for criterion in row["criteria"]:
            body = {"response": row["response"], "criterion": criterion["id"], "version": "1", "verdict": "met"}
            answer = post(panel.ben, at(panel.study, "api_verdicts"), body)
            assert answer.status_code == 201
            assert (answer.json()["criterion"], answer.json()["is_blind"]) == (criterion["id"], True)
    assert got(panel.ben, at(panel.study, "api_judging"))[0]["judged"] == 6
    assert got(panel.ben, url)["results"] == []
    again = got(panel.ben, url + "?judged=true")["results"]
    assert {criterion["verdict"] for row in again for criterion in row["criteria"]} == {"met"}
    assert len(got(panel.ben, at(panel.study, "api_verdicts"))["results"]) == 6


def test_a_verdict_names_the_criterion_of_the_version_or_its_own_with_the_version(graded: Graded) -> None:
    panel = graded.panel
    url = at(panel.study, "api_verdicts")
    frozen = graded.criteria[0]
    body = {"response": str(graded.responses[0].id), "verdict": "not_met"}
    assert post(panel.ben, url, {**body, "criterion": str(frozen.id)}).status_code == 201
    own = {**body, "criterion": str(frozen.criterion_id)}
    assert post(panel.ben, url, own).status_code == 404
    assert post(panel.ben, url, {**own, "version": "2"}).status_code == 404
    assert post(panel.ben, url, {**own, "version": "1", "verdict": "cannot_tell"}).status_code == 201
    assert ReviewerVerdict.objects.get(reviewer=panel.ben).verdict == "cannot_tell"


def test_a_verdict_after_opening_the_grades_is_not_blind(graded: Graded) -> None:
    both = join(study=graded.panel.study, name="ben", role="researcher")
    open_grades(run=graded.run, by=both)
    told = got(both, at(graded.panel.study, "api_to_judge", address="1"))["results"]
    assert {row["is_blind"] for row in told} == {False}
    body = {"response": told[0]["response"], "criterion": told[0]["criteria"][0]["frozen"], "verdict": "met"}
    assert post(both, at(graded.panel.study, "api_verdicts"), body).json()["is_blind"] is False


def test_nothing_of_a_withdrawn_version_is_judged(graded: Graded) -> None:
    panel = graded.panel
    withdraw_version(version=graded.version, by=panel.adam, reason="Unsafe.")
    assert got(panel.ben, at(panel.study, "api_judging")) == []
    assert api(panel.ben).get(at(panel.study, "api_to_judge", address="1")).status_code == 404
    body = {"response": str(graded.responses[0].id), "criterion": str(graded.criteria[0].id), "verdict": "met"}
    assert post(panel.ben, at(panel.study, "api_verdicts"), body).status_code == 404
    own = {**body, "criterion": str(graded.criteria[0].criterion_id), "version": "1"}
    assert post(panel.ben, at(panel.study, "api_verdicts"), own).status_code == 404


def test_another_study_s_responses_and_criteria_are_404(graded: Graded) -> None:
    other = make_graded()
    one = at(graded.panel.study, "api_one_to_judge", address="1", response_id=other.responses[0].id)
    assert api(graded.panel.ben).get(one).status_code == 404
    body = {"response": str(other.responses[0].id), "criterion": str(graded.criteria[0].id), "verdict": "met"}
    assert post(graded.panel.ben, at(graded.panel.study, "api_verdicts"), body).status_code == 404
    body = {"response": str(graded.responses[0].id), "criterion": str(other.criteria[0].id), "verdict": "met"}
    assert post(graded.panel.ben, at(graded.panel.study, "api_verdicts"), body).status_code == 404
    assert api(graded.panel.rita).get(at(graded.panel.study, "api_scores", run_id=other.run.id)).status_code == 404


# Files


def test_responses_and_verdicts_are_taken_in_by_a_researcher(graded: Graded) -> None:
    panel = graded.panel
    conversation = graded.responses[0].conversation
    url = at(panel.study, "api_responses_import")
    row = {"conversation_id": conversation.external_id, "respondent": "model-c", "text": "How long do you sleep?"}
    for person, status in ((panel.adam, 403), (panel.ben, 403), (panel.oscar, 404)):
        assert api(person).post(url, {"file": a_file(row)}, format="multipart").status_code == status
    checked = api(panel.rita).post(url, {"file": a_file(row), "check": "true"}, format="multipart")
    assert (checked.status_code, checked.json()["created"]) == (200, 1)
    assert not Response.objects.filter(respondent__name="model-c").exists()
    api(panel.rita).post(url, {"file": a_file(row)}, format="multipart")
    again = api(panel.rita).post(url, {"file": a_file(row)}, format="multipart")
    assert (again.status_code, again.json()["unchanged"]) == (200, 1)
    bad = api(panel.rita).post(url, {"file": a_file({**row, "conversation_id": "none"})}, format="multipart")
    assert (bad.status_code, bad.json()["errors"][0]["line"]) == (422, 1)
    url = at(panel.study, "api_verdicts_import")
    verdict = {
        "conversation_id": conversation.external_id,
        "respondent": "model-c",
        "criterion_id": graded.criteria[0].external_id,
        "reviewer": panel.ben.email,
        "verdict": "met",
    }
    for person, status in ((panel.adam, 403), (panel.ben, 403), (panel.oscar, 404)):
        assert api(person).post(url, {"file": a_file(verdict)}, format="multipart").status_code == status
    taken = api(panel.rita).post(url, {"file": a_file(verdict)}, format="multipart")
    assert (taken.status_code, taken.json()["errors"]) == (200, [])
    assert ReviewerVerdict.objects.get(reviewer=panel.ben).imported_from is not None
    files = {row["kind"] for row in got(panel.adam, at(panel.study, "api_imports"))["results"]}
    assert files == {"responses", "verdicts"}


# Reports


def test_the_pairs_behind_a_number(graded: Graded) -> None:
    panel = graded.panel
    open_grades(run=graded.run, by=panel.rita)
    url = at(panel.study, "api_pairs", run_id=graded.run.id)
    assert len(got(panel.rita, url)["results"]) == 6
    agreement = got(panel.rita, at(panel.study, "api_agreement", run_id=graded.run.id))
    number = agreement["confusion"]["met"]["not_met"]
    rows = got(panel.rita, f"{url}?grader=met&clinician=not_met")["results"]
    assert len(rows) == number
    assert {(row["clinician"], row["grade"]["verdict"]) for row in rows} == {("not_met", "met")}
    assert rows[0]["grade"]["quotes"] == [{"text": "How do you sleep?", "is_found": True}]
    assert got(panel.rita, f"{url}?reviewer={panel.ben.email}")["results"] == []
    paged = got(panel.rita, f"{url}?page_size=4")
    rest = api(panel.rita).get(paged["next"]).json()
    assert (len(paged["results"]), len(rest["results"]), rest["next"]) == (4, 2, None)


def test_the_chart_s_numbers_are_those_of_the_report(graded: Graded) -> None:
    panel = graded.panel
    judge(graded=graded, reviewer=panel.dev, verdicts="mmmnnm")
    open_grades(run=graded.run, by=panel.rita)
    report = got(panel.rita, at(panel.study, "api_agreement", run_id=graded.run.id))
    points = got(panel.rita, at(panel.study, "api_agreement_chart", run_id=graded.run.id))
    assert {row["reviewer"]: row["kappa_with_grader"] for row in points} == {
        row["reviewer"]: row["kappa"] for row in report["clinicians"]
    }
    assert {row["reviewer"]: row["kappa_with_clinicians"] for row in points} == {
        row["reviewer"]: row["kappa"] for row in report["among_clinicians"]
    }


@pytest.mark.parametrize(
    ("name", "shape"), [("api_scores", "Scores"), ("api_agreement", "Agreement"), ("api_run", "RunStatus")]
)
def test_every_report_is_described_field_by_field(graded: Graded, name: str, shape: str) -> None:
    open_grades(run=graded.run, by=graded.panel.rita)
    schema = api(graded.panel.rita).get("/api/v1/schema/?format=json").json()["components"]["schemas"]
    told = got(graded.panel.rita, at(graded.panel.study, name, run_id=graded.run.id))

    def described(value: object, described_by: dict[str, Any]) -> None:
        for reference in [described_by, *described_by.get("allOf", []), *described_by.get("oneOf", [])]:
            if "$ref" in reference:
                described_by = schema[reference["$ref"].rsplit("/", 1)[1]]
        if isinstance(value, dict) and "properties" in described_by:
            assert value.keys() <= described_by["properties"].keys()
            assert set(described_by.get("required", [])) <= value.keys()
            for key, inner in value.items():
                described(inner, described_by["properties"][key])
        elif isinstance(value, dict):
            for inner in value.values():
                described(inner, described_by["additionalProperties"])
        elif isinstance(value, list):
            for inner in value:
                described(inner, described_by["items"])

    described(told, schema[next(key for key in (shape, f"{shape}Shape") if key in schema)])


def test_the_number_of_queries_does_not_grow(graded: Graded) -> None:
    panel = graded.panel
    open_grades(run=graded.run, by=panel.rita)
    readers = [
        (panel.rita, at(panel.study, "api_responses")),
        (panel.rita, at(panel.study, "api_respondents")),
        (panel.rita, at(panel.study, "api_pairs", run_id=graded.run.id)),
        (panel.ben, at(panel.study, "api_to_judge", address="1")),
        (panel.chloe, at(panel.study, "api_verdicts")),
    ]

    def counted() -> list[int]:
        numbers = []
        for person, url in readers:
            client = api(person)
            with CaptureQueriesContext(connection) as captured:
                assert client.get(url).status_code == 200
            numbers.append(len(captured))
        return numbers

    few = counted()
    for number in range(3):
        make_response(version=graded.version, respondent=f"more-{number}")
    judge(graded=graded, reviewer=panel.dev, verdicts="mmnnnm")
    assert counted() == few
