"""What a file of rows is, once it is opened: its kind, columns, rows, and what could not be read, by line.

A table knows nothing of studies. Whatever is wrong with a file is a `Problem` in `Table.problems`, never an
exception, so that an importer has one list to show: the reader's problems and its own.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """What a file holds, decided by its content and never by its name."""

    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How large a file, and what it unpacks to, may be. Bytes, characters and counts as named."""

    file_bytes: int = 200_000_000
    expanded_bytes: int = 1_000_000_000
    """All parts of a spreadsheet together, unpacked."""
    expansion: int = 200
    """Unpacked bytes for each packed one; asked only of spreadsheets that unpack to more than 10 MB."""
    shared_characters: int = 100_000_000
    """The texts that a spreadsheet shares between its cells are held in memory while it is read."""
    record_characters: int = 50_000_000
    """One line of JSONL, one record of CSV."""
    cell_characters: int = 10_000_000
    columns: int = 1_000
    nesting: int = 64
    """Lists and objects inside one another in JSON."""
    problems: int = 10_000
    """After as many, reading stops and says so."""


DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be read, or that a person should know.

    `line` is 1-based as an editor (or the spreadsheet's margin) counts, None when the whole file is meant;
    `column` the column's name, a JSONL key, a spreadsheet's letter where there is no name, or None.
    """

    line: int | None
    column: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row that was read whole. What is empty in a spreadsheet or a CSV file has no key in `values`.

    `line` is the line on which the row begins. Values are as given: text isn't stripped. From CSV all are
    text; from XLSX text, int (whole numbers), float, bool, and ISO text for dates; from JSONL whatever JSON
    holds, with null as None.
    """

    line: int
    values: dict[str, object]
    sheet: str | None = None


class Remark(Problem):
    """No fault of the file, but something that a person should know: a warning."""


class Refused(Exception):
    """The whole file, or all that follows, can't be read."""

    def __init__(self, message: str, *, line: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(line, column, message)


class Contents(ABC):
    """The inside of a file of one kind, made when the file is opened and read as often as is asked for."""

    columns: tuple[str, ...] | None = None
    sheet: str | None = None
    problems: Sequence[Problem] = ()
    """What was found when it was opened."""

    @abstractmethod
    def rows(self) -> Iterator[Row | Problem]:
        """Yield each row, or what is wrong with it, in the order of the file. May raise Refused."""


class Table:
    """A file of rows, opened.

    `kind` says what it is; `columns` are its headings, trimmed, in NFC and lower case (None for JSONL, whose
    rows each have their own keys); `sheet` is the sheet of a spreadsheet that was read; `sha256` is that of
    the file's bytes, in lower-case hex ("" for a file over the limit, which isn't read to its end). Read
    `problems` after the last row.
    """

    def __init__(
        self,
        *,
        kind: Kind,
        sha256: str,
        limits: Limits,
        contents: Contents | None = None,
        unchanged: Callable[[], bool] = lambda: True,
        problems: Sequence[Problem] = (),
    ) -> None:
        self.kind = kind
        self.sha256 = sha256
        self.columns = contents.columns if contents else None
        self.sheet = contents.sheet if contents else None
        self._contents = contents
        self._limits = limits
        self._unchanged = unchanged
        self._at_opening = [*problems, *(contents.problems if contents else ())]
        self._in_rows: list[Problem] = []

    @property
    def problems(self) -> list[Problem]:
        """All that could not be read, by line: found at opening, and by the last pass over the rows."""
        return sorted((found for found in self._found() if not isinstance(found, Remark)), key=_line)

    @property
    def warnings(self) -> list[Problem]:
        """What was read, or left, in a way that a person should know: a second sheet, hidden rows."""
        return sorted((found for found in self._found() if isinstance(found, Remark)), key=_line)

    def rows(self) -> Iterator[Row]:
        """Yield the rows that could be read whole, lazily; a row with a problem is left out.

        May be called again for a second pass, but not while another pass over the same open file runs. Raises
        OSError when the file itself can't be read, and nothing else.
        """
        self._in_rows.clear()
        count = 0
        try:
            for found in self._read():
                if isinstance(found, Row):
                    count += 1
                    yield found
                else:
                    self._note(found)
        except Refused as refusal:
            self._in_rows.append(refusal.problem)
        if not count and not self.problems:
            self._in_rows.append(Problem(None, None, "The file has no rows."))

    def _read(self) -> Iterator[Row | Problem]:
        if self._contents is None:
            return
        if not self._unchanged():
            raise Refused("The file was changed while it was being read. Start again.")
        yield from self._contents.rows()

    def _note(self, found: Problem) -> None:
        self._in_rows.append(found)
        if len(self._in_rows) >= self._limits.problems:
            raise Refused(f"Reading stopped here, after {self._limits.problems:,} problems.", line=found.line)

    def _found(self) -> Iterator[Problem]:
        yield from self._at_opening
        yield from self._in_rows


def _line(problem: Problem) -> int:
    return problem.line or 0
