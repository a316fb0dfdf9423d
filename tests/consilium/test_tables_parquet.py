"""Parquet: columns have types, nothing is cut, what doesn't fit is refused with its place, the bytes are the same."""

import datetime
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from consilium.tables import LONGEST_CELL, Column, Type, Unwritable, write_parquet

COLUMNS = (Column("id", Type.TEXT), Column("points", Type.WHOLE), Column("writers", Type.TEXTS))
WHEN = datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.none() | st.text(),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.lists(st.text(max_size=3), max_size=3),
        ),
        max_size=20,
    )
)
def test_what_was_written_is_read(rows: list[tuple[object, ...]]) -> None:
    file = io.BytesIO()
    assert write_parquet(file, COLUMNS, rows).rows == len(rows)
    assert [tuple(row.values()) for row in parquet.read_table(file).to_pylist()] == rows


def test_a_time_is_in_utc_and_a_long_text_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    long = "x" * (LONGEST_CELL * 3)
    columns = [
        Column("at", Type.TIME),
        Column("text", Type.TEXT),
        Column("levels", Type.JSON),
        Column("is", Type.TRUTH),
    ]
    write_parquet(file, columns, [(WHEN, long, [{"value": 1}], True), (None, None, None, None)])
    first, second = parquet.read_table(file).to_pylist()
    assert (first["at"], first["text"], first["levels"], first["is"]) == (WHEN, long, '[{"value":1}]', True)
    assert set(second.values()) == {None}


def test_the_same_rows_make_the_same_bytes(tmp_path: Path) -> None:
    rows = [(f"é{number}", number, ["a"]) for number in range(25_000)]
    one, two = io.BytesIO(), io.BytesIO()
    write_parquet(one, COLUMNS, iter(rows))
    write_parquet(two, COLUMNS, rows)
    assert one.getvalue() == two.getvalue()
    assert parquet.ParquetFile(one).num_row_groups == 3, "streamed"


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (("a", "b", None), "points"),
        (("a", 1.5, None), "points"),
        ((1, 1, None), "id"),
        (("a", 2**63, None), "points"),
        (("half \ud800", 1, None), "id"),
        (("a", 1, "abc"), "writers"),
    ],
)
def test_what_does_not_fit_its_column_is_refused_with_its_place(
    row: tuple[object, ...], column: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.parquet"
    file.write_bytes(b"old")
    with pytest.raises(Unwritable) as refused:
        write_parquet(file, COLUMNS, [*[("a", 1, None)] * 3, row])
    assert (refused.value.row, refused.value.column) == (4, column)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_rows_have_as_many_values_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="2 values"):
        write_parquet(io.BytesIO(), COLUMNS, [("a", 1)])
