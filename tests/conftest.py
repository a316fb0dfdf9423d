"""The test database: PostgreSQL, with every guard of the real one."""

from collections.abc import Iterator, Sequence
from typing import Any

import hypothesis
import pytest
from django.core.management.color import Style
from django.db.backends.postgresql.operations import DatabaseOperations

# How long one example takes says something of the machine, and nothing of the rule.
hypothesis.settings.register_profile("consilium", deadline=None)
hypothesis.settings.load_profile("consilium")


@pytest.fixture(autouse=True, scope="session")
def _flushed_past_the_guards() -> Iterator[None]:
    """Empty the tables after a transactional test although triggers refuse TRUNCATE.

    Only the database's owner can, for one transaction, by the role of a replica, for which no trigger fires. The
    product never does this; a test must, because it may not leave its rows to the next one.
    """
    guarded = DatabaseOperations.sql_flush

    def sql_flush(self: DatabaseOperations, style: Style, tables: Sequence[str], **options: Any) -> list[str]:
        statements: list[str] = guarded(self, style, tables, **options)
        return ["SET LOCAL session_replication_role = replica;", *statements] if statements else []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield
