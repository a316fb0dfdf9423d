"""Time is declared by the person and corrected by the person; each correction keeps the entry before it."""

import io
import threading
from datetime import date, timedelta
from pathlib import Path

import openpyxl
import pytest
from django.db import connection
from django.utils import timezone

from annotation.declaring_time import (
    DayHas24Hours,
    DayIsAhead,
    NoteTooLong,
    NothingToTakeBack,
    TimeChangedMeanwhile,
    declare_time,
    own_time,
    time_sheet,
)
from annotation.joining import NobodyByThisAddress, leave_study
from annotation.models import DeclaredTime, User
from consilium.errors import RuleViolation
from tests.factories import Panel, make_panel
from tests.journeys.commands import done, run
from tests.pages import api, at, got, queries_of, shown, signed_in
from tests.raw_sql import insert_like, refusal

DAY = date(2026, 5, 4)


@pytest.fixture
def panel(db: None) -> Panel:
    return make_panel(slug="pilot")


def declare(panel: Panel, minutes: int, *, day: date = DAY, person: User | None = None, note: str = "") -> DeclaredTime:
    return declare_time(study=panel.study, person=person or panel.ana, day=day, minutes=minutes, note=note)


def test_a_correction_keeps_what_stood_before(panel: Panel) -> None:
    first, second = declare(panel, 60, note="drafts"), declare(panel, 90)
    assert declare(panel, 90).pk == second.pk
    taken_back = declare(panel, 0)
    [day] = own_time(panel.study, panel.ana)
    assert (day.standing, day.earlier) == (taken_back, [second, first])
    assert DeclaredTime.objects.count() == 3
    assert time_sheet(panel.study) == []


def test_what_cannot_be_is_refused(panel: Panel) -> None:
    refused: list[tuple[type[RuleViolation], dict[str, object]]] = [
        (DayHas24Hours, {"minutes": 1441}),
        (DayHas24Hours, {"minutes": -1}),
        (NothingToTakeBack, {"minutes": 0}),
        (NoteTooLong, {"minutes": 60, "note": "x" * 501}),
        (DayIsAhead, {"minutes": 60, "day": timezone.now().date() + timedelta(days=2)}),
        (NobodyByThisAddress, {"minutes": 60, "person": panel.oscar}),
    ]
    for violation, facts in refused:
        with pytest.raises(violation):
            declare(panel, **facts)  # type: ignore[arg-type]
    assert not DeclaredTime.objects.exists()


def test_today_is_the_person_s_own(panel: Panel) -> None:
    User.objects.filter(pk=panel.ana.pk).update(time_zone="Pacific/Kiritimati")
    panel.ana.refresh_from_db()
    today = (timezone.now() + timedelta(hours=14)).date()
    assert declare(panel, 60, day=today)
    with pytest.raises(DayIsAhead):
        declare(panel, 60, day=today + timedelta(days=1))


def test_what_was_declared_meanwhile_is_not_overwritten(panel: Panel) -> None:
    first = declare(panel, 60)
    declare(panel, 90)
    with pytest.raises(TimeChangedMeanwhile):
        declare_time(study=panel.study, person=panel.ana, day=DAY, minutes=30, seen=first.pk)


@pytest.mark.django_db(transaction=True)
def test_two_who_declare_the_same_day_at_once_leave_one_chain(transactional_db: None) -> None:
    panel = make_panel()
    barrier = threading.Barrier(4)

    def work(minutes: int) -> None:
        barrier.wait()
        try:
            declare(panel, minutes)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(minutes,)) for minutes in (10, 20, 30, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [day] = own_time(panel.study, panel.ana)
    assert len(day.earlier) == 3


def test_the_sheet_totals_by_person_and_month_and_is_safe_in_a_spreadsheet(panel: Panel, tmp_path: Path) -> None:
    User.objects.filter(pk=panel.ben.pk).update(name='=HYPERLINK("x")')
    for day, minutes in ((DAY, 60), (DAY + timedelta(days=1), 45), (date(2026, 6, 1), 30)):
        declare(panel, minutes, day=day, note="private")
    declare(panel, 75, day=DAY)
    declare(panel, 20, person=panel.ben)
    leave_study(study=panel.study, person=panel.ben)
    file = tmp_path / "time.xlsx"
    assert done("time_sheet", "pilot", "--output", str(file))["rows"] == 3
    sheet = openpyxl.load_workbook(file)["time"]
    rows = [tuple(cell.value for cell in row) for row in sheet.iter_rows()]
    assert rows == [
        ("name", "email", "month", "days", "hours"),
        ('=HYPERLINK("x")', "ben@example.org", "2026-05", 1, 0.33),
        ("Ana", "ana@example.org", "2026-05", 2, 2),
        ("Ana", "ana@example.org", "2026-06", 1, 0.5),
    ]
    assert sheet["A2"].data_type in {"s", "inlineStr"}
    answer = signed_in(panel.adam).get(at(panel.study, "study_time_sheet_xlsx"))
    sent = answer.getvalue()
    assert sent == file.read_bytes()
    assert openpyxl.load_workbook(io.BytesIO(sent)).sheetnames == ["time"]
    assert run("time_sheet", "pilot", "--output", str(tmp_path / "none" / "x.xlsx")).code == 1


def test_each_declares_on_the_page_and_sees_the_own_days_only(panel: Panel) -> None:
    page = at(panel.study, "study_time")
    ana = signed_in(panel.ana)
    assert ana.post(page, {"day": f"{DAY}", "hours": "1.5", "note": "drafts"}).status_code == 302
    assert ana.post(page, {"day": f"{DAY}", "hours": "2"}).status_code == 302
    html = shown(ana, page)
    assert "90 minutes, declared" in html
    assert "drafts" in html
    assert "drafts" not in shown(signed_in(panel.ben), page)
    assert ana.post(page, {"day": f"{DAY}", "hours": "25"}).status_code == 422
    assert ana.post(page, {"day": "soon", "hours": "1"}).status_code == 422
    assert ana.post(page, {"day": f"{DAY + timedelta(days=3)}", "hours": "0"}).status_code == 409
    assert signed_in(panel.oscar).get(page).status_code == 404
    assert f'href="{page}"' in shown(ana, "/you/")


def test_an_admin_sees_totals_and_no_day_and_no_note(panel: Panel) -> None:
    declare(panel, 90, note="private")
    sheet = at(panel.study, "study_time_sheet")
    html = shown(signed_in(panel.adam), sheet)
    assert "May 2026" in html
    assert "private" not in html
    for name in ("ana", "rita"):
        assert signed_in(getattr(panel, name)).get(sheet).status_code == 403
        assert signed_in(getattr(panel, name)).get(at(panel.study, "study_time_sheet_xlsx")).status_code == 403
        assert api(getattr(panel, name)).get(at(panel.study, "api_time_sheet")).status_code == 403
    assert got(panel.adam, at(panel.study, "api_time_sheet")) == [
        {"name": "Ana", "email": "ana@example.org", "month": "2026-05-01", "days": 1, "minutes": 90}
    ]


def test_the_api_declares_and_corrects(panel: Panel) -> None:
    url = at(panel.study, "api_own_time")
    client = api(panel.ana)
    first = client.post(url, {"day": f"{DAY}", "minutes": 30}, format="json")
    assert first.status_code == 201
    client.post(url, {"day": f"{DAY}", "minutes": 40, "seen": first.json()["id"]}, format="json")
    stale = client.post(url, {"day": f"{DAY}", "minutes": 50, "seen": first.json()["id"]}, format="json")
    assert stale.status_code == 409
    [day] = client.get(url).json()
    assert (day["standing"]["minutes"], [each["minutes"] for each in day["earlier"]]) == (40, [30])
    assert got(panel.ben, url) == []


def test_the_pages_take_as_many_queries_however_much_is_declared(panel: Panel) -> None:
    ana, adam = signed_in(panel.ana), signed_in(panel.adam)
    pages = [(ana, at(panel.study, "study_time")), (adam, at(panel.study, "study_time_sheet"))]
    before = [queries_of(client, page) for client, page in pages]
    for number in range(5):
        declare(panel, 60 + number, day=DAY + timedelta(days=number % 3 * 20))
    assert [queries_of(client, page) for client, page in pages] == before


def test_the_database_holds_what_an_entry_is(panel: Panel) -> None:
    declare(panel, 60)
    entry = declare(panel, 90)
    table = "annotation_declaredtime"
    assert refusal(f"UPDATE {table} SET minutes = 1") == "23001"
    assert refusal(f"DELETE FROM {table}") == "23001"
    first = "corrects_id IS NULL"
    assert refusal(insert_like(table, first)) == "a_day_is_declared_once_then_corrected"
    assert refusal(insert_like(table, first, day="'2026-05-05'", minutes="1441")) == "a_day_has_24_hours"
    assert refusal(insert_like(table, "corrects_id IS NOT NULL")) == "an_entry_is_corrected_once"
    other_day = insert_like(table, first, day="'2026-05-05'", corrects_id=f"'{entry.pk}'")
    assert refusal(other_day) == "a_correction_is_of_the_same_day"
