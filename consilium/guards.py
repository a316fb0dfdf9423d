"""What the database itself refuses, whoever asks: triggers for rows that never change again.

``pgtrigger.Protect`` fires once a row, so that an UPDATE that matches no row passes; the guards here fire once a
statement, so that every UPDATE, DELETE and TRUNCATE on a guarded table is refused, also one that changes nothing.
Only the database's owner can step past them, by ``SET LOCAL session_replication_role = replica``.
"""

import pgtrigger


def never_changes() -> list[pgtrigger.Trigger]:
    """The trigger of a table whose rows are written once: INSERT only."""
    return [
        pgtrigger.Trigger(
            name="never_changes",
            level=pgtrigger.Statement,
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete | pgtrigger.Truncate,
            func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
        )
    ]


def never_emptied() -> pgtrigger.Trigger:
    """The trigger that refuses TRUNCATE, beside a row's own guard."""
    return pgtrigger.Trigger(
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
        pgtrigger.Trigger(
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
