"""Importing draft criteria for a study's conversations.

A criterion without an id is named by the digest of its content. A known id with other content is an error that names
the votes which would stop counting (of an open round none: they are blind); with ``revise`` it becomes a new revision,
and its author a writer. Drafting of the conversations that the file names is closed (``keep_drafting``: not), and round
1 opens after the last row with all their criteria. A new criterion joins the round that is open in its conversation;
after a reveal it waits for the next.
"""

from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from django.db.models import Max

from annotation.importing.criteria_compared import Compared, StoredCriteria
from annotation.importing.criteria_read import COLUMNS, ReadCriterion, read_criteria
from annotation.importing.files import one_act, open_file, record_import
from annotation.importing.people import People
from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.models import Conversation, Criterion, FileImport, Revision, RevisionWriter, Study, User
from annotation.rounds import close_drafting_of, join_open_rounds, open_first_rounds, settle

BATCH = 1000


def import_criteria(
    *,
    study: Study,
    source: Path | BinaryIO,
    file_name: str,
    by: User | None,
    check: bool,
    revise: bool = False,
    keep_drafting: bool = False,
) -> Report:
    """Take a file of criteria into a study. ``check``: write nothing, answer the same report.

    With ``revise``, ``report.facts["revised"]`` counts the criteria that got a new revision; they are in ``created``.
    Raises FileCantBeRead where the machine can't read the file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    criteria = read_criteria(table, report, study=study, people=People(study))
    with one_act(study, check=check):
        stored = StoredCriteria(study, criteria, by=by)
        compared = stored.compare(report, revise=revise)
        report.unchanged = compared.unchanged
        report.created = len(compared.new) + len(compared.revised)
        if revise:
            report.facts["revised"] = len(compared.revised)
        if not report.errors and not check:
            if report.created:
                record = record_import(
                    study=study,
                    kind=FileImport.Kind.CRITERIA,
                    file_name=file_name,
                    table=table,
                    report=report,
                    by=by,
                )
                _write_new(study, compared, record, by)
                _write_revised(compared, by)
            _decide(study, stored.conversations, compared, keep_drafting=keep_drafting)
    return report.close()


def _decide(study: Study, conversations: dict[str, Conversation], compared: Compared, *, keep_drafting: bool) -> None:
    """What follows from the whole file: drafting closes, rounds open, new criteria join them, all due is settled."""
    touched = [conversation.id for conversation in conversations.values()]
    closed = 0 if keep_drafting else close_drafting_of(study, touched)
    if not (closed or compared.new or compared.revised):
        return
    open_first_rounds(study, touched)
    join_open_rounds(study, [criterion.id for criterion, _ in compared.new])
    settle(study, conversations=touched)


def _write_new(study: Study, compared: Compared, record: FileImport, by: User | None) -> None:
    last = Criterion.objects.own().filter(study=study).aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    for batch in in_batches(compared.new, BATCH):
        revisions: list[Revision] = []
        for criterion, row in batch:
            criterion.position, criterion.imported_from = position, record
            position += 1
            revision = _revision(criterion, row, by, number=1)
            criterion.current_revision = revision
            revisions.append(revision)
        # A foreign key is checked at the end of the transaction: a criterion may name the revision that follows.
        Criterion.objects.bulk_create([criterion for criterion, _ in batch])
        Revision.objects.bulk_create(revisions)
        _write_writers([(revision.id, row) for revision, (_, row) in zip(revisions, batch, strict=True)])


def _write_revised(compared: Compared, by: User | None) -> None:
    for batch in in_batches(compared.revised, BATCH):
        revisions: list[Revision] = []
        for criterion, row, same_wording_as in batch:
            current = criterion.current_revision
            assert current is not None
            revision = _revision(criterion, row, by, number=current.number + 1, same_wording_as=same_wording_as)
            criterion.current_revision = revision
            revisions.append(revision)
        Revision.objects.bulk_create(revisions)
        Criterion.objects.bulk_update([criterion for criterion, _, _ in batch], ["current_revision"])
        _write_writers(
            [
                (revision.id, row)
                for revision, (_, row, same_wording_as) in zip(revisions, batch, strict=True)
                if same_wording_as is None
            ]
        )


def _revision(
    criterion: Criterion, row: ReadCriterion, by: User | None, *, number: int, same_wording_as: UUID | None = None
) -> Revision:
    return Revision(
        criterion=criterion,
        number=number,
        text=row.text,
        points=row.points,
        axis=row.axis,
        rationale=row.rationale,
        anchors=list(row.anchors),
        same_wording_as_id=same_wording_as,
        created_by=row.author or by,
    )


def _write_writers(written: list[tuple[UUID, ReadCriterion]]) -> None:
    RevisionWriter.objects.bulk_create(
        RevisionWriter(revision_id=revision_id, writer=row.author)
        for revision_id, row in written
        if row.author is not None
    )
