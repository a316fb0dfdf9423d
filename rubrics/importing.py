"""Importing a file of conversations: a study's own, or a published set with its criteria.

A file whose rows have HealthBench's keys (prompt, rubrics) or MentalHealthBench's (conversation, rubric_items), and a
table that is an export of a version, brings its criteria along and becomes an external version, known by its name; any
other is the study's own conversations. Every row is checked before anything is written, and all that is wrong is told
at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from annotation.importing import conversations
from annotation.importing.conversations import Seen, SeenConversations
from annotation.importing.files import must_be_as_checked, one_act, open_file, record_import
from annotation.importing.report import Report
from annotation.importing.rows import read_rows
from annotation.models import FileImport, Study, User
from consilium.errors import RuleViolation
from consilium.tables import Kind, Table, column_name
from rubrics.incoming import marked_not_for_public_text
from rubrics.own_tables import OwnTable, is_own_table
from rubrics.published_shapes import SHAPES, PublishedConversation, Shape
from rubrics.taking_in import (
    ExternalConversation,
    RowCantBeTakenIn,
    SourceFormat,
    checked_name,
    find_taken,
    is_not_for_public_text,
    take_in_version,
)

SEARCHED_ROWS = 100


class OnlyPublishedSetsHaveAName(RuleViolation):
    """A name is given to a published set with its criteria. This file holds the study's own conversations."""


class MetaEvaluation(RuleViolation):
    """This is a meta-evaluation file (completions with physicians' judgements). It holds no conversations to import."""


@dataclass(frozen=True, slots=True)
class LinesOfAShape:
    """A file of JSON Lines in a published shape, read as often as asked for."""

    table: Table
    shape: Shape

    @property
    def name(self) -> SourceFormat:
        return self.shape.name

    @property
    def criteria_key(self) -> str:
        return self.shape.criteria_key

    @property
    def own_names(self) -> dict[str, str]:
        return self.shape.own_names

    def read(self, report: Report) -> Iterator[PublishedConversation]:
        """Yield the rows; what is wrong with one is in the report, and its columns are faulty."""
        for row in read_rows(self.table, report, self.shape.columns, keeps_unknown=True):
            this = self.shape.read(row)
            if not row.is_sound:
                ours = {theirs: own for own, theirs in self.own_names.items()} | {self.criteria_key: "criteria"}
                faulty = frozenset(ours.get(column, column) for column in row.faulty)
                this = replace(this, conversation=replace(this.conversation, faulty=faulty))
            yield this


PublishedSet = LinesOfAShape | OwnTable


def import_conversations(
    *,
    study: Study,
    source: Path | BinaryIO,
    file_name: str,
    by: User | None,
    check: bool,
    name: str | None = None,
) -> Report:
    """Take a file of conversations in. ``check``: write nothing, answer the same report.

    Of a published set ``created`` counts conversations, and ``report.facts["external"]`` is {name, digest, criteria};
    ``name`` is by default healthbench, mentalhealthbench or, of an exported table, consilium. Raises NameCantBeUsed,
    NameIsTaken, FileHasNoCriteria, FileCantBeRead; what is wrong with rows is in the report's errors.
    """
    table = open_file(source, columns=conversations.COLUMNS)
    published = published_set(table, source)
    if published is None:
        if name is not None:
            raise OnlyPublishedSetsHaveAName
        return conversations.import_conversations(study=study, source=source, file_name=file_name, by=by, check=check)
    return _import_published(
        study=study,
        published=published,
        name=checked_name(name if name is not None else published.name),
        file_name=file_name,
        by=by,
        check=check,
    )


def published_set(table: Table, source: Path | BinaryIO) -> PublishedSet | None:
    """The set with criteria that a file is, by its keys or columns; None for a study's own conversations."""
    if is_own_table(table):
        return OwnTable(table, source)
    shape = published_shape(table)
    return LinesOfAShape(table, shape) if shape else None


def published_shape(table: Table) -> Shape | None:
    """The published shape that a file's rows have, by their keys; None for a study's own."""
    if table.kind != Kind.JSONL:
        return None
    for number, row in enumerate(table.rows(), start=1):
        values = {column_name(key): value for key, value in row.values.items()}
        if {"completion", "binary_labels"} <= values.keys():
            raise MetaEvaluation
        for shape in SHAPES:
            if shape.is_meant_by(values):
                return shape
        if "messages" in values or number == SEARCHED_ROWS:
            return None
    return None


def _import_published(
    *, study: Study, published: PublishedSet, name: str, file_name: str, by: User | None, check: bool
) -> Report:
    report = Report()
    seen = SeenConversations(report, columns=published.own_names)
    of_public_text = _PublicText(published.name)
    for this in published.read(report):
        seen.add(this.conversation, this.criteria_sha256())
        of_public_text.look_at(this.conversation.extra)
        if not this.criteria and "criteria" not in this.conversation.faulty:
            report.warn(
                this.conversation.line,
                published.criteria_key,
                "This row has no criteria.",
                kind="rows without criteria",
            )
    if not report.errors:
        if of_public_text.sentence and not study.is_not_for_public_text:
            report.warn(None, None, of_public_text.sentence, kind="public text")
        try:
            with one_act(study, check=check):
                _take_in(
                    study=study,
                    published=published,
                    name=name,
                    seen=seen.by_id,
                    report=report,
                    file_name=file_name,
                    by=by,
                )
        except RowCantBeTakenIn as refusal:
            report.error(refusal.facts["line"], published.criteria_key, refusal.facts["what"])
    return report.close()


def _take_in(
    *,
    study: Study,
    published: PublishedSet,
    name: str,
    seen: dict[str, Seen],
    report: Report,
    file_name: str,
    by: User | None,
) -> None:
    version = find_taken(study=study, name=name, rows=_rows(published, seen))
    if version is not None:
        report.unchanged = len(seen)
    else:
        report.created = len(seen)
        version = take_in_version(
            study=study,
            name=name,
            source_format=published.name,
            rows=_rows(published, seen),
            file_name=Path(file_name).name[-255:],
            sha256=published.table.sha256,
            by=by,
            file_import=record_import(
                study=study,
                kind=FileImport.Kind.CONVERSATIONS,
                file_name=file_name,
                table=published.table,
                report=report,
                by=by,
            ),
        )
    must_be_as_checked(published.table, written=version.conversations_count, expected=len(seen))
    report.facts["external"] = {
        "name": version.name,
        "digest": version.digest,
        "criteria": version.criteria_count,
    }


def _rows(published: PublishedSet, seen: dict[str, Seen]) -> Iterator[ExternalConversation]:
    """The rows as they are taken in, each id once."""
    for this in published.read(Report()):
        given = this.conversation
        before = seen.get(given.external_id)
        if before is None or before.line != given.line:
            continue
        yield ExternalConversation(
            external_id=given.external_id,
            messages=given.messages,
            criteria=this.criteria,
            line=given.line,
            language=given.language,
            country=given.country,
            acuity=given.acuity,
            user_profile=given.user_profile,
            has_prior_context=given.has_prior_context,
            tags=given.tags,
            source=given.source,
            canary_string=given.canary_string,
            extra=given.extra,
        )


class _PublicText:
    """Whether a file's texts are not for public text, and who says so: the file's own mark, else its shape."""

    def __init__(self, source_format: SourceFormat) -> None:
        self._source_format = source_format
        self.sentence = ""

    def look_at(self, extra: str) -> None:
        if self.sentence or not is_not_for_public_text(self._source_format, extra):
            return
        who = "The publisher asks" if marked_not_for_public_text(extra) is None else "The file says"
        self.sentence = f"{who} that these examples not be shown in public text: the study is marked so."
