import uuid

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="PilotMark",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "mark",
                    models.CharField(
                        choices=[("met", "met"), ("not_met", "not met"), ("cant_tell", "can't tell")], max_length=10
                    ),
                ),
                ("given_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="PilotResponse",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField()),
                (
                    "external_id",
                    models.CharField(blank=True, help_text="Its id in the file, trimmed, NFC.", max_length=500),
                ),
                ("text", models.TextField()),
                (
                    "text_sha256",
                    models.CharField(help_text="Of the text in NFC, line ends as LF, trimmed.", max_length=64),
                ),
                (
                    "source",
                    models.CharField(blank=True, help_text="Where it is from, for no reviewer's eyes.", max_length=500),
                ),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="fileimport",
            name="what_a_file_brings_is_one_of_five_kinds",
        ),
        migrations.AlterField(
            model_name="fileimport",
            name="kind",
            field=models.CharField(
                choices=[
                    ("conversations", "conversations"),
                    ("criteria", "criteria"),
                    ("votes", "votes"),
                    ("responses", "responses"),
                    ("verdicts", "reviewer verdicts"),
                    ("pilot_responses", "pilot responses"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="fileimport",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["conversations", "criteria", "votes", "responses", "verdicts", "pilot_responses"])
                ),
                name="what_a_file_brings_is_one_of_six_kinds",
            ),
        ),
        migrations.AddField(
            model_name="pilotmark",
            name="reviewer",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="pilotmark",
            name="wording",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="pilot_marks", to="annotation.revision"
            ),
        ),
        migrations.AddField(
            model_name="pilotresponse",
            name="conversation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="pilot_responses",
                to="annotation.conversation",
            ),
        ),
        migrations.AddField(
            model_name="pilotresponse",
            name="imported_from",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.fileimport"
            ),
        ),
        migrations.AddField(
            model_name="pilotresponse",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.study"
            ),
        ),
        migrations.AddField(
            model_name="pilotmark",
            name="response",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="marks", to="annotation.pilotresponse"
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.UniqueConstraint(fields=("conversation", "number"), name="pilot_responses_are_numbered"),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.UniqueConstraint(
                fields=("conversation", "text_sha256"), name="a_pilot_response_is_brought_once_a_conversation"
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=("study", "external_id"),
                name="an_id_names_one_pilot_response_of_a_study",
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="pilot_responses_count_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "text__regex",
                        "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                    ),
                    _negated=True,
                ),
                name="a_pilot_response_says_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotresponse",
            constraint=models.CheckConstraint(
                condition=models.Q(("text_sha256__regex", "^[0-9a-f]{64}$")),
                name="a_pilot_responses_hash_is_64_hex_digits",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pilotresponse",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="455696cb1c522a82f1d9c3683080ce062da6a5e3",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_820be",
                    table="annotation_pilotresponse",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pilotresponse",
            trigger=pgtrigger.compiler.Trigger(
                name="pilot_responses_are_of_own_conversations",
                sql=consilium.guards.GuardSql(
                    func="\n            \n            IF NOT (\n                EXISTS (\n                    SELECT FROM public.annotation_conversation\n                     WHERE id = NEW.conversation_id AND study_id = NEW.study_id AND external_name = ''\n                )\n                ) THEN RAISE EXCEPTION 'a pilot response is of a conversation of its study, and of no external one' USING ERRCODE = '23514', CONSTRAINT = 'pilot_responses_are_of_own_conversations'; END IF;\n            RETURN NEW;\n        ",
                    hash="9449b9a0b729b65a6518c737bb92d019a82f6e21",
                    operation="INSERT",
                    pgid="pgtrigger_pilot_responses_are_of_own_conversations_e06f0",
                    table="annotation_pilotresponse",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotmark",
            constraint=models.UniqueConstraint(
                fields=("wording", "response", "reviewer"), name="one_mark_a_wording_response_and_reviewer"
            ),
        ),
        migrations.AddConstraint(
            model_name="pilotmark",
            constraint=models.CheckConstraint(
                condition=models.Q(("mark__in", ["met", "not_met", "cant_tell"])),
                name="a_mark_is_met_not_met_or_cant_tell",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pilotmark",
            trigger=pgtrigger.compiler.Trigger(
                name="marks_are_given_and_changed_until_the_reveal",
                sql=consilium.guards.GuardSql(
                    declare="DECLARE this record; held record; place uuid;",
                    func="\n                    IF TG_OP = 'DELETE' THEN this := OLD; ELSE this := NEW; END IF;\n                    IF TG_OP = 'UPDATE' AND (OLD.id, OLD.wording_id, OLD.response_id, OLD.reviewer_id)\n                       IS DISTINCT FROM (NEW.id, NEW.wording_id, NEW.response_id, NEW.reviewer_id) THEN\n                        RAISE EXCEPTION 'a mark keeps its wording, response and reviewer' USING ERRCODE = '23001';\n                    END IF;\n                    SELECT conversation_id INTO place FROM public.annotation_pilotresponse WHERE id = this.response_id;\n                    SELECT revealed_at, closes_at INTO held FROM public.annotation_round\n                        WHERE conversation_id = place AND revealed_at IS NULL FOR SHARE;\n                    IF FOUND AND public.consilium_round_is_revealed(held.revealed_at, held.closes_at)\n                       OR EXISTS (SELECT FROM public.annotation_roundoutcome WHERE wording_id = this.wording_id) THEN\n                        RAISE EXCEPTION 'the wording is revealed: no mark is given, changed or deleted'\n                            USING ERRCODE = '23001', CONSTRAINT = 'marks_are_given_and_changed_until_the_reveal';\n                    END IF;\n                    IF TG_OP = 'INSERT' AND NOT EXISTS (\n                        SELECT FROM public.annotation_revision AS wording\n                          JOIN public.annotation_criterion AS criterion ON criterion.id = wording.criterion_id\n                         WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL\n                           AND criterion.conversation_id = place\n                    ) THEN\n                        RAISE EXCEPTION 'a mark is about a wording of the conversation that its response is of'\n                            USING ERRCODE = '23514', CONSTRAINT = 'a_mark_is_about_a_wording_of_its_conversation';\n                    END IF;\n                    IF TG_OP = 'INSERT' AND NOT EXISTS (\n                        SELECT FROM public.annotation_assignment\n                         WHERE conversation_id = place AND reviewer_id = NEW.reviewer_id AND recused_at IS NULL\n                    ) THEN\n                        RAISE EXCEPTION 'who marks is assigned to the conversation'\n                            USING ERRCODE = '23514', CONSTRAINT = 'who_marks_is_assigned_to_the_conversation';\n                    END IF;\n                    RETURN this;\n                ",
                    hash="168d15ecb9e5397030f79cbecd46ead94e9e8981",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_marks_are_given_and_changed_until_the_reveal_9afd8",
                    table="annotation_pilotmark",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pilotmark",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="a3a500d4a472d93afc06fd42223239bb3283f90f",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_95ab8",
                    table="annotation_pilotmark",
                    when="BEFORE",
                ),
            ),
        ),
    ]
