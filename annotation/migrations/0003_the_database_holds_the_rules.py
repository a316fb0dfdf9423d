import django.db.models.expressions
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_a_discussion_ends_at_its_date"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="comment",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="consent",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="fileimport",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="policy",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="revision",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="revisionwriter",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="round",
            name="a_revealed_round_stays",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="round",
            name="never_emptied",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="roundcriterion",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="roundoutcome",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="vote",
            name="votes_are_cast_and_changed_until_the_reveal",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="vote",
            name="never_emptied",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="voterequest",
            name="never_changes",
        ),
        migrations.RemoveConstraint(
            model_name="comment",
            name="a_comment_says_something",
        ),
        migrations.RemoveConstraint(
            model_name="revision",
            name="a_binary_scale_has_no_levels_others_have",
        ),
        migrations.RemoveConstraint(
            model_name="roundoutcome",
            name="consensus_has_points_nothing_else_has",
        ),
        migrations.RemoveConstraint(
            model_name="study",
            name="de_identified_texts_carry_an_attestation",
        ),
        migrations.RemoveConstraint(
            model_name="vote",
            name="who_agrees_gives_a_weight_nobody_else_does",
        ),
        migrations.RemoveConstraint(
            model_name="vote",
            name="who_objects_gives_a_category_and_a_reason",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="comment",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="4c14db5b1ea6f58dca48b31e84866e6de95dd93e",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_5e535",
                    table="annotation_comment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="consent",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="fe46c0edbba9480f4cb7e7ad937637d22f8cefd2",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_eab8a",
                    table="annotation_consent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="conversation",
            trigger=pgtrigger.compiler.Trigger(
                name="a_conversation_keeps_its_messages",
                sql=consilium.guards.GuardSql(
                    condition="WHEN (OLD.study_id IS DISTINCT FROM NEW.study_id OR OLD.external_name IS DISTINCT FROM NEW.external_name OR OLD.external_id IS DISTINCT FROM NEW.external_id OR OLD.messages IS DISTINCT FROM NEW.messages OR OLD.item_sha256 IS DISTINCT FROM NEW.item_sha256)",
                    func="RAISE EXCEPTION 'a conversation keeps its study, id and messages' USING ERRCODE = '23001', CONSTRAINT = 'a_conversation_keeps_its_messages';",
                    hash="55b50a4f61f23ab22e2926478d2c3afd13b82b76",
                    operation='UPDATE OF "study_id", "external_name", "external_id", "messages", "item_sha256"',
                    pgid="pgtrigger_a_conversation_keeps_its_messages_ff8b6",
                    table="annotation_conversation",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="criterion",
            trigger=pgtrigger.compiler.Trigger(
                name="a_criterion_keeps_its_conversation",
                sql=consilium.guards.GuardSql(
                    condition="WHEN (OLD.study_id IS DISTINCT FROM NEW.study_id OR OLD.conversation_id IS DISTINCT FROM NEW.conversation_id)",
                    func="RAISE EXCEPTION 'a criterion keeps its study and conversation' USING ERRCODE = '23001', CONSTRAINT = 'a_criterion_keeps_its_conversation';",
                    hash="94ce2aae700236250c04e048451a6d9f6067d10d",
                    operation='UPDATE OF "study_id", "conversation_id"',
                    pgid="pgtrigger_a_criterion_keeps_its_conversation_306ef",
                    table="annotation_criterion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="criterion",
            trigger=pgtrigger.compiler.Trigger(
                name="the_current_revision_is_the_criterions_own",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (\n                NEW.current_revision_id IS NULL OR EXISTS (\n                    SELECT FROM public.annotation_revision\n                     WHERE id = NEW.current_revision_id AND criterion_id = NEW.id\n                )\n                ) THEN RAISE EXCEPTION 'the current revision of a criterion is one of its own' USING ERRCODE = '23514', CONSTRAINT = 'the_current_revision_is_the_criterions_own'; END IF;\n            RETURN NULL;\n        ",
                    hash="9b95ee6cef45fa3387b92ba0a7cc193899b8fcd7",
                    operation='INSERT OR UPDATE OF "current_revision_id"',
                    pgid="pgtrigger_the_current_revision_is_the_criterions_own_155c6",
                    table="annotation_criterion",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="fileimport",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="02eaa8294ce83f00b4bb559ae02df4f7982707ea",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_8c153",
                    table="annotation_fileimport",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="policy",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="75fe91cfbdb452bba4c1632ab9ccc3b88117f0c5",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_c9369",
                    table="annotation_policy",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="revision",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="e8196652ca337a4942982902d46acd88692c1491",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_093ce",
                    table="annotation_revision",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="revision",
            trigger=pgtrigger.compiler.Trigger(
                name="one_wording_has_one_meaning",
                sql=consilium.guards.GuardSql(
                    condition="WHEN (NEW.same_wording_as_id IS NOT NULL)",
                    func="\n            \n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_revision AS first\n                     WHERE first.id = NEW.same_wording_as_id AND first.criterion_id = NEW.criterion_id\n                       AND first.same_wording_as_id IS NULL\n                       AND (first.points, first.axis, first.scale, first.levels)\n                           IS NOT DISTINCT FROM (NEW.points, NEW.axis, NEW.scale, NEW.levels)\n                )\n                ) THEN RAISE EXCEPTION 'a wording is of one criterion, with the same points, axis and scale' USING ERRCODE = '23514', CONSTRAINT = 'one_wording_has_one_meaning'; END IF;\n            RETURN NEW;\n        ",
                    hash="dbbfbbc1ca68514ea284aa8677b7c9224ca67d97",
                    operation="INSERT",
                    pgid="pgtrigger_one_wording_has_one_meaning_3c063",
                    table="annotation_revision",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="revisionwriter",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="73af9d9a45ebc78ed4708d6af6bdf6b8bf71d6ff",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_9713d",
                    table="annotation_revisionwriter",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="round",
            trigger=pgtrigger.compiler.Trigger(
                name="a_round_opens_before_it_is_revealed",
                sql=consilium.guards.GuardSql(
                    func="\n            \n            IF NOT (NEW.revealed_at IS NULL) THEN RAISE EXCEPTION 'a round opens before it is revealed' USING ERRCODE = '23514', CONSTRAINT = 'a_round_opens_before_it_is_revealed'; END IF;\n            RETURN NEW;\n        ",
                    hash="eb3ae38e10cdc66991905d7e6e443f0fcc3436e1",
                    operation="INSERT",
                    pgid="pgtrigger_a_round_opens_before_it_is_revealed_bae5f",
                    table="annotation_round",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="round",
            trigger=pgtrigger.compiler.Trigger(
                name="a_revealed_round_stays",
                sql=consilium.guards.GuardSql(
                    func="\n                    IF TG_OP = 'DELETE' OR OLD.revealed_at IS NOT NULL\n                       OR (NEW.id, NEW.conversation_id, NEW.number)\n                          IS DISTINCT FROM (OLD.id, OLD.conversation_id, OLD.number)\n                       OR (public.consilium_round_is_revealed(OLD.revealed_at, OLD.closes_at)\n                           AND NEW.closes_at IS DISTINCT FROM OLD.closes_at) THEN\n                        RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP\n                            USING ERRCODE = '23001', CONSTRAINT = 'a_revealed_round_stays';\n                    END IF;\n                    RETURN NEW;\n                ",
                    hash="25a8aa9dbd805aa006a7265d4f2dc9f1938faf75",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_a_revealed_round_stays_a816a",
                    table="annotation_round",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="round",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="6926c2ce357593a8db789ba995e6334910415fae",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_9f1e8",
                    table="annotation_round",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="roundcriterion",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="d3469cd9a0dcac157ddaf3b890dfcd6de7e4ecf8",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_50ae0",
                    table="annotation_roundcriterion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="roundcriterion",
            trigger=pgtrigger.compiler.Trigger(
                name="criteria_join_a_round_until_the_reveal",
                sql=consilium.guards.GuardSql(
                    func="\n            PERFORM FROM public.annotation_round WHERE id = NEW.round_id FOR SHARE;\n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_round AS held\n                      JOIN public.annotation_criterion AS criterion USING (conversation_id)\n                     WHERE held.id = NEW.round_id AND criterion.id = NEW.criterion_id\n                       AND NOT public.consilium_round_is_revealed(held.revealed_at, held.closes_at)\n                )\n                ) THEN RAISE EXCEPTION 'a round covers criteria of its own conversation, and takes in none after the reveal' USING ERRCODE = '23514', CONSTRAINT = 'criteria_join_a_round_until_the_reveal'; END IF;\n            RETURN NEW;\n        ",
                    hash="17aa8c4f1733ace7ad8ddaa0491a4fe77952cdb2",
                    operation="INSERT",
                    pgid="pgtrigger_criteria_join_a_round_until_the_reveal_10b0a",
                    table="annotation_roundcriterion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="roundoutcome",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="27e60373d69326e41dea7f82584826663a687449",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_cf5ac",
                    table="annotation_roundoutcome",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="roundoutcome",
            trigger=pgtrigger.compiler.Trigger(
                name="outcomes_of_a_round_tell_one_story",
                sql=consilium.guards.GuardSql(
                    func="\n            PERFORM FROM public.annotation_round WHERE id = NEW.round_id FOR NO KEY UPDATE;\n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_revision AS wording\n                      JOIN public.annotation_roundcriterion AS covered USING (criterion_id)\n                     WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL\n                       AND covered.round_id = NEW.round_id AND covered.criterion_id = NEW.criterion_id\n                ) AND NOT EXISTS (\n                    SELECT FROM public.annotation_roundoutcome AS before\n                     WHERE before.round_id = NEW.round_id AND before.criterion_id = NEW.criterion_id\n                       AND (before.wording_id, before.writers, before.eligible)\n                           IS DISTINCT FROM (NEW.wording_id, NEW.writers, NEW.eligible)\n                )\n                ) THEN RAISE EXCEPTION 'outcomes of a criterion in a round have the wording, writers and eligible of its reveal' USING ERRCODE = '23514', CONSTRAINT = 'outcomes_of_a_round_tell_one_story'; END IF;\n            RETURN NEW;\n        ",
                    hash="90cfbb77c3653a9f80d4a27700057ef6d90ef285",
                    operation="INSERT",
                    pgid="pgtrigger_outcomes_of_a_round_tell_one_story_b27df",
                    table="annotation_roundoutcome",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="roundoutcome",
            trigger=pgtrigger.compiler.Trigger(
                name="outcomes_come_with_the_reveal",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (EXISTS (SELECT FROM public.annotation_round WHERE id = NEW.round_id AND revealed_at IS NOT NULL)) THEN RAISE EXCEPTION 'a round has outcomes from its reveal on' USING ERRCODE = '23514', CONSTRAINT = 'outcomes_come_with_the_reveal'; END IF;\n            RETURN NULL;\n        ",
                    hash="4d90b700e495c2ff660b5061c4f267ef15bdce0f",
                    operation="INSERT",
                    pgid="pgtrigger_outcomes_come_with_the_reveal_9f47d",
                    table="annotation_roundoutcome",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="vote",
            trigger=pgtrigger.compiler.Trigger(
                name="votes_are_cast_and_changed_until_the_reveal",
                sql=consilium.guards.GuardSql(
                    declare="DECLARE this record; held record;",
                    func="\n                    IF TG_OP = 'DELETE' THEN this := OLD; ELSE this := NEW; END IF;\n                    IF TG_OP = 'UPDATE' AND (OLD.round_id, OLD.wording_id, OLD.reviewer_id)\n                       IS DISTINCT FROM (NEW.round_id, NEW.wording_id, NEW.reviewer_id) THEN\n                        RAISE EXCEPTION 'a vote keeps its round, wording and reviewer' USING ERRCODE = '23001';\n                    END IF;\n                    SELECT revealed_at, closes_at, conversation_id INTO held FROM public.annotation_round\n                        WHERE id = this.round_id FOR SHARE;\n                    IF public.consilium_round_is_revealed(held.revealed_at, held.closes_at) THEN\n                        RAISE EXCEPTION 'the round is revealed: no vote is cast, changed or deleted'\n                            USING ERRCODE = '23001', CONSTRAINT = 'votes_are_cast_and_changed_until_the_reveal';\n                    END IF;\n                    IF TG_OP = 'INSERT' AND NOT EXISTS (\n                        SELECT FROM public.annotation_revision AS wording\n                          JOIN public.annotation_roundcriterion AS covered USING (criterion_id)\n                         WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL\n                           AND covered.round_id = NEW.round_id\n                    ) THEN\n                        RAISE EXCEPTION 'a vote is on a wording of a criterion that its round covers'\n                            USING ERRCODE = '23514', CONSTRAINT = 'a_vote_is_on_what_its_round_covers';\n                    END IF;\n                    IF TG_OP = 'INSERT' AND NOT EXISTS (\n                        SELECT FROM public.annotation_assignment\n                         WHERE conversation_id = held.conversation_id AND reviewer_id = NEW.reviewer_id\n                           AND recused_at IS NULL\n                    ) THEN\n                        RAISE EXCEPTION 'who votes is assigned to the conversation'\n                            USING ERRCODE = '23514', CONSTRAINT = 'who_votes_is_assigned_to_the_conversation';\n                    END IF;\n                    RETURN this;\n                ",
                    hash="9bbcbe6a2a7d7250046cf973fc25f9f7ff255fb2",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_votes_are_cast_and_changed_until_the_reveal_d2d0d",
                    table="annotation_vote",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="vote",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="bbd278a6a680a03eee7f488884469bd874ba3d8e",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_87dce",
                    table="annotation_vote",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="voterequest",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="ea75efa925c9292812a31f1aa5f47cc3541f6ae6",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_2e981",
                    table="annotation_voterequest",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("origin__in", ["assigned", "imported", "substitute"])),
                name="a_reviewer_is_assigned_imported_or_a_substitute",
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "text__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="a_comment_says_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=models.Q(("item_sha256__regex", "^[0-9a-f]{64}$")),
                name="a_conversations_hash_is_64_hex_digits",
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("merged_into", None), ("withdrawn_at", None), _connector="OR"),
                name="a_criterion_is_merged_or_withdrawn_not_both",
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("withdrawn_by", None), ("withdrawn_at__isnull", False), _connector="OR"),
                name="what_somebody_withdrew_says_when",
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("adjudicated_at", None), ("adjudicated_by", None), ("adjudication", "")),
                    models.Q(
                        ("adjudicated_at__isnull", False),
                        models.Q(
                            (
                                "adjudication__regex",
                                "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                            ),
                            _negated=True,
                        ),
                    ),
                    _connector="OR",
                ),
                name="what_is_adjudicated_carries_its_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="fileimport",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["conversations", "criteria", "votes", "responses", "verdicts"])),
                name="what_a_file_brings_is_one_of_five_kinds",
            ),
        ),
        migrations.AddConstraint(
            model_name="fileimport",
            constraint=models.CheckConstraint(
                condition=models.Q(("sha256__regex", "^[0-9a-f]{64}$")), name="a_files_digest_is_64_hex_digits"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "roles__len",
                        django.db.models.expressions.CombinedExpression(
                            django.db.models.expressions.CombinedExpression(
                                models.Case(
                                    models.When(roles__contains=["clinician"], then=1),
                                    default=0,
                                    output_field=models.IntegerField(),
                                ),
                                "+",
                                models.Case(
                                    models.When(roles__contains=["admin"], then=1),
                                    default=0,
                                    output_field=models.IntegerField(),
                                ),
                            ),
                            "+",
                            models.Case(
                                models.When(roles__contains=["researcher"], then=1),
                                default=0,
                                output_field=models.IntegerField(),
                            ),
                        ),
                    )
                ),
                name="a_member_holds_a_role_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="policies_count_from_1"),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "blocks__contained_by",
                        [
                            "unsafe",
                            "clinically_wrong",
                            "ambiguous",
                            "missing_context",
                            "not_gradable",
                            "duplicate",
                            "out_of_scope",
                        ],
                    )
                ),
                name="what_blocks_is_a_category_of_objection",
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_rounds__gte", 1)), name="a_policy_allows_at_least_one_round"
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("reviewers_per_conversation__gte", 1)),
                name="a_conversation_has_at_least_one_reviewer",
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("drafting__in", ["alone", "together"])), name="drafting_is_alone_or_together"
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("weights__in", ["own", "prefilled"])), name="weights_are_own_or_prefilled"
            ),
        ),
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "text__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="a_criterion_says_something",
                violation_error_message="A criterion says something.",
            ),
        ),
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="revisions_count_from_1"),
        ),
        migrations.AddConstraint(
            model_name="revision",
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
                name="a_binary_scale_has_no_levels_others_have",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="rounds_count_from_1"),
        ),
        migrations.AddConstraint(
            model_name="roundoutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("points__gte", -10),
                        ("points__isnull", False),
                        ("points__lte", 10),
                        ("result", "in_consensus"),
                        models.Q(("points", 0), _negated=True),
                    ),
                    models.Q(models.Q(("result", "in_consensus"), _negated=True), ("points", None)),
                    _connector="OR",
                ),
                name="consensus_has_points_nothing_else_has",
            ),
        ),
        migrations.AddConstraint(
            model_name="roundoutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(("result__in", ["in_consensus", "unsettled", "out"])),
                name="an_outcome_is_in_consensus_unsettled_or_out",
            ),
        ),
        migrations.AddConstraint(
            model_name="roundoutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("result", "in_consensus"), _negated=True), ("failing", []), _connector="OR"
                ),
                name="what_is_in_consensus_fails_on_nothing",
            ),
        ),
        migrations.AddConstraint(
            model_name="roundoutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("failing__contained_by", ["reviewed", "agreed", "ratio", "blocked", "sign", "spread"])
                ),
                name="what_fails_is_a_clause_of_the_rule",
            ),
        ),
        migrations.AddConstraint(
            model_name="roundoutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(("writers__overlap", models.F("eligible")), _negated=True),
                name="a_writer_is_never_eligible",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("text_class", "de_identified"), _negated=True),
                    models.Q(
                        (
                            "attestation__regex",
                            "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                        ),
                        _negated=True,
                    ),
                    _connector="OR",
                ),
                name="de_identified_texts_carry_an_attestation",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
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
                name="who_agrees_gives_a_weight_nobody_else_does",
                violation_error_message="An agreement has a weight from -10 to +10, not 0.",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
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
                        models.Q(
                            (
                                "reason__regex",
                                "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                            ),
                            _negated=True,
                        ),
                    ),
                    models.Q(models.Q(("choice", "object"), _negated=True), ("category", ""), ("reason", "")),
                    _connector="OR",
                ),
                name="who_objects_gives_a_category_and_a_reason",
                violation_error_message="An objection has a category and a reason.",
            ),
        ),
    ]
