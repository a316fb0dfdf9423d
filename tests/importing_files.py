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


class ChangingFile(io.BytesIO):
    """A file that somebody replaces while it is imported: from the given reading on it holds the other rows."""

    def __init__(self, before: BinaryIO, after: BinaryIO, *, from_reading: int) -> None:
        super().__init__(before.read())
        self._after = after.read()
        self._readings_left = from_reading

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if offset == whence == 0:
            self._readings_left -= 1
            if self._readings_left == 0:
                super().seek(0)
                self.truncate()
                self.write(self._after)
        return super().seek(offset, whence)
