"""Importing a study's practice examples: a row an example, with what the guidelines answer to it and why.

An example is known by its id, or without one by what is asked in it. One that is there already and says something else
in the file is changed, and keeps its place; nothing that is left out of the file is removed. Examples are no study
data: the file is not among those that are recorded.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from annotation.importing.files import one_act, open_file
from annotation.importing.messages import read_language, read_messages
from annotation.importing.personal_data import warn_of_personal_data
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, read_rows
from annotation.locks import lock_study_row
from annotation.models import ObjectionCategory, PracticeChoice, PracticeExample, Study, User
from annotation.writing_practice import MOST_EXAMPLES, ExampleFacts, add_example, change_example, faults_of
from consilium.tables import Table

COLUMNS = Columns(
    known=(
        *("id", "messages", "language", "criterion", "wanted", "answer"),
        *("points_low", "points_high", "categories", "feedback"),
    ),
    required=("messages", "criterion", "wanted", "answer", "feedback"),
)
CALLED = {"is_wanted": "wanted", "choice": "answer"}
"""Columns that are called otherwise than what they hold."""


class PracticeFile(TextChoices):
    """A file of practice examples is a kind of its own: no import of it is recorded."""

    PRACTICE = "practice", _("practice examples")


@dataclass(frozen=True, slots=True)
class ReadExample:
    """An example as a file gives it."""

    line: int
    external_id: str
    facts: ExampleFacts


def import_practice(*, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool) -> Report:
    """Take a file of practice examples into a study. ``check``: write nothing, answer the same report.

    ``created`` counts the examples that are new or changed. Raises FileCantBeRead where the machine can't read the
    file; all else that is wrong is in the report's errors. Nothing is recorded of ``file_name``.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    rows = _read_examples(table, report)
    with one_act(study, check=check):
        if not check:
            lock_study_row(study)
        known = {this.external_id: this for this in PracticeExample.objects.standing().filter(study=study)}
        new = [row for row in rows if row.external_id not in known]
        if len(known) + len(new) > MOST_EXAMPLES:
            told = f"Expected at most {MOST_EXAMPLES} practice examples in a study; with this file there would be"
            report.error(None, None, f"{told} {len(known) + len(new)}.")
        changed = [row for row in rows if row.external_id in known and not row.facts.same_as(known[row.external_id])]
        report.created = len(new) + len(changed)
        report.unchanged = len(rows) - report.created
        if not report.errors and not check:
            for row in changed:
                example = known[row.external_id]
                change_example(example=example, seen=example.edition, facts=row.facts, by=by)
            for row in new:
                add_example(study=study, facts=row.facts, by=by, external_id=row.external_id)
    return report.close()


def _read_examples(table: Table, report: Report) -> list[ReadExample]:
    """The examples of a file, each once, as far as each can be taken."""
    found: dict[str, ReadExample] = {}
    for row in read_rows(table, report, COLUMNS):
        this = _read(row, report)
        if this is None:
            continue
        before = found.setdefault(this.external_id, this)
        if before is this:
            continue
        lines = and_lines(before.line, this.line)
        if before.facts == this.facts:
            report.warn(this.line, "id", f"The {lines} hold the same example; it counts once.", kind="doubles")
        else:
            report.error(
                this.line, "id", f"The {lines} both have the id “{this.external_id}”, but say different things."
            )
    return list(found.values())


def _read(row: FileRow, report: Report) -> ReadExample | None:
    external_id = row.name("id")
    messages = read_messages(row, "messages", row.values.get("messages"))
    for number, message in enumerate(messages, start=1):
        warn_of_personal_data(
            report, line=row.line, column="messages", text=message["content"], place=f"Message {number}"
        )
    criterion = row.text("criterion", required=True)
    is_wanted = row.true_or_false("wanted")
    if is_wanted is None and not row.has("wanted"):
        row.error("wanted", "Expected true or false, found nothing.")
    choice = row.choice("answer", allowed=PracticeChoice.values, required=True)
    categories = [word.strip().lower().replace(" ", "_") for word in row.texts("categories")]
    for word in categories:
        if word not in ObjectionCategory.values:
            row.error(
                "categories", f"Expected categories of {', '.join(ObjectionCategory.values)}, found “{word[:40]}”."
            )
    facts = ExampleFacts(
        messages=messages,
        language=read_language(row) or "",
        criterion=criterion,
        is_wanted=bool(is_wanted),
        choice=choice or "",
        points_low=row.points("points_low"),
        points_high=row.points("points_high"),
        categories=list(dict.fromkeys(categories)),
        feedback=row.text("feedback", required=True),
    )
    if row.is_sound:
        for name, sentence in faults_of(facts):
            row.error(CALLED.get(name, name), sentence)
    return ReadExample(row.line, external_id or facts.own_id(), facts) if row.is_sound else None
