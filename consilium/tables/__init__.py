"""Files of rows: reading what somebody brings (JSONL, CSV, XLSX), writing what is safe in a spreadsheet.

This package knows nothing of studies, and no Django. Its rules stand in reading.py, values.py and writing.py.
"""

from consilium.tables.cells import LONGEST_CELL, CellTooLong, Replaced, Unwritable
from consilium.tables.headings import TwoKeysOfOneColumn, column_name, under_known_names
from consilium.tables.parquet_writing import Column, Type, write_parquet
from consilium.tables.reading import open_table
from consilium.tables.replacing import replace_in_one_step
from consilium.tables.table import DEFAULT, Kind, Limits, Problem, Row, Table
from consilium.tables.values import (
    Unreadable,
    as_choice,
    as_json,
    as_list,
    as_text,
    as_true_or_false,
    as_whole_number,
    normal_id,
)
from consilium.tables.writing import Written, write_csv, write_jsonl, write_xlsx

__all__ = [
    "DEFAULT",
    "LONGEST_CELL",
    "CellTooLong",
    "Column",
    "Kind",
    "Limits",
    "Problem",
    "Replaced",
    "Row",
    "Table",
    "TwoKeysOfOneColumn",
    "Type",
    "Unreadable",
    "Unwritable",
    "Written",
    "as_choice",
    "as_json",
    "as_list",
    "as_text",
    "as_true_or_false",
    "as_whole_number",
    "column_name",
    "normal_id",
    "open_table",
    "replace_in_one_step",
    "under_known_names",
    "write_csv",
    "write_jsonl",
    "write_parquet",
    "write_xlsx",
]
