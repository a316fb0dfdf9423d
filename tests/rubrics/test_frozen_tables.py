"""What a freeze wrote never changes: the database itself refuses, over the tables that there are."""

import pytest
from django.db import DatabaseError, connection, transaction

from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from tests.factories import make_panel
from tests.rubrics.making import make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db

MAY_CHANGE = ("draft", "exclusion", "event")
"""A table that may change or be added to later has one of these words in its name."""


def frozen_tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name LIKE 'rubrics%' ORDER BY 1"
        )
        return [name for (name,) in cursor.fetchall() if not any(word in name for word in MAY_CHANGE)]


def columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table])
        return [name for (name,) in cursor.fetchall()]


@pytest.fixture(autouse=True)
def _a_row_in_each() -> None:
    panel = make_panel()
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["In voting."])
    take_in(study=panel.study, rows=[make_row()])
    freeze_version(study=panel.study, by=panel.adam, note="", acknowledged=ACKNOWLEDGE_ALL)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as after a commit: else TRUNCATE is refused for their sake


def refused(statement: str) -> bool:
    """Whether the guard itself refuses a statement (23001), rather than something else."""
    with pytest.raises(DatabaseError) as refusal, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    return getattr(refusal.value.__cause__, "sqlstate", "") == "23001"


def test_each_frozen_table_has_a_row_to_try_it_on() -> None:
    assert len(frozen_tables()) >= 5
    for table in frozen_tables():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone()[0] > 0, table


def test_every_update_is_refused_also_one_that_changes_nothing_or_meets_no_row() -> None:
    for table in frozen_tables():
        for column in columns(table):
            assert refused(f"UPDATE {table} SET {column} = {column}"), (table, column)
        assert refused(f"UPDATE {table} SET id = id WHERE false"), table
        assert refused(f"UPDATE {table} SET id = gen_random_uuid()"), table


def test_every_delete_and_truncate_is_refused() -> None:
    for table in frozen_tables():
        assert refused(f"DELETE FROM {table}"), table
        assert refused(f"DELETE FROM {table} WHERE false"), table
        assert refused(f"TRUNCATE {table} CASCADE"), table
        assert refused(f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id")


def test_what_is_marked_beside_a_version_stands_in_a_table_that_says_so() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'rubrics%'")
        tables = {name for (name,) in cursor.fetchall()}
    assert tables - set(frozen_tables()) == {"rubrics_withdrawalevent"}
