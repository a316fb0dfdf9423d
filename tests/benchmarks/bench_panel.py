"""A panel's files and a freeze, at the size of a study: four criteria a conversation, five votes each.

Each act is undone, so that every round finds the same study. The yardsticks write or read the same rows bare.
"""

import io
import json
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction

from annotation.importing.criteria import import_criteria
from annotation.importing.votes import import_votes
from annotation.joining import add_member, create_study
from annotation.models import Study, User
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.importing import import_conversations
from tests.benchmarks.measuring import Act, Benchmark
from tests.journeys.panel_files import CLINICIANS, Row, criteria_for, votes_for

_numbers = iter(range(1, 1000))


def as_file(rows: list[Row]) -> io.BytesIO:
    return io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())


def take_in(act: Callable[..., Any], study: Study, rows: list[Row]) -> None:
    report = act(study=study, source=as_file(rows), file_name="rows", by=None, check=False)
    assert not report.errors, report.errors[:3]


def make_study(size: int) -> tuple[Study, list[Row], list[Row]]:
    """A study with conversations and nothing else; (study, criteria, votes) to be taken in."""
    study = create_study(slug=f"bench-{next(_numbers)}", name="Bench")
    for email in CLINICIANS:
        add_member(study=study, email=email, roles=["clinician"])
    ids = [f"{study.slug}-{number}" for number in range(size)]
    take_in(import_conversations, study, [{"id": i, "messages": [{"role": "user", "content": i}]} for i in ids])
    criteria = criteria_for(ids)
    for criterion in criteria:
        criterion["text"] += f" In {criterion['criterion_id']}."
    return study, criteria, votes_for(criteria)


def undone(act: Callable[[], object]) -> Act:
    def one() -> None:
        with transaction.atomic():
            act()
            transaction.set_rollback(True)

    return one


def importing_votes(size: int) -> tuple[Act, Act]:
    study, criteria, votes = make_study(size)
    take_in(import_criteria, study, criteria)

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE bare (criterion text, reviewer text, choice text, points int)")
            rows = [json.loads(line) for line in as_file(votes)]
            cursor.executemany(
                "INSERT INTO bare VALUES (%s, %s, %s, %s)",
                [(row["criterion_id"], row["reviewer"], row["choice"], row.get("points")) for row in rows],
            )

    return undone(lambda: take_in(import_votes, study, votes)), undone(bare)


def freezing(size: int) -> tuple[Act, Act]:
    study, criteria, votes = make_study(size)
    take_in(import_criteria, study, criteria)
    take_in(import_votes, study, votes)
    admin = User.objects.get(email__iexact=CLINICIANS[0])

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT v.id::text, v.choice, v.points, v.reason, r.text, r.points, r.axis, c.external_id"
                " FROM annotation_vote v JOIN annotation_revision r ON r.id = v.wording_id"
                " JOIN annotation_criterion c ON c.id = r.criterion_id WHERE c.study_id = %s",
                [study.pk],
            )
            rows = [json.dumps(row) for row in cursor.fetchall()]
            cursor.execute("CREATE TEMPORARY TABLE bare (line text)")
            cursor.executemany("INSERT INTO bare VALUES (%s)", [(row,) for row in rows])

    def freeze() -> object:
        return freeze_version(study=study, by=admin, note="", acknowledged=ACKNOWLEDGE_ALL)

    return undone(freeze), undone(bare)


BENCHMARKS = [
    Benchmark(
        name="taking in 5,000 votes, with the reveal of 250 rounds",
        yardstick="the same rows into a bare table",
        prepare=importing_votes,
        size=250,
        limit=60,
    ),
    Benchmark(
        name="freezing 1,000 criteria with 5,000 votes",
        yardstick="reading the votes and writing a line for each",
        prepare=freezing,
        size=250,
        limit=30,
    ),
]
