"""House rules of the tables: every closed list is held by the database, and what it refuses has a sentence's name."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

pytestmark = pytest.mark.django_db

OURS = ("annotation", "rubrics", "grading")


def our_models() -> list[type[models.Model]]:
    return [model for app in OURS for model in apps.get_app_config(app).get_models()]


def columns_with_choices() -> Iterator[tuple[str, str, list[str]]]:
    """Each column of a closed list: its table, its name, its values. A list of such values counts too."""
    for model in our_models():
        for field in model._meta.concrete_fields:
            of: models.Field[Any, Any] = field.base_field if isinstance(field, ArrayField) else field
            if of.choices:
                yield model._meta.db_table, str(field.column), [str(value) for value, _ in of.choices]


def rows_of(statement: str, *values: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@pytest.mark.parametrize(("table", "column", "values"), list(columns_with_choices()))
def test_a_closed_list_is_held_by_the_database(table: str, column: str, values: list[str]) -> None:
    checks = rows_of(
        "SELECT pg_get_constraintdef(c.oid) FROM pg_constraint AS c "
        "JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) "
        "WHERE c.contype = 'c' AND c.conrelid = %s::regclass AND a.attname = %s",
        table,
        column,
    )
    assert any(all(f"'{value}'" in check for value in values) for (check,) in checks), checks


def test_what_the_database_refuses_is_named_by_us() -> None:
    """Every CHECK and every unique index is in a model's Meta, or is a one-to-one that a migration named."""
    known = {constraint.name for model in our_models() for constraint in model._meta.constraints}
    for model in our_models():
        table = model._meta.db_table
        numbers = {
            f"{table}_{field.column}_check"
            for field in model._meta.concrete_fields
            if field.get_internal_type().startswith("Positive")
        }
        checks = rows_of("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = %s::regclass", table)
        unique = rows_of(
            "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid "
            "WHERE i.indisunique AND NOT i.indisprimary AND i.indrelid = %s::regclass",
            table,
        )
        named = {name for (name,) in checks} - numbers | {name for (name,) in unique}
        assert named - known <= {"a_version_is_withdrawn_once"}, table


def test_every_guard_is_ours_and_none_asks_a_session_whether_it_may_be_passed() -> None:
    guards = rows_of(
        "SELECT t.tgname, p.prosrc FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid "
        "JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND c.relname ~ %s",
        f"^({'|'.join(OURS)})_",
    )
    assert len(guards) >= 35
    for name, source in guards:
        assert "ignore" not in source, name
        assert not re.search(r"\b(FROM|JOIN) (annotation|rubrics|grading)_", source), name
        assert not re.search(r"(?<!public\.)consilium_", source), name


def test_no_check_takes_a_json_null_for_nothing() -> None:
    """Django compares a JSON column with None as with a JSON null; with nothing at all that is null, and passes."""
    checks = rows_of(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' "
        "AND pg_get_constraintdef(oid) ~ %s",
        "'null'::jsonb",
    )
    for name, check in checks:
        assert re.search(r"NOT \(\(?\w+ = 'null'::jsonb", check), (name, check)
