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
        ("annotation", "0012_pilot_responses"),
    ]

    operations = [
        migrations.CreateModel(
            name="PracticeExample",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("external_id", models.CharField(help_text="By which a file knows it.", max_length=500)),
                (
                    "position",
                    models.PositiveSmallIntegerField(help_text="The place in the study's order; equal ones by id."),
                ),
                (
                    "edition",
                    models.PositiveIntegerField(default=1, help_text="One more with every change; a change names it."),
                ),
                ("messages", models.JSONField()),
                ("language", models.CharField(blank=True, help_text="BCP 47; empty: not known.", max_length=35)),
                ("criterion", models.TextField()),
                (
                    "is_wanted",
                    models.BooleanField(help_text="Whether a good answer does it; else it counts against an answer."),
                ),
                (
                    "choice",
                    models.CharField(
                        choices=[("agree", "agree"), ("object", "object"), ("abstain", "abstain")],
                        help_text="What the guidelines answer.",
                        max_length=10,
                    ),
                ),
                ("points_low", models.SmallIntegerField(blank=True, null=True)),
                ("points_high", models.SmallIntegerField(blank=True, null=True)),
                (
                    "categories",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("unsafe", "unsafe"),
                                ("clinically_wrong", "clinically wrong"),
                                ("ambiguous", "ambiguous"),
                                ("missing_context", "missing context"),
                                ("not_gradable", "not gradable"),
                                ("duplicate", "duplicate"),
                                ("out_of_scope", "out of scope"),
                            ],
                            max_length=30,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("feedback", models.TextField(help_text="Markdown: why the guidelines answer so.")),
                ("written_at", models.DateTimeField(auto_now=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "removed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="practice_examples",
                        to="annotation.study",
                    ),
                ),
                (
                    "written_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PracticeAnswer",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "choice",
                    models.CharField(
                        choices=[("agree", "agree"), ("object", "object"), ("abstain", "abstain")], max_length=10
                    ),
                ),
                ("points", models.SmallIntegerField(blank=True, null=True)),
                (
                    "category",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("unsafe", "unsafe"),
                            ("clinically_wrong", "clinically wrong"),
                            ("ambiguous", "ambiguous"),
                            ("missing_context", "missing context"),
                            ("not_gradable", "not gradable"),
                            ("duplicate", "duplicate"),
                            ("out_of_scope", "out of scope"),
                        ],
                        max_length=30,
                    ),
                ),
                ("answered_at", models.DateTimeField(auto_now=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="annotation.practiceexample",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PracticePart",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("begun_at", models.DateTimeField(auto_now_add=True)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[("finished", "finished"), ("skipped", "skipped")],
                        help_text="Empty: neither yet.",
                        max_length=10,
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="practice_parts",
                        to="annotation.study",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.UniqueConstraint(
                condition=models.Q(("removed_at", None)),
                fields=("study", "external_id"),
                name="a_practice_example_is_known_by_one_id",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(("choice__in", ["agree", "object", "abstain"])),
                name="guidelines_agree_object_or_abstain_in_practice",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("categories", []),
                        ("choice", "agree"),
                        ("points_high__isnull", False),
                        ("points_low__isnull", False),
                    ),
                    models.Q(
                        ("choice", "object"),
                        ("points_high", None),
                        ("points_low", None),
                        models.Q(("categories", []), _negated=True),
                    ),
                    models.Q(("categories", []), ("choice", "abstain"), ("points_high", None), ("points_low", None)),
                    _connector="OR",
                ),
                name="an_example_has_weights_to_agree_and_categories_to_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("points_low", None),
                    models.Q(("is_wanted", True), ("points_high__lte", 10), ("points_low__gte", 1)),
                    models.Q(("is_wanted", False), ("points_high__lte", -1), ("points_low__gte", -10)),
                    _connector="OR",
                ),
                name="the_weights_of_an_example_have_the_sign_of_what_it_wants",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(("points_low", None), ("points_low__lte", models.F("points_high")), _connector="OR"),
                name="the_weights_of_an_example_go_from_low_to_high",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "categories__contained_by",
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
                name="an_example_is_objected_to_in_categories_of_objection",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        (
                            "criterion__regex",
                            "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                        ),
                        _negated=True,
                    ),
                    models.Q(
                        (
                            "feedback__regex",
                            "^[\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*$",
                        ),
                        _negated=True,
                    ),
                ),
                name="an_example_has_a_criterion_and_says_why",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceexample",
            constraint=models.CheckConstraint(
                condition=models.Q(("removed_by", None), ("removed_at__isnull", False), _connector="OR"),
                name="who_removed_an_example_did_so_at_a_time",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="practiceexample",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="d768f8685c7f8839e3de105e7f973b3fff3d831e",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_349f7",
                    table="annotation_practiceexample",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceanswer",
            constraint=models.UniqueConstraint(fields=("example", "person"), name="a_person_has_one_answer_an_example"),
        ),
        migrations.AddConstraint(
            model_name="practiceanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("category", ""), ("choice", "agree"), ("points__isnull", False)),
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
                        ("points", None),
                    ),
                    models.Q(("category", ""), ("choice", "abstain"), ("points", None)),
                    _connector="OR",
                ),
                name="a_practice_answer_agrees_objects_or_abstains",
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("points", None),
                    models.Q(("points__gte", -10), ("points__lte", 10), models.Q(("points", 0), _negated=True)),
                    _connector="OR",
                ),
                name="a_practice_weight_is_from_minus_10_to_10_and_not_0",
            ),
        ),
        migrations.AddConstraint(
            model_name="practicepart",
            constraint=models.UniqueConstraint(fields=("study", "person"), name="a_person_practises_in_a_study_as_one"),
        ),
        migrations.AddConstraint(
            model_name="practicepart",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("ending", "")),
                    models.Q(("ended_at__isnull", False), ("ending__in", ["finished", "skipped"])),
                    _connector="OR",
                ),
                name="practice_is_finished_or_skipped_at_a_time",
            ),
        ),
    ]
