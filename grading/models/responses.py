"""Responses by models and humans, and clinicians' own verdicts on them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Conversation, FileImport, Revision, Study, User
from consilium.identified import Identified


class Respondent(Identified):
    """A model with its parameters and prompt style, a human author, or a reference answer. It is its name."""

    class Kind(models.TextChoices):
        MODEL = "model", _("model")
        HUMAN = "human", _("human")
        REFERENCE = "reference", _("reference answer")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MODEL)
    prompt_style = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="a_respondent_is_its_name"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["model", "human", "reference"]),
                name="a_respondent_is_a_model_a_human_or_a_reference",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ResponseQuerySet(models.QuerySet["Response"]):
    def not_failed(self) -> "ResponseQuerySet":
        return self.filter(is_failed=False)

    def visible_to(self, user: User) -> "ResponseQuerySet":
        """For researchers and admins: the responses with their respondents."""
        return self.filter(
            study__memberships__user=user,
            study__memberships__left_at=None,
            study__memberships__roles__overlap=["researcher", "admin"],
        ).distinct()


FAILING_FINISH_REASONS = ["length", "content_filter", "error"]
BLANK = r"^[\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"
"""Nothing but Unicode's white space; PostgreSQL's own class depends on the database's locale."""


class Response(Identified):
    """One answer to a conversation. It is *failed* when blank or cut off: recorded, never graded as an answer."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="+")
    respondent = models.ForeignKey(Respondent, on_delete=models.PROTECT, related_name="responses")
    sample = models.PositiveIntegerField(default=1)
    text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    is_refusal = models.BooleanField(default=False)
    is_failed = models.GeneratedField(
        expression=models.Case(
            models.When(finish_reason__in=FAILING_FINISH_REASONS, then=models.Value(True)),
            models.When(text__regex=BLANK, then=models.Value(True)),
            default=models.Value(False),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "respondent", "sample"],
                name="a_respondent_answers_a_conversation_once_a_sample",
            ),
            models.CheckConstraint(condition=models.Q(sample__gte=1), name="samples_count_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.respondent} on {self.conversation}, sample {self.sample}"


class ReviewerVerdict(Identified):
    """A clinician's own judgement of one response against one wording; the grader's is a grade."""

    class Verdict(models.TextChoices):
        MET = "met", _("met")
        NOT_MET = "not_met", _("not met")
        CANNOT_TELL = "cannot_tell", _("can't tell")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="verdicts")
    wording = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=12, choices=Verdict)
    comment = models.TextField(blank=True)
    is_blind = models.BooleanField(
        default=True, help_text="False where the reviewer had opened grades of this response before judging."
    )
    given_at = models.DateTimeField(auto_now_add=True)
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["response", "wording", "reviewer"],
                name="one_verdict_a_response_wording_and_reviewer",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__in=["met", "not_met", "cannot_tell"]),
                name="a_verdict_is_met_not_met_or_cannot_tell",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} on {self.response}"
