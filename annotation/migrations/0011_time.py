import uuid

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_notices"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeclaredTime",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("minutes", models.PositiveSmallIntegerField()),
                ("note", models.CharField(blank=True, max_length=500)),
                ("declared_at", models.DateTimeField(auto_now_add=True)),
                (
                    "corrects",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.declaredtime",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="declared_times",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="declared_times",
                        to="annotation.study",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("minutes__lte", 1440)), name="a_day_has_24_hours"),
                    models.UniqueConstraint(
                        condition=models.Q(("corrects", None)),
                        fields=("study", "person", "day"),
                        name="a_day_is_declared_once_then_corrected",
                    ),
                    models.UniqueConstraint(fields=("corrects",), name="an_entry_is_corrected_once"),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="declaredtime",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="68b7a15f1678c61eeb4d83ec18e2086c81defd61",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_09146",
                    table="annotation_declaredtime",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="declaredtime",
            trigger=pgtrigger.compiler.Trigger(
                name="a_correction_is_of_the_same_day",
                sql=consilium.guards.GuardSql(
                    condition="WHEN (NEW.corrects_id IS NOT NULL)",
                    func="\n            \n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_declaredtime AS earlier\n                     WHERE earlier.id = NEW.corrects_id AND earlier.study_id = NEW.study_id\n                       AND earlier.person_id = NEW.person_id AND earlier.day = NEW.day\n                )\n                ) THEN RAISE EXCEPTION 'a correction is of the same study, person and day' USING ERRCODE = '23514', CONSTRAINT = 'a_correction_is_of_the_same_day'; END IF;\n            RETURN NEW;\n        ",
                    hash="c4bf5a2c3e50e2c7cf21c6daf0a35d599cdedce7",
                    operation="INSERT",
                    pgid="pgtrigger_a_correction_is_of_the_same_day_61174",
                    table="annotation_declaredtime",
                    when="BEFORE",
                ),
            ),
        ),
    ]
