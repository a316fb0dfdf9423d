"""Statements past Django, and what the database says to them. ``insert_like`` copies a row with other values."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import DatabaseError, connection, transaction


def run(statement: str) -> None:
    """Run a statement as a transaction of its own would end: what is asked at its end is asked at once."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def refusal(statement: str) -> str:
    """The name of the constraint or guard that refuses a statement; of a guard without one, its code."""
    with pytest.raises(DatabaseError) as refused:
        run(statement)
    cause = refused.value.__cause__
    name = getattr(getattr(cause, "diag", None), "constraint_name", None)
    return str(name or getattr(cause, "sqlstate", ""))


def insert_like(table: str, where: str = "true", **other: str) -> str:
    """The INSERT of a copy of one row of a table, with a new id and, for some columns, other values (SQL)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = %s AND is_generated = 'NEVER' AND is_identity = 'NO'",
            [table],
        )
        types = dict(cursor.fetchall())
        cursor.execute(f"SELECT count(*) FROM {table} WHERE {where}")
        assert cursor.fetchone()[0] > 0, f"{table} has no row to copy"
    assert other.keys() <= types.keys(), (table, other)
    values = {column: column for column in types} | other
    if types.get("id") == "uuid":
        values["id"] = other.get("id", "gen_random_uuid()")
    return (
        f"INSERT INTO {table} ({', '.join(values)}) "
        f"SELECT {', '.join(values.values())} FROM {table} WHERE {where} LIMIT 1"
    )


@contextmanager
def without_triggers() -> Iterator[None]:
    """A transaction in which the database guards nothing: for rows as they would be after weeks."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = origin")
