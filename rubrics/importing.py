"""Importing a file of conversations: a study's own, or a published set with its criteria.

A file whose rows have HealthBench's keys (prompt, rubrics) or MentalHealthBench's (conversation, rubric_items) brings
its criteria along and becomes an external version, known by its name; any other is the study's own conversations.
Every row is checked before anything is written, and all that is wrong is told at once.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from annotation.importing import conversations
from annotation.importing.conversations import Seen, SeenConversations
from annotation.importing.files import must_be_as_checked, one_act, open_file, record_import
from annotation.importing.report import Report
from annotation.importing.rows import read_rows
from annotation.models import FileImport, Study, User
from consilium.errors import RuleViolation
from consilium.tables import Kind, Table
from rubrics.published_shapes import SHAPES, PublishedConversation, Shape
from rubrics.taking_in import (
    ExternalConversation,
    RowCantBeTakenIn,
    checked_name,
    find_taken,
    take_in_version,
)

SEARCHED_ROWS = 100


class OnlyPublishedSetsHaveAName(RuleViolation):
    """A name is given to a published set with its criteria. This file holds the study's own conversations."""


class MetaEvaluation(RuleViolation):
    """This is a meta-evaluation file (completions with physicians' judgements). It holds no conversations to import."""


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
    ``name`` is by default healthbench or mentalhealthbench. Raises NameCantBeUsed, NameIsTaken, FileHasNoCriteria,
    FileCantBeRead; what is wrong with rows is in the report's errors.
    """
    table = open_file(source, columns=conversations.COLUMNS)
    shape = published_shape(table)
    if shape is None:
        if name is not None:
            raise OnlyPublishedSetsHaveAName
        return conversations.import_conversations(study=study, source=source, file_name=file_name, by=by, check=check)
    return _import_published(
        study=study,
        table=table,
        shape=shape,
        name=checked_name(name if name is not None else shape.name),
        file_name=file_name,
        by=by,
        check=check,
    )


def published_shape(table: Table) -> Shape | None:
    """The published shape that a file's rows have, by their keys; None for a study's own."""
    if table.kind != Kind.JSONL:
        return None
    for number, row in enumerate(table.rows(), start=1):
        if {"completion", "binary_labels"} <= row.values.keys():
            raise MetaEvaluation
        for shape in SHAPES:
            if shape.is_meant_by(row.values):
                return shape
        if "messages" in row.values or number == SEARCHED_ROWS:
            return None
    return None


def _import_published(
    *, study: Study, table: Table, shape: Shape, name: str, file_name: str, by: User | None, check: bool
) -> Report:
    report = Report()
    seen = SeenConversations(report)
    for this in _read(table, shape, report):
        seen.add(this.conversation, this.criteria_sha256())
        if not this.criteria:
            report.warn(
                this.conversation.line, shape.criteria_key, "This row has no criteria.", kind="rows without criteria"
            )
    if not report.errors:
        _warn_of_public_text(study, shape, report)
        try:
            with one_act(study, check=check):
                _take_in(
                    study=study,
                    table=table,
                    shape=shape,
                    name=name,
                    seen=seen.by_id,
                    report=report,
                    file_name=file_name,
                    by=by,
                )
        except RowCantBeTakenIn as refusal:
            report.error(refusal.facts["line"], shape.criteria_key, refusal.facts["what"])
    return report.close()


def _take_in(
    *,
    study: Study,
    table: Table,
    shape: Shape,
    name: str,
    seen: dict[str, Seen],
    report: Report,
    file_name: str,
    by: User | None,
) -> None:
    version = find_taken(study=study, name=name, rows=_rows(table, shape, seen))
    if version is not None:
        report.unchanged = len(seen)
    else:
        report.created = len(seen)
        version = take_in_version(
            study=study,
            name=name,
            source_format=shape.name,
            rows=_rows(table, shape, seen),
            file_name=Path(file_name).name[-255:],
            sha256=table.sha256,
            by=by,
            file_import=record_import(
                study=study,
                kind=FileImport.Kind.CONVERSATIONS,
                file_name=file_name,
                table=table,
                report=report,
                by=by,
            ),
        )
    must_be_as_checked(table, written=version.conversations_count, expected=len(seen))
    report.facts["external"] = {
        "name": version.name,
        "digest": version.digest,
        "criteria": version.criteria_count,
    }


def _read(table: Table, shape: Shape, report: Report) -> Iterator[PublishedConversation]:
    for row in read_rows(table, report, shape.columns, keeps_unknown=True):
        this = shape.read(row)
        if row.is_sound:
            yield this


def _rows(table: Table, shape: Shape, seen: dict[str, Seen]) -> Iterator[ExternalConversation]:
    """The rows as they are taken in, each id once."""
    for this in _read(table, shape, Report()):
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
            canary_string=given.canary_string,
            extra=given.extra,
        )


def _warn_of_public_text(study: Study, shape: Shape, report: Report) -> None:
    if shape.is_not_for_public_text and not study.is_not_for_public_text:
        report.warn(
            None,
            None,
            "The publisher asks that these examples not be shown in public text: the study is marked so.",
            kind="public text",
        )
