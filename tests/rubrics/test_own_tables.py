"""Our own table exports come back, CSV and workbooks, to the same digest; edits and lost rows are told by line."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.importing.report import Report
from annotation.models import FileImport, Study
from consilium.tables import write_csv, write_xlsx
from consilium.tables.headings import APOSTROPHE_ADDED
from rubrics.exporting import ExportFormat, export_version
from rubrics.importing import OnlyPublishedSetsHaveAName, import_conversations
from rubrics.models import RubricVersion
from rubrics.table_shapes import ALL
from rubrics.taking_in import ExternalCriterion, NameIsTaken
from tests.factories import Panel, make_panel, make_study
from tests.rubrics.making import make_agreed, make_row, take_in
from tests.rubrics.test_exporting import TEXTS, export, freeze, make_external_version, make_rich_version

pytestmark = pytest.mark.django_db

TABLES = [ExportFormat.CSV, ExportFormat.XLSX]


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def bring(file: bytes | Path, study: Study | None = None, **options: Any) -> Report:
    facts: dict[str, Any] = {"file_name": "v.csv", "by": None, "check": False, "name": "again", **options}
    source = file if isinstance(file, Path) else io.BytesIO(file)
    return import_conversations(study=study or make_study(), source=source, **facts)


def told(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def taken(report: Report, study: Study) -> RubricVersion:
    assert report.errors == []
    return RubricVersion.objects.get(study=study, name="again")


def edited(file: bytes, change: Callable[[list[dict[str, str]]], object]) -> bytes:
    """A CSV export with its rows changed by ``change``, or with those that it answers."""
    rows = list(csv.DictReader(io.StringIO(file.decode(), newline="")))
    kept = change(rows)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, [*ALL, APOSTROPHE_ADDED], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(kept if isinstance(kept, list) else rows)
    return out.getvalue().encode()


def of_kind(rows: list[dict[str, str]], kind: str) -> list[dict[str, str]]:
    return [row for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("format", TABLES)
@pytest.mark.parametrize("make", [make_rich_version, lambda panel: make_external_version(panel.study)])
def test_a_table_export_reimports_to_the_same_digest_and_loses_nothing(
    panel: Panel, tmp_path: Path, format: ExportFormat, make: Callable[[Panel], RubricVersion]
) -> None:
    version = make(panel)
    study = make_study()
    again = taken(bring(export(version, format), study), study)
    assert (again.digest, again.criteria_count, again.source_format) == (
        version.digest,
        version.criteria_count,
        "consilium",
    )
    for first, last in zip(
        version.conversations.order_by("position"), again.conversations.order_by("position"), strict=True
    ):
        for name in ("external_id", "messages", "language", "country", "acuity", "user_profile", "has_prior_context"):
            assert getattr(last, name) == getattr(first, name), name
        assert (last.tags, last.source) == (first.tags, first.source)
        own = json.loads(last.extra).pop("consilium")
        assert own.pop("is_not_for_public_text") is False
        assert own == ({"source_canary": first.canary_string} if version.number and first.canary_string else {})
        assert last.canary_string == (version.canary_string if version.number else first.canary_string)
        mine, theirs = ({c.item_sha256: c for c in this.criteria.all()} for this in (first, last))
        assert {key: (c.rationale, c.levels, c.scale) for key, c in mine.items()} == {
            key: (c.rationale, c.levels, c.scale) for key, c in theirs.items()
        }
        assert {key: json.loads(c.extra or "{}") for key, c in mine.items()} == {
            key: json.loads(c.extra or "{}") for key, c in theirs.items()
        }
    # And so on, for ever: by path this time, and through the other kind of table.
    other = TABLES[1 - TABLES.index(format)]
    twice, third = tmp_path / "twice", make_study()
    export_version(version=again, format=other, file=twice)
    assert taken(bring(twice, third), third).digest == version.digest
    fourth = make_study()
    last_one = taken(bring(export(RubricVersion.objects.get(study=third), other), fourth), fourth)
    assert export(RubricVersion.objects.get(study=third), other).count(b"consilium") > 0
    assert last_one.digest == version.digest


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(TEXTS.filter(str.strip), min_size=2, max_size=5),
    middle=TEXTS,
    axis=TEXTS,
    source=TEXTS,
    length=st.sampled_from([0, 0, 16_000, 32_766, 32_767, 40_000]),
)
def test_any_version_comes_back_from_either_table(
    texts: list[str], middle: str, axis: str, source: str, length: int
) -> None:
    long = (texts[0] * (length // len(texts[0]) + 1))[: max(length, len(texts[0]))] + "."
    messages = [{"role": "user", "content": middle}, {"role": "assistant", "content": ""}]
    row = make_row(
        external_id="=1",
        messages=[*messages, {"role": "user", "content": long}],
        criteria=[ExternalCriterion(text=text[:32_767], points=-3, axis=axis[:100]) for text in texts[1:]],
        source=source.strip(),
        tags=["a|b", "=c"],
    )
    version = take_in(study=make_study(), rows=[row, make_row()])
    for format in TABLES:
        study = make_study()
        again = taken(bring(export(version, format), study), study)
        assert again.digest == version.digest
        assert again.conversations.get(external_id="=1").source == source.strip()


def test_the_same_table_again_changes_nothing_and_another_under_its_name_is_refused(panel: Panel) -> None:
    make_agreed(panel=panel)
    file, study = export(freeze(panel), ExportFormat.CSV), make_study()
    first = bring(file, study)
    again = bring(file, study)
    assert (first.created, again.created, again.unchanged) == (1, 0, 1)
    assert again.facts == first.facts
    assert FileImport.objects.filter(study=study).count() == 1
    other = edited(file, lambda rows: [row | {"language": "de"} for row in rows])
    with pytest.raises(NameIsTaken):
        bring(other, study)
    assert bring(file, study, name=None).facts["external"]["name"] == "consilium"


@pytest.mark.parametrize("format", TABLES)
def test_a_check_writes_nothing_and_answers_the_same(panel: Panel, format: ExportFormat) -> None:
    make_agreed(panel=panel)
    file, study = export(freeze(panel), format), make_study()
    checked = bring(file, study, check=True)
    assert not RubricVersion.objects.filter(study=study).exists()
    assert checked.as_plain() == bring(file, study).as_plain()


@pytest.mark.parametrize(
    ("kind", "column"), [("criterion", "text"), ("criterion", "points"), ("criterion", "axis"), ("message", "content")]
)
def test_an_edited_row_is_told_by_its_line(panel: Panel, kind: str, column: str) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Stays warm."])
    value = "7" if column == "points" else "edited"

    def change(rows: list[dict[str, str]]) -> None:
        of_kind(rows, kind)[-1][column] = value

    file, study = edited(export(freeze(panel), ExportFormat.CSV), change), make_study()
    report = bring(file, study)
    lines = file.decode().splitlines()
    place = "conversation," if kind == "message" else "criterion,"
    last = max(number for number, line in enumerate(lines, start=1) if line.startswith(place))
    assert told(report) == [(last, "sha256")]
    assert "edited" in report.errors[0].message
    assert not RubricVersion.objects.filter(study=study).exists()


def test_an_edited_file_is_other_content_once_its_hashes_are_gone(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Stays warm."])
    version = freeze(panel)

    def change(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        criterion = of_kind(rows, "criterion")[0]
        criterion["text"], criterion["sha256"] = "Asks about food.", ""
        return [row for row in rows if row["name"] != "digest"]

    study = make_study()
    again = taken(bring(edited(export(version, ExportFormat.CSV), change), study), study)
    assert again.digest != version.digest
    assert "Asks about food." in again.criteria.values_list("text", flat=True)


def test_a_row_that_is_missing_moves_the_digest_and_that_is_an_error(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Stays warm."])
    file = export(freeze(panel), ExportFormat.CSV)
    report = bring(edited(file, lambda rows: [row for row in rows if row is not of_kind(rows, "criterion")[1]]))
    ((line, column),) = told(report)
    assert file.decode().splitlines()[(line or 0) - 1].startswith("version,") is True
    assert column == "value"
    assert "missing" in report.errors[0].message


def test_rows_out_of_their_order_and_wrong_cells_are_each_an_error(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="c1", texts=["Asks.", "Stays warm."])
    make_agreed(panel=panel, external_id="c2", texts=["Asks."], position=1)

    def change(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        first, second, third = of_kind(rows, "criterion")
        first["points"], second["scale"] = "eleven", "fuzzy"
        of_kind(rows, "conversation")[1]["acuity"] = "grave"
        of_kind(rows, "message")[0]["role"] = "nurse"
        of_kind(rows, "message")[1]["turn"] = "2"
        of_kind(rows, "vote")[0]["kind"] = "ballot"
        return [row for row in rows if row is not third] + [third | {"conversation_id": "c1"}]

    report = bring(edited(export(freeze(panel), ExportFormat.CSV), change))
    assert {error.column for error in report.errors} == {
        "points",
        "scale",
        "acuity",
        "role",
        "turn",
        "kind",
        "conversation_id",
    }
    assert all(error.line for error in report.errors)


def test_of_a_workbook_the_sheet_is_named(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="c1", texts=["Asks.", "Stays warm."])
    make_agreed(panel=panel, external_id="c2", texts=["Asks."], position=1)
    version = freeze(panel)

    def changed(change: Callable[[Any], object]) -> Report:
        book = openpyxl.load_workbook(io.BytesIO(export(version, ExportFormat.XLSX)))
        change(book)
        out = io.BytesIO()
        book.save(out)
        return bring(out.getvalue())

    assert changed(lambda book: None).errors == []  # another program saved it
    report = changed(lambda book: book["criteria"].__setitem__("D2", "Edited."))
    assert told(report) == [(2, "sha256 (sheet criteria)")]
    report = changed(lambda book: book["messages"].move_range("A2:E2", rows=5))
    assert "conversation_id (sheet messages)" in [column for _, column in told(report)]
    report = changed(lambda book: book.remove(book["messages"]))
    assert (None, "sheet messages") in told(report)


def test_a_text_whose_parts_are_apart_is_an_error(panel: Panel) -> None:
    version = make_rich_version(panel)

    def change(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        second = next(row for row in of_kind(rows, "message") if row["part"] == "2")
        return [row for row in rows if row is not second]

    report = bring(edited(export(version, ExportFormat.CSV), change))
    assert "part" in [column for _, column in told(report)]


def test_a_text_that_had_to_go_can_not_be_taken_in(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks.", "Stays warm."])

    def change(rows: list[dict[str, str]]) -> None:
        of_kind(rows, "criterion")[0].update(text="", tombstone="A court's order.")

    report = bring(edited(export(freeze(panel), ExportFormat.CSV), change))
    assert [column for _, column in told(report)] == ["tombstone"]


def test_other_tables_are_a_studys_own_conversations() -> None:
    headings, rows = ["id", "messages"], [["1", json.dumps([{"role": "user", "content": "x"}])]]
    as_csv, as_xlsx = io.BytesIO(), io.BytesIO()
    write_csv(as_csv, headings, rows)
    write_xlsx(as_xlsx, [("criteria", headings, rows)])
    for file in (as_csv, as_xlsx):
        study = make_study()
        assert bring(file.getvalue(), study, name=None).created == 1
        assert not RubricVersion.objects.filter(study=study).exists()
        with pytest.raises(OnlyPublishedSetsHaveAName):
            bring(file.getvalue(), study)
