import uuid

import django.db.models.deletion
import django.db.models.functions.comparison
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_the_database_holds_the_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="SettledLikeness",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "outcome",
                    models.CharField(choices=[("merged", "merged"), ("kept_both", "both kept")], max_length=10),
                ),
                ("settled_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "settled likenesses",
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="criterion",
            trigger=pgtrigger.compiler.Trigger(
                name="a_criterion_is_merged_into_one_that_stands",
                sql=consilium.guards.GuardSql(
                    constraint="CONSTRAINT",
                    func="\n            IF NOT (\n                NEW.merged_into_id IS NULL OR EXISTS (\n                    SELECT FROM public.annotation_criterion AS kept\n                     WHERE kept.id = NEW.merged_into_id AND kept.conversation_id = NEW.conversation_id\n                       AND kept.merged_into_id IS NULL\n                ) AND NOT EXISTS (SELECT FROM public.annotation_criterion WHERE merged_into_id = NEW.id)\n                ) THEN RAISE EXCEPTION 'a criterion is merged into one of its own conversation that is not merged itself' USING ERRCODE = '23514', CONSTRAINT = 'a_criterion_is_merged_into_one_that_stands'; END IF;\n            RETURN NULL;\n        ",
                    hash="cc5fcd2dc3a11505a2540cb285aa3c5dbb55446f",
                    operation='INSERT OR UPDATE OF "merged_into_id"',
                    pgid="pgtrigger_a_criterion_is_merged_into_one_that_stands_ab487",
                    table="annotation_criterion",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="settledlikeness",
            name="kept",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.criterion"
            ),
        ),
        migrations.AddField(
            model_name="settledlikeness",
            name="other",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.criterion"
            ),
        ),
        migrations.AddField(
            model_name="settledlikeness",
            name="settled_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="settledlikeness",
            constraint=models.UniqueConstraint(
                django.db.models.functions.comparison.Least("kept", "other"),
                django.db.models.functions.comparison.Greatest("kept", "other"),
                models.F("outcome"),
                name="a_likeness_is_settled_once_each_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="settledlikeness",
            constraint=models.CheckConstraint(
                condition=models.Q(("kept", models.F("other")), _negated=True),
                name="a_likeness_is_of_two_different_criteria",
            ),
        ),
        migrations.AddConstraint(
            model_name="settledlikeness",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["merged", "kept_both"])), name="a_likeness_is_merged_or_kept_both"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="settledlikeness",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="4c1a49c558e4016fdefc1a9db42dc8ccb3d21366",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_0de4e",
                    table="annotation_settledlikeness",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="settledlikeness",
            trigger=pgtrigger.compiler.Trigger(
                name="a_likeness_is_of_one_conversation",
                sql=consilium.guards.GuardSql(
                    func="\n            \n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_criterion AS kept\n                      JOIN public.annotation_criterion AS other USING (conversation_id)\n                     WHERE kept.id = NEW.kept_id AND other.id = NEW.other_id\n                       AND (NEW.outcome <> 'merged' OR other.merged_into_id = NEW.kept_id)\n                )\n                ) THEN RAISE EXCEPTION 'likenesses are settled within one conversation, and say what stands on the criteria' USING ERRCODE = '23514', CONSTRAINT = 'a_likeness_is_of_one_conversation'; END IF;\n            RETURN NEW;\n        ",
                    hash="0f59ab520d87c8d8bf39a4a3de283387adc77b03",
                    operation="INSERT",
                    pgid="pgtrigger_a_likeness_is_of_one_conversation_2c7f8",
                    table="annotation_settledlikeness",
                    when="BEFORE",
                ),
            ),
        ),
    ]
