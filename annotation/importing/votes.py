"""Importing votes that were taken elsewhere, marked so with the file's digest.

Without a round, a row equal to a stored vote of that person on the criterion's current wording is unchanged; any other
goes to the open round, where it changes the person's vote. With a round, it is the open one, or the row equals a vote
stored there. A writer's own vote is kept and never counts. A vote by a clinician of the study who was not assigned
assigns that person. What is complete is revealed after the last row.
"""

from pathlib import Path
from typing import BinaryIO

from django.utils import timezone

from annotation.importing.files import one_act, open_file, record_import
from annotation.importing.people import People
from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.importing.votes_compared import StoredVotes, ToWrite
from annotation.importing.votes_read import COLUMNS, read_votes
from annotation.models import Assignment, FileImport, Study, User, Vote
from annotation.rounds import settle

BATCH = 1000


def import_votes(*, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool) -> Report:
    """Take a file of votes into a study. ``check``: write nothing, answer the same report.

    ``created`` counts the votes that were cast or changed. Raises FileCantBeRead where the machine can't read the
    file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    rows = read_votes(table, report, people=People(study))
    with one_act(study, check=check):
        writing = StoredVotes(study, rows, by=by, sha256=table.sha256).compare(report)
        if not report.errors and report.created:
            _warn_of_the_same_file(study, table.sha256, by, report)
        if not report.errors and report.created and not check:
            record = record_import(
                study=study, kind=FileImport.Kind.VOTES, file_name=file_name, table=table, report=report, by=by
            )
            _warn_of_replaced(writing, report)
            _assign(writing)
            _write(writing, record)
            settle(study, conversations={this.round.conversation_id for this in writing})
    return report.close()


def _warn_of_the_same_file(study: Study, sha256: str, by: User | None, report: Report) -> None:
    """This person took the very same file in before, and yet something is to be written: say why."""
    imports = FileImport.objects.filter(study=study, kind=FileImport.Kind.VOTES, sha256=sha256)
    if (imports if by is None else imports.filter(imported_by=by)).exists():
        report.warn(
            None,
            None,
            "This very file was imported before. Since then a criterion was revised or a vote was changed; what "
            "differs goes to the open rounds.",
            kind="files",
        )


def _warn_of_replaced(writing: list[ToWrite], report: Report) -> None:
    """Say how many votes the file has changed that their owners cast here: of a check, which writes nothing, it is
    not told, since it would tell who has voted.
    """
    count = sum(this.stored is not None and this.stored.imported_from_id is None for this in writing)
    if count:
        votes = "1 vote that its owner had cast here was" if count == 1 else f"{count} votes cast here were"
        report.warn(None, None, f"{votes} changed by the file, as it says.", kind="votes changed")


def _assign(writing: list[ToWrite]) -> None:
    new = {(this.round.conversation_id, this.reviewer_id) for this in writing if this.assigns}
    Assignment.objects.bulk_create(
        [
            Assignment(conversation_id=conversation_id, reviewer_id=reviewer_id, origin=Assignment.Origin.IMPORTED)
            for conversation_id, reviewer_id in sorted(new)
        ],
        batch_size=BATCH,
    )


def _write(writing: list[ToWrite], record: FileImport) -> None:
    now = timezone.now()
    for batch in in_batches(writing, BATCH):
        new: list[Vote] = []
        changed: list[Vote] = []
        for this in batch:
            vote = this.stored or Vote(round=this.round, wording_id=this.wording_id, reviewer_id=this.reviewer_id)
            vote.choice, vote.points = this.ballot.choice, this.ballot.points
            vote.category, vote.reason = this.ballot.category, this.ballot.reason
            vote.better_wording, vote.cast_at, vote.imported_from = "", now, record
            (changed if this.stored else new).append(vote)
        Vote.objects.bulk_create(new)
        Vote.objects.bulk_update(
            changed, ["choice", "points", "category", "reason", "better_wording", "cast_at", "imported_from"]
        )
