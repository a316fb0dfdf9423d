"""Graders and their runs: every call an attempt, every pair one grade.

A grade is *met*, *not met* or *unscored with a reason*. An attempt is committed before its call is sent and completed
after; one that ended never changes. Nothing has a foreign key to the attempts' table, so that it can be partitioned.
"""

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Study, User
from consilium.guards import Guard, changes_only_while, never_changes, never_emptied
from consilium.identified import Identified
from grading.models.responses import Response
from rubrics.models import FrozenCriterion, RubricVersion


class Grader(Identified):
    """An endpoint, a model, a prompt version, a mode and parameters. Once used it never changes."""

    class Mode(models.TextChoices):
        PER_CRITERION = "per_criterion", _("one call per criterion")
        PER_RESPONSE = "per_response", _("one call per response")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    prompt_version = models.CharField(max_length=20)
    mode = models.CharField(max_length=20, choices=Mode, default=Mode.PER_CRITERION)
    parameters = models.JSONField(default=dict, help_text="temperature, max_tokens, seed ...")
    api_key_variable = models.CharField(max_length=100, blank=True)
    concurrency = models.PositiveSmallIntegerField(default=8, help_text="Calls at once, over all workers.")
    digest = models.CharField(max_length=64)
    is_trial_only = models.BooleanField(
        default=False, help_text="For trying the product: its verdicts are not to be trusted."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="a_grader_name_is_used_once_in_a_study"),
            models.CheckConstraint(
                condition=models.Q(concurrency__gte=1, concurrency__lte=1000),
                name="concurrency_is_from_1_to_1000",
            ),
            models.CheckConstraint(
                condition=models.Q(mode__in=["per_criterion", "per_response"]),
                name="a_grader_is_asked_per_criterion_or_per_response",
            ),
        ]
        triggers = [
            Guard(
                name="a_used_grader_keeps_what_made_its_verdicts",
                when=pgtrigger.Before,
                operation=pgtrigger.Update | pgtrigger.Delete,
                # Where the endpoint listens may move (the local grader's port does); what answers may not.
                func="""
                    IF EXISTS (SELECT 1 FROM public.grading_run WHERE grader_id = OLD.id) AND (
                        TG_OP = 'DELETE'
                        OR (OLD.name, OLD.model, OLD.prompt_version, OLD.mode, OLD.parameters, OLD.digest)
                           IS DISTINCT FROM
                           (NEW.name, NEW.model, NEW.prompt_version, NEW.mode, NEW.parameters, NEW.digest)
                    ) THEN
                        RAISE EXCEPTION 'a grader that was used never changes' USING ERRCODE = '23001';
                    END IF;
                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                    RETURN NEW;
                """,
            ),
            never_emptied(),
        ]

    def __str__(self) -> str:
        return self.name


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: User) -> "RunQuerySet":
        """Runs of the studies in which a person is a researcher or an admin."""
        return self.filter(
            study__memberships__user=user,
            study__memberships__left_at=None,
            study__memberships__roles__overlap=["researcher", "admin"],
        ).distinct()


class Run(Identified):
    """A rubric version applied by a grader to the responses that there were when the run was made."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        COMPLETED = "completed", _("completed")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    grader = models.ForeignKey(Grader, on_delete=models.PROTECT, related_name="runs")
    continues = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    repeats = models.PositiveSmallIntegerField(default=1)
    pairs = models.PositiveIntegerField(help_text="Responses that did not fail x criteria x repeats.")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    stop_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(pairs__gte=1), name="a_run_has_at_least_one_pair"),
            models.CheckConstraint(
                condition=models.Q(state__in=["completed", "failed", "cancelled"], ended_at__isnull=False)
                | ~models.Q(state__in=["completed", "failed", "cancelled"]) & models.Q(ended_at=None),
                name="a_run_that_ended_says_when",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "paused", "completed", "failed", "cancelled"]),
                name="a_run_is_in_one_of_six_states",
            ),
        ]

    def __str__(self) -> str:
        return f"run of {self.grader} on {self.version}"

    @property
    def has_ended(self) -> bool:
        return self.state in {self.State.COMPLETED, self.State.FAILED, self.State.CANCELLED}


class RunResponse(models.Model):
    """The responses of a run, fixed when it is made."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="responses")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    is_failed = models.BooleanField(default=False, help_text="The response failed: counted, never graded.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "response"], name="a_run_holds_a_response_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.response} in {self.run}"


class Attempt(models.Model):
    """One call to an endpoint. Its raw reply is kept as bytes: text can't hold every reply."""

    class Status(models.TextChoices):
        OPEN = "open", _("sent, no answer yet")
        ANSWERED = "answered", _("answered")
        REFUSED = "refused", _("the endpoint refused or was not reached")
        UNKNOWN = "unknown", _("unknown, possibly billed")

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey(FrozenCriterion, on_delete=models.PROTECT, related_name="+")
    repeat = models.PositiveSmallIntegerField(default=1)
    number = models.PositiveSmallIntegerField(help_text="1 for the pair's first call.")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    request_sha256 = models.CharField(max_length=64)
    reserved_tokens = models.PositiveIntegerField(default=0)
    raw_reply = models.BinaryField(null=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    problem = models.TextField(blank=True)
    model_returned = models.CharField(max_length=200, blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    sent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "response", "criterion", "repeat", "number"],
                name="a_pairs_attempts_are_numbered",
            ),
            models.UniqueConstraint(
                fields=["run", "response", "criterion", "repeat"],
                condition=models.Q(ended_at=None),
                name="a_pair_has_one_open_attempt",
            ),
            models.CheckConstraint(
                condition=models.Q(status="open", ended_at=None)
                | ~models.Q(status="open") & models.Q(ended_at__isnull=False),
                name="an_attempt_is_open_until_it_ends",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["open", "answered", "refused", "unknown"]),
                name="an_attempt_is_open_answered_refused_or_unknown",
            ),
        ]
        triggers = changes_only_while("OLD.ended_at IS NULL", name="an_ended_attempt_stays")

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.run}"


class Grade(Identified):
    """The grader's verdict on one response x criterion x repeat of a run."""

    class Verdict(models.TextChoices):
        MET = "met", _("met")
        NOT_MET = "not_met", _("not met")
        UNSCORED = "unscored", _("unscored")

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="grades")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    criterion = models.ForeignKey(FrozenCriterion, on_delete=models.PROTECT, related_name="+")
    repeat = models.PositiveSmallIntegerField(default=1)
    verdict = models.CharField(max_length=10, choices=Verdict)
    reason = models.CharField(max_length=40, blank=True, help_text="Why it is unscored.")
    explanation = models.TextField(blank=True)
    quotes = models.JSONField(default=list, help_text="[{text, is_found}]: checked in code against the response.")
    condition_absent = models.BooleanField(null=True)
    is_contradicting_itself = models.BooleanField(default=False)
    graded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "response", "criterion", "repeat"],
                name="one_grade_a_run_response_criterion_and_repeat",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict="unscored") & ~models.Q(reason="")
                | models.Q(verdict__in=["met", "not_met"], reason=""),
                name="a_grade_is_met_not_met_or_unscored_with_a_reason",
            ),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.verdict}: {self.response}"


class GradesOpened(Identified):
    """Who opened a run's grades, and when: no longer a blind judge of those pairs."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="opened")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "user"], name="grades_are_opened_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.user} opened {self.run}"
