"""The commands freeze and export_version: their reports, exit codes and sentences."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from rubrics.models import RubricVersion
from tests.factories import Panel, make_panel
from tests.rubrics.making import make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="sleep")


def run(*words: object, code: int = 0) -> Any:
    """Run a command with --json; answer its report."""
    out, err = io.StringIO(), io.StringIO()
    if code == 0:
        call_command(*map(str, words), "--json", stdout=out, stderr=err)
        assert err.getvalue() == ""
    else:
        with pytest.raises(SystemExit) as stopped:
            call_command(*map(str, words), "--json", stdout=out, stderr=err)
        assert stopped.value.code == code
        assert err.getvalue().strip()
    lines = out.getvalue().splitlines()
    assert len(lines) == 1
    return json.loads(lines[0])


def test_freeze_reports_the_version_and_every_other_criterion(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, (heavy, light) = make_drafted(panel=panel, texts=["Heavy.", "Light."], points=9)
    type(heavy).objects.filter(pk=light.pk).update(withdrawn_at=light.created_at)
    report = run("freeze", "sleep", "--note", "For the pilot.")
    version = RubricVersion.objects.get()
    assert version.note == "For the pilot."
    assert report["cautions"] == [
        "1 conversation of those that go in: not every reviewer has said whether what is in consensus is enough."
    ]
    assert report == {
        "version": 1,
        "digest": version.digest,
        "record_digest": version.record_digest,
        "criteria": 1,
        "conversations": 1,
        "threshold_set_after_votes": False,
        "left_out": report["left_out"],
        "cautions": report["cautions"],
        "acknowledged": [heavy.external_id],
    }
    assert sorted(report["left_out"], key=lambda this: this["reason"]) == [
        {"criterion_id": light.external_id, "reason": "A writer of it withdrew it."},
        {"criterion_id": heavy.external_id, "reason": "It is in voting, in round 1 of its conversation."},
    ]


def test_freeze_names_who_acts(panel: Panel) -> None:
    make_agreed(panel=panel)
    run("freeze", "sleep", "--by", "ADAM@example.org")
    assert RubricVersion.objects.get().frozen_by == panel.adam


def test_a_refused_freeze_says_why_and_exits_with_1(panel: Panel) -> None:
    make_agreed(panel=panel)
    run("freeze", "sleep")
    assert run("freeze", "sleep", code=1) == {"error": "Nothing changed since version 1."}
    assert run("freeze", "other", code=1) == {"error": 'There is no study "other".'}


def test_freeze_says_in_words_what_it_did(panel: Panel) -> None:
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Heavy."], points=9)
    out = io.StringIO()
    call_command("freeze", "sleep", stdout=out)
    assert "Version 1 is frozen: 1 criterion of 1 conversation." in out.getvalue()
    assert "It is in voting, in round 1 of its conversation." in out.getvalue()


@pytest.mark.parametrize("format", ["healthbench", "mentalhealthbench", "csv", "xlsx"])
def test_export_version_writes_a_file_and_reports_it(panel: Panel, tmp_path: Path, format: str) -> None:
    make_agreed(panel=panel)
    frozen = run("freeze", "sleep")
    file = tmp_path / "out"
    report = run("export_version", "sleep", "1", "--format", format, "--output", file)
    assert report == {
        "version": 1,
        "format": format,
        "file": str(file),
        "conversations": 1,
        "criteria": 1,
        "digest": frozen["digest"],
        "record_digest": frozen["record_digest"],
        "replaced": 0,
    }
    first = file.read_bytes()
    run("export_version", "sleep", "1", "--format", format, "--output", file)
    assert file.read_bytes() == first


def test_a_published_set_is_exported_by_its_name(panel: Panel, tmp_path: Path) -> None:
    take_in(study=panel.study, rows=[make_row()], name="Bench")
    report = run("export_version", "sleep", "bench", "--format", "healthbench", "--output", tmp_path / "out")
    assert report["version"] == "Bench"


def test_export_version_refuses_what_there_is_not_and_leaves_the_old_file(panel: Panel, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("old")
    refusal = run("export_version", "sleep", "1", "--format", "csv", "--output", file, code=1)
    assert refusal == {"error": 'The study has no rubric version "1".'}
    assert file.read_text() == "old"
    make_agreed(panel=panel)
    run("freeze", "sleep")
    nowhere = tmp_path / "no folder" / "out"
    refusal = run("export_version", "sleep", "1", "--format", "csv", "--output", nowhere, code=1)
    assert refusal["error"].startswith(f"{nowhere} can't be written: ")
