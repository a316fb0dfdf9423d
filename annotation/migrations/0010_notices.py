import uuid

import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_sufficiency"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("invitation", "invitation"), ("digest", "digest"), ("reminder", "reminder")],
                        max_length=12,
                    ),
                ),
                (
                    "period",
                    models.CharField(
                        help_text="The day or week that it is about; an invitation's number in its study.",
                        max_length=40,
                    ),
                ),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "next_try_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="When it is to be tried; while it is claimed, when the claim runs out.",
                    ),
                ),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "dropped_at",
                    models.DateTimeField(blank=True, help_text="Given up, or nothing was left to say.", null=True),
                ),
                ("problem", models.TextField(blank=True, help_text="Why the last attempt failed.")),
            ],
        ),
        migrations.AddField(
            model_name="user",
            name="digests",
            field=models.CharField(
                choices=[("off", "never"), ("daily", "each day"), ("weekly", "each Monday")],
                default="weekly",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="page_language",
            field=models.CharField(
                blank=True,
                help_text="Of pages and mail, one of those that the site has; not said: the site's.",
                max_length=35,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="time_zone",
            field=models.CharField(blank=True, help_text="As America/Mexico_City; not said: UTC.", max_length=64),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(("digests__in", ["off", "daily", "weekly"])),
                name="digests_come_never_daily_or_weekly",
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="asked_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="notices", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="study",
            field=models.ForeignKey(
                blank=True,
                help_text="Of an invitation.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.study",
            ),
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(
                models.F("next_try_at"),
                condition=models.Q(("dropped_at", None), ("sent_at", None)),
                name="notices_to_be_sent",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("study", None)),
                fields=("person", "kind", "period"),
                name="one_notice_of_a_kind_a_person_and_period",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("study__isnull", False)),
                fields=("person", "study", "period"),
                name="invitations_to_a_study_are_numbered_by_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["invitation", "digest", "reminder"])),
                name="a_notice_is_an_invitation_a_digest_or_a_reminder",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "invitation"), ("study__isnull", False)),
                    models.Q(models.Q(("kind", "invitation"), _negated=True), ("study", None)),
                    _connector="OR",
                ),
                name="an_invitation_and_nothing_else_is_to_one_study",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("sent_at", None), ("dropped_at", None), _connector="OR"),
                name="a_notice_is_sent_or_given_up",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("sent_at", None), ("attempts__gte", 1), _connector="OR"),
                name="what_was_sent_was_tried",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("attempts__lte", 10)), name="a_notice_is_tried_a_counted_number_of_times"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="notice",
            trigger=pgtrigger.compiler.Trigger(
                name="a_settled_notice_stays_as_it_is",
                sql=consilium.guards.GuardSql(
                    func="\n                IF TG_OP = 'DELETE' AND NOT false THEN RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001'; END IF;\n                IF NOT (OLD.sent_at IS NULL AND OLD.dropped_at IS NULL) THEN RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001'; END IF;\n                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n                RETURN NEW;\n            ",
                    hash="4ab5bde21207d5d6854dfe93f97d7a28467903d0",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_a_settled_notice_stays_as_it_is_2bd90",
                    table="annotation_notice",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="notice",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="f7421c8e9d4fdead9fa73b0a907920eb72172d1a",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_06a20",
                    table="annotation_notice",
                    when="BEFORE",
                ),
            ),
        ),
    ]
