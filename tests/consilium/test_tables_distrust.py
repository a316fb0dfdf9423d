"""Workbooks that are no workbooks, bombs and broken ones: refused with a sentence, never with an exception."""

import datetime
import io
import random
import time
import zipfile

import pytest

from consilium.tables import Limits, open_table
from tests.consilium.test_tables_reading import mutate
from tests.consilium.test_tables_spreadsheets import (
    only_problem,
    raw_sheet,
    read,
    repacked,
    strict,
    with_shared,
    workbook,
)


def test_other_zip_archives_are_refused_by_name() -> None:
    def archive(*names: str) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            for name in names:
                packed.writestr(name, "x")
        return file.getvalue()

    assert "no .xlsx" in only_problem(archive("notes.txt")).message
    assert "OpenDocument" in only_problem(archive("mimetype", "content.xml")).message
    assert "no .xlsx" in only_problem(b"PK\x05\x06" + b"\0" * 18).message
    twice = io.BytesIO(workbook(["id"]))
    with zipfile.ZipFile(twice, "a") as packed:
        packed.writestr("XL/worksheets\\sheet1.xml", "x")
    assert "twice" in only_problem(twice.getvalue()).message


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    def bomb(name: str, content: bytes) -> bytes:
        return content + b" " * 30_000_000 if name.endswith("sheet1.xml") else content

    data = repacked(workbook(["id"], ["a"]), bomb)
    assert len(data) < 100_000
    assert "200 times" in only_problem(data).message
    assert "more than 1 MB" in only_problem(data, limits=Limits(expanded_bytes=1_000_000)).message
    assert read(data, limits=Limits(expansion=2000))[0] == [(2, {"id": "a"})]


def test_a_great_many_rows_with_nothing_in_them_are_refused_at_once() -> None:
    def rows(name: str, content: bytes) -> bytes:
        return content.replace(b"</sheetData>", b"<row/>" * 300_000 + b"</sheetData>")

    data = repacked(workbook(["id"], ["a"]), rows)
    assert len(data) < 20_000
    began = time.process_time()
    assert "a great many rows and nothing in them" in only_problem(data).message
    assert time.process_time() - began < 1
    many: list[list[object]] = [[f"id-{number}"] for number in range(30_000)]
    assert len(read(workbook(["id"], *many))[0]) == 30_000, "rows with text, however alike"


def test_entities_are_refused() -> None:
    def lol(name: str, content: bytes) -> bytes:
        head = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        return head + content.partition(b"?>\n")[2].replace(b"</v>", b"&b;</v>") if "sheet1" in name else content

    data = workbook(["id"], ["a"])
    assert "document type" in only_problem(repacked(data, lol)).message


def test_a_tag_without_end_and_foreign_encodings_are_refused() -> None:
    def endless(name: str, content: bytes) -> bytes:
        return content[:-12] + b"<c r='" + b"x" * 40_000_000 if name.endswith("sheet1.xml") else content

    data = repacked(workbook(["id"], ["a"]), endless)
    problem = only_problem(data, limits=Limits(expansion=2000))
    assert "without end" in problem.message

    def latin(name: str, content: bytes) -> bytes:
        if not name.endswith("sheet1.xml"):
            return content
        return b'<?xml version="1.0" encoding="iso-8859-7"?>' + content.partition(b"?>")[2]

    assert "UTF-8" in only_problem(repacked(workbook(["id"], ["a"]), latin)).message


@pytest.mark.parametrize("part", ["styles.xml", "workbook.xml", "[Content_Types].xml"])
def test_a_document_type_is_refused_in_any_part(part: str) -> None:
    def declaring(name: str, content: bytes) -> bytes:
        return b"<!DOCTYPE x>" + content.removeprefix(b"<?xml") if name.endswith(part) else content

    assert "document type" in only_problem(repacked(workbook(["id"], ["a"]), declaring)).message


def test_a_part_that_is_no_xml_is_refused() -> None:
    assert "not well-formed" in only_problem(raw_sheet('<row r="1"><c t="str"><v>a & b</v></c></row>')).message


def test_too_much_shared_text_and_a_cell_that_is_too_long_are_refused() -> None:
    pointing = '<row r="1"><c t="s"><v>0</v></c></row><row r="2"><c t="s"><v>1</v></c></row>'
    data = with_shared(f"<si><t>id</t></si><si><t>{'x' * 500}</t></si>", pointing)
    assert "characters of text" in only_problem(data, limits=Limits(shared_characters=400)).message
    assert only_problem(data, limits=Limits(cell_characters=400)).line == 2
    inline = raw_sheet(
        '<row r="1"><c t="str"><v>id</v></c></row>'
        f'<row r="2"><c t="str"><v>{"x" * 20_000}</v></c></row><row r="3"><c t="str"><v>y</v></c></row>'
    )
    rows, table = read(inline, limits=Limits(cell_characters=9_000))
    assert rows == [(3, {"id": "y"})]
    assert "longer" in table.problems[0].message


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="2"><c><v>1</v></c></row><row r="1"><c><v>2</v></c></row>',
        '<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        '<row r="x"><c><v>1</v></c></row>',
        '<row r="1"><c r="1A"><v>1</v></c></row>',
        '<row r="1"><c t="s"><v>99</v></c></row>',
        '<row r="1"><c s="-1"><v>99</v></c></row>',
        '<c r="A1"><v>1</v></c>',
        '<row r="1"><c r="ZZZ1"><v>1</v></c></row>',
    ],
)
def test_a_sheet_that_contradicts_itself_is_refused(rows: str) -> None:
    problem = only_problem(raw_sheet(rows))
    assert "damaged" in problem.message or "no spreadsheet has" in problem.message


def test_mutated_workbooks_end_in_rows_or_problems_and_never_in_an_exception() -> None:
    chance = random.Random(20240602)
    original = workbook(
        ["id", "text", "at"], ["a", "é😀 & <b>", datetime.date(2024, 1, 2)], [7, "=1+1", True], ["c", "#N/A", 2.5]
    )
    unpacked = repacked(original, lambda _, content: content, packing=zipfile.ZIP_STORED)

    def mutated(_: str, content: bytes) -> bytes:
        data = bytearray(content)
        if chance.random() < 0.3:
            mutate(data, chance)
        return bytes(data)

    for turn in range(1000):
        if turn % 2:
            data = bytearray(repacked(original, mutated))
        else:
            data = bytearray(chance.choice([original, unpacked]))
            for _ in range(chance.randint(1, 4)):
                mutate(data, chance)
        table = open_table(io.BytesIO(bytes(data)))
        rows = list(table.rows())
        assert rows or table.problems


def test_mutated_workbooks_do_no_harm_to_the_second_reader_either() -> None:
    chance = random.Random(20240603)
    original = strict(workbook(["id", "text", "at"], ["a", "é😀 & <b>", datetime.date(2024, 1, 2)], [7, "b", True]))

    def mutated(name: str, content: bytes) -> bytes:
        digits = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
        if "worksheets" not in name or not digits:
            return content
        place = chance.choice(digits)
        return content[:place] + chance.choice([b"9", b"0", b"99999", b""]) + content[place + 1 :]

    for _ in range(8):
        table = open_table(io.BytesIO(repacked(original, mutated)))
        rows = list(table.rows())
        assert rows or table.problems
