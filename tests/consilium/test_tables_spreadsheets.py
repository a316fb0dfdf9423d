"""Reading XLSX: what a cell shows is read, and what can't be told is refused with its line and column."""

import datetime
import io
import re
import tracemalloc
import zipfile
from collections.abc import Callable

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import PatternFill
from openpyxl.worksheet.worksheet import Worksheet

from consilium.tables import Kind, Problem, Table, open_table, write_xlsx

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LAST_ROW = 1_048_576


def workbook(*rows: list[object], change: Callable[[Worksheet], None] | None = None) -> bytes:
    """A workbook as another program (here openpyxl) writes it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for row in rows:
        sheet.append(row)
    if change:
        change(sheet)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def repacked(data: bytes, change: Callable[[str, bytes], bytes], *, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The same archive with its parts changed."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", packing) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, change(entry.filename, old.read(entry)))
    return file.getvalue()


def with_sheet(data: bytes, pattern: str, replacement: str) -> bytes:
    """The same workbook with the XML of its first sheet changed."""

    def change(name: str, content: bytes) -> bytes:
        if not name.endswith("sheet1.xml"):
            return content
        changed = re.sub(pattern, lambda _: replacement, content.decode(), count=1, flags=re.DOTALL)
        assert changed != content.decode(), "the pattern must be there"
        return changed.encode()

    return repacked(data, change)


def raw_sheet(sheet_data: str) -> bytes:
    return with_sheet(workbook(["x"]), "<sheetData>.*</sheetData>", f"<sheetData>{sheet_data}</sheetData>")


def read(data: bytes, **options: object) -> tuple[list[tuple[int, dict[str, object]]], Table]:
    table = open_table(io.BytesIO(data), **options)  # type: ignore[arg-type]
    assert table.kind == Kind.XLSX
    return [(row.line, row.values) for row in table.rows()], table


def only_problem(data: bytes, **options: object) -> Problem:
    _, table = read(data, **options)
    assert len(table.problems) == 1, table.problems
    return table.problems[0]


def test_values_are_what_the_cells_hold() -> None:
    rows, table = read(workbook([" ID ", "Text"], ["a", " kept as given \n"], [7, 2.5], [True, None], ["", False]))
    assert table.columns == ("id", "text")
    assert table.sheet == "Sheet"
    assert rows == [
        (2, {"id": "a", "text": " kept as given \n"}),
        (3, {"id": 7, "text": 2.5}),
        (4, {"id": True}),
        (5, {"text": False}),
    ]
    assert table.problems == []


def test_a_number_that_is_whole_is_an_int_however_it_is_written() -> None:
    data = raw_sheet(
        '<row r="1"><c r="A1" t="str"><v>id</v></c></row>'
        '<row r="2"><c r="A2"><v>4.0</v></c></row>'
        '<row r="3"><c r="A3"><v>1.2E3</v></c></row>'
        '<row r="4"><c r="A4"><v>-0.5</v></c></row>'
    )
    values = [row["id"] for _, row in read(data)[0]]
    assert values == [4, 1200, -0.5]
    assert [type(value) for value in values] == [int, int, float]


@pytest.mark.parametrize("number", ["1e15", "123456789012345678", "1e400"])
def test_a_number_of_more_digits_than_are_kept_is_refused(number: str) -> None:
    data = raw_sheet(f'<row r="1"><c t="str"><v>id</v></c></row><row r="2"><c><v>{number}</v></c></row>')
    problem = only_problem(data)
    assert (problem.line, problem.column) == (2, "id")


def test_dates_and_times_become_iso_text() -> None:
    rows, _ = read(
        workbook(
            ["at"],
            [datetime.date(2024, 2, 29)],
            [datetime.datetime(2024, 2, 29, 13, 5, 9)],
            [datetime.time(8, 30)],
            [datetime.timedelta(hours=30, minutes=5)],
        )
    )
    assert [row["at"] for _, row in rows] == ["2024-02-29", "2024-02-29T13:05:09", "08:30:00", "30:05:00"]


def test_dates_counted_from_1904_are_the_same_dates() -> None:
    book = openpyxl.Workbook()
    book.epoch = datetime.datetime(1904, 1, 1)
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.append(["at"])
    sheet.append([datetime.date(2024, 2, 29)])
    file = io.BytesIO()
    book.save(file)
    assert read(file.getvalue())[0] == [(2, {"at": "2024-02-29"})]


def test_the_date_formats_of_east_asia_are_dates() -> None:
    def dated(name: str, content: bytes) -> bytes:
        if not name.endswith("styles.xml"):
            return content
        changed = content.replace(b'<xf numFmtId="164"', b'<xf numFmtId="57"')
        assert changed != content
        return changed

    data = repacked(workbook(["at"], [datetime.date(2024, 2, 29)]), dated)
    assert read(data)[0] == [(2, {"at": "2024-02-29"})]


def test_rich_text_is_its_characters_and_reading_aids_are_left_out() -> None:
    rich = CellRichText("no ", TextBlock(InlineFont(b=True), "bold"), " way")
    assert read(workbook(["text"], [rich]))[0] == [(2, {"text": "no bold way"})]
    aided = raw_sheet(
        '<row r="1"><c t="str"><v>text</v></c></row><row r="2"><c t="inlineStr"><is>'
        '<r><t>東</t></r><r><t>京</t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c></row>'
    )
    assert read(aided)[0] == [(2, {"text": "東京"})]


def test_a_formula_is_the_value_that_was_stored_with_it() -> None:
    data = raw_sheet(
        '<row r="1"><c t="str"><v>id</v></c></row>'
        '<row r="2"><c><f>1+1</f><v>2</v></c></row>'
        '<row r="3"><c t="str"><f>"a"</f><v>a</v></c></row>'
        '<row r="4"><c t="str"><f>""</f><v></v></c><c><v>1</v></c></row>'.replace("<c><v>1</v></c>", "")
    )
    rows, table = read(data)
    assert rows == [(2, {"id": 2}), (3, {"id": "a"})]
    assert table.problems == []


def test_a_formula_without_a_stored_value_and_an_error_are_problems_with_their_place() -> None:
    rows, table = read(workbook(["id", "points"], ["a", "=1+1"], ["b", "#N/A"], ["c", 3]))
    assert rows == [(4, {"id": "c", "points": 3})]
    assert [(problem.line, problem.column) for problem in table.problems] == [(2, "points"), (3, "points")]
    assert "no stored value" in table.problems[0].message
    assert "#N/A" in table.problems[1].message


def test_escaped_characters_are_read_back_and_literal_looks_of_them_too() -> None:
    data = raw_sheet(
        '<row r="1"><c t="str"><v>text</v></c></row>'
        '<row r="2"><c t="inlineStr"><is><t>a_x000D_b_x0001_ _x005F_x0041_ _xZZZZ_ _xD83D__xDE00_</t></is></c></row>'
    )
    assert read(data)[0] == [(2, {"text": "a\rb\x01 _x0041_ _xZZZZ_ 😀"})]
    assert read(workbook(["text"], ["literal x005F_ stays"]))[0] == [(2, {"text": "literal x005F_ stays"})]


@pytest.mark.parametrize(("escape", "word"), [("_x0000_", "NUL"), ("_xD800_", "half of a character")])
def test_what_a_study_can_not_hold_is_refused(escape: str, word: str) -> None:
    data = raw_sheet(f'<row r="1"><c t="str"><v>text</v></c></row><row r="2"><c t="str"><v>{escape}</v></c></row>')
    problem = only_problem(data)
    assert (problem.line, problem.column) == (2, "text")
    assert word in problem.message


def test_a_lying_size_is_not_believed() -> None:
    data = workbook(["id", "text"], ["a", "b"], ["c", "d"])
    for lie in ("A1", "A1:A1", "A1:XFD1048576", "nonsense"):
        lying = with_sheet(data, '<dimension ref="[^"]*" ?/>', f'<dimension ref="{lie}"/>')
        assert len(read(lying)[0]) == 2


def test_one_cell_in_the_last_corner_costs_nothing() -> None:
    def far(sheet: Worksheet) -> None:
        sheet.cell(row=LAST_ROW, column=1, value="last")
        sheet.cell(row=LAST_ROW, column=16_384, value="corner")

    rows, table = read(workbook(["id"], ["first"], change=far))
    assert rows == [(2, {"id": "first"})]
    assert [(problem.line, problem.column) for problem in table.problems] == [(LAST_ROW, "XFD")]


def test_painted_blank_rows_are_not_rows() -> None:
    def paint(sheet: Worksheet) -> None:
        for line in range(3, 40):
            sheet.cell(row=line, column=1).fill = PatternFill("solid", fgColor="FFFF00")
        sheet.cell(row=50, column=1, value="b")

    rows, table = read(workbook(["id"], ["a"], change=paint))
    assert [line for line, _ in rows] == [2, 50]
    assert table.problems == []


def test_hidden_rows_and_columns_are_read_with_a_remark() -> None:
    def hide(sheet: Worksheet) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True

    rows, table = read(workbook(["id", "text"], ["a", "x"], ["b", "y"], change=hide))
    assert len(rows) == 2
    assert table.problems == []
    assert [(warning.line, warning.column) for warning in table.warnings] == [(1, "text"), (3, None)]


def test_merged_cells_among_the_rows_are_a_problem_and_in_a_title_they_are_not() -> None:
    def merge(sheet: Worksheet) -> None:
        sheet.merge_cells("A1:B1")
        sheet.merge_cells("B4:B5")
        sheet.merge_cells("A20:A30")

    data = workbook(["Our criteria"], ["id", "axis"], ["a", "x"], ["b", "y"], ["c", "z"], change=merge)
    rows, table = read(data, known_columns=["id", "axis"])
    assert [line for line, _ in rows] == [3, 4, 5]
    assert [(problem.line, problem.column) for problem in table.problems] == [(4, "axis")]


def sheets(*contents: tuple[str, str, list[list[object]]]) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for title, state, rows in contents:
        sheet = book.create_sheet(title)
        sheet.sheet_state = state
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_the_sheet_is_the_one_asked_for_or_the_one_with_known_columns() -> None:
    data = sheets(
        ("Hidden", "hidden", [["id", "text"], ["h", "h"]]),
        ("Read me", "visible", [["What this is"], ["A list"]]),
        ("Empty", "visible", []),
        ("Data", "visible", [["id", "text"], ["a", "b"]]),
    )
    rows, table = read(data, known_columns=["id", "text"])
    assert table.sheet == "Data"
    assert rows == [(2, {"id": "a", "text": "b"})]
    assert [warning.message for warning in table.warnings] == ["The sheet “Read me” was not read."]
    assert open_table(io.BytesIO(data)).sheet == "Read me"
    assert open_table(io.BytesIO(data), sheet="Hidden").sheet == "Hidden"
    assert open_table(io.BytesIO(data), sheet="Data").sheet == "Data"


def test_a_workbook_with_nothing_to_see_says_so() -> None:
    assert only_problem(workbook()).message == "The file has no rows."
    assert only_problem(workbook(["id"])).message == "The file has no rows."
    hidden = sheets(("A", "visible", []), ("B", "veryHidden", [["id"], ["a"]]))
    assert "can be seen" in only_problem(hidden).message


def strict(data: bytes) -> bytes:
    """The same workbook in the dialect that Excel calls “Strict Open XML Spreadsheet”."""

    def change(_: str, content: bytes) -> bytes:
        content = content.replace(MAIN.encode(), b"http://purl.oclc.org/ooxml/spreadsheetml/main")
        return content.replace(OFFICE.encode(), b"http://purl.oclc.org/ooxml/officeDocument/relationships")

    return repacked(data, change)


def test_prefixed_tags_are_read() -> None:
    def change(name: str, content: bytes) -> bytes:
        if not name.endswith("sheet1.xml"):
            return content
        return re.sub(r"<(/?)([a-zA-Z])", r"<\1x:\2", content.decode()).replace("xmlns=", "xmlns:x=").encode()

    rows, table = read(repacked(workbook(["id"], ["a"]), change))
    assert rows == [(2, {"id": "a"})]
    assert table.warnings == []


def test_dates_are_dates_where_openpyxl_would_not_find_their_styles() -> None:
    file = io.BytesIO()
    data = workbook(["at"], [datetime.date(2024, 2, 29)])
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("styles", "looks"), old.read(name).replace(b"styles.xml", b"looks.xml"))
    assert read(file.getvalue())[0] == [(2, {"at": "2024-02-29"})]


# The second reader


def test_the_strict_dialect_is_read_by_the_second_reader() -> None:
    def merge(sheet: Worksheet) -> None:
        sheet.merge_cells("B7:B8")

    data = workbook(
        ["id", "value"],
        ["=a"[1:], datetime.date(2024, 2, 29)],
        [7, datetime.datetime(2024, 2, 29, 13, 5, 9)],
        [None, None],
        [0, False],
        ["literal x005F_ _x005F_x0041_", 2.5],
        ["b", "merged"],
        ["c"],
        change=merge,
    )
    rows, table = read(strict(data))
    assert rows == [
        (2, {"id": "a", "value": "2024-02-29"}),
        (3, {"id": 7, "value": "2024-02-29T13:05:09"}),
        (5, {"id": 0, "value": False}),
        (6, {"id": "literal x005F_ _x0041_", "value": 2.5}),
        (7, {"id": "b", "value": "merged"}),
        (8, {"id": "c"}),
    ]
    assert [(problem.line, problem.column) for problem in table.problems] == [(7, "value")]
    assert ["unusual kind" in warning.message for warning in table.warnings] == [True]
    assert len(list(table.rows())) == 6


def test_a_text_is_no_formula_after_the_second_reader_either() -> None:
    data = raw_sheet('<row r="1"><c t="str"><v>id</v></c></row><row r="2"><c t="str"><v>=1+1</v></c></row>')
    assert read(strict(data))[0] == [(2, {"id": "=1+1"})]


def test_hidden_sheets_are_hidden_from_the_second_reader_too() -> None:
    data = sheets(("Old", "hidden", [["id"], ["h"]]), ("New", "visible", [["id"], ["a"]]))
    rows, table = read(strict(data))
    assert (rows, table.sheet) == ([(2, {"id": "a"})], "New")


@pytest.mark.parametrize("cell", ["=1+1", "#N/A"])
def test_what_the_second_reader_would_pass_over_is_refused(cell: str) -> None:
    assert "formulas or errors" in only_problem(strict(workbook(["id"], [cell], ["a"]))).message


def test_the_second_reader_may_fall_and_we_go_on() -> None:
    """A cell in the last corner makes calamine ask for 550 GB, and ends its process."""

    def far(sheet: Worksheet) -> None:
        sheet.cell(row=LAST_ROW, column=16_384, value="corner")

    assert "no reader" in only_problem(strict(workbook(["id"], ["a"], change=far))).message


def test_a_workbook_can_be_read_twice() -> None:
    _, table = read(workbook(["id"], ["a"], ["=1"]))
    assert len(list(table.rows())) == 1
    assert len(table.problems) == 1


def with_shared(texts: str, rows: str) -> bytes:
    """A workbook whose cells point at shared texts, as Excel writes it."""
    relation = f'<Relationship Id="shared" Type="{OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/>'

    def relate(name: str, content: bytes) -> bytes:
        if not name.endswith("workbook.xml.rels"):
            return content
        return content.replace(b"</Relationships>", f"{relation}</Relationships>".encode())

    file = io.BytesIO(repacked(raw_sheet(rows), relate))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{texts}</sst>')
    return file.getvalue()


def test_shared_texts_are_read() -> None:
    texts = (
        "<si><t>id</t></si><si><t xml:space='preserve'> a_x000D__x005F_x0041_ </t></si>"
        "<si><r><rPr><b/></rPr><t>東</t></r><r><t>京</t></r>"
        "<rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si><si><t/></si>"
    )
    rows = "".join(f'<row r="{n + 1}"><c r="A{n + 1}" t="s"><v>{n}</v></c></row>' for n in range(4))
    assert read(with_shared(texts, rows))[0] == [(2, {"id": " a\r_x0041_ "}), (3, {"id": "東京"})]
    literal = "<si><t>id</t></si><si><t>literal x005F_ stays</t></si>"
    rows = "".join(f'<row r="{n + 1}"><c r="A{n + 1}" t="s"><v>{n}</v></c></row>' for n in range(2))
    assert read(with_shared(literal, rows))[0] == [(2, {"id": "literal x005F_ stays"})]


def test_a_sheet_without_its_place_is_not_passed_over() -> None:
    """openpyxl drops such a sheet with a warning to the program."""
    data = sheets(("A", "visible", [["id"], ["a"]]), ("B", "visible", [["id"], ["b"]]))
    lost = repacked(data, lambda _, content: content.replace(b'r:id="rId1"', b""))
    assert "damaged" in only_problem(lost).message


def test_a_cell_of_an_unknown_kind_is_a_problem() -> None:
    data = raw_sheet(
        '<row r="1"><c t="str"><v>id</v></c></row><row r="2"><c t="other"><is><t>a</t></is></c></row>'
        '<row r="3"><c t="other"><v>1</v></c></row>'
    )
    _, table = read(data)
    assert [(problem.line, problem.column) for problem in table.problems] == [(2, "id"), (3, "id")]


def test_memory_stays_the_same_however_long_the_sheet_is() -> None:
    file = io.BytesIO()
    write_xlsx(file, [("A", ["id", "text"], ((f"{n}", "word " * 40) for n in range(10_000)))])
    tracemalloc.start()
    try:
        count = sum(1 for _ in open_table(file).rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 10_000
    assert peak < 8_000_000
