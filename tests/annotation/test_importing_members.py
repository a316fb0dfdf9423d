"""People from a file: checked whole, taken in whole, the same file again changes nothing."""

import json
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.importing.members import import_members
from annotation.importing.report import Report
from annotation.joining import leave_study
from annotation.models import FileImport, Membership, User
from tests.factories import Panel, make_panel, make_person
from tests.importing_files import csv_file, jsonl, xlsx_file
from tests.pages import api, at, shown, signed_in

pytestmark = pytest.mark.django_db
COLUMNS = ("email", "name", "roles", "languages", "country", "profession", "speciality")
FERN = ("Fern@Example.org", "Fern", "clinician|researcher", "es-MX, en", "mx", "psychologist", "adolescents")
GUS = ("gus@example.org", "", "Clinician", "", "", "", "")


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def take_in(panel: Panel, file: BinaryIO, *, check: bool = False) -> Report:
    return import_members(study=panel.study, source=file, file_name="people.csv", by=panel.adam, check=check)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_people_join_with_what_the_file_says_and_the_same_file_changes_nothing(panel: Panel, kind: str) -> None:
    def file() -> BinaryIO:
        if kind == "jsonl":
            return jsonl(*(dict(zip(COLUMNS, row, strict=True)) for row in (FERN, GUS)))
        return (csv_file if kind == "csv" else xlsx_file)(COLUMNS, FERN, GUS)

    before = Membership.objects.count()
    checked = take_in(panel, file(), check=True)
    assert (checked.created, checked.unchanged, Membership.objects.count()) == (2, 0, before)
    taken = take_in(panel, file())
    assert (taken.created, taken.errors, taken.warnings) == (2, [], [])
    fern = User.objects.get(email__iexact="fern@example.org")
    assert (fern.name, fern.languages, fern.country) == ("Fern", ["es-MX", "en"], "MX")
    assert Membership.objects.get(study=panel.study, user=fern).roles == ["clinician", "researcher"]
    again = take_in(panel, file())
    assert (again.created, again.unchanged, again.warnings) == (0, 2, [])
    assert not FileImport.objects.exists()


def test_every_fault_is_told_at_once_by_line_and_column_and_nothing_is_written(panel: Panel) -> None:
    before = User.objects.count()
    report = take_in(
        panel,
        csv_file(
            COLUMNS,
            GUS,
            ("nobody", "", "clinician", "", "", "", ""),
            ("", "", "clinician", "", "", "", ""),
            ("a@example.org", "", "owner", "Spanish!", "UK", "", ""),
            ("b@example.org", "n" * 201, "", "", "", "p" * 101, ""),
            ("GUS@example.org", "Gus", "clinician", "", "", "", ""),
        ),
    )
    assert [(finding.line, finding.column) for finding in report.errors] == [
        (3, "email"),
        (4, "email"),
        (5, "roles"),
        (5, "languages"),
        (5, "country"),
        (6, "roles"),
        (6, "name"),
        (6, "profession"),
        (7, "email"),
    ]
    assert "Perhaps GB is meant." in report.errors[4].message
    assert "lines 2 and 7" in report.errors[-1].message
    assert (report.created, User.objects.count()) == (0, before)


def test_a_person_given_twice_counts_once(panel: Panel) -> None:
    report = take_in(panel, csv_file(COLUMNS, GUS, GUS))
    assert (report.created, report.errors) == (1, [])
    assert "lines 2 and 3" in report.warnings[0].message


def test_what_a_known_person_declared_stays_and_only_what_is_empty_is_filled_in(panel: Panel) -> None:
    User.objects.filter(pk=panel.ana.pk).update(languages=["de"], country="")
    report = take_in(panel, csv_file(COLUMNS, ("ANA@example.org", "Anna", "admin", "en", "GB", "", "")))
    panel.ana.refresh_from_db()
    assert (panel.ana.name, panel.ana.languages, panel.ana.country) == ("Ana", ["de"], "GB")
    assert Membership.objects.get(study=panel.study, user=panel.ana).roles == ["admin", "clinician"]
    assert [finding.column for finding in report.warnings] == ["name", "languages"]


def test_of_somebody_who_is_not_in_the_study_nothing_is_told(panel: Panel) -> None:
    quinn = make_person(name="quinn", country="FR")
    file = csv_file(COLUMNS, ("quinn@example.org", "Other", "clinician", "", "GB", "", ""))
    report = take_in(panel, file, check=True)
    assert (report.created, report.warnings) == (1, [])
    quinn.refresh_from_db()
    assert (quinn.name, quinn.country) == ("Quinn", "FR")


def test_nobody_who_left_comes_back_by_a_file(panel: Panel) -> None:
    leave_study(study=panel.study, person=panel.ana)
    report = take_in(panel, csv_file(COLUMNS, ("ana@example.org", "", "admin", "", "", "", "")))
    assert (report.created, report.unchanged) == (0, 1)
    assert "no file brings anybody back" in report.warnings[0].message
    assert Membership.objects.get(study=panel.study, user=panel.ana).left_at is not None


def test_a_file_without_its_columns_is_refused(panel: Panel) -> None:
    report = take_in(panel, csv_file(("name", "mail"), ("Fern", "fern@example.org")))
    assert [finding.column for finding in report.errors] == ["email", "roles"]


def test_the_command_checks_takes_in_and_refuses(panel: Panel, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("email,roles\ngus@example.org,clinician\n")

    def done(*words: str) -> Any:
        out = StringIO()
        call_command("import_members", panel.study.slug, str(path), *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert done("--check")["created"] == 1
    assert not User.objects.filter(email="gus@example.org").exists()
    assert done()["created"] == 1
    assert done()["unchanged"] == 1
    path.write_text("email,roles\nnobody,clinician\n")
    with pytest.raises((CommandError, SystemExit)):
        done()


def test_the_members_page_leads_to_the_file_and_the_page_takes_it_in(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_import", kind="members")
    assert page in shown(client, at(panel.study, "study_members"))

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("people.csv", csv_file(COLUMNS, GUS).read())

    assert "1 new or changed" in client.post(page, {"file": file(), "act": "check"}).content.decode()
    assert not User.objects.filter(email="gus@example.org").exists()
    assert client.post(page, {"file": file(), "act": "take"}).status_code == 302
    assert "gus@example.org" in shown(client, at(panel.study, "study_members"))


def test_the_api_takes_people_in(panel: Panel) -> None:
    address = at(panel.study, "api_import", kind="members")
    made = SimpleUploadedFile("people.csv", csv_file(COLUMNS, GUS).read())
    answer = api(panel.adam).post(address, {"file": made}, format="multipart")
    assert (answer.status_code, answer.json()["created"]) == (200, 1)
