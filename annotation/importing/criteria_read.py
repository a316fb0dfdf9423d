"""The rows of a file of criteria, read and checked as far as a row can be by itself."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from annotation.importing.messages import ComparableKeys, comparable_extra, different_keys, unknown_keys
from annotation.importing.people import People
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, read_rows
from annotation.models import Scale, Study, User
from consilium.canonical import canonical_line, normal_text, sha256_hex
from consilium.tables import Kind, Table, Unreadable, as_whole_number

COLUMNS = Columns(
    known=(
        "conversation_id",
        "criterion_id",
        "author",
        "text",
        "points",
        "axis",
        "rationale",
        "scale",
        "anchors",
    ),
    required=("conversation_id", "text", "points"),
)
LONGEST_TEXT = 32_767


@dataclass(frozen=True, slots=True)
class ReadCriterion:
    """A criterion as a file gives it. ``extra`` are its unknown keys as JSON text, '' for none.

    ``faulty`` are the columns that couldn't be taken; ``external_id`` is '' where it would have to come from them.
    """

    line: int
    conversation_id: str
    external_id: str
    author: User | None
    text: str
    points: int
    axis: str
    rationale: str
    anchors: tuple[int, ...]
    extra: str
    faulty: frozenset[str] = frozenset()

    def content(self) -> dict[str, object]:
        """What makes it this criterion, by column, as it is compared."""
        return {
            "conversation_id": self.conversation_id,
            "author": self.author.id if self.author else None,
            "text": normal_text(self.text),
            "points": self.points,
            "axis": self.axis,
            "rationale": normal_text(self.rationale),
            "anchors": self.anchors,
            "extra": comparable_extra(self.extra),
        }


def read_criteria(table: Table, report: Report, *, study: Study, people: People) -> list[ReadCriterion]:
    """The criteria of a file, each once. A double is warned of, a contradiction is an error that names both lines.

    Those with faulty columns are among them, to be compared as far as they go.
    """
    keeps_unknown = table.kind == Kind.JSONL
    by_id: dict[str, ReadCriterion] = {}
    nameless: list[ReadCriterion] = []
    for row in read_rows(table, report, COLUMNS, keeps_unknown=keeps_unknown):
        this = _read(row, study, people, keeps_unknown=keeps_unknown)
        if not this.external_id:
            nameless.append(this)
            continue
        before = by_id.setdefault(this.external_id, this)
        if before is this:
            for column, text in (("text", this.text), ("rationale", this.rationale)):
                warn_of_personal_data(report, line=this.line, column=column, text=text)
            continue
        lines = and_lines(before.line, this.line)
        faulty = before.faulty | this.faulty
        different = differences(before.content(), this.content(), but=faulty)
        if different:
            report.error(
                this.line,
                different[0],
                f"The {lines} both have the id “{this.external_id}”, but differ in {', '.join(different)}. "
                "An id names one criterion of the study.",
            )
        elif not faulty:
            report.warn(this.line, None, f"The {lines} hold the same criterion; it counts once.", kind="doubles")
    return [*by_id.values(), *nameless]


def differences(one: dict[str, object], other: dict[str, object], *, but: Collection[str] = ()) -> list[str]:
    """The columns in which two contents differ, except some; unknown keys by their own names."""
    found = [column for column, value in one.items() if column != "extra" and other[column] != value]
    found += different_keys(cast("ComparableKeys", one["extra"]), cast("ComparableKeys", other["extra"]))
    return [column for column in found if column not in but]


def _read(row: FileRow, study: Study, people: People, *, keeps_unknown: bool) -> ReadCriterion:
    conversation_id = row.name("conversation_id", required=True)
    external_id = row.name("criterion_id")
    author = people.member(row, "author")
    text = row.text("text", required=True, longest=LONGEST_TEXT)
    points = row.points("points", required=True) or 0
    axis = row.choice("axis", allowed=study.axes) or ""
    scale = row.choice("scale", allowed=Scale.values) or Scale.BINARY
    if scale != Scale.BINARY:
        row.error("scale", f"Expected the scale binary; criteria with the scale {scale} can't be imported yet.")
    rationale = row.text("rationale")
    anchors = _anchors(row)
    if not external_id and row.is_sound:
        external_id = _id_from_content(conversation_id, author, text, points, axis)
    return ReadCriterion(
        line=row.line,
        conversation_id=conversation_id,
        external_id="" if "criterion_id" in row.faulty else external_id,
        author=author,
        text=text,
        points=points,
        axis=axis,
        rationale=rationale,
        anchors=anchors,
        extra=unknown_keys(row.values, known=COLUMNS.known) if keeps_unknown else "",
        faulty=frozenset(row.faulty),
    )


def _anchors(row: FileRow) -> tuple[int, ...]:
    """The numbers of the turns that a criterion points to."""
    try:
        numbers = {as_whole_number(text) for text in _parts(row)}
    except Unreadable as fault:
        row.error("anchors", fault.message)
        return ()
    return tuple(sorted(number for number in numbers if number is not None))


def _parts(row: FileRow) -> list[str]:
    given = row.values.get("anchors")
    if isinstance(given, list):
        return [str(part) for part in given]
    return row.texts("anchors")


def _id_from_content(conversation_id: str, author: User | None, text: str, points: int, axis: str) -> str:
    """The id of a criterion that has none. Two writers may write the same text: it is a criterion of each."""
    content = {
        "conversation_id": conversation_id,
        "author": author.email.lower() if author else None,
        "text": text,
        "points": points,
        "axis": axis,
        "scale": Scale.BINARY.value,
    }
    return f"c-{sha256_hex(canonical_line(content))[:16]}"
