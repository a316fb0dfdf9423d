"""Exports of a version: HealthBench's and MentalHealthBench's shape, CSV, XLSX.

Each is byte-identical whenever it is made again, on any machine, since all that it says is frozen, and replaces an
existing file in one step. How to recompute the digests from each stands in docs/digests.md.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.db import models

from consilium.downloads import TooLargeForAWorkbook
from consilium.tables import Unwritable, write_csv, write_jsonl, write_xlsx
from consilium.tables.writing import Written
from rubrics.json_shapes import healthbench_rows, mentalhealthbench_rows
from rubrics.models import RubricVersion
from rubrics.table_shapes import ALL, csv_rows, sheets


class ExportFormat(models.TextChoices):
    HEALTHBENCH = "healthbench", "JSON Lines in HealthBench's shape"
    MENTALHEALTHBENCH = "mentalhealthbench", "JSON Lines in MentalHealthBench's shape"
    CSV = "csv", "CSV"
    XLSX = "xlsx", "Excel workbook"


ENDINGS: dict[str, str] = {
    ExportFormat.HEALTHBENCH: "jsonl",
    ExportFormat.MENTALHEALTHBENCH: "jsonl",
    ExportFormat.CSV: "csv",
    ExportFormat.XLSX: "xlsx",
}
"""How the name of a file ends."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and the cells in which characters that XML can't hold were written as ``_xHHHH_``."""

    version: RubricVersion
    format: ExportFormat
    replaced: int


def export_version(*, version: RubricVersion, format: ExportFormat, file: Path | BinaryIO) -> Exported:
    """Write a version to a file, a path or an open one (seekable for XLSX).

    Raises TooLargeForAWorkbook; OSError where the file can't be written.
    """
    written: Written
    if format == ExportFormat.HEALTHBENCH:
        written = write_jsonl(file, healthbench_rows(version))
    elif format == ExportFormat.MENTALHEALTHBENCH:
        written = write_jsonl(file, mentalhealthbench_rows(version))
    elif format == ExportFormat.CSV:
        written = write_csv(file, ALL, csv_rows(version))
    else:
        try:
            written = write_xlsx(file, sheets(version))
        except Unwritable:
            raise
        except ValueError as error:
            raise TooLargeForAWorkbook from error
    return Exported(version, format, len(written.replaced))
