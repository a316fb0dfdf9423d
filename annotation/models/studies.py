"""A study: its texts' class, its guidelines and axes, and its versioned policy of consensus."""

import uuid
from decimal import Decimal
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.core.validators import validate_slug
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.consensus import ALL_CATEGORIES
from consilium.guards import BLANK, never_changes
from consilium.identified import Identified

if TYPE_CHECKING:
    from annotation.models.people import User

DEFAULT_AXES = [
    "context_seeking_and_assessment",
    "actionable_guidance_and_coping_strategies",
    "clinical_reasoning_and_health_accuracy",
    "interpretation_and_cognitive_reframing",
    "empathy_emotional_attunement_and_support",
    "unsupported_belief_and_reality_testing_calibration",
    "over_alarmism_and_under_response",
    "dual_use_refusals_and_harm_avoidance",
    "collaboration_and_user_agency",
    "communication_and_writing",
]
"""MentalHealthBench's ten behaviour axes."""

AXES_IN_WORDS = (
    gettext_noop("Context seeking and assessment"),
    gettext_noop("Actionable guidance and coping strategies"),
    gettext_noop("Clinical reasoning and health accuracy"),
    gettext_noop("Interpretation and cognitive reframing"),
    gettext_noop("Empathy emotional attunement and support"),
    gettext_noop("Unsupported belief and reality testing calibration"),
    gettext_noop("Over alarmism and under response"),
    gettext_noop("Dual use refusals and harm avoidance"),
    gettext_noop("Collaboration and user agency"),
    gettext_noop("Communication and writing"),
)
"""The same as pages show them (the filter ``in_words``), for the catalogues."""


def default_axes() -> list[str]:
    return list(DEFAULT_AXES)


def new_canary() -> str:
    return f"consilium:{uuid.uuid4()}"


class TextClass(models.TextChoices):
    SYNTHETIC = "synthetic", _("synthetic")
    PUBLIC = "public", _("public")
    DE_IDENTIFIED = "de_identified", _("de-identified")


class Demand(models.TextChoices):
    """What a conversation would like in a reviewer, and a study may demand."""

    COUNTRY = "country", _("its country")
    PROFESSION = "profession", _("its profession")
    SPECIALITY = "speciality", _("its speciality")


class StudyQuerySet(models.QuerySet["Study"]):
    def visible_to(self, user: "User") -> "StudyQuerySet":
        """The studies that a person belongs to now."""
        return self.filter(memberships__user=user, memberships__left_at=None).distinct()


class Study(Identified):
    slug = models.SlugField(max_length=60, validators=[validate_slug])
    name = models.CharField(max_length=200)
    text_class = models.CharField(max_length=20, choices=TextClass, default=TextClass.SYNTHETIC)
    attestation = models.TextField(blank=True, help_text="Who attested the de-identification, how, when.")
    outside_endpoints_basis = models.TextField(
        blank=True, help_text="The recorded legal basis for sending de-identified texts to outside endpoints."
    )
    is_not_for_public_text = models.BooleanField(default=False)
    guidelines = models.TextField(blank=True, help_text="Markdown.")
    what_to_expect = models.TextField(blank=True, help_text="What the study's texts are like.")
    consent_text = models.TextField(blank=True)
    consent_version = models.PositiveSmallIntegerField(default=1)
    support_contact = models.TextField(blank=True)
    axes = ArrayField(models.CharField(max_length=100), default=default_axes)
    languages = ArrayField(models.CharField(max_length=35), default=list, blank=True)
    topics = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="What clinicians can ask to be spared; none named: the tags that its conversations carry.",
    )
    emergent_in_a_row = models.PositiveSmallIntegerField(
        default=2, help_text="So many emergent conversations come one after the other at most; 0: no limit."
    )
    care_lead = models.EmailField(
        max_length=254, blank=True, help_text="The member who is told when a conversation may be a real person."
    )
    reviewers_by_rule = ArrayField(
        models.CharField(max_length=250),
        default=list,
        blank=True,
        help_text="More reviewers for some conversations, such as 'acuity emergent: 6'; the largest number counts.",
    )
    demands = ArrayField(
        models.CharField(max_length=20, choices=Demand),
        default=list,
        blank=True,
        help_text="What a reviewer must have in common with a conversation that names it; else it is preferred.",
    )
    canary_string = models.CharField(max_length=200, default=new_canary)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotation.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    objects = StudyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("slug"), name="one_study_a_slug"),
            models.CheckConstraint(
                condition=models.Q(text_class__in=TextClass.values),
                name="texts_are_synthetic_public_or_de_identified",
            ),
            models.CheckConstraint(
                condition=~models.Q(text_class=TextClass.DE_IDENTIFIED) | ~models.Q(attestation__regex=BLANK),
                name="de_identified_texts_carry_an_attestation",
            ),
            models.CheckConstraint(
                condition=models.Q(demands__contained_by=["country", "profession", "speciality"]),
                name="a_study_demands_country_profession_or_speciality",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def policy(self) -> "Policy":
        """The policy in force: the newest version."""
        return self.policies.latest("version")


class Drafting(models.TextChoices):
    ALONE = "alone", _("each alone, until drafting closes")
    TOGETHER = "together", _("together")


class Weights(models.TextChoices):
    OWN = "own", _("each chooses the own weight; the author's is hidden until the first reveal")
    PREFILLED = "prefilled", _("the author's weight is shown")


class Policy(Identified):
    """One version of a study's rule of consensus (annotation.consensus). Never changed: a change is a new version."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="policies")
    version = models.PositiveSmallIntegerField()
    preset = models.CharField(max_length=40, blank=True)
    min_reviewed = models.PositiveSmallIntegerField(default=3)
    min_agree = models.PositiveSmallIntegerField(default=3)
    min_ratio = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.75"))
    points_tolerance = models.PositiveSmallIntegerField(default=2)
    blocks = ArrayField(models.CharField(max_length=30))
    max_rounds = models.PositiveSmallIntegerField(default=3)
    reviewers_per_conversation = models.PositiveSmallIntegerField(default=5)
    drafting = models.CharField(max_length=10, choices=Drafting, default=Drafting.ALONE)
    weights = models.CharField(max_length=10, choices=Weights, default=Weights.OWN)
    names_shown_after_reveal = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotation.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="policies_are_numbered"),
            models.CheckConstraint(condition=models.Q(min_agree__gte=1), name="consensus_needs_an_agreement"),
            models.CheckConstraint(
                condition=models.Q(min_reviewed__gte=models.F("min_agree")),
                name="who_agreed_has_reviewed",
            ),
            models.CheckConstraint(
                condition=models.Q(min_ratio__gt=Decimal("0.5"), min_ratio__lte=1),
                name="a_ratio_is_above_one_half_and_at_most_one",
            ),
            models.CheckConstraint(
                # else one more objection could help: it would fill min_reviewed
                condition=models.Q(min_agree__gte=models.F("min_reviewed"))
                | models.Q(blocks__contains=list(ALL_CATEGORIES)),
                name="fewer_agreeing_than_reviewing_lets_every_category_block",
                violation_error_message=_(
                    "A policy that needs fewer to agree than to review must let every category of objection block."
                ),
            ),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="policies_count_from_1"),
            models.CheckConstraint(
                condition=models.Q(blocks__contained_by=list(ALL_CATEGORIES)),
                name="what_blocks_is_a_category_of_objection",
            ),
            models.CheckConstraint(condition=models.Q(max_rounds__gte=1), name="a_policy_allows_at_least_one_round"),
            models.CheckConstraint(
                condition=models.Q(reviewers_per_conversation__gte=1), name="a_conversation_has_at_least_one_reviewer"
            ),
            models.CheckConstraint(
                condition=models.Q(drafting__in=Drafting.values), name="drafting_is_alone_or_together"
            ),
            models.CheckConstraint(condition=models.Q(weights__in=Weights.values), name="weights_are_own_or_prefilled"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"policy {self.version} of {self.study}"
