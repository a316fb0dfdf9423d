import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_care"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="conflicts",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=200),
                blank=True,
                default=list,
                help_text="Each the id or a tag of conversations that this person does not review.",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="licence_checked_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="licence_checked_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="paused_until",
            field=models.DateField(
                blank=True, help_text="The first day on which new conversations are assigned again.", null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("conflicts__contains", [""]), _negated=True), name="a_conflict_names_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("licence_checked_by", None), ("licence_checked_at__isnull", False), _connector="OR"
                ),
                name="who_checked_a_licence_did_so_at_a_time",
            ),
        ),
    ]
