"""What a freeze wrote never changes: the database itself refuses, over the tables that there are."""

import pytest
from django.db import DatabaseError, connection, transaction

from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version, withdraw_version
from rubrics.models import FrozenVote, RubricVersion
from tests.factories import make_panel
from tests.raw_sql import insert_like, refusal, run
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
    version = freeze_version(study=panel.study, by=panel.adam, note="", acknowledged=ACKNOWLEDGE_ALL)
    withdraw_version(version=version, by=panel.adam, reason="Its votes were a rehearsal.")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as after a commit: else TRUNCATE is refused for their sake


def refused(statement: str) -> bool:
    """Whether the guard itself refuses a statement (23001), rather than something else."""
    with pytest.raises(DatabaseError) as refusal, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    return getattr(refusal.value.__cause__, "sqlstate", "") == "23001"


def guarded_tables() -> list[str]:
    """Those that a freeze writes, and what is marked beside a version: once written it stays too."""
    return [*frozen_tables(), "rubrics_withdrawalevent"]


def test_each_frozen_table_has_a_row_to_try_it_on() -> None:
    assert len(frozen_tables()) >= 5
    for table in guarded_tables():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone()[0] > 0, table


def test_every_update_is_refused_also_one_that_changes_nothing_or_meets_no_row() -> None:
    for table in guarded_tables():
        for column in columns(table):
            assert refused(f"UPDATE {table} SET {column} = {column}"), (table, column)
        assert refused(f"UPDATE {table} SET id = id WHERE false"), table
        assert refused(f"UPDATE {table} SET id = gen_random_uuid()"), table


def test_every_delete_and_truncate_is_refused() -> None:
    for table in guarded_tables():
        assert refused(f"DELETE FROM {table}"), table
        assert refused(f"DELETE FROM {table} WHERE false"), table
        assert refused(f"TRUNCATE {table} CASCADE"), table
        assert refused(f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id")


def test_what_is_marked_beside_a_version_stands_in_a_table_that_says_so() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'rubrics%'")
        tables = {name for (name,) in cursor.fetchall()}
    assert tables - set(frozen_tables()) == {"rubrics_withdrawalevent"}


ROWS: list[tuple[str, dict[str, str], str]] = [
    ("rubricversion", {"number": "0"}, "own_versions_have_a_number_external_ones_a_name"),
    ("rubricversion", {"number": "NULL"}, "own_versions_have_a_number_external_ones_a_name"),
    ("rubricversion", {"kind": "'draft'"}, "own_versions_have_a_number_external_ones_a_name"),
    ("rubricversion", {"number": "9", "digest": "repeat('x', 64)"}, "a_versions_digests_are_64_hex_digits"),
    ("rubricversion", {"number": "9", "record_digest": "''"}, "a_versions_digests_are_64_hex_digits"),
    ("rubricversion", {"number": "9", "source_sha256": "'abc'"}, "a_source_files_digest_is_64_hex_digits"),
    ("frozenconversation", {"acuity": "'mild'"}, "a_frozen_acuity_is_one_of_three_or_unknown"),
    ("frozenconversation", {"user_profile": "'cat'"}, "a_frozen_user_profile_is_one_of_four_or_unknown"),
    ("frozenconversation", {"item_sha256": "''"}, "a_frozen_conversations_hash_is_64_hex_digits"),
    ("frozenconversation", {"messages": "'null'"}, "frozen_messages_are_there_or_their_tombstone"),
    ("frozenconversation", {"messages": "NULL"}, "frozen_messages_are_there_or_their_tombstone"),
    ("frozenconversation", {"tombstone": "'By law.'"}, "frozen_messages_are_there_or_their_tombstone"),
    ("frozencriterion", {"scale": "'ordinal'"}, "a_frozen_binary_scale_has_no_levels_others_have"),
    ("frozencriterion", {"levels": "'[]'"}, "a_frozen_binary_scale_has_no_levels_others_have"),
    ("frozencriterion", {"text": r"E' \n'"}, "a_frozen_criterion_says_something"),
    ("frozencriterion", {"scale": "'stars'", "levels": "'[]'"}, "a_frozen_scale_is_binary_ordinal_or_choice"),
    ("frozencriterion", {"item_sha256": "''"}, "a_frozen_criterions_hash_is_64_hex_digits"),
    ("frozenvote", {"choice": "'maybe'", "points": "NULL"}, "a_frozen_vote_agrees_objects_abstains_or_recuses"),
    ("frozenvote", {"points": "NULL"}, "a_frozen_agreement_has_a_weight_nothing_else_has"),
    ("frozenvote", {"choice": "'object'", "points": "NULL"}, "a_frozen_objection_has_a_category"),
    ("frozenvote", {"item_sha256": "''"}, "a_frozen_votes_hash_is_64_hex_digits"),
    ("frozenleftout", {"reason": "' '"}, "what_is_left_out_says_why"),
    ("withdrawalevent", {"reason": "' '"}, "a_withdrawal_has_a_reason"),
    ("withdrawalevent", {}, "a_version_is_withdrawn_once"),
]


@pytest.mark.parametrize(("table", "other", "name"), ROWS)
def test_a_row_that_breaks_a_rule_is_refused_by_its_name(table: str, other: dict[str, str], name: str) -> None:
    where = "kind = 'consensus'" if table == "rubricversion" else "true"
    assert refusal(insert_like(f"rubrics_{table}", where, **other)) == name


# A version doesn't grow. It is asked of other transactions than that which wrote it: these tests commit.

OTHER: dict[str, dict[str, str]] = {
    "rubrics_frozenconversation": {
        "conversation_id": "(SELECT id FROM annotation_conversation AS c WHERE NOT EXISTS "
        "(SELECT FROM rubrics_frozenconversation AS f WHERE f.conversation_id = c.id) LIMIT 1)"
    },
    "rubrics_frozencriterion": {"criterion_id": "(SELECT criterion_id FROM rubrics_frozenleftout LIMIT 1)"},
    "rubrics_frozenvote": {"person": "gen_random_uuid()"},
    "rubrics_frozenleftout": {"criterion_id": "(SELECT criterion_id FROM rubrics_frozencriterion LIMIT 1)"},
}
"""What a row added to a version must say otherwise than the one that is there, for each table of a version's rows."""


@pytest.mark.django_db(transaction=True)
def test_nothing_is_added_to_a_version_later() -> None:
    assert {*OTHER, "rubrics_rubricversion"} == set(frozen_tables())
    for table, other in OTHER.items():
        assert refusal(insert_like(table, **other)) == "written_with_its_version", table
        assert refusal(f"SAVEPOINT one; {insert_like(table, **other)}; RELEASE one") == "written_with_its_version", (
            table
        )


@pytest.mark.django_db(transaction=True)
def test_a_version_made_by_hand_says_which_transaction_made_it_and_stays_closed() -> None:
    """Nobody can leave a door open for a later transaction by naming it."""
    named = "(pg_current_xact_id()::text::bigint + 1)::text"
    with connection.cursor() as cursor:
        cursor.execute(insert_like("rubrics_rubricversion", "kind = 'consensus'", number="2", frozen_in=named))
        cursor.execute("SELECT id, frozen_in FROM rubrics_rubricversion WHERE number = 2")
        version, frozen_in = cursor.fetchone()
    assert " " in frozen_in
    statement = insert_like("rubrics_frozenleftout", version_id=f"'{version}'")
    assert refusal(statement) == "written_with_its_version"


@pytest.mark.parametrize("of", ["version", "rows", "both"])
def test_a_version_is_written_by_one_transaction_whatever_its_savepoints(of: str) -> None:
    """A row's own transaction id is its savepoint's: what counts is the transaction that holds them all."""
    version = insert_like("rubrics_rubricversion", "kind = 'consensus'", number="2")
    rows = insert_like("rubrics_frozenleftout", version_id="(SELECT id FROM rubrics_rubricversion WHERE number = 2)")
    with transaction.atomic():
        for statement, is_inside in ((version, of != "rows"), (rows, of != "version")):
            with connection.cursor() as cursor:
                if is_inside:
                    with transaction.atomic():
                        cursor.execute(statement)
                else:
                    cursor.execute(statement)
        run("SELECT 1")
    assert RubricVersion.objects.get(number=2).left_out.count() == 1


def test_a_criterion_of_a_version_is_of_one_of_its_conversations() -> None:
    """Nor is a row written that joins two versions."""
    external = "(SELECT id FROM rubrics_frozenconversation WHERE version_id IN "
    external += "(SELECT id FROM rubrics_rubricversion WHERE kind = 'external') LIMIT 1)"
    statement = insert_like(
        "rubrics_frozencriterion",
        "version_id IN (SELECT id FROM rubrics_rubricversion WHERE kind = 'consensus')",
        frozen_conversation_id=external,
        criterion_id="(SELECT criterion_id FROM rubrics_frozenleftout LIMIT 1)",
    )
    assert refusal(statement) == "written_with_its_version"


def test_a_frozen_vote_may_still_be_written_by_the_freeze_itself() -> None:
    run(insert_like("rubrics_frozenvote", **OTHER["rubrics_frozenvote"]))
    assert FrozenVote.objects.exists()
