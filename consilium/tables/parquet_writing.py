"""Writing rows to Parquet, for programs: each column has a type, texts of any length, times in UTC.

The file is uncompressed and its row groups have a fixed size, so that the same rows make the same bytes.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

from consilium.tables.cells import SURROGATE, Misfit, Unwritable, as_json_text
from consilium.tables.headings import check_headings
from consilium.tables.replacing import writable
from consilium.tables.writing import Written

ROWS_IN_A_GROUP = 10_000


class Type(Enum):
    """What a column holds. ``JSON`` is kept as JSON text."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    TRUTH = "true or false"
    TIME = "time"
    TEXTS = "list of texts"
    WHOLES = "list of whole numbers"
    JSON = "JSON"


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading, its type, and what it holds in a sentence."""

    name: str
    type: Type
    meaning: str = ""


def write_parquet(file: Path | BinaryIO, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> Written:
    """Write rows, one value a column; None is null. A path is replaced in one step.

    Raises Unwritable for a value that isn't of its column's type, ValueError for rows and headings that don't match.
    """
    # pyarrow takes its time to import; only Parquet needs it
    import pyarrow as arrow
    from pyarrow import parquet

    check_headings([column.name for column in columns])
    types = {
        Type.TEXT: arrow.string(),
        Type.WHOLE: arrow.int64(),
        Type.NUMBER: arrow.float64(),
        Type.TRUTH: arrow.bool_(),
        Type.TIME: arrow.timestamp("us", tz="UTC"),
        Type.TEXTS: arrow.list_(arrow.string()),
        Type.WHOLES: arrow.list_(arrow.int64()),
        Type.JSON: arrow.string(),
    }
    schema = arrow.schema([(column.name, types[column.type]) for column in columns])
    count = 0
    with (
        writable(file) as binary,
        parquet.ParquetWriter(binary, schema, compression="none", store_schema=False) as writer,
    ):
        for group in _groups(rows, len(columns)):
            values = [
                _array(arrow, column, types[column.type], [row[place] for row in group], first=count + 1)
                for place, column in enumerate(columns)
            ]
            writer.write_batch(arrow.record_batch(values, schema=schema))
            count += len(group)
    return Written(count)


def _groups(rows: Iterable[Sequence[object]], width: int) -> Iterable[list[Sequence[object]]]:
    waiting = iter(rows)
    while group := list(itertools.islice(waiting, ROWS_IN_A_GROUP)):
        for row in group:
            if len(row) != width:
                raise ValueError(f"A row has {len(row)} values, there are {width} columns.")
        yield group


def _array(arrow: Any, column: Column, type: Any, values: list[object], *, first: int) -> Any:
    if column.type == Type.JSON:
        values = [None if value is None else _as_json(value, column, row) for row, value in enumerate(values, first)]
    fits = FITS[column.type]
    for row, value in enumerate(values, start=first):
        if value is not None and not fits(value):
            raise Unwritable(f"The value is no {column.type.value}.", row=row, column=column.name)
    return arrow.array(values, type=type)


def _as_json(value: object, column: Column, row: int) -> str:
    try:
        return as_json_text(value)
    except Misfit as misfit:
        raise Unwritable(str(misfit), row=row, column=column.name) from misfit


def _is_text(value: object) -> bool:
    return isinstance(value, str) and (value.isascii() or not SURROGATE.search(value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


FITS: dict[Type, Callable[[object], bool]] = {
    Type.TEXT: _is_text,
    Type.WHOLE: _is_whole,
    Type.NUMBER: lambda value: _is_whole(value) or isinstance(value, float),
    Type.TRUTH: lambda value: isinstance(value, bool),
    Type.TIME: lambda value: isinstance(value, datetime) and value.tzinfo is not None,
    Type.TEXTS: lambda value: isinstance(value, list) and all(map(_is_text, value)),
    Type.WHOLES: lambda value: isinstance(value, list) and all(map(_is_whole, value)),
    Type.JSON: _is_text,
}
"""pyarrow would take 1.5 for a whole number and a text for a list of its letters."""
