"""What exports say besides the rubric and an import believes: not for public text, and the key of the canary."""

import io
import json
from typing import Any

import pytest

from annotation.importing.report import Report
from annotation.models import Study
from rubrics.exporting import ExportFormat
from rubrics.importing import import_conversations
from rubrics.models import RubricVersion
from tests.factories import Panel, make_panel, make_study
from tests.importing_files import jsonl
from tests.rubrics.making import make_agreed
from tests.rubrics.test_exporting import export, freeze, objects
from tests.rubrics.test_importing import healthbench, mentalhealthbench

pytestmark = pytest.mark.django_db

FORMATS = list(ExportFormat)
LINES = [ExportFormat.HEALTHBENCH, ExportFormat.MENTALHEALTHBENCH]


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def bring(file: bytes, study: Study) -> Report:
    report = import_conversations(
        study=study, source=io.BytesIO(file), file_name="v", by=None, check=False, name="again"
    )
    assert report.errors == []
    study.refresh_from_db()
    return report


def taken(*rows: dict[str, Any]) -> RubricVersion:
    study = make_study()
    bring(jsonl(*rows).read(), study)
    return RubricVersion.objects.get(study=study)


def says_public_text(report: Report) -> bool:
    return any("public text" in warning.message for warning in report.warnings)


# Not for public text


@pytest.mark.parametrize("format", FORMATS)
def test_a_studys_own_version_marks_nothing_in_whatever_shape_it_comes_back(panel: Panel, format: ExportFormat) -> None:
    make_agreed(panel=panel)
    study = make_study()
    report = bring(export(freeze(panel), format), study)
    assert not study.is_not_for_public_text
    assert not says_public_text(report)


@pytest.mark.parametrize("format", FORMATS)
def test_mentalhealthbenchs_mark_goes_with_its_texts_through_every_shape(format: ExportFormat) -> None:
    version = taken(mentalhealthbench(), mentalhealthbench("1" * 32))
    study = make_study()
    report = bring(export(version, format), study)
    assert study.is_not_for_public_text
    assert says_public_text(report)
    assert "The file says" in report.warnings[-1].message
    # And from there through every other.
    again = RubricVersion.objects.get(study=study)
    for other in FORMATS:
        third = make_study()
        bring(export(again, other), third)
        assert third.is_not_for_public_text


@pytest.mark.parametrize("format", FORMATS)
def test_a_study_that_was_so_when_it_froze_says_it_in_its_exports(panel: Panel, format: ExportFormat) -> None:
    make_agreed(panel=panel, extra=json.dumps({"consilium": {"other": 1}, "more": 2}))
    Study.objects.update(is_not_for_public_text=True)
    panel.study.refresh_from_db()
    version = freeze(panel)
    before = export(version, format)
    Study.objects.update(is_not_for_public_text=False)
    assert export(version, format) == before
    study = make_study()
    bring(before, study)
    assert study.is_not_for_public_text


@pytest.mark.parametrize("format", LINES)
def test_the_mark_stands_under_consilium(panel: Panel, format: ExportFormat) -> None:
    make_agreed(panel=panel)
    (row,) = objects(freeze(panel), format)
    assert row["consilium"]["is_not_for_public_text"] is False
    (row,) = objects(taken(mentalhealthbench()), format)
    assert row["consilium"]["is_not_for_public_text"] is True


# The canary


@pytest.mark.parametrize("key", ["canary", "canary_string"])
def test_a_canary_comes_out_under_the_key_that_it_came_under(key: str) -> None:
    version = taken(healthbench(**{key: "canary-2"}), healthbench("p2"))
    row, other = objects(version, ExportFormat.HEALTHBENCH)
    assert {name: row.get(name) for name in ("canary", "canary_string")} == {
        "canary": None,
        "canary_string": None,
        key: "canary-2",
    }
    assert not {"canary", "canary_string"} & other.keys()


@pytest.mark.parametrize("through", FORMATS)
def test_also_after_it_went_through_another_shape(through: ExportFormat) -> None:
    version = taken(healthbench(canary="canary-2"))
    if through == ExportFormat.MENTALHEALTHBENCH:
        (row,) = objects(version, through)
        assert row["canary_string"] == "canary-2"
    study = make_study()
    bring(export(version, through), study)
    again = RubricVersion.objects.get(study=study)
    (row,) = objects(again, ExportFormat.HEALTHBENCH)
    assert row["canary"] == "canary-2"
    assert "canary_string" not in row
    assert again.canary_string == "canary-2"


def test_a_row_with_both_keys_loses_neither() -> None:
    version = taken(healthbench(canary_string="one", canary="two"))
    (row,) = objects(version, ExportFormat.HEALTHBENCH)
    assert (row["canary_string"], row["canary"]) == ("one", "two")
