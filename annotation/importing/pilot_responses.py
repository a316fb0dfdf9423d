"""Importing pilot responses: what the panel tries its criteria on.

A pilot response is known by its id where it has one, else by its conversation and text. It is written once; what is
brought later gets the next numbers. ``source`` says where it is from, and no reviewer sees it.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from django.db.models import Max

from annotation.importing.files import one_act, open_file, record_import
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, in_batches, read_rows
from annotation.models import Conversation, FileImport, PilotResponse, Study, User
from annotation.models.trials import SHOWN
from annotation.trying import pilot_text_sha256
from consilium.tables import Table

COLUMNS = Columns(known=("conversation_id", "text", "id", "source"), required=("conversation_id", "text"))
LONGEST_TEXT = 32_767
BATCH = 1000
_OTHER_CONTENT = "A pilot response of this id or text is stored with other content, and is never changed."


@dataclass(frozen=True, slots=True)
class ReadPilot:
    """A pilot response as a file gives it; ``faulty`` are the columns that couldn't be taken."""

    line: int
    conversation_id: str
    external_id: str
    text: str
    text_sha256: str
    source: str
    faulty: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[str, str, str]:
        return self.conversation_id, self.text_sha256, self.source

    def differs_from(self, content: tuple[str, str, str], *, but: frozenset[str] = frozenset()) -> bool:
        """Whether another one's content is another, in the columns that could be taken."""
        named = zip(("conversation_id", "text", "source"), self.content, content, strict=True)
        return any(mine != theirs for column, mine, theirs in named if column not in self.faulty | but)


def import_pilot_responses(
    *, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool
) -> Report:
    """Take a file of pilot responses into a study. ``check``: write nothing, answer the same report.

    Raises FileCantBeRead where the machine can't read the file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    rows = _read_all(table, report)
    with one_act(study, check=check):
        conversations = _conversations(study, rows)
        new = _compare(study, rows, conversations, report)
        if not report.errors and new:
            numbered = _numbered(study, new, conversations)
            _warn_of_what_is_not_shown(numbered, report)
            if not check:
                record = record_import(
                    study=study,
                    kind=FileImport.Kind.PILOT_RESPONSES,
                    file_name=file_name,
                    table=table,
                    report=report,
                    by=by,
                )
                _write(study, numbered, record)
    return report.close()


def _read_all(table: Table, report: Report) -> list[ReadPilot]:
    """The rows of the file, each once. A double is warned of, a contradiction is an error that names both lines."""
    by_text: dict[tuple[str, str], ReadPilot] = {}
    by_id: dict[str, ReadPilot] = {}
    found = []
    for row in read_rows(table, report, COLUMNS):
        this = _read(row)
        is_placed = not this.faulty & {"conversation_id", "text"}
        before = by_id.get(this.external_id) if this.external_id else None
        if before is None and is_placed:
            before = by_text.get((this.conversation_id, this.text_sha256))
        if before is None:
            warn_of_personal_data(report, line=this.line, column="text", text=this.text)
            found.append(this)
            if is_placed:
                by_text[this.conversation_id, this.text_sha256] = this
            if this.external_id:
                by_id[this.external_id] = this
            continue
        lines = and_lines(before.line, this.line)
        if this.differs_from(before.content, but=before.faulty) or this.external_id not in {"", before.external_id}:
            told = f"The {lines} are of one id or of one text, but differ. An id names one pilot response of the study."
            report.error(this.line, "id" if this.external_id else "text", told)
        elif not (before.faulty or this.faulty):
            report.warn(this.line, None, f"The {lines} hold the same pilot response; it counts once.", kind="doubles")
    return found


def _read(row: FileRow) -> ReadPilot:
    conversation_id = row.name("conversation_id", required=True)
    text = row.text("text", required=True, longest=LONGEST_TEXT)
    external_id, source = row.name("id"), row.name("source")
    external_id = "" if "id" in row.faulty else external_id
    sha256 = pilot_text_sha256(text)
    return ReadPilot(row.line, conversation_id, external_id, text, sha256, source, frozenset(row.faulty))


def _conversations(study: Study, rows: list[ReadPilot]) -> dict[str, UUID]:
    found: dict[str, UUID] = {}
    for batch in in_batches({row.conversation_id for row in rows}, BATCH):
        own = Conversation.objects.own().filter(study=study, external_id__in=batch)
        found |= dict(own.values_list("external_id", "id"))
    return found


def _compare(study: Study, rows: list[ReadPilot], conversations: dict[str, UUID], report: Report) -> list[ReadPilot]:
    """The rows that are new; what is stored already is counted, what contradicts it is an error."""
    by_id: dict[str, tuple[str, str, str]] = {}
    by_text: dict[tuple[str, str], tuple[str, str]] = {}
    stored = PilotResponse.objects.filter(study=study, conversation__in=list(conversations.values()))
    named = PilotResponse.objects.filter(study=study, external_id__in=[row.external_id for row in rows]).exclude(
        external_id=""
    )
    columns = ("conversation__external_id", "text_sha256", "source", "external_id")
    for place, sha256, source, external_id in {*stored.values_list(*columns), *named.values_list(*columns)}:
        by_text[place, sha256] = source, external_id
        if external_id:
            by_id[external_id] = place, sha256, source
    new = []
    for row in rows:
        if row.conversation_id not in conversations and "conversation_id" not in row.faulty:
            told = f"Expected the id of one of the study's own conversations; found “{row.conversation_id}”."
            report.error(row.line, "conversation_id", told)
            continue
        known = by_id.get(row.external_id) if row.external_id else None
        same_text = by_text.get((row.conversation_id, row.text_sha256))
        if row.faulty:
            if known is not None and row.differs_from(known):
                report.error(row.line, "id", _OTHER_CONTENT)
        elif known is None and same_text is None:
            report.created += 1
            new.append(row)
        elif (known is None or known == row.content) and same_text in {
            (row.source, row.external_id),
            *({(row.source, same_text[1])} if same_text and not row.external_id else set()),
        }:
            report.unchanged += 1
        else:
            report.error(row.line, "id" if known else "text", _OTHER_CONTENT)
    return new


def _numbered(study: Study, new: list[ReadPilot], conversations: dict[str, UUID]) -> list[tuple[UUID, int, ReadPilot]]:
    """Each new one with its number: within a file by the texts' digests, so that no order of a file tells who wrote."""
    ids = [conversations[row.conversation_id] for row in new]
    taken = PilotResponse.objects.filter(study=study, conversation__in=ids).values("conversation").order_by()
    last: dict[UUID, int] = defaultdict(int, taken.annotate(last=Max("number")).values_list("conversation", "last"))
    numbered = []
    for row in sorted(new, key=lambda this: (this.conversation_id, this.text_sha256)):
        place = conversations[row.conversation_id]
        last[place] += 1
        numbered.append((place, last[place], row))
    return numbered


def _warn_of_what_is_not_shown(numbered: list[tuple[UUID, int, ReadPilot]], report: Report) -> None:
    for _, number, row in numbered:
        if number > SHOWN:
            told = f"The panel tries its criteria on {SHOWN} responses a conversation: this one is kept, and not shown."
            report.warn(row.line, None, told, kind="responses not shown")


def _write(study: Study, numbered: list[tuple[UUID, int, ReadPilot]], record: FileImport) -> None:
    for batch in in_batches(numbered, BATCH):
        PilotResponse.objects.bulk_create(
            PilotResponse(
                study=study,
                conversation_id=place,
                number=number,
                external_id=row.external_id,
                text=row.text,
                text_sha256=row.text_sha256,
                source=row.source,
                imported_from=record,
            )
            for place, number, row in batch
        )
