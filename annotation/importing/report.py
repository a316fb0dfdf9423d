"""What an import answers: how much was made, what was there already, and every warning and error by line."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from consilium.tables import Problem

MOST_ERRORS = 10_000
"""Where a file has more errors, checking stops and says so."""
MOST_WARNINGS_OF_A_KIND = 100
"""Further warnings of the same kind are counted in one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in a file. ``line`` counts from 1 as an editor does; None where the whole file is meant."""

    line: int | None
    column: str | None
    message: str


@dataclass(slots=True)
class Report:
    """The outcome of an import. With ``errors`` nothing was written.

    ``created`` counts the rows that made or changed something (with --check: that would), ``unchanged`` those that
    were stored already; a row that stands twice in the file counts once. A refused file makes nothing: its ``created``
    is 0. ``facts`` are what one kind of file adds.
    """

    created: int = 0
    unchanged: int = 0
    warnings: list[Finding] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    _kinds: Counter[str] = field(default_factory=Counter)

    @property
    def is_full(self) -> bool:
        """Whether there are so many errors that checking stops."""
        return len(self.errors) >= MOST_ERRORS

    def error(self, line: int | None, column: str | None, message: str) -> None:
        """Note an error. Its message says what was expected."""
        if not self.is_full:
            self.errors.append(Finding(line, column, message))

    def warn(self, line: int | None, column: str | None, message: str, *, kind: str) -> None:
        """Note something that a person should know; after many of one ``kind`` they are only counted."""
        self._kinds[kind] += 1
        if self._kinds[kind] <= MOST_WARNINGS_OF_A_KIND:
            self.warnings.append(Finding(line, column, message))

    def take(self, problems: Iterable[Problem], remarks: Iterable[Problem]) -> None:
        """Take over what the reader of the file found: problems are errors, remarks warnings."""
        for problem in problems:
            self.error(problem.line, problem.column, problem.message)
        for remark in remarks:
            self.warn(remark.line, remark.column, remark.message, kind="reading")

    def close(self) -> "Report":
        """Put the findings in the order of the lines, and say how many are not shown. To be called once, at the end."""
        for kind, count in self._kinds.items():
            if count > MOST_WARNINGS_OF_A_KIND:
                more = count - MOST_WARNINGS_OF_A_KIND
                self.warnings.append(Finding(None, None, f"{more:,} more places like the {kind} named above."))
        self._kinds.clear()
        if self.is_full:
            self.errors.append(Finding(None, None, f"Checking stopped after {MOST_ERRORS:,} errors."))
        for findings in (self.warnings, self.errors):
            findings.sort(key=lambda finding: (finding.line is None, finding.line or 0))
        if self.errors:
            self.created, self.facts = 0, {}
        return self

    def as_plain(self) -> dict[str, Any]:
        """The report as commands and the API answer it."""
        return {
            "created": self.created,
            "unchanged": self.unchanged,
            "warnings": [_plain(finding) for finding in self.warnings],
            "errors": [_plain(finding) for finding in self.errors],
            **self.facts,
        }


def _plain(finding: Finding) -> dict[str, Any]:
    return {"line": finding.line, "column": finding.column, "message": finding.message}
