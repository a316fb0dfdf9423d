import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards

THIS_TRANSACTION = """
CREATE FUNCTION consilium_this_transaction() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT pg_catalog.pg_current_xact_id()::text || ' ' || extract(epoch FROM pg_catalog.transaction_timestamp())::text $$;
COMMENT ON FUNCTION consilium_this_transaction() IS
'The same in all savepoints of a transaction, and never again: ids begin anew in a restored database, times don''t.';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_the_database_holds_the_rules"),
        ("rubrics", "0001_frozen_versions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(THIS_TRANSACTION, "DROP FUNCTION consilium_this_transaction();"),
        migrations.RunSQL(
            "ALTER TABLE rubrics_withdrawalevent "
            "RENAME CONSTRAINT rubrics_withdrawalevent_version_id_key TO a_version_is_withdrawn_once;",
            "ALTER TABLE rubrics_withdrawalevent "
            "RENAME CONSTRAINT a_version_is_withdrawn_once TO rubrics_withdrawalevent_version_id_key;",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="frozenconversation",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="frozencriterion",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="frozenleftout",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="frozenvote",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="rubricversion",
            name="never_changes",
        ),
        migrations.RemoveConstraint(
            model_name="frozenconversation",
            name="frozen_messages_are_there_or_their_tombstone",
        ),
        migrations.RemoveConstraint(
            model_name="rubricversion",
            name="own_versions_have_a_number_external_ones_a_name",
        ),
        migrations.RemoveConstraint(
            model_name="withdrawalevent",
            name="a_withdrawal_has_a_reason",
        ),
        migrations.AddField(
            model_name="rubricversion",
            name="frozen_in",
            field=models.CharField(
                blank=True,
                default="",
                editable=False,
                help_text="The transaction that wrote it, by the database's own hand.",
                max_length=60,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenconversation",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="e07ff2cd520bdfbcd3de28167600af39b30bfb3d",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_e4933",
                    table="rubrics_frozenconversation",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenconversation",
            trigger=pgtrigger.compiler.Trigger(
                name="written_with_its_version",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (EXISTS (SELECT FROM public.rubrics_rubricversion AS version WHERE version.id = NEW.version_id AND version.frozen_in = public.consilium_this_transaction())) THEN RAISE EXCEPTION 'a version is written whole, and nothing is added to it later' USING ERRCODE = '23514', CONSTRAINT = 'written_with_its_version'; END IF;\n            RETURN NULL;\n        ",
                    hash="bb05d344368e6d0e251f99d7b39bdf824c9fe4db",
                    operation="INSERT",
                    pgid="pgtrigger_written_with_its_version_25009",
                    table="rubrics_frozenconversation",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozencriterion",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="5c069bb42a1494d739f5f81aec300fc742d68ddb",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_0fde9",
                    table="rubrics_frozencriterion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozencriterion",
            trigger=pgtrigger.compiler.Trigger(
                name="written_with_its_version",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (EXISTS (\n                SELECT FROM public.rubrics_frozenconversation AS place\n                  JOIN public.rubrics_rubricversion AS version ON version.id = place.version_id\n                 WHERE place.id = NEW.frozen_conversation_id AND version.id = NEW.version_id\n                 AND version.frozen_in = public.consilium_this_transaction())) THEN RAISE EXCEPTION 'a version is written whole, and nothing is added to it later' USING ERRCODE = '23514', CONSTRAINT = 'written_with_its_version'; END IF;\n            RETURN NULL;\n        ",
                    hash="7d050cbf6cfee8f44f87809f9ac2aaeaa294796c",
                    operation="INSERT",
                    pgid="pgtrigger_written_with_its_version_e1137",
                    table="rubrics_frozencriterion",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenleftout",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="c8d8ffa4ebe8793c778e6a2f0160ee85fc2371d2",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_395d2",
                    table="rubrics_frozenleftout",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenleftout",
            trigger=pgtrigger.compiler.Trigger(
                name="written_with_its_version",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (EXISTS (SELECT FROM public.rubrics_rubricversion AS version WHERE version.id = NEW.version_id AND version.frozen_in = public.consilium_this_transaction())) THEN RAISE EXCEPTION 'a version is written whole, and nothing is added to it later' USING ERRCODE = '23514', CONSTRAINT = 'written_with_its_version'; END IF;\n            RETURN NULL;\n        ",
                    hash="fa0342027a211ffd787ad2586063d08d2bd5b8a4",
                    operation="INSERT",
                    pgid="pgtrigger_written_with_its_version_5ef17",
                    table="rubrics_frozenleftout",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenvote",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="ed87bdcf4906302efaef63d42ab6e02613008c0a",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_a9f1e",
                    table="rubrics_frozenvote",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="frozenvote",
            trigger=pgtrigger.compiler.Trigger(
                name="written_with_its_version",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (EXISTS (\n                SELECT FROM public.rubrics_frozencriterion AS criterion\n                  JOIN public.rubrics_rubricversion AS version ON version.id = criterion.version_id\n                 WHERE criterion.id = NEW.criterion_id\n                 AND version.frozen_in = public.consilium_this_transaction())) THEN RAISE EXCEPTION 'a version is written whole, and nothing is added to it later' USING ERRCODE = '23514', CONSTRAINT = 'written_with_its_version'; END IF;\n            RETURN NULL;\n        ",
                    hash="cf2d3d072f0ea1fc9e28ddd850838b0b13a58afd",
                    operation="INSERT",
                    pgid="pgtrigger_written_with_its_version_7525a",
                    table="rubrics_frozenvote",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricversion",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="68e175fa4b4e8853b553d8600e0b32fbd7c37869",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_439ee",
                    table="rubrics_rubricversion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricversion",
            trigger=pgtrigger.compiler.Trigger(
                name="notes_which_transaction_wrote_it",
                sql=consilium.guards.GuardSql(
                    func="NEW.frozen_in := public.consilium_this_transaction(); RETURN NEW;",
                    hash="ef1cc0f69ef585f3195649410ef0f6230bc4f417",
                    operation="INSERT",
                    pgid="pgtrigger_notes_which_transaction_wrote_it_c974d",
                    table="rubrics_rubricversion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="withdrawalevent",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="4d0d199594e6daa2090978fd26c34c58792ae84a",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_3900c",
                    table="rubrics_withdrawalevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenconversation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("messages__isnull", True), ("tombstone__isnull", False)),
                    models.Q(
                        ("messages__isnull", False), ("tombstone", None), models.Q(("messages", None), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="frozen_messages_are_there_or_their_tombstone",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenconversation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("acuity", None), ("acuity__in", ["non_acute", "high_acuity", "emergent"]), _connector="OR"
                ),
                name="a_frozen_acuity_is_one_of_three_or_unknown",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenconversation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("user_profile", None),
                    ("user_profile__in", ["adult", "teen", "caregiver", "clinician"]),
                    _connector="OR",
                ),
                name="a_frozen_user_profile_is_one_of_four_or_unknown",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenconversation",
            constraint=models.CheckConstraint(
                condition=models.Q(("item_sha256__regex", "^[0-9a-f]{64}$")),
                name="a_frozen_conversations_hash_is_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozencriterion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "text__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="a_frozen_criterion_says_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozencriterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("scale__in", ["binary", "ordinal", "choice"])),
                name="a_frozen_scale_is_binary_ordinal_or_choice",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozencriterion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("levels__isnull", True), ("scale", "binary")),
                    models.Q(
                        models.Q(("scale", "binary"), _negated=True),
                        ("levels__isnull", False),
                        models.Q(("levels", None), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="a_frozen_binary_scale_has_no_levels_others_have",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozencriterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("item_sha256__regex", "^[0-9a-f]{64}$")),
                name="a_frozen_criterions_hash_is_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenleftout",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "reason__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="what_is_left_out_says_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenvote",
            constraint=models.CheckConstraint(
                condition=models.Q(("choice__in", ["agree", "object", "abstain", "recuse"])),
                name="a_frozen_vote_agrees_objects_abstains_or_recuses",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenvote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        (
                            "category__in",
                            [
                                "unsafe",
                                "clinically_wrong",
                                "ambiguous",
                                "missing_context",
                                "not_gradable",
                                "duplicate",
                                "out_of_scope",
                            ],
                        ),
                        ("choice", "object"),
                    ),
                    models.Q(models.Q(("choice", "object"), _negated=True), ("category", "")),
                    _connector="OR",
                ),
                name="a_frozen_objection_has_a_category",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenvote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("choice", "agree"),
                        ("points__gte", -10),
                        ("points__isnull", False),
                        ("points__lte", 10),
                        models.Q(("points", 0), _negated=True),
                    ),
                    models.Q(models.Q(("choice", "agree"), _negated=True), ("points", None)),
                    _connector="OR",
                ),
                name="a_frozen_agreement_has_a_weight_nothing_else_has",
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenvote",
            constraint=models.CheckConstraint(
                condition=models.Q(("item_sha256__regex", "^[0-9a-f]{64}$")),
                name="a_frozen_votes_hash_is_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="rubricversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("kind", "consensus"),
                        ("name", ""),
                        ("number__gte", 1),
                        ("number__isnull", False),
                        ("policy__isnull", False),
                    ),
                    models.Q(
                        ("kind", "external"), ("number", None), ("policy", None), models.Q(("name", ""), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="own_versions_have_a_number_external_ones_a_name",
            ),
        ),
        migrations.AddConstraint(
            model_name="rubricversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("digest__regex", "^[0-9a-f]{64}$"),
                    ("note_sha256__regex", "^[0-9a-f]{64}$"),
                    ("policy_sha256__regex", "^[0-9a-f]{64}$"),
                    ("record_digest__regex", "^[0-9a-f]{64}$"),
                ),
                name="a_versions_digests_are_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="rubricversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("source_sha256", ""), ("source_sha256__regex", "^[0-9a-f]{64}$"), _connector="OR"),
                name="a_source_files_digest_is_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="withdrawalevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "reason__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="a_withdrawal_has_a_reason",
            ),
        ),
    ]
