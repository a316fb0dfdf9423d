"""Importing clinicians' own verdicts on responses, taken elsewhere.

A verdict belongs to (response, wording, reviewer). The wording is that of the criterion's current revision; where a
frozen version holds an earlier one, that is said. A criterion is named by its own id or, of an external version, by
the first 16 hex digits of its hash. A verdict of somebody who had opened grades of that response is not blind.
"""

from pathlib import Path
from typing import BinaryIO

from annotation.importing.files import one_act, open_file, record_import
from annotation.importing.people import People
from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.models import FileImport, Study, User
from grading.importing.verdicts_compared import StoredVerdicts, ToWrite
from grading.importing.verdicts_read import COLUMNS, read_verdicts
from grading.models import ReviewerVerdict, RunResponse

BATCH = 1000


def import_verdicts(*, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool) -> Report:
    """Take a file of reviewer verdicts into a study. ``check``: write nothing, answer the same report.

    Raises FileCantBeRead where the machine can't read the file; all else that is wrong is in the report's errors.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    rows = read_verdicts(table, report, people=People(study))
    with one_act(study, check=check):
        writing = StoredVerdicts(study, rows).compare(report)
        if not report.errors and writing and not check:
            record = record_import(
                study=study, kind=FileImport.Kind.VERDICTS, file_name=file_name, table=table, report=report, by=by
            )
            _write(study, writing, record)
    return report.close()


def _write(study: Study, writing: list[ToWrite], record: FileImport) -> None:
    for batch in in_batches(writing, BATCH):
        opened = set(
            RunResponse.objects.filter(
                response__in={this.response_id for this in batch},
                run__opened__user__in={this.reviewer_id for this in batch},
            ).values_list("response_id", "run__opened__user_id")
        )
        ReviewerVerdict.objects.bulk_create(
            ReviewerVerdict(
                study=study,
                response_id=this.response_id,
                wording_id=this.wording_id,
                reviewer_id=this.reviewer_id,
                verdict=this.verdict,
                comment=this.comment,
                is_blind=(this.response_id, this.reviewer_id) not in opened,
                imported_from=record,
            )
            for this in batch
        )
