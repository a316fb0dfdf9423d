"""Importing reviewer verdicts: on which response and wording they are, and whether they were blind."""

from typing import Any, BinaryIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.drafting import revise_criterion
from annotation.importing.report import Report
from annotation.models import Criterion, FileImport
from grading.importing.responses import import_responses
from grading.importing.verdicts import import_verdicts
from grading.models import Grader, GradesOpened, Response, ReviewerVerdict, Run, RunResponse
from rubrics.importing import import_conversations
from rubrics.models import RubricVersion
from tests.factories import Panel, make_panel, make_voting
from tests.importing_files import csv_file, jsonl, user_says

pytestmark = pytest.mark.django_db


class Scene:
    """Two conversations, "one" with two criteria and "two" with one, and a response to each by model-a."""

    def __init__(self) -> None:
        self.panel: Panel = make_panel()
        _, [self.asks, self.kind], _ = make_voting(panel=self.panel, texts=["Asks.", "Is kind."], external_id="one")
        _, [self.other], _ = make_voting(panel=self.panel, texts=["Asks."], external_id="two")
        rows = [{"conversation_id": name, "respondent": "model-a", "text": "Hm."} for name in ("one", "two")]
        import_responses(study=self.panel.study, source=jsonl(*rows), file_name="", by=None, check=False)

    def take_in(self, file: BinaryIO, *, check: bool = False) -> Report:
        return import_verdicts(study=self.panel.study, source=file, file_name="verdicts", by=None, check=check)

    def judged(self, **facts: Any) -> dict[str, Any]:
        return {
            "conversation_id": "one",
            "respondent": "model-a",
            "criterion_id": self.asks.external_id,
            "reviewer": "ben@example.org",
            "verdict": "met",
            **facts,
        }


@pytest.fixture
def scene() -> Scene:
    return Scene()


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def test_a_verdict_is_on_the_response_and_the_current_wording(scene: Scene) -> None:
    file = csv_file(
        ["conversation_id", "respondent", "sample", "criterion_id", "reviewer", "verdict", "comment"],
        ["one", "model-a", 1, scene.asks.external_id, "BEN@example.org", "Not met", "Too late."],
        ["one", "model-a", "", scene.kind.external_id, "chloe@example.org", "cannot tell", ""],
    )
    report = scene.take_in(file)
    assert (report.created, report.errors, report.warnings) == (2, [], [])
    given = ReviewerVerdict.objects.get(reviewer=scene.panel.ben)
    assert (given.verdict, given.comment, given.is_blind) == ("not_met", "Too late.", True)
    assert given.wording == Criterion.objects.get(pk=scene.asks.pk).current_revision
    assert given.response.conversation.external_id == "one"
    assert given.imported_from == FileImport.objects.get(kind="verdicts")
    assert ReviewerVerdict.objects.get(reviewer=scene.panel.chloe).verdict == "cannot_tell"


def test_the_same_file_again_changes_nothing_and_another_verdict_is_an_error(scene: Scene) -> None:
    rows = [scene.judged(comment="Good."), scene.judged(reviewer="dev@example.org")]
    scene.take_in(jsonl(*rows))
    again = scene.take_in(jsonl(*rows))
    assert (again.created, again.unchanged, again.errors) == (0, 2, [])
    assert scene.take_in(jsonl(scene.judged())).unchanged == 1
    other = scene.take_in(jsonl(scene.judged(verdict="not_met"), scene.judged(reviewer="eva@example.org")))
    assert errors(other) == [(1, "verdict")]
    assert errors(scene.take_in(jsonl(scene.judged(comment="Bad.")))) == [(1, "verdict")]
    assert ReviewerVerdict.objects.count() == 2
    assert FileImport.objects.filter(kind="verdicts").count() == 1


def test_every_error_of_a_file_is_told_at_once_and_nothing_is_written(scene: Scene) -> None:
    report = scene.take_in(
        jsonl(
            scene.judged(),
            scene.judged(conversation_id="nowhere"),
            scene.judged(respondent="model-b"),
            scene.judged(sample=2),
            scene.judged(criterion_id="unheard"),
            scene.judged(criterion_id=scene.other.external_id),
            scene.judged(reviewer="nobody@example.org"),
            scene.judged(reviewer="rita@example.org"),
            scene.judged(verdict="good"),
            scene.judged(verdict=None),
            scene.judged(verdict="not_met"),
        )
    )
    assert errors(report) == [
        (2, "conversation_id"),
        (3, "respondent"),
        (4, "respondent"),
        (5, "criterion_id"),
        (6, "criterion_id"),
        (7, "reviewer"),
        (8, "reviewer"),
        (9, "verdict"),
        (10, "verdict"),
        (11, "verdict"),
    ]
    assert "lines 1 and 11" in report.errors[-1].message
    assert not ReviewerVerdict.objects.exists()


def test_a_row_given_twice_counts_once(scene: Scene) -> None:
    report = scene.take_in(jsonl(scene.judged(), scene.judged(sample=1)))
    assert (report.created, report.errors, report.warnings[0].line) == (1, [], 2)


def test_after_a_revision_a_verdict_is_on_the_new_wording(scene: Scene) -> None:
    scene.take_in(jsonl(scene.judged()))
    criterion = Criterion.objects.select_related("current_revision", "conversation").get(pk=scene.asks.pk)
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=scene.panel.ana, text="Asks why.", points=6
    )
    assert scene.take_in(jsonl(scene.judged(verdict="not_met"))).created == 1
    assert sorted(ReviewerVerdict.objects.values_list("wording__number", "verdict")) == [(1, "met"), (2, "not_met")]


def published(text: str = "Asks.") -> dict[str, Any]:
    return {
        "prompt_id": "set-1",
        "prompt": user_says("I can't sleep."),
        "rubrics": [{"criterion": text, "points": 5, "tags": ["axis:accuracy"]}],
    }


def test_a_criterion_of_an_external_version_is_named_by_sixteen_hex_digits(scene: Scene) -> None:
    study = scene.panel.study
    for name, text in (("a", "Asks."), ("b", "Asks.")):
        import_conversations(study=study, source=jsonl(published(text)), file_name="", by=None, check=False, name=name)
    row = {"conversation_id": "set-1", "respondent": "model-a", "text": "Hm."}
    import_responses(study=study, source=jsonl(row), file_name="", by=None, check=False)
    response = Response.objects.get(conversation__external_id="set-1")
    criterion = Criterion.objects.get(external_name=response.conversation.external_name)
    assert len(criterion.external_id) == 16
    report = scene.take_in(jsonl(scene.judged(conversation_id="set-1", criterion_id=criterion.external_id)))
    assert (report.created, report.errors) == (1, [])
    assert ReviewerVerdict.objects.get().wording.criterion == criterion


def test_a_criterion_of_the_same_conversation_elsewhere_will_do(scene: Scene) -> None:
    study = scene.panel.study
    for name, text in (("a", "Asks."), ("b", "Is kind.")):
        import_conversations(study=study, source=jsonl(published(text)), file_name="", by=None, check=False, name=name)
    row = {"conversation_id": "set-1", "respondent": "model-a", "text": "Hm."}
    import_responses(study=study, source=jsonl(row), file_name="", by=None, check=False)
    name = Response.objects.get(conversation__external_id="set-1").conversation.external_name
    elsewhere = Criterion.objects.exclude(external_name__in=["", name]).get()
    report = scene.take_in(jsonl(scene.judged(conversation_id="set-1", criterion_id=elsewhere.external_id)))
    assert (report.created, report.errors) == (1, [])


def test_who_had_opened_grades_of_a_response_did_not_judge_it_blind(scene: Scene) -> None:
    study = scene.panel.study
    import_conversations(study=study, source=jsonl(published()), file_name="", by=None, check=False)
    grader = Grader.objects.create(
        study=study, name="g", base_url="http://127.0.0.1", model="m", prompt_version="1", digest="0" * 64
    )
    run = Run.objects.create(study=study, version=RubricVersion.objects.get(), grader=grader, pairs=1)
    RunResponse.objects.create(run=run, response=Response.objects.get(conversation__external_id="one"))
    GradesOpened.objects.create(run=run, user=scene.panel.ben)
    scene.take_in(
        jsonl(
            scene.judged(),
            scene.judged(reviewer="chloe@example.org"),
            scene.judged(conversation_id="two", criterion_id=scene.other.external_id),
        )
    )
    blind = {
        (given.reviewer.name, given.response.conversation.external_id): given.is_blind
        for given in ReviewerVerdict.objects.all()
    }
    assert blind == {("Ben", "one"): False, ("Chloe", "one"): True, ("Ben", "two"): True}


def test_a_check_writes_nothing_and_answers_the_same_report(scene: Scene) -> None:
    file = jsonl(scene.judged(), scene.judged(), scene.judged(reviewer="eva@example.org"))
    checked = scene.take_in(file, check=True)
    assert not ReviewerVerdict.objects.exists()
    assert checked.as_plain() == scene.take_in(file).as_plain()
    assert checked.created == 2


def test_no_query_is_made_a_row(scene: Scene) -> None:
    study = scene.panel.study
    rows = [
        {"conversation_id": "one", "respondent": "model-b", "sample": number, "text": "Hm."} for number in range(1, 50)
    ]
    import_responses(study=study, source=jsonl(*rows), file_name="", by=None, check=False)

    def count(samples: range) -> int:
        file = jsonl(*(scene.judged(respondent="model-b", sample=number) for number in samples))
        with CaptureQueriesContext(connection) as queries:
            assert scene.take_in(file).created == len(samples)
            assert scene.take_in(file).unchanged == len(samples)
        return len(queries)

    assert count(range(1, 3)) == count(range(3, 50))


def test_a_faulty_row_is_looked_up_and_compared_in_its_other_cells(scene: Scene) -> None:
    assert not scene.take_in(jsonl(scene.judged())).errors
    report = scene.take_in(
        jsonl(
            scene.judged(verdict="perhaps", respondent="nobody", criterion_id="unknown"),
            scene.judged(reviewer="nobody@example.org", conversation_id="nowhere"),
            scene.judged(sample="first", criterion_id=scene.other.external_id),
            scene.judged(verdict="perhaps", sample=2),
            scene.judged(verdict="not_met", comment=["a list"]),
            scene.judged(conversation_id="nowhere", respondent="nobody", criterion_id="unknown"),
            scene.judged(reviewer="chloe@example.org", comment=["a list"]),
            scene.judged(reviewer="chloe@example.org", verdict="not_met"),
        )
    )
    assert sorted(errors(report)) == [
        *[(1, "criterion_id"), (1, "respondent"), (1, "verdict"), (2, "conversation_id"), (2, "reviewer")],
        *[(3, "criterion_id"), (3, "sample"), (4, "respondent"), (4, "verdict"), (5, "comment"), (5, "verdict")],
        *[(6, "conversation_id"), (6, "criterion_id"), (6, "respondent"), (7, "comment"), (8, "verdict")],
    ]
    assert report.created == 0
