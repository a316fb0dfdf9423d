import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.guards


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_the_database_holds_the_rules"),
        ("grading", "0001_from_responses_to_verdicts"),
        ("rubrics", "0002_a_version_is_written_whole"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="attempt",
            name="an_ended_attempt_stays",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="attempt",
            name="never_emptied",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="grade",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="grader",
            name="a_used_grader_keeps_what_made_its_verdicts",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="grader",
            name="never_emptied",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="gradesopened",
            name="never_changes",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="runresponse",
            name="never_changes",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="attempt",
            trigger=pgtrigger.compiler.Trigger(
                name="an_ended_attempt_stays",
                sql=consilium.guards.GuardSql(
                    func="\n                IF TG_OP = 'DELETE' AND NOT false THEN RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001'; END IF;\n                IF NOT (OLD.ended_at IS NULL) THEN RAISE EXCEPTION '%: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001'; END IF;\n                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n                RETURN NEW;\n            ",
                    hash="3651b338727d987d47f40d0a78cde6b2eb9c67eb",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_an_ended_attempt_stays_3702a",
                    table="grading_attempt",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="attempt",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="cfe2687f814010ba710aed64869e29ad411c5241",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_97d7d",
                    table="grading_attempt",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="grade",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="efb82358be133ca1c2d57deaddd3a773323d93e5",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_16be5",
                    table="grading_grade",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="grader",
            trigger=pgtrigger.compiler.Trigger(
                name="a_used_grader_keeps_what_made_its_verdicts",
                sql=consilium.guards.GuardSql(
                    func="\n                    IF EXISTS (SELECT 1 FROM public.grading_run WHERE grader_id = OLD.id) AND (\n                        TG_OP = 'DELETE'\n                        OR (OLD.name, OLD.model, OLD.prompt_version, OLD.mode, OLD.parameters, OLD.digest)\n                           IS DISTINCT FROM\n                           (NEW.name, NEW.model, NEW.prompt_version, NEW.mode, NEW.parameters, NEW.digest)\n                    ) THEN\n                        RAISE EXCEPTION 'a grader that was used never changes' USING ERRCODE = '23001';\n                    END IF;\n                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n                    RETURN NEW;\n                ",
                    hash="f898e09be1c4cd8ae0df388275931c1da9ff9920",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_a_used_grader_keeps_what_made_its_verdicts_e0525",
                    table="grading_grader",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="grader",
            trigger=pgtrigger.compiler.Trigger(
                name="never_emptied",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% is never emptied', TG_TABLE_NAME USING ERRCODE = '23001';",
                    hash="821c4be9ab12801db5a0fd38c976df9f25b00013",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_never_emptied_72ac2",
                    table="grading_grader",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gradesopened",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="8ad22ebdae09acc5f54ce96e56c91fa716845871",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_a6430",
                    table="grading_gradesopened",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="runresponse",
            trigger=pgtrigger.compiler.Trigger(
                name="never_changes",
                sql=consilium.guards.GuardSql(
                    func="RAISE EXCEPTION '% never changes: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = '23001';",
                    hash="7049597278f077f0e34571ce4003a82ec90636de",
                    level="STATEMENT",
                    operation="UPDATE OR DELETE OR TRUNCATE",
                    pgid="pgtrigger_never_changes_17567",
                    table="grading_runresponse",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["open", "answered", "refused", "unknown"])),
                name="an_attempt_is_open_answered_refused_or_unknown",
            ),
        ),
        migrations.AddConstraint(
            model_name="grader",
            constraint=models.CheckConstraint(
                condition=models.Q(("mode__in", ["per_criterion", "per_response"])),
                name="a_grader_is_asked_per_criterion_or_per_response",
            ),
        ),
        migrations.AddConstraint(
            model_name="respondent",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["model", "human", "reference"])),
                name="a_respondent_is_a_model_a_human_or_a_reference",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "running", "paused", "completed", "failed", "cancelled"])),
                name="a_run_is_in_one_of_six_states",
            ),
        ),
    ]
