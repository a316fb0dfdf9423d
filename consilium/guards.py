"""What the database itself refuses, whoever asks: triggers for rows that never change again, or only while they may.

``pgtrigger.Protect`` fires once a row, so that an UPDATE that matches no row passes; ``never_changes`` fires once a
statement, so that every UPDATE, DELETE and TRUNCATE on a guarded table is refused, also one that changes nothing. A
table whose rows may change for a time (votes, rounds, attempts) has a row's guard: a statement that meets no row
passes there, and changes nothing.

pgtrigger lets through whoever names a guard in its setting for ignoring, which any role may set; ours don't ask. Only
the database's owner can step past them, by ``SET LOCAL session_replication_role = replica``. Tables and functions are
named with their schema, so that no temporary table of the same name is asked in their place.
"""

import pgtrigger
from django.db import models
from pgtrigger import compiler

BLANK = r"^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"
"""Nothing but white space, as Python's ``str.strip`` has it; PostgreSQL's own class depends on its locale."""

SHA256 = "^[0-9a-f]{64}$"
"""A digest: 64 hex digits in lower case."""


class GuardSql(compiler.UpsertTriggerSql):
    """A trigger's SQL, without pgtrigger's own door. Migrations name it: it changes only by a new class."""

    def get_template(self) -> str:
        return """
            CREATE OR REPLACE FUNCTION {pgid}()
            RETURNS TRIGGER AS $$
                {declare}
                BEGIN
                    {func}
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS {pgid} ON {table};
            CREATE {constraint} TRIGGER {pgid}
                {when} {operation} ON {table}
                {timing}
                {referencing}
                FOR EACH {level} {condition}
                EXECUTE PROCEDURE {execute};

            COMMENT ON TRIGGER {pgid} ON {table} IS '{hash}';
        """


class Guard(pgtrigger.Trigger):
    """A trigger that no setting of a session opens."""

    def compile(self, model: models.Model) -> compiler.Trigger:
        compiled = super().compile(model)
        facts = {key: value for key, value in compiled.sql.kwargs.items() if key != "ignore_func_name"}
        return compiler.Trigger(name=self.name, sql=GuardSql(**facts))


def refuse(what: str, *, name: str, errcode: str = "23001") -> str:
    """The statement of PL/pgSQL that refuses, under a name as a constraint has one (consilium.errors)."""
    return f"RAISE EXCEPTION '{what}' USING ERRCODE = '{errcode}', CONSTRAINT = '{name}';"


def update_of(*columns: str) -> pgtrigger.Operation:
    """An UPDATE that names one of these columns."""
    return pgtrigger.UpdateOf(*columns)  # type: ignore[no-untyped-call,no-any-return,unused-ignore]


def never_changes() -> list[pgtrigger.Trigger]:
    """The trigger of a table whose rows are written once: INSERT only."""
    return [
        Guard(
            name="never_changes",
            level=pgtrigger.Statement,
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete | pgtrigger.Truncate,
            func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
        )
    ]


def never_emptied() -> pgtrigger.Trigger:
    """The trigger that refuses TRUNCATE, beside a row's own guard."""
    return Guard(
        name="never_emptied",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
    )


def changes_only_while(condition: str, *, name: str, deletes: bool = False) -> list[pgtrigger.Trigger]:
    """Triggers of a table whose rows may change only while ``condition`` (SQL over OLD) holds.

    Rows are deleted never, or, with ``deletes``, while the condition holds too.
    """
    refusal = "RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';"
    return [
        Guard(
            name=name,
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete,
            func=f"""
                IF TG_OP = 'DELETE' AND NOT {str(deletes).lower()} THEN {refusal} END IF;
                IF NOT ({condition}) THEN {refusal} END IF;
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                RETURN NEW;
            """,
        ),
        never_emptied(),
    ]


def keeps(*columns: str, name: str, what: str) -> pgtrigger.Trigger:
    """The trigger of a table whose rows may change, but never these columns of theirs."""
    return Guard(
        name=name,
        when=pgtrigger.Before,
        operation=update_of(*columns),
        condition=pgtrigger.Condition(" OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in columns)),
        func=refuse(what, name=name),
    )


def holds_when_written(condition: str, *, name: str, what: str, first: str = "", only: str = "") -> pgtrigger.Trigger:
    """The trigger that lets a row be inserted only where ``condition`` (SQL over NEW) holds.

    ``first`` is what is done before it is asked (a lock); ``only`` narrows the rows that are asked about.
    """
    return Guard(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
        condition=pgtrigger.Condition(only) if only else None,
        func=f"""
            {first}
            IF NOT ({condition}) THEN {refuse(what, name=name, errcode="23514")} END IF;
            RETURN NEW;
        """,
    )


def holds_at_commit(
    condition: str, *, name: str, what: str, operation: pgtrigger.Operation = pgtrigger.Insert
) -> pgtrigger.Trigger:
    """The trigger that asks, when a transaction ends, whether ``condition`` (SQL over NEW) holds for what it wrote.

    For rules that rows written later in the same transaction fulfil.
    """
    return Guard(
        name=name,
        when=pgtrigger.After,
        operation=operation,
        timing=pgtrigger.Deferred,
        func=f"""
            IF NOT ({condition}) THEN {refuse(what, name=name, errcode="23514")} END IF;
            RETURN NULL;
        """,
    )
