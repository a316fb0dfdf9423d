import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0008_waves"),
    ]

    operations = [
        migrations.CreateModel(
            name="SufficiencyAnswer",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "number",
                    models.PositiveSmallIntegerField(help_text="This person's first answer here is 1, the next 2, …"),
                ),
                ("is_sufficient", models.BooleanField()),
                ("missing", models.TextField(blank=True)),
                ("contradicts", models.TextField(blank=True)),
                (
                    "wordings",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        help_text="Ids of the wordings that were in consensus, sorted.",
                        size=None,
                    ),
                ),
                ("given_at", models.DateTimeField(auto_now_add=True)),
                (
                    "after_round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.round"
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sufficiency_answers",
                        to="annotation.conversation",
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("conversation", "reviewer", "number"), name="a_reviewers_answers_are_numbered"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="a_reviewers_answers_count_from_1"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("contradicts", ""), ("is_sufficient", True), ("missing", "")),
                            models.Q(
                                ("is_sufficient", False),
                                models.Q(
                                    models.Q(
                                        (
                                            "missing__regex",
                                            "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                                        ),
                                        _negated=True,
                                    ),
                                    models.Q(
                                        (
                                            "contradicts__regex",
                                            "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                                        ),
                                        _negated=True,
                                    ),
                                    _connector="OR",
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="a_no_says_what_is_missing_or_contradicts_a_yes_neither",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("wordings", []), _negated=True), name="an_answer_is_about_something"
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="sufficiencyanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="d58c6bac7ad37b5a308dfbc4b32a8b2471dc0fa5",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_0cd28",
                    table="annotation_sufficiencyanswer",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="sufficiencyanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="sufficiency_is_asked_after_a_reveal",
                sql=consilium.guards.GuardSql(
                    func="\n            PERFORM FROM public.annotation_conversation WHERE id = NEW.conversation_id FOR NO KEY UPDATE;\n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_round\n                     WHERE id = NEW.after_round_id AND conversation_id = NEW.conversation_id\n                       AND revealed_at IS NOT NULL\n                ) AND NOT EXISTS (\n                    SELECT FROM public.annotation_round\n                     WHERE conversation_id = NEW.conversation_id AND revealed_at IS NULL\n                )\n                ) THEN RAISE EXCEPTION 'whether it is enough is said after a reveal, while no round is open' USING ERRCODE = '23514', CONSTRAINT = 'sufficiency_is_asked_after_a_reveal'; END IF;\n            RETURN NEW;\n        ",
                    hash="0a755f289b1cb1522dc428dec1755c138987146d",
                    operation="INSERT",
                    pgid="pgtrigger_sufficiency_is_asked_after_a_reveal_c5192",
                    table="annotation_sufficiencyanswer",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="sufficiencyanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="who_says_whether_it_is_enough_is_assigned",
                sql=consilium.guards.GuardSql(
                    func="\n            \n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_assignment\n                     WHERE conversation_id = NEW.conversation_id AND reviewer_id = NEW.reviewer_id\n                       AND recused_at IS NULL\n                )\n                ) THEN RAISE EXCEPTION 'who says whether it is enough is assigned to the conversation' USING ERRCODE = '23514', CONSTRAINT = 'who_says_whether_it_is_enough_is_assigned'; END IF;\n            RETURN NEW;\n        ",
                    hash="ab2742c6f5b56a10bbf62b1c81d39cd9fd09e983",
                    operation="INSERT",
                    pgid="pgtrigger_who_says_whether_it_is_enough_is_assigned_1abb9",
                    table="annotation_sufficiencyanswer",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="sufficiencyanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="an_answer_is_about_wordings_of_its_conversation",
                sql=consilium.guards.GuardSql(
                    func="\n            \n            IF NOT (\n                NOT EXISTS (\n                    SELECT FROM unnest(NEW.wordings) AS wording (id)\n                     WHERE NOT EXISTS (\n                        SELECT FROM public.annotation_revision AS revision\n                          JOIN public.annotation_criterion AS criterion ON criterion.id = revision.criterion_id\n                         WHERE revision.id = wording.id AND revision.same_wording_as_id IS NULL\n                           AND criterion.conversation_id = NEW.conversation_id\n                     )\n                )\n                ) THEN RAISE EXCEPTION 'an answer is about wordings of its own conversation' USING ERRCODE = '23514', CONSTRAINT = 'an_answer_is_about_wordings_of_its_conversation'; END IF;\n            RETURN NEW;\n        ",
                    hash="75791d1cd4a72174dcccab82872a4d19db1e53da",
                    operation="INSERT",
                    pgid="pgtrigger_an_answer_is_about_wordings_of_its_conversation_c9175",
                    table="annotation_sufficiencyanswer",
                    when="BEFORE",
                ),
            ),
        ),
    ]
