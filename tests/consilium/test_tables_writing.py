"""Writing: nothing becomes a formula, nothing is cut, and what was written comes back as it was."""

import csv
import datetime
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import openpyxl
import pytest
import python_calamine
from hypothesis import example, given, settings
from hypothesis import strategies as st
from openpyxl.worksheet._writer import ALL_TEMP_FILES

from consilium.tables import (
    CellTooLong,
    Problem,
    Replaced,
    Unwritable,
    Written,
    open_table,
    replace_in_one_step,
    write_csv,
    write_jsonl,
    write_xlsx,
)

COLUMNS = ("id", "text", "points")
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1", "＋1", "－1", "＠1", "\n=1"]
LIKE_ESCAPES = ["_x0041_", "_x000D_", "_x005F_x0041_", "_x0041", "x0041_", "__x0041__", "_x004\r1_", "_x0041\x01"]
PIECES = st.sampled_from(
    [*FORMULAS, *LIKE_ESCAPES, "'", '"', ",", ";", "\r\n", "\r", "\n", "\x01", "\ufffe", "😀", "e\u0301", "\u2028", "|"]
)
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=4)
HOSTILE = TEXTS.map("".join)

Writer = Callable[[io.BytesIO, Sequence[Sequence[object]]], Written]


def to_csv(file: io.BytesIO, rows: Sequence[Sequence[object]]) -> Written:
    return write_csv(file, COLUMNS, rows)


def to_xlsx(file: io.BytesIO, rows: Sequence[Sequence[object]]) -> Written:
    return write_xlsx(file, [("Criteria", COLUMNS, rows)])


def to_jsonl(file: io.BytesIO, rows: Sequence[Sequence[object]]) -> Written:
    return write_jsonl(file, [dict(zip(COLUMNS, row, strict=True)) for row in rows])


def written(write: Writer, rows: Sequence[Sequence[object]]) -> bytes:
    file = io.BytesIO()
    assert write(file, rows).rows == len(rows)
    return file.getvalue()


def read(data: bytes) -> list[dict[str, object]]:
    table = open_table(io.BytesIO(data))
    rows = [row.values for row in table.rows()]
    assert table.problems == []
    return rows


@pytest.mark.parametrize("write", [to_csv, to_xlsx, to_jsonl])
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(HOSTILE, min_size=1, max_size=5))
@example(texts=FORMULAS)
@example(texts=LIKE_ESCAPES)
@example(texts=["'=1", "''", "'", "apostrophe_added", "\ufeff", "  ", "sep=;"])
def test_hostile_text_comes_back_as_it_was(write: Writer, texts: list[str]) -> None:
    rows = [(f"r{number}", text, -number) for number, text in enumerate(texts)]
    back = read(written(write, rows))
    assert [row["id"] for row in back] == [row[0] for row in rows]
    assert [row.get("text", "") for row in back] == texts
    assert [int(str(row["points"])) for row in back] == [row[2] for row in rows]


@pytest.mark.parametrize("write", [to_csv, to_xlsx, to_jsonl])
def test_the_same_rows_make_the_same_bytes(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("007", "=é😀\x01", -3), ("b", ["x", {"y": 1}], None)]
    first = written(write, rows)
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    assert written(write, rows) == first


@pytest.mark.parametrize("write", [to_csv, to_xlsx, to_jsonl])
def test_ids_times_lists_and_objects_are_text_that_reads_back(write: Writer) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    at = datetime.datetime(2024, 5, 1, 12, 30, tzinfo=zone)
    messages = [{"role": "user", "content": "=hello\n"}]
    back = read(written(write, [("007", at, 1), ("1E5", messages, 2)]))
    assert back[0]["id"] == "007"
    assert back[0]["text"] == "2024-05-01T12:30:00+02:00"
    assert back[1]["id"] == "1E5"
    text = back[1]["text"]
    assert (json.loads(text) if isinstance(text, str) else text) == messages


@pytest.mark.parametrize("write", [to_csv, to_xlsx, to_jsonl])
@pytest.mark.parametrize(
    ("value", "word"),
    [
        (datetime.datetime(2024, 5, 1), "zone"),
        ("\ud800", "half of a character"),
        (["\ud800"], "half of a character"),
        (float("nan"), "infinite"),
        ({"a": float("inf")}, "infinite"),
    ],
)
def test_what_can_not_be_written_names_its_row_and_column(write: Writer, value: object, word: str) -> None:
    with pytest.raises(Unwritable, match=word) as caught:
        write(io.BytesIO(), [("a", "b", 1), ("c", value, 2)])
    assert caught.value.column == "text"
    assert caught.value.row == (2 if write is to_jsonl else 3)


@pytest.mark.parametrize("write", [to_csv, to_xlsx, to_jsonl])
def test_what_is_no_value_at_all_is_a_fault_of_the_program(write: Writer) -> None:
    with pytest.raises(TypeError):
        write(io.BytesIO(), [("a", object(), 1)])


@pytest.mark.parametrize("write", [to_csv, to_xlsx])
def test_no_cell_is_cut(write: Writer) -> None:
    longest = "x" * 32_767
    assert read(written(write, [("a", longest, 1)]))[0]["text"] == longest
    for text in (longest + "x", "😀" * 16_384):
        with pytest.raises(CellTooLong) as caught:
            write(io.BytesIO(), [("a", "short", 1), ("b", text, 1)])
        assert (caught.value.row, caught.value.column) == (3, "text")


def test_a_csv_for_programs_may_hold_longer_cells() -> None:
    file = io.BytesIO()
    write_csv(file, COLUMNS, [("a", "x" * 200_000, 1)], longest_cell=None)
    assert read(file.getvalue())[0]["text"] == "x" * 200_000


@pytest.mark.parametrize("write", [to_csv, to_xlsx])
def test_a_row_that_does_not_fit_its_headings_is_a_fault_of_the_program(write: Writer) -> None:
    with pytest.raises(ValueError, match="2 cells, the headings have 3"):
        write(io.BytesIO(), [("a", "b")])


@pytest.mark.parametrize(
    "columns", [[], ["a", "a"], ["A"], [" a"], [""], ["=a"], ["a|b"], ["apostrophe_added"], ["e\u0301"]]
)
def test_headings_that_would_not_come_back_are_refused(columns: list[str]) -> None:
    with pytest.raises(ValueError, match="eading"):
        write_csv(io.BytesIO(), columns, [])
    with pytest.raises(ValueError, match="eading"):
        write_xlsx(io.BytesIO(), [("A", columns, [])])


# CSV


def test_no_text_of_a_csv_begins_like_a_formula() -> None:
    data = written(to_csv, [(text, text, -1) for text in FORMULAS])
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert rows[0] == [*COLUMNS, "apostrophe_added"]
    for row, text in zip(rows[1:], FORMULAS, strict=True):
        assert row == [f"'{text}", f"'{text}", "-1", "id|text"]


def test_csv_is_as_rfc_4180_says() -> None:
    data = written(to_csv, [("a", 'say "hi", é', 1), ("b", None, True)])
    assert data.decode() == 'id,text,points,apostrophe_added\r\na,"say ""hi"", é",1,\r\nb,,true,\r\n'


def test_apostrophes_that_people_wrote_are_left() -> None:
    data = written(to_csv, [("a", "=1", 1)]) + b"b,'tis mine,2,\r\nc,=own,3,text\r\n'd,'quoted,4\r\n"
    assert [row["text"] for row in read(data)] == ["=1", "'tis mine", "=own", "'quoted"]
    assert read(b"id,text\n1,'=1\n") == [{"id": "1", "text": "'=1"}]


def test_the_added_column_is_not_one_of_the_file() -> None:
    assert open_table(io.BytesIO(written(to_csv, []))).columns == COLUMNS


# XLSX


def test_no_text_of_a_workbook_is_a_formula_for_any_reader() -> None:
    data = written(to_xlsx, [(text, text, -1) for text in FORMULAS])
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    assert sheet is not None
    cells = [row[1] for row in sheet.iter_rows(min_row=2)]
    assert [(cell.data_type, cell.value) for cell in cells] == [("s", text) for text in FORMULAS]
    assert all(cell.quotePrefix for cell in cells)
    assert all(cell.number_format == "@" for cell in cells)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_other_readers_read_what_was_written() -> None:
    rows: list[tuple[object, ...]] = [("007", 'a & <b> "c" é😀 \r\n', -3), ("b", None, 2.5), ("c", True, 10**15)]
    data = written(to_xlsx, rows)
    expected: list[list[object]] = [list(row) for row in rows]
    expected[2][2] = str(10**15)
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    assert sheet is not None
    assert [list(row) for row in sheet.iter_rows(min_row=2, values_only=True)] == expected
    read_by_calamine = python_calamine.load_workbook(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    assert read_by_calamine[1:] == [["" if cell is None else cell for cell in row] for row in expected]


def test_characters_that_xml_can_not_hold_are_replaced_and_reported() -> None:
    file = io.BytesIO()
    report = write_xlsx(
        file,
        [("A", COLUMNS, [("a", "x\x01y", 1), ("b\x0b", "\ufffe", 1), ("c", "_x0041_ \r\n\t", 1)]), ("B", ["id"], [])],
    )
    assert report == Written(3, (Replaced("A", 2, "text"), Replaced("A", 3, "id"), Replaced("A", 3, "text")))
    with zipfile.ZipFile(file) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "x_x0001_y" in sheet
    assert "_x005F_x0041_" in sheet


def test_a_workbook_holds_its_sheets_in_order_and_no_time() -> None:
    file = io.BytesIO()
    write_xlsx(file, [("Criteria & <co>", ["id"], [("a",)]), ("Votes", ["id"], [("b",)])])
    assert open_table(file, sheet="Votes").sheet == "Votes"
    assert openpyxl.load_workbook(file).sheetnames == ["Criteria & <co>", "Votes"]
    with zipfile.ZipFile(file) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.namelist() == sorted(archive.namelist())
        assert set(re.findall(rb"\d{4}-\d\d-\d\dT[^<]*", archive.read("docProps/core.xml"))) == {
            b"1980-01-01T00:00:00Z"
        }


def test_a_workbook_is_the_same_in_any_process() -> None:
    """openpyxl writes with the XML writer of the standard library: lxml's would make other bytes."""
    assert openpyxl.DEFUSEDXML
    assert not openpyxl.LXML
    program = (
        "import hashlib, io; from consilium.tables import write_xlsx; file = io.BytesIO();"
        "write_xlsx(file, [('A', ['id', 'text'], [('=1', '\\r\\x01'), ('b', 0.1)]), ('B', ['id'], [('c',)])]);"
        "print(hashlib.sha256(file.getvalue()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone, language in [("1", "UTC", "C"), ("2", "Asia/Kolkata", "de_DE.UTF-8")]
    }
    assert len(digests) == 1


def test_a_number_keeps_all_its_digits_and_an_escaped_text_all_its_characters() -> None:
    rows = [("a", "\x01" * 32_767, 0.1 + 0.2), ("b", "#N/A", 1e-300), ("c", "TRUE", -(10**15) + 1)]
    assert [tuple(row.values()) for row in read(written(to_xlsx, rows))] == rows


@pytest.mark.parametrize("titles", [[], ["a" * 32], ["a/b"], ["'a"], [""], ["A", "a"]])
def test_titles_that_a_spreadsheet_refuses_are_refused(titles: list[str]) -> None:
    with pytest.raises(ValueError, match=r"sheet|title"):
        write_xlsx(io.BytesIO(), [(title, ["id"], []) for title in titles])


def test_more_rows_than_a_sheet_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilium.tables.workbook_writing.MOST_ROWS", 3)
    assert len(read(written(to_xlsx, [("a", "b", 1)] * 2))) == 2
    with pytest.raises(ValueError, match="more rows"):
        to_xlsx(io.BytesIO(), [("a", "b", 1)] * 3)


def test_a_workbook_is_not_written_where_it_can_not_be_sought(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(ValueError, match="seekable"):
        to_xlsx(Pipe(), [])


# JSON Lines


def test_a_line_of_json_holds_no_other_line_end() -> None:
    data = written(to_jsonl, [("a\u2028\x85\u2029\r\n", "é", 1)])
    assert len(data.decode().splitlines()) == 1
    assert "é" in data.decode()
    assert data.endswith(b"}\n")


def test_keys_keep_their_order_and_null_its_place() -> None:
    file = io.BytesIO()
    write_jsonl(file, [{"b": None, "a": "", "c": [1.5, True]}])
    assert file.getvalue() == b'{"b":null,"a":"","c":[1.5,true]}\n'


# Replacing in one step


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    with replace_in_one_step(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_of_a_file_that_failed(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def rows() -> Iterator[tuple[str]]:
        yield ("a",)
        raise failure

    with pytest.raises(failure):
        write_csv(path, ["id"], rows())
    with pytest.raises(failure):
        write_xlsx(path, [("A", ["id"], rows())])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]
    assert ALL_TEMP_FILES == []


def test_a_new_file_gets_the_usual_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real.jsonl")
    write_jsonl(link, [{"id": "a"}])
    assert link.is_symlink()
    real = tmp_path / "real.jsonl"
    assert real.read_bytes() == b'{"id":"a"}\n'
    assert real.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_path_that_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_jsonl(pipe, [{"id": "a"}])
        assert os.read(reader, 100) == b'{"id":"a"}\n'
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_nul_that_was_written_is_refused_when_it_is_read() -> None:
    table = open_table(io.BytesIO(written(to_csv, [("a", "\0", 1)])))
    assert list(table.rows()) == []
    assert table.problems == [Problem(2, "text", "The text holds a NUL character. Remove it.")]
    assert re.fullmatch("[0-9a-f]{64}", table.sha256)
