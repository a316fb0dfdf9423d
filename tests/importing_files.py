"""Files as people bring them, made in memory for the tests of importing."""

import csv
import io
import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from consilium.tables import write_xlsx

Row = Mapping[str, Any]


def jsonl(*rows: Row | str) -> BinaryIO:
    """JSON Lines; a row that is a text stands as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    return io.BytesIO("".join(line + "\n" for line in lines).encode())


def csv_file(columns: Sequence[str], *rows: Sequence[Any]) -> BinaryIO:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return io.BytesIO(text.getvalue().encode())


def xlsx_file(columns: Sequence[str], *rows: Sequence[Any]) -> BinaryIO:
    file = io.BytesIO()
    write_xlsx(file, [("Sheet", columns, rows)])
    file.seek(0)
    return file


def user_says(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)
