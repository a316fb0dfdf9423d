"""CSV: records with comma, semicolon or tab between the cells, as RFC 4180 quotes them.

The separator is the one that a first line `sep=;` names, else the one that gives the headings most cells (of
those that the caller knows, where it names them); where two do, the file is refused. Lines are counted as an
editor does, also inside quotation marks. An empty cell is absent.
"""

import csv
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import TextIO

from consilium.tables.headings import (
    SEARCHED_ROWS,
    Assembler,
    Cells,
    Headings,
    best_heading,
    is_blank,
    passed_over,
    read_headings,
)
from consilium.tables.opening import Source
from consilium.tables.table import Contents, Limits, Problem, Refused, Row

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
_DECLARED = re.compile(r'"?sep=([,;\t|])"?[\r\n]*')

# The csv module has one limit for the whole process, 131,072 characters: less than a long conversation in a
# cell. Ours is kept by _Lines, before the csv module holds the whole record.
csv.field_size_limit(2**31 - 1)


class Separated(Contents):
    """The inside of a CSV file. Making one raises Refused when its headings can't be read."""

    def __init__(self, source: Source, *, encoding: str, limits: Limits, known: Collection[str]) -> None:
        self._source = source
        self._encoding = encoding
        self._limits = limits
        self._skipped = 0
        self._separator = self._declared_separator() or self._best_separator(known)
        first = self._first_rows(self._separator)
        place, _ = best_heading(first, known=known)
        line, cells = first[place]
        self._headings: Headings = read_headings(line, cells, limits=limits)
        self.columns = self._headings.columns
        above = [line for line, _ in first[:place]]
        self.problems = self._headings.problems + passed_over(above, heading_line=line)

    def rows(self) -> Iterator[Row | Problem]:
        """Yield each record below the headings."""
        assembler = Assembler(self._headings, limits=self._limits)
        width = len(self._headings.names)
        with self._source.opened_as_text(encoding=self._encoding, newline="") as text:
            lines = _Lines(text, limits=self._limits)
            for line, cells in self._records(lines, self._separator):
                if isinstance(cells, str):
                    yield Problem(line, None, cells)
                elif line <= self._headings.line or is_blank(cells):
                    continue
                elif not is_blank(cells[width:]):
                    yield Problem(line, None, self._too_many(len(cells), width))
                elif len(cells) < width and not lines.end_whole:
                    message = f"The last line of the file is cut off: it has {len(cells)} of {width} cells."
                    yield Problem(line, None, message)
                else:
                    yield from assembler.row(line, cells)

    def _records(self, lines: "_Lines", separator: str) -> Iterator[tuple[int, Cells | str]]:
        """Yield each record with the line on which it begins, or a sentence in place of one that can't be read."""
        lines.skip(self._skipped)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        while True:
            line = lines.begin_record()
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield line, _bad_quoting(at_the_end=lines.at_the_end)
            else:
                yield line, [cell or None for cell in record]

    def _first_rows(self, separator: str) -> list[tuple[int, Cells]]:
        """Answer the first rows that aren't blank. Raises Refused when there is none to be read."""
        rows: list[tuple[int, Cells]] = []
        fault = Refused("The file has no rows.")
        with self._source.opened_as_text(encoding=self._encoding, newline="") as text:
            for line, cells in self._records(_Lines(text, limits=self._limits), separator):
                if isinstance(cells, str):
                    fault = Refused(cells, line=line)
                    break
                if not is_blank(cells):
                    rows.append((line, cells))
                if len(rows) == SEARCHED_ROWS:
                    break
        if not rows:
            raise fault
        return rows

    def _declared_separator(self) -> str | None:
        with self._source.opened_as_text(encoding=self._encoding, newline="") as text:
            declared = _DECLARED.fullmatch(text.readline(20))
        if not declared:
            return None
        self._skipped = 1
        return declared[1]

    def _best_separator(self, known: Collection[str]) -> str:
        scores: dict[str, tuple[int, int]] = {}
        for separator in SEPARATORS:
            first = self._first_rows(separator)
            place, found = best_heading(first, known=known)
            scores[separator] = found, sum(cell is not None for cell in first[place][1])
        best = max(scores.values())
        equal = [separator for separator, score in scores.items() if score == best]
        if len(equal) > 1 and best[1] > 1:
            names = " or ".join(SEPARATORS[separator] for separator in equal)
            raise Refused(
                f"It can't be told what stands between the cells: {names}. "
                f"Put a line “sep={equal[0]}” before the headings.",
                line=1,
            )
        return equal[0]

    def _too_many(self, count: int, width: int) -> str:
        name = SEPARATORS.get(self._separator, "separator")
        return (
            f"The row has {count} cells, the headings have {width}. "
            f"A text that holds a {name} or a line break must stand in quotation marks."
        )


class _Lines:
    """The lines of a file, counted, one string each: to the csv module a string's end is a line's end."""

    def __init__(self, text: TextIO, *, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._count = 0
        self._record_line = 1
        self._record_characters = 0
        self.end_whole = True
        """Whether the line read last has a line end."""
        self.at_the_end = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        longest = self._limits.record_characters
        content = self._text.readline(longest + 1)
        if not content:
            self.at_the_end = True
            raise StopIteration
        self._record_characters += len(content)
        if self._record_characters > longest:
            raise Refused(
                f"The record that begins here is longer than {longest:,} characters. "
                "Perhaps a quotation mark is never closed.",
                line=self._record_line,
            )
        self._count += 1
        self.end_whole = content.endswith(("\n", "\r"))
        return content

    def skip(self, count: int) -> None:
        for _ in islice(self, count):
            continue

    def begin_record(self) -> int:
        """Answer the line on which the next record begins."""
        self._record_line = self._count + 1
        self._record_characters = 0
        return self._record_line


def _bad_quoting(*, at_the_end: bool) -> str:
    if at_the_end:
        return "A quotation mark that opens in this record is never closed, or the file is cut off."
    return (
        "After the closing quotation mark of a cell there is more text. "
        "A quotation mark inside a cell is written twice."
    )
