"""Reading JSONL and CSV: every row right, or refused with its line, its column and what is wrong."""

import hashlib
import io
import random
import tracemalloc
from pathlib import Path

import pytest

from consilium.tables import Kind, Limits, Problem, Row, Table, open_table


def opened(content: bytes | str, **options: object) -> Table:
    data = content.encode("utf-8") if isinstance(content, str) else content
    return open_table(io.BytesIO(data), **options)  # type: ignore[arg-type]


def read(content: bytes | str, **options: object) -> tuple[list[tuple[int, dict[str, object]]], Table]:
    table = opened(content, **options)
    return [(row.line, row.values) for row in table.rows()], table


def problems(content: bytes | str, **options: object) -> list[Problem]:
    _, table = read(content, **options)
    return table.problems


def only_problem(content: bytes | str, **options: object) -> Problem:
    found = problems(content, **options)
    assert len(found) == 1, found
    return found[0]


# What a file is


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('{"id": 1}\n', Kind.JSONL),
        ('\ufeff\n \t{"id": 1}\n', Kind.JSONL),
        ("id,text\n1,{}\n", Kind.CSV),
        ("", Kind.CSV),
    ],
)
def test_a_file_is_what_it_holds_and_not_what_it_is_called(content: str, kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "misnamed.xlsx"
    path.write_text(content, encoding="utf-8")
    assert open_table(path).kind == kind


def test_the_digest_is_of_the_bytes() -> None:
    data = "\ufeffid,text\r\n1,é\r\n".encode()
    assert opened(data).sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("start", "word"),
    [
        (b"%PDF-1.7\n", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "password"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"PK\x03\x04 no zip", "damaged"),
        (b"<!doctype html><table>", "web page"),
        (b'[{"id": 1}]', "JSON list"),
    ],
)
def test_another_kind_of_file_is_refused_by_its_name(start: bytes, word: str) -> None:
    assert word in only_problem(start + b" and more").message


@pytest.mark.parametrize("content", ["", "\n\n", "id,text\n", "id,text", " \n\ufeff", "id,text\n,\n,\n"])
def test_a_file_without_rows_says_so_once(content: str) -> None:
    assert only_problem(content) == Problem(None, None, "The file has no rows.")


def test_a_file_over_the_limit_is_not_read() -> None:
    assert "larger than 0 MB" in only_problem("id,text\n1,2\n", limits=Limits(file_bytes=10)).message


def test_a_file_can_be_read_twice_and_says_the_same() -> None:
    table = opened('{"id": "a"}\n{"id": \n{"id": "b"}\n')
    first = list(table.rows()), table.problems
    assert (list(table.rows()), table.problems) == first
    assert [row.line for row in first[0]] == [1, 3]
    assert len(first[1]) == 1


def test_an_open_file_is_left_open() -> None:
    file = io.BytesIO(b"id,text\n1,2\n")
    table = open_table(file)
    list(table.rows())
    next(table.rows())
    assert not file.closed
    assert len(list(table.rows())) == 1


def test_a_file_that_changes_between_two_passes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text\n1,2\n")
    table = open_table(path)
    assert len(list(table.rows())) == 1
    path.write_text("id,text\n1,2\n3,4\n")
    assert list(table.rows()) == []
    assert "changed" in table.problems[0].message


def test_reading_stops_after_too_many_problems() -> None:
    found = problems("{\n" * 1 + "nonsense\n" * 50, limits=Limits(problems=5))
    assert len(found) <= 6
    found = problems('{"a":1}\n' + "nonsense\n" * 50, limits=Limits(problems=5))
    assert len(found) == 6
    assert "stopped" in found[-1].message


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("content", ["id;text\n1;Schläfst du? 😀\n", '{"id":"1","text":"Schläfst du? 😀"}\n'])
def test_utf_8_and_utf_16_are_read(encoding: str, content: str) -> None:
    rows, table = read(content.encode(encoding))
    assert [row for _, row in rows] == [{"id": "1", "text": "Schläfst du? 😀"}]
    assert table.problems == []


def test_utf_16_with_the_other_byte_order_is_read() -> None:
    rows, _ = read(b"\xfe\xff" + "id,text\n1,é\n".encode("utf-16-be"))
    assert rows == [(2, {"id": "1", "text": "é"})]


def test_windows_1252_is_refused_at_its_first_byte_and_never_guessed() -> None:
    problem = only_problem("id,text\n1,ok\n2,caf\xe9\n".encode("cp1252"))
    assert (problem.line, problem.column) == (3, "character 6")
    assert "CSV UTF-8" in problem.message
    assert "0xE9" in problem.message


def test_a_bad_byte_is_found_behind_many_lines_and_letters() -> None:
    content = ("é" * 1000 + "\n").encode() * 1500 + "ü".encode() + b"\xff\n"
    problem = only_problem(b"id\n" + content)
    assert (problem.line, problem.column) == (1502, "character 2")
    problem = only_problem(b"id\n" + "é".encode() * 1_200_000 + b"\xff")
    assert (problem.line, problem.column) == (2, "character 1200001")


def test_a_character_that_is_cut_off_at_the_end_is_refused() -> None:
    assert only_problem("id,text\n1,é".encode()[:-1]).line == 2
    assert "UTF-16" in only_problem("id,text\n1,é\n".encode("utf-16")[:-1]).message


def test_utf_16_without_mark_and_utf_32_are_refused() -> None:
    assert "UTF-16" in only_problem("id,text\n1,2\n".encode("utf-16-le")).message
    assert "UTF-32" in only_problem("id,text\n1,2\n".encode("utf-32")).message


# JSON Lines


def test_a_bad_line_is_a_problem_of_its_own() -> None:
    rows, table = read('{"id":1}\n\n{"id":2,}\n[]\n"x"\n{"id":3}\n')
    assert rows == [(1, {"id": 1}), (6, {"id": 3})]
    assert [problem.line for problem in table.problems] == [3, 4, 5]


@pytest.mark.parametrize(
    ("line", "column", "word"),
    [
        ('{"id": 1, "text": "a\\u0000b"}', "text", "NUL"),
        ('{"id": 1, "text": "\\ud800"}', "text", "half of a character"),
        ('{"id": 1, "text": {"deep": ["\\udc00"]}}', "text", "half of a character"),
        ('{"id": 1, "\\ud800": 1}', "�", "half of a character"),
        ('{"id": 1, "id": 1}', "id", "twice"),
        ('{"id": 1, "tags": [{"a": 1, "a": 2}]}', "tags", "twice"),
        ('{"id": NaN}', "id", "NaN"),
        ('{"id": [-Infinity]}', "id", "Infinity"),
        ('{"points": 1e999}', "points", "too large"),
        ('{"points": 9223372036854775808}', "points", "too large"),
        ('{"points": ' + "9" * 10_000 + "}", "points", "too large"),
        ('{"id": 1, "deep": ' + "[" * 64 + "]" * 64 + "}", "deep", "deep"),
        ('{"id": 1, "deep": ' + "[" * 200_000 + "]" * 200_000 + "}", None, "deep"),
        ('{"id": "a\0b"}', None, "NUL"),
        ('{"id": "a\tb"}', None, "control character"),
        ('{"id": 1} {"id": 2}', None, "more after"),
        ("{'id': 1}", None, "double quotes"),
    ],
)
def test_what_json_can_say_and_a_study_can_not_hold_is_refused(line: str, column: str | None, word: str) -> None:
    problem = only_problem(f'{{"id": 0}}\n{line}\n{{"id": 9}}\n')
    assert (problem.line, problem.column) == (2, column)
    assert word in problem.message


def test_the_greatest_numbers_and_the_deepest_lists_are_read() -> None:
    deep = "[" * 63 + "]" * 63
    rows, table = read(f'{{"a": 9223372036854775807, "b": -9223372036854775808, "c": {deep}}}\n')
    assert table.problems == []
    assert rows[0][1]["a"] == 2**63 - 1


def test_only_lf_ends_a_line_of_json() -> None:
    rows, table = read('{"id":"a\u2028b\x85c\u2029"}\r\n{"id":\r"d"}')
    assert rows == [(1, {"id": "a\u2028b\x85c\u2029"}), (2, {"id": "d"})]
    assert table.problems == []


def test_escaped_pairs_are_one_character() -> None:
    assert read('{"id":"\\ud83d\\ude00"}')[0] == [(1, {"id": "😀"})]


@pytest.mark.parametrize("end", ['{"id": "b', '{"id": ', '{"id": "b"', "{"])
def test_a_last_line_that_is_cut_off_is_named(end: str) -> None:
    problem = only_problem(f'{{"id": "a"}}\n{end}')
    assert problem.line == 2
    assert "last line" in problem.message
    assert "cut off" in problem.message


def test_json_over_several_lines_is_one_problem() -> None:
    assert "several lines" in only_problem('{\n  "id": 1,\n  "text": "a"\n}\n').message


def test_null_and_empty_text_are_kept_in_json() -> None:
    assert read('{"id": null, "text": ""}')[0] == [(1, {"id": None, "text": ""})]


def test_a_line_that_is_too_long_is_a_problem_and_the_next_is_read() -> None:
    content = '{"id": 1}\n{"id": "' + "x" * 5000 + '"}\n{"id": 2}\n'
    rows, table = read(content, limits=Limits(record_characters=100))
    assert [line for line, _ in rows] == [1, 3]
    assert [(problem.line, "longer" in problem.message) for problem in table.problems] == [(2, True)]


# CSV


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_the_separator_and_the_line_end_are_found(separator: str, line_end: str) -> None:
    lines = ["id,text,points", '1,"a,b;c	d",-3', "2,,4"]
    content = line_end.join(line.replace(",", separator) for line in lines)
    text = "a,b;c	d".replace(",", separator)
    rows, table = read(content)
    assert rows == [(2, {"id": "1", "text": text, "points": "-3"}), (3, {"id": "2", "points": "4"})]
    assert table.problems == []


def test_a_separator_that_can_not_be_told_is_refused_unless_the_columns_are_known_or_it_is_named() -> None:
    content = "id,a;b\n1,2\n"
    assert "comma or semicolon" in only_problem(content).message
    assert read(content, known_columns=["id"])[0] == [(2, {"id": "1", "a;b": "2"})]
    assert read("sep=,\r\n" + content)[0] == [(3, {"id": "1", "a;b": "2"})]
    assert read('"sep=;"\n' + content)[0] == [(3, {"id,a": "1,2"})]


def test_headings_are_trimmed_composed_and_lower_case() -> None:
    table = opened("\ufeff\ufeff Criterion_ID ,\u00a0Cafe\u0301\n1,2\n")
    assert table.columns == ("criterion_id", "café")


def test_a_heading_that_stands_twice_is_a_problem_with_both_places() -> None:
    problem = only_problem("id,Text, text \n1,2,3\n")
    assert (problem.line, problem.column) == (1, "text")
    assert "B and C" in problem.message


def test_titles_above_the_headings_are_passed_over_where_the_columns_are_known() -> None:
    rows, table = read("Our votes,,\n\nid,text,points\n1,a,2\n", known_columns=["id", "points"])
    assert rows == [(4, {"id": "1", "text": "a", "points": "2"})]
    assert table.problems == []
    assert "Line 1 was not read" in table.warnings[0].message


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    content = 'id,text\r\n1,"a\nb\r\nc"\r\n\r\n2,x\n3,"\n\n"\n4,y\n'
    assert [line for line, _ in read(content)[0]] == [2, 6, 7, 10]


def test_text_is_kept_as_given() -> None:
    assert read('id,text\n1,"  a ""b"" \n\t"\n')[0][0][1]["text"] == '  a "b" \n\t'
    assert read("id,text\n1,  \n")[0] == [(2, {"id": "1", "text": "  "})]


def test_bad_quoting_is_said_with_its_line_and_the_next_row_is_read() -> None:
    rows, table = read('id,text\n1,"a"b\n2,c\n3,"never closed\n4,d\n')
    assert rows == [(3, {"id": "2", "text": "c"})]
    assert [problem.line for problem in table.problems] == [2, 4]
    assert "written twice" in table.problems[0].message
    assert "never closed" in table.problems[1].message


def test_a_row_with_too_many_cells_is_a_problem_and_one_with_blank_ones_is_not() -> None:
    rows, table = read("id,text\n1,a,\n2,b, c\n3\n")
    assert rows == [(2, {"id": "1", "text": "a"}), (4, {"id": "3"})]
    assert [problem.line for problem in table.problems] == [3]
    assert "3 cells, the headings have 2" in table.problems[0].message


def test_a_last_row_that_is_cut_off_is_named() -> None:
    assert "cut off" in only_problem("id,text,points\n1,a,2\n2,b").message
    assert problems("id,text,points\n1,a,2\n2,b\n") == []


def test_cells_under_no_heading_are_one_problem() -> None:
    found = problems("id,,text\n1,x,a\n2,y,b\n")
    assert [(problem.line, problem.column) for problem in found] == [(2, "B")]


def test_nul_is_a_problem_of_its_cell() -> None:
    problem = only_problem("id,text\n1,a\0b\n2,c\n" + "x,y\n" * 5)
    assert (problem.line, problem.column) == (2, "text")


def test_a_cell_that_is_too_long_and_a_quotation_mark_without_end_are_refused() -> None:
    limits = Limits(cell_characters=50, record_characters=200)
    assert only_problem(f"id,text\n1,{'x' * 60}\n", limits=limits).column == "text"
    endless = only_problem('id,text\n1,a\n2,"' + "x\n" * 500, limits=limits)
    assert endless.line == 3
    assert "longer than 200" in endless.message


def test_too_many_columns_are_refused() -> None:
    assert "columns" in only_problem(",".join(f"c{n}" for n in range(1001)) + "\n1\n").message


def test_a_csv_cell_may_be_longer_than_the_csv_module_allows_by_itself() -> None:
    text = "x" * 1_000_000
    assert read(f"id,text\n1,{text}\n")[0] == [(2, {"id": "1", "text": text})]


# Published files


SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not SHARED.exists(), reason="the published files are not beside the repository")
@pytest.mark.parametrize(
    ("name", "kind", "rows"),
    [
        ("vera_mh/conversations.jsonl", Kind.JSONL, 70),
        ("vera_mh/responses.jsonl", Kind.JSONL, 61),
        ("votes/three_clinicians_83_items.csv", Kind.CSV, 249),
    ],
)
def test_published_files_are_read_whole(name: str, kind: Kind, rows: int) -> None:
    table = open_table(SHARED / name)
    assert table.kind == kind
    assert len(list(table.rows())) == rows
    assert table.problems == []


# Any bytes at all


HOSTILE = [
    '\ufeffid,text\r\n1,"a,""b""\n"\r\n2,é😀\r\n'.encode(),
    "sep=;\nid;text\n1;a\n".encode("utf-16"),
    b'{"id":"a","n":[1,2.5e3,null],"t":"\\ud83d\\ude00"}\n{"id":"b","o":{"k":true}}\n',
]


def test_mutated_files_end_in_rows_or_problems_and_never_in_an_exception() -> None:
    chance = random.Random(20240601)
    for _ in range(400):
        data = bytearray(chance.choice(HOSTILE))
        for _ in range(chance.randint(1, 6)):
            mutate(data, chance)
        table = open_table(io.BytesIO(bytes(data)))
        rows = list(table.rows())
        assert rows or table.problems
        assert all(isinstance(row, Row) and row.line >= 1 for row in rows)


def mutate(data: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(data)) if data else 0
    act = chance.randrange(4)
    if act == 0 and data:
        data[place] = chance.randrange(256)
    elif act == 1:
        del data[place : place + chance.randint(1, 8)]
    elif act == 2:
        data[place:place] = chance.choice([b'"', b"\0", b"\n", b"\r", b"{", b",", b";", b"\xff", b"\\u", b"="])
    else:
        data[place:place] = data[place : place + chance.randint(1, 20)]


def test_memory_stays_the_same_however_long_the_file_is(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("id,text,points\n" + "".join(f"{n},{'word ' * 40},5\n" for n in range(50_000)))
    assert path.stat().st_size > 10_000_000
    tracemalloc.start()
    try:
        count = sum(1 for _ in open_table(path).rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 50_000
    assert peak < 8_000_000
