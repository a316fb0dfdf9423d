"""JSON Lines: one object a line. A line ends at LF alone; U+2028 and its like are text.

A line that can't be read is a problem of its own, and the next is read all the same.
"""

from collections.abc import Iterator
from typing import TextIO

from consilium.tables.opening import Source
from consilium.tables.strict_json import JsonFault, parse_json, printable
from consilium.tables.table import Contents, Limits, Problem, Refused, Row

_SKIPPED_AT_ONCE = 1_000_000


class JsonLines(Contents):
    """The inside of a JSONL file."""

    def __init__(self, source: Source, *, encoding: str, limits: Limits) -> None:
        self._source = source
        self._encoding = encoding
        self._limits = limits

    def rows(self) -> Iterator[Row | Problem]:
        """Yield a row, or one problem, for each line that isn't blank."""
        with self._source.opened_as_text(encoding=self._encoding, newline="\n") as text:
            for line, content in enumerate(self._lines(text), start=1):
                if content is None:
                    message = f"The line is longer than {self._limits.record_characters:,} characters."
                    yield Problem(line, None, message)
                elif content.strip("\ufeff \t\r\n"):
                    yield self._row(line, content)

    def _lines(self, text: TextIO) -> Iterator[str | None]:
        """Yield each line with its end, or None for one that is too long."""
        longest = self._limits.record_characters
        while content := text.readline(longest + 1):
            if len(content) <= longest or content.endswith("\n"):
                yield content
                continue
            while content and not content.endswith("\n"):
                content = text.readline(_SKIPPED_AT_ONCE)
            yield None

    def _row(self, line: int, content: str) -> Row | Problem:
        try:
            value = parse_json(content.strip("\ufeff \t\r\n"), nesting=self._limits.nesting)
        except JsonFault as fault:
            if line == 1 and content.strip() == "{":
                raise Refused(
                    "The JSON objects are spread over several lines. Write each on one line (JSON Lines).",
                    line=line,
                ) from None
            if fault.ends and not content.endswith("\n"):
                return Problem(line, None, f"The last line of the file is cut off. {fault.message}")
            return Problem(line, printable(fault.key) if fault.key else None, fault.message)
        if isinstance(value, dict):
            return Row(line, value)
        return Problem(line, None, "The line is not a JSON object. Write {…} with a key for each column.")
