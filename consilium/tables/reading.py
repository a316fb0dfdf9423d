"""Reading a file of rows that somebody brings: JSONL, CSV or XLSX, told apart by content, never by name.

    table = open_table(path, known_columns=("id", "messages"))
    for row in table.rows():
        ...  # row.line, row.values
    table.problems  # all that could not be read, by line

Rows come lazily and in constant memory, and can be read twice: once to check, once to write.
"""

from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from consilium.tables.json_lines import JsonLines
from consilium.tables.opening import Source, Survey, survey
from consilium.tables.separated import Separated
from consilium.tables.table import DEFAULT, Contents, Kind, Limits, Refused, Table

_OTHER_FILES = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": (
        "This is an old workbook (.xls), or one with a password. Save it as .xlsx without a password."
    ),
    b"%PDF": "This is a PDF. Save its table as .xlsx or .csv.",
    b"\x1f\x8b": "This file is compressed. Unpack it first.",
    b"\x89PNG": "This is a picture, not a table.",
    b"\xff\xd8\xff": "This is a picture, not a table.",
    b"PAR1": "This is a Parquet file. Save it as .xlsx, .csv or .jsonl.",
}


def open_table(
    file: Path | BinaryIO,
    *,
    limits: Limits = DEFAULT,
    known_columns: Collection[str] = (),
    sheet: str | None = None,
) -> Table:
    """Open a file of rows. An open file must be seekable, and is left open.

    `known_columns` helps to find the headings below titles, the separator and the right sheet; other columns
    are read too. `sheet` names the sheet of a workbook to read if it has one of that name. What is wrong with
    the file is in `problems`; the only exception is OSError, when it can't be read at all.
    """
    source = Source(file)
    try:
        found = survey(source, limits=limits)
    except Refused as refusal:
        return Table(kind=Kind.CSV, sha256="", limits=limits, problems=[refusal.problem])
    kind = _kind(found)
    try:
        contents = _contents(source, found, kind, limits=limits, known=known_columns, sheet=sheet)
    except Refused as refusal:
        return Table(kind=kind, sha256=found.sha256, limits=limits, problems=[refusal.problem])
    return Table(kind=kind, sha256=found.sha256, limits=limits, contents=contents, unchanged=source.is_unchanged)


def _kind(found: Survey) -> Kind:
    if found.start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Kind.XLSX
    if found.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return Kind.JSONL
    return Kind.CSV


def _contents(
    source: Source, found: Survey, kind: Kind, *, limits: Limits, known: Collection[str], sheet: str | None
) -> Contents:
    if kind == Kind.XLSX:
        # openpyxl takes its time to import; only a workbook needs it
        from consilium.tables.spreadsheets import Spreadsheet

        return Spreadsheet(source, limits=limits, known=known, sheet=sheet)
    for start, sentence in _OTHER_FILES.items():
        if found.start.startswith(start):
            raise Refused(sentence)
    if found.refusal or not found.encoding:
        raise found.refusal or Refused("The file is no text.")
    text = found.text.lstrip("\ufeff \t\r\n")
    if not text:
        raise Refused("The file has no rows.")
    if text.startswith("["):
        raise Refused("The file is one JSON list. Write each object on a line of its own (JSON Lines).", line=1)
    if text.startswith("<"):
        raise Refused("This is a web page or an XML file, not a table. Save it as .xlsx, .csv or .jsonl.", line=1)
    if kind == Kind.JSONL:
        return JsonLines(source, encoding=found.encoding, limits=limits)
    return Separated(source, encoding=found.encoding, limits=limits, known=known)
