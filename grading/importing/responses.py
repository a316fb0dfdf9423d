"""Importing responses by models, humans and reference answers.

A respondent is its name: a row that gives a known one another prompt style or kind is an error. A response is known by
conversation, respondent and sample. One that is blank, or whose finish reason is length, content_filter or error, is
recorded as failed. A conversation is the study's own where it has one of that id, else an external version's; a
response that is stored already, on any conversation of that id, is unchanged. The file is read twice, so that memory
does not grow with the texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from annotation.importing.files import must_be_as_checked, one_act, open_file, record_import
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, in_batches, read_rows
from annotation.models import FileImport, Study, User
from consilium.canonical import normal_text, sha256_hex
from consilium.tables import Kind, Table
from grading.importing.finding import ConversationsByName, find_conversations
from grading.models import Respondent, Response
from grading.models.responses import FAILING_FINISH_REASONS

COLUMNS = Columns(
    known=("conversation_id", "respondent", "sample", "text", "finish_reason", "prompt_style", "kind"),
    required=("conversation_id", "respondent", "text"),
)
BATCH = 100
GREATEST_SAMPLE = 1_000_000
REFUSAL = "refusal"
_LINES_TOLD = 10

Place = tuple[str, str, int]
"""Where a response belongs in a file: conversation, respondent, sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResponse:
    """A response as a file gives it; kind and prompt style are None where the row doesn't say.

    ``faulty`` are the columns that couldn't be taken.
    """

    line: int
    place: Place
    text: str
    finish_reason: str
    kind: str | None
    prompt_style: str | None
    faulty: frozenset[str] = frozenset()

    @property
    def is_placed(self) -> bool:
        return not self.faulty & {"conversation_id", "respondent", "sample"}

    @property
    def is_told(self) -> bool:
        """Whether the response itself could be taken."""
        return not self.faulty & {"text", "finish_reason"}

    @property
    def is_failed(self) -> bool:
        return not self.text.strip() or self.finish_reason in FAILING_FINISH_REASONS

    def sha256(self) -> str:
        return _sha256(self.text, self.finish_reason)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept of a row between the two readings; ``sha256`` is '' where the response couldn't be taken."""

    line: int
    sha256: str


@dataclass(slots=True)
class Said:
    """What a file says of a respondent, and in which lines."""

    line: int
    kind: tuple[str, int] | None = None
    prompt_style: tuple[str, int] | None = None


def import_responses(*, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool) -> Report:
    """Take a file of responses into a study. ``check``: write nothing, answer the same report.

    Raises FileCantBeRead where the machine can't read the file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    seen: dict[Place, Seen] = {}
    respondents: dict[str, Said] = {}
    unplaced: dict[int, str] = {}
    failed: list[int] = []
    for this in _read_all(table, report):
        _add_what_is_said(respondents, this, report)
        if not this.is_placed:
            if "conversation_id" not in this.faulty:
                unplaced[this.line] = this.place[0]
            continue
        before = seen.setdefault(this.place, Seen(this.line, this.sha256() if this.is_told else ""))
        if before.line != this.line:
            if before.sha256 and this.is_told:
                _report_double(before, this, report)
            continue
        warn_of_personal_data(report, line=this.line, column="text", text=this.text)
        if this.is_told and this.is_failed:
            failed.append(this.line)
    _warn_of_failed(failed, report)
    with one_act(study, check=check):
        conversations = find_conversations(study, {place[0] for place in seen} | set(unplaced.values()))
        for line, external_id in unplaced.items():
            _find(conversations, external_id, line, report)
        stored = {known.name: known for known in Respondent.objects.filter(study=study)}
        _compare_respondents(respondents, stored, report)
        new = _compare(study, seen, conversations, stored, report)
        if not report.errors and new and not check:
            record = record_import(
                study=study, kind=FileImport.Kind.RESPONSES, file_name=file_name, table=table, report=report, by=by
            )
            _make_respondents(study, respondents, stored)
            written = 0
            for batch in in_batches(_rows(study, table, new, conversations, stored, record), BATCH):
                written += len(Response.objects.bulk_create(batch))
            must_be_as_checked(table, written=written, expected=len(new))
    return report.close()


def _read_all(table: Table, report: Report) -> Iterator[ReadResponse]:
    for row in read_rows(table, report, COLUMNS):
        this = _read(row, is_json=table.kind == Kind.JSONL)
        yield this if row.is_sound else replace(this, faulty=frozenset(row.faulty))


def _read(row: FileRow, *, is_json: bool) -> ReadResponse:
    if is_json and "text" not in row.values:  # in a table an empty cell is an empty response
        row.error("text", "Expected a text (it may be empty), found nothing.")
    sample = row.whole_number("sample", low=1, high=GREATEST_SAMPLE)
    return ReadResponse(
        line=row.line,
        place=(
            row.name("conversation_id", required=True),
            row.name("respondent", required=True, longest=200),
            1 if sample is None else sample,
        ),
        text=row.text("text"),
        finish_reason=row.name("finish_reason", longest=40).lower().replace(" ", "_").replace("-", "_"),
        kind=row.choice("kind", allowed=Respondent.Kind.values),
        prompt_style=row.name("prompt_style", longest=100) or None,
    )


def _report_double(before: Seen, this: ReadResponse, report: Report) -> None:
    conversation, respondent, sample = this.place
    lines = and_lines(before.line, this.line)
    if before.sha256 == this.sha256():
        report.warn(this.line, None, f"The {lines} hold the same response; it counts once.", kind="doubles")
    else:
        told = f"The {lines} are different responses by {respondent} to “{conversation}”, both as sample {sample}."
        report.error(this.line, "sample", f"{told} Expected one, or two samples.")


def _add_what_is_said(respondents: dict[str, Said], this: ReadResponse, report: Report) -> None:
    """Gather what the rows say of a respondent; two that contradict each other are an error."""
    name = this.place[1]
    if "respondent" in this.faulty:
        return
    said = respondents.setdefault(name, Said(this.line))
    for column, value in (("kind", this.kind), ("prompt_style", this.prompt_style)):
        before: tuple[str, int] | None = getattr(said, column)
        if value is None:
            continue
        if before is None:
            setattr(said, column, (value, this.line))
        elif before[0] != value:
            lines = and_lines(before[1], this.line)
            told = f"The {lines} give {name} another {column}: “{before[0]}” and “{value}”. A respondent is its name."
            report.error(this.line, column, f"{told} Expected one, or two names.")


def _warn_of_failed(failed: list[int], report: Report) -> None:
    if not failed:
        return
    lines = ", ".join(str(line) for line in failed[:_LINES_TOLD]) + (" …" if len(failed) > _LINES_TOLD else "")
    which = f"{len(failed):,} {'response is' if len(failed) == 1 else 'responses are'} blank or cut off"
    told = f"{which} (by line: {lines}): recorded as failed, and never graded."
    report.warn(failed[0], "text", told, kind="failed responses")


def _compare_respondents(respondents: dict[str, Said], stored: dict[str, Respondent], report: Report) -> None:
    for name, said in respondents.items():
        known = stored.get(name)
        for column in ("kind", "prompt_style"):
            given: tuple[str, int] | None = getattr(said, column)
            if known is not None and given is not None and getattr(known, column) != given[0]:
                mine = f"“{getattr(known, column)}”" if getattr(known, column) else "none"
                told = f"Respondent {name} is stored with another {column}: expected {mine}, found “{given[0]}”."
                report.error(given[1], column, f"{told} Give the other one a name of its own.")


def _compare(
    study: Study,
    seen: dict[Place, Seen],
    conversations: ConversationsByName,
    stored: dict[str, Respondent],
    report: Report,
) -> dict[Place, int]:
    """Compare a file's responses with the stored ones. Returns the new ones' lines by their place."""
    new: dict[Place, int] = {}
    different: set[Place] = set()
    by_ids: dict[tuple[UUID, UUID, int], Place] = {}
    told: set[str] = set()
    for place, this in seen.items():
        if not _find(conversations, place[0], this.line, report):
            continue
        if place[0] not in told:
            told.add(place[0])
            conversations.warn_of_many(place[0], this.line, report)
        new[place] = this.line
        if place[1] in stored:
            for each in conversations.all(place[0]):
                by_ids[each.id, stored[place[1]].id, place[2]] = place
    responses = Response.objects.filter(study=study, respondent__in={respondent for _, respondent, _ in by_ids})
    for conversation_id, respondent_id, sample, text, finish_reason in responses.values_list(
        "conversation_id", "respondent_id", "sample", "text", "finish_reason"
    ).iterator(chunk_size=BATCH):
        known = by_ids.get((conversation_id, respondent_id, sample))
        if known is None:
            continue
        if seen[known].sha256 == _sha256(text, finish_reason):
            if new.pop(known, None) is not None:
                report.unchanged += 1
        elif seen[known].sha256 and conversation_id == conversations.all(known[0])[0].id:
            different.add(known)
    for place in different & new.keys():
        told_of = f"Sample {place[2]} by {place[1]} to “{place[0]}” is stored with another text or finish reason."
        report.error(new.pop(place), "text", f"{told_of} Expected the same, or another sample.")
    report.created = len(new)
    return new


def _find(conversations: ConversationsByName, external_id: str, line: int, report: Report) -> bool:
    """Whether the study has a conversation of this id; if not, an error."""
    is_known = conversations.first(external_id) is not None
    if not is_known:
        told = f"Expected the id of one of the study's conversations; found “{external_id}”."
        report.error(line, "conversation_id", told)
    return is_known


def _make_respondents(study: Study, respondents: dict[str, Said], stored: dict[str, Respondent]) -> None:
    """Make the respondents that are new, and add them to those that are stored."""
    made = [
        Respondent(
            study=study,
            name=name,
            kind=said.kind[0] if said.kind else Respondent.Kind.MODEL,
            prompt_style=said.prompt_style[0] if said.prompt_style else "",
        )
        for name, said in respondents.items()
        if name not in stored
    ]
    Respondent.objects.bulk_create(made)
    stored.update({respondent.name: respondent for respondent in made})


def _rows(
    study: Study,
    table: Table,
    new: dict[Place, int],
    conversations: ConversationsByName,
    respondents: dict[str, Respondent],
    record: FileImport,
) -> Iterator[Response]:
    for this in _read_all(table, Report()):
        conversation = conversations.first(this.place[0])
        if new.get(this.place) != this.line or conversation is None:
            continue
        yield Response(
            study=study,
            conversation_id=conversation.id,
            respondent=respondents[this.place[1]],
            sample=this.place[2],
            text=this.text,
            finish_reason=this.finish_reason,
            is_refusal=this.finish_reason == REFUSAL,
            imported_from=record,
        )


def _sha256(text: str, finish_reason: str) -> str:
    return sha256_hex(f"{finish_reason}\n{normal_text(text)}".encode())
