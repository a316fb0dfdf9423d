"""What a row or an index can hold, the database holds: each rule is broken here by raw SQL, and refused by its name."""

from dataclasses import dataclass

import pytest
from django.db import connection

from annotation.discussing import add_comment
from annotation.drafting import revise_criterion
from annotation.models import Conversation, Criterion, FileImport, Revision, Round, Vote
from tests.factories import Panel, current, make_panel, make_voting, vote
from tests.raw_sql import insert_like, refusal, run

pytestmark = pytest.mark.django_db

ONE_PERSON = "(SELECT reviewer_id FROM annotation_vote LIMIT 1)"
OPEN = "round_id IN (SELECT id FROM annotation_round WHERE revealed_at IS NULL)"


@dataclass
class Stored:
    """One conversation whose round is revealed, one whose round is open: each with a criterion, voted on."""

    panel: Panel
    conversation: Conversation
    criterion: Criterion
    revealed: Round
    open_conversation: Conversation
    open_criterion: Criterion
    open: Round


@pytest.fixture
def stored() -> Stored:
    panel = make_panel()
    conversation, [criterion], revealed = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    add_comment(criterion=criterion, author=panel.ben, text="Well put.")
    FileImport.objects.create(
        study=panel.study, kind="votes", file_name="v.csv", sha256="0" * 64, created=0, unchanged=0
    )
    open_conversation, [open_criterion], open_round = make_voting(panel=panel)
    vote(criterion=open_criterion, reviewer=panel.ben)
    return Stored(panel, conversation, criterion, revealed, open_conversation, open_criterion, open_round)


def respell(stored: Stored) -> Revision:
    """Another spelling of the open criterion's wording."""
    criterion = stored.open_criterion
    return revise_criterion(
        criterion=criterion, against=current(criterion), by=stored.panel.ana, text="Asks  about sleep.", points=6
    )


# What one row holds

ROWS: list[tuple[str, dict[str, str], str]] = [
    ("policy", {"drafting": "'both'"}, "drafting_is_alone_or_together"),
    ("policy", {"weights": "'mine'"}, "weights_are_own_or_prefilled"),
    ("policy", {"blocks": "ARRAY['unsafe', 'rude']"}, "what_blocks_is_a_category_of_objection"),
    ("policy", {"max_rounds": "0"}, "a_policy_allows_at_least_one_round"),
    ("policy", {"reviewers_per_conversation": "0"}, "a_conversation_has_at_least_one_reviewer"),
    ("policy", {"version": "0"}, "policies_count_from_1"),
    ("policy", {"min_agree": "0", "min_reviewed": "0"}, "consensus_needs_an_agreement"),
    ("assignment", {"origin": "'friend'"}, "a_reviewer_is_assigned_imported_or_a_substitute"),
    ("fileimport", {"kind": "'pictures'"}, "what_a_file_brings_is_one_of_six_kinds"),
    ("fileimport", {"sha256": "repeat('A', 64)"}, "a_files_digest_is_64_hex_digits"),
    ("membership", {"roles": "ARRAY['admin', 'admin']"}, "a_member_holds_a_role_once"),
    ("membership", {"roles": "ARRAY[]::varchar[]"}, "a_member_is_clinician_admin_or_researcher"),
    ("membership", {"conflicts": "ARRAY['Example AI', '']"}, "a_conflict_names_something"),
    (
        "membership",
        {"licence_checked_by_id": "user_id", "licence_checked_at": "NULL"},
        "who_checked_a_licence_did_so_at_a_time",
    ),
    ("study", {"text_class": "'identifiable'"}, "texts_are_synthetic_public_or_de_identified"),
    (
        "study",
        {"text_class": "'de_identified'", "attestation": r"E' \n'"},
        "de_identified_texts_carry_an_attestation",
    ),
    ("conversation", {"item_sha256": "'abc'"}, "a_conversations_hash_is_64_hex_digits"),
    ("comment", {"text": "' '"}, "a_comment_says_something"),
    ("revision", {"text": r"E'\u00a0 \t\n'"}, "a_criterion_says_something"),
    ("revision", {"number": "0"}, "revisions_count_from_1"),
    ("criterion", {"withdrawn_by_id": ONE_PERSON}, "what_somebody_withdrew_says_when"),
    (
        "criterion",
        {"withdrawn_at": "now()", "merged_into_id": "id"},
        "a_criterion_is_merged_or_withdrawn_not_both",
    ),
    ("criterion", {"adjudicated_at": "now()", "adjudication": "' '"}, "what_is_adjudicated_carries_its_reason"),
    ("criterion", {"adjudicated_by_id": ONE_PERSON}, "what_is_adjudicated_carries_its_reason"),
    ("criterion", {"adjudication": "'So be it.'"}, "what_is_adjudicated_carries_its_reason"),
    ("revision", {"levels": """'[{"value": 0}]'"""}, "a_binary_scale_has_no_levels_others_have"),
    ("revision", {"levels": "'null'"}, "a_binary_scale_has_no_levels_others_have"),
    ("revision", {"scale": "'ordinal'"}, "a_binary_scale_has_no_levels_others_have"),
    ("revision", {"scale": "'ordinal'", "levels": "'null'"}, "a_binary_scale_has_no_levels_others_have"),
    ("roundoutcome", {"points": "NULL"}, "consensus_has_points_nothing_else_has"),
    ("roundoutcome", {"result": "'out'"}, "consensus_has_points_nothing_else_has"),
    ("roundoutcome", {"failing": "ARRAY['ratio']"}, "what_is_in_consensus_fails_on_nothing"),
    (
        "roundoutcome",
        {"result": "'unsettled'", "points": "NULL", "failing": "ARRAY['mood']"},
        "what_fails_is_a_clause_of_the_rule",
    ),
    ("roundoutcome", {"result": "'perhaps'", "points": "NULL"}, "an_outcome_is_in_consensus_unsettled_or_out"),
]


@pytest.mark.parametrize(("table", "other", "name"), ROWS)
@pytest.mark.usefixtures("stored")
def test_a_row_that_breaks_a_rule_is_refused_by_its_name(table: str, other: dict[str, str], name: str) -> None:
    assert refusal(insert_like(f"annotation_{table}", **other)) == name


def test_rounds_count_from_1(stored: Stored) -> None:
    statement = insert_like("annotation_round", f"id = '{stored.open.id}'", number="0")
    assert refusal(statement) == "rounds_count_from_1"


# Votes


@pytest.mark.parametrize(
    "other", [{"points": "NULL"}, {"points": "0"}, {"points": "11"}, {"choice": "'abstain'", "points": "6"}]
)
@pytest.mark.usefixtures("stored")
def test_who_agrees_gives_a_weight_and_nobody_else_does(other: dict[str, str]) -> None:
    assert refusal(insert_like("annotation_vote", OPEN, **other)) == "who_agrees_gives_a_weight_nobody_else_does"


@pytest.mark.parametrize("reason", ["''", "' '", r"E'\n\t'", r"E'\u00a0'"])
@pytest.mark.usefixtures("stored")
def test_an_objection_has_a_reason_that_says_something(reason: str) -> None:
    statement = insert_like(
        "annotation_vote", OPEN, choice="'object'", points="NULL", category="'unsafe'", reason=reason
    )
    assert refusal(statement) == "who_objects_gives_a_category_and_a_reason"


def test_a_vote_is_on_a_wording_of_a_criterion_that_its_round_covers(stored: Stored) -> None:
    chloe = f"'{stored.panel.chloe.id}'"
    of_another = f"'{current(stored.criterion).id}'"
    statement = insert_like("annotation_vote", OPEN, reviewer_id=chloe, wording_id=of_another)
    assert refusal(statement) == "a_vote_is_on_what_its_round_covers"
    spelling = f"'{respell(stored).id}'"
    statement = insert_like("annotation_vote", OPEN, reviewer_id=chloe, wording_id=spelling)
    assert refusal(statement) == "a_vote_is_on_what_its_round_covers"
    run(insert_like("annotation_vote", OPEN, reviewer_id=chloe))


def test_who_votes_is_assigned_to_the_conversation(stored: Stored) -> None:
    for person in (stored.panel.oscar, stored.panel.adam):
        statement = insert_like("annotation_vote", OPEN, reviewer_id=f"'{person.id}'")
        assert refusal(statement) == "who_votes_is_assigned_to_the_conversation"
    run(
        "UPDATE annotation_assignment SET recused_at = now() "
        f"WHERE reviewer_id = '{stored.panel.chloe.id}' AND conversation_id = '{stored.open_conversation.id}'"
    )
    statement = insert_like("annotation_vote", OPEN, reviewer_id=f"'{stored.panel.chloe.id}'")
    assert refusal(statement) == "who_votes_is_assigned_to_the_conversation"


def test_a_writers_own_vote_is_kept_as_an_import_brings_it(stored: Stored) -> None:
    run(insert_like("annotation_vote", OPEN, reviewer_id=f"'{stored.panel.ana.id}'"))
    assert Vote.objects.filter(round=stored.open, reviewer=stored.panel.ana).exists()


# Rounds


@pytest.mark.parametrize(
    "change",
    [
        "number = number + 1",
        "conversation_id = (SELECT id FROM annotation_conversation AS other WHERE other.id <> conversation_id LIMIT 1)",
        "id = gen_random_uuid()",
    ],
)
def test_a_round_keeps_its_number_and_conversation(stored: Stored, change: str) -> None:
    assert refusal(f"UPDATE annotation_round SET {change} WHERE id = '{stored.open.id}'") == "a_revealed_round_stays"


@pytest.mark.parametrize("closes_at", ["NULL", "now() + interval '1 day'"])
def test_a_round_past_its_date_is_not_opened_again_and_can_be_settled(stored: Stored, closes_at: str) -> None:
    here = f"WHERE id = '{stored.open.id}'"
    run(f"UPDATE annotation_round SET closes_at = clock_timestamp() - interval '1 second' {here}")
    assert refusal(f"UPDATE annotation_round SET closes_at = {closes_at} {here}") == "a_revealed_round_stays"
    run(
        f"UPDATE annotation_round SET revealed_at = now(), closed_by_id = '{stored.panel.adam.id}', "
        f"policy_id = '{stored.panel.study.policy.id}' {here}"
    )
    assert refusal(f"UPDATE annotation_round SET revealed_at = NULL {here}") == "a_revealed_round_stays"


def test_a_round_that_is_revealed_already_can_not_be_made(stored: Stored) -> None:
    statement = insert_like("annotation_round", f"id = '{stored.revealed.id}'", number="2")
    assert refusal(statement) == "a_round_opens_before_it_is_revealed"


def test_criteria_join_a_round_of_their_own_conversation_until_its_reveal(stored: Stored) -> None:
    def joining(this: Round, criterion: Criterion) -> str:
        return (
            "INSERT INTO annotation_roundcriterion (round_id, criterion_id, is_proposed) "
            f"VALUES ('{this.id}', '{criterion.id}', false)"
        )

    name = "criteria_join_a_round_until_the_reveal"
    assert refusal(joining(stored.open, stored.criterion)) == name
    assert refusal(joining(stored.revealed, stored.criterion)) == name
    another = Criterion.objects.create(
        study=stored.panel.study, conversation=stored.open_conversation, external_id="another"
    )
    run(joining(stored.open, another))
    Round.objects.filter(pk=stored.open.pk).update(closes_at=stored.open.opened_at)
    later = Criterion.objects.create(
        study=stored.panel.study, conversation=stored.open_conversation, external_id="later"
    )
    assert refusal(joining(stored.open, later)) == name


# Outcomes


def another_policy(stored: Stored) -> str:
    """A later policy of the study, as one that is changed writes it: its id, for SQL."""
    run(insert_like("annotation_policy", version="2"))
    return f"'{stored.panel.study.policy.id}'"


def test_a_later_outcome_has_the_wording_writers_and_eligible_of_the_reveal(stored: Stored) -> None:
    policy, oscar = another_policy(stored), f"'{stored.panel.oscar.id}'"
    changed = (
        {"writers": f"array_append(writers, {oscar}::uuid)"},
        {"eligible": f"array_append(eligible, {oscar}::uuid)"},
        {"eligible": "eligible[2:]"},
        {"wording_id": f"'{current(stored.open_criterion).id}'"},
        {"criterion_id": f"'{stored.open_criterion.id}'", "wording_id": f"'{current(stored.open_criterion).id}'"},
    )
    for other in changed:
        statement = insert_like("annotation_roundoutcome", policy_id=policy, **other)
        assert refusal(statement) == "outcomes_of_a_round_tell_one_story", other
    run(insert_like("annotation_roundoutcome", policy_id=policy))


def of_the_open_round(stored: Stored) -> dict[str, str]:
    return {
        "round_id": f"'{stored.open.id}'",
        "criterion_id": f"'{stored.open_criterion.id}'",
        "wording_id": f"'{current(stored.open_criterion).id}'",
    }


def test_a_round_has_outcomes_from_its_reveal_on(stored: Stored) -> None:
    forged = insert_like("annotation_roundoutcome", **of_the_open_round(stored))
    assert refusal(forged) == "outcomes_come_with_the_reveal"
    reveal = (
        f"UPDATE annotation_round SET revealed_at = now(), policy_id = '{stored.panel.study.policy.id}' "
        f"WHERE id = '{stored.open.id}'"
    )
    run(f"{forged}; {reveal}")


def test_a_writer_is_never_eligible(stored: Stored) -> None:
    statement = insert_like("annotation_roundoutcome", **of_the_open_round(stored), eligible="writers || eligible")
    assert refusal(statement) == "a_writer_is_never_eligible"


# Criteria, revisions, conversations


def test_one_wording_is_of_one_criterion_with_the_same_points_axis_and_scale(stored: Stored) -> None:
    first, spelling = current(stored.open_criterion), respell(stored)
    here = f"id = '{spelling.id}'"
    changed = (
        {"same_wording_as_id": f"'{current(stored.criterion).id}'"},
        {"same_wording_as_id": f"'{spelling.id}'"},
        {"points": "9"},
        {"axis": "'collaboration'"},
        {"scale": "'ordinal'", "levels": """'[{"value": 0}]'"""},
    )
    for other in changed:
        statement = insert_like("annotation_revision", here, number="9", **other)
        assert refusal(statement) == "one_wording_has_one_meaning", other
    run(insert_like("annotation_revision", here, number="9"))
    assert Revision.objects.filter(wording_id=first.id).count() == 3


def test_the_current_revision_is_one_of_the_criterions_own(stored: Stored) -> None:
    here = f"WHERE id = '{stored.open_criterion.id}'"
    others = current(stored.criterion).id
    name = "the_current_revision_is_the_criterions_own"
    assert refusal(f"UPDATE annotation_criterion SET current_revision_id = '{others}' {here}") == name
    assert refusal(insert_like("annotation_criterion", external_id="'copy'")) == name
    respell(stored)
    run(f"UPDATE annotation_criterion SET current_revision_id = '{current(stored.open_criterion).id}' {here}")


def test_a_criterion_keeps_its_conversation_and_study(stored: Stored) -> None:
    other = make_panel()
    for change in (f"conversation_id = '{stored.conversation.id}'", f"study_id = '{other.study.id}'"):
        statement = f"UPDATE annotation_criterion SET {change} WHERE id = '{stored.open_criterion.id}'"
        assert refusal(statement) == "a_criterion_keeps_its_conversation"


@pytest.mark.parametrize(
    "change",
    [
        """messages = '[{"role": "user", "content": "All is well."}]'""",
        "external_id = 'another'",
        "external_name = 'published'",
        "item_sha256 = repeat('1', 64)",
    ],
)
@pytest.mark.usefixtures("stored")
def test_a_conversation_keeps_its_messages_and_its_id(change: str) -> None:
    assert refusal(f"UPDATE annotation_conversation SET {change}") == "a_conversation_keeps_its_messages"
    run("UPDATE annotation_conversation SET messages = messages, language = 'en', position = 3")


# No way past


def test_no_setting_of_a_session_opens_a_guard(stored: Stored) -> None:
    """pgtrigger's own triggers let through whoever sets this; any role may."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('pgtrigger.ignore', '{' || string_agg(tgname::text, ',') || '}', true) "
            "FROM pg_trigger WHERE tgname LIKE 'pgtrigger%'"
        )
    assert refusal("UPDATE annotation_policy SET max_rounds = 9") == "23001"
    statement = insert_like("annotation_vote", OPEN, reviewer_id=f"'{stored.panel.oscar.id}'")
    assert refusal(statement) == "who_votes_is_assigned_to_the_conversation"


def test_a_temporary_table_of_the_same_name_is_not_asked(stored: Stored) -> None:
    run("CREATE TEMPORARY TABLE annotation_round (LIKE public.annotation_round)")
    statement = f"UPDATE annotation_vote SET points = 9 WHERE round_id = '{stored.revealed.id}'"
    assert refusal(statement) == "votes_are_cast_and_changed_until_the_reveal"
