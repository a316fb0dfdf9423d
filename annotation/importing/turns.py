"""Conversations written as one row a turn: id, turn, role, content; for texts that are too long for one cell.

The rows of a conversation need not stand together. Its turns are numbered without a gap. What is said of the
conversation beside its turns may stand in any of its rows; two that contradict each other are an error. A row that
can't be read, or that names no conversation, may be a turn of those beside it: what is missing there is not told.
"""

from bisect import bisect
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from annotation.importing.messages import Messages, check_ending, read_role
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, read_rows
from consilium.tables import Table, Unreadable

TURN_COLUMNS = ("turn", "role", "content")
MESSAGES = "messages"


@dataclass(slots=True)
class _Turn:
    line: int
    role: str
    content: str


@dataclass(slots=True)
class _Gathered:
    """The rows of one conversation that were read so far."""

    line: int
    rows: int = 0
    faulty: set[str] = field(default_factory=set)
    turns: dict[int, _Turn] = field(default_factory=dict)
    facts: dict[str, tuple[int, object]] = field(default_factory=dict)


class Turns:
    """Gathers rows of turns into rows of conversations, holding only those that are not complete yet."""

    def __init__(self, table: Table, columns: Columns) -> None:
        """Read the file once, to count the rows of each conversation."""
        self._table, self._columns = table, columns
        self._counts: dict[str, int] = {}
        report = Report()
        lines: list[int] = []
        names: list[str] = []
        for row in read_rows(table, report, columns):
            external_id = row.name("id", required=True)
            self._counts[external_id] = self._counts.get(external_id, 0) + 1
            if external_id:
                lines.append(row.line)
                names.append(external_id)
        lost = [finding.line for finding in report.errors if finding.line is not None]
        self._may_lack_turns = _beside(lost, lines, names)

    def conversations(self, report: Report) -> Iterator[FileRow]:
        """Yield each conversation as one row with ``messages``, at the line of its first turn."""
        gathering: dict[str, _Gathered] = {}
        for row in read_rows(self._table, report, self._columns):
            external_id = row.name("id", required=True)
            if not external_id:
                continue
            this = gathering.setdefault(external_id, _Gathered(row.line))
            this.rows += 1
            _take_turn(this, row, self._columns)
            if this.rows == self._counts.get(external_id):
                del gathering[external_id]
                if external_id in self._may_lack_turns:
                    this.faulty.add(MESSAGES)
                yield _whole(external_id, this, report)


def _beside(lost: Collection[int], lines: list[int], names: list[str]) -> set[str]:
    """The conversations of the rows next to lost ones; ``lines`` ascend, and each has its conversation's name."""
    return {
        names[index]
        for line in lost
        for index in (bisect(lines, line) - 1, bisect(lines, line))
        if 0 <= index < len(names)
    }


def _take_turn(this: _Gathered, row: FileRow, columns: Columns) -> None:
    number = row.whole_number("turn", low=0, high=100_000, required=True)
    role = ""
    try:
        role = read_role(row.values.get("role"))
    except Unreadable as fault:
        row.error("role", fault.message)
    content = row.text("content")
    for column, value in row.values.items():
        if column in columns.known and column not in ("id", *TURN_COLUMNS) and row.has(column):
            line, first = this.facts.setdefault(column, (row.line, value))
            if first != value:
                row.error(column, f"The {and_lines(line, row.line)} say different things of one conversation.")
    if number is not None and role:
        turn = this.turns.setdefault(number, _Turn(row.line, role, content))
        if (turn.role, turn.content) != (role, content):
            row.error("turn", f"Turn {number} of this conversation stands in the {and_lines(turn.line, row.line)}.")
        elif turn.line != row.line:
            row.warn(
                "turn", f"This turn stands in the {and_lines(turn.line, row.line)}, and counts once.", kind="doubles"
            )
    this.faulty |= {MESSAGES if column in TURN_COLUMNS else column for column in row.faulty}


def _whole(external_id: str, this: _Gathered, report: Report) -> FileRow:
    """The conversation; where its turns can't be taken, its messages are a faulty column, and missing."""
    values: dict[str, object] = {column: value for column, (_, value) in this.facts.items()}
    values["id"] = external_id
    whole = FileRow(this.line, values, report)
    whole.faulty |= this.faulty
    messages = [] if MESSAGES in whole.faulty else _messages(external_id, this, whole, report)
    if messages:
        values[MESSAGES] = messages
    else:
        whole.faulty.add(MESSAGES)
    return whole


def _messages(external_id: str, this: _Gathered, whole: FileRow, report: Report) -> Messages:
    """The turns in their order; [] and an error where one is missing or the ending can't be taken."""
    numbers = sorted(this.turns)
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        missing = next(number for number in range(min(1, numbers[0]), numbers[-1]) if number not in this.turns)
        whole.error("turn", f"Expected turns without a gap; turn {missing} of conversation “{external_id}” is missing.")
        return []
    messages: Messages = [
        {"role": this.turns[number].role, "content": this.turns[number].content} for number in numbers
    ]
    last = FileRow(this.turns[numbers[-1]].line, {}, report)
    check_ending(last, "content", messages)
    return messages if last.is_sound else []
