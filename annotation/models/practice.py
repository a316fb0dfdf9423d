"""Practice: examples by which a study's clinicians try its guidelines out, and what each of them answered.

None of it is study data. No conversation, criterion or vote hangs on it; it is in no export, count, agreement or
progress; and what somebody answered here is shown to that person alone.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.people import User
from annotation.models.rounds import ObjectionCategory
from annotation.models.studies import Study
from consilium.guards import BLANK, never_emptied
from consilium.identified import Identified


class PracticeChoice(models.TextChoices):
    AGREE = "agree", _("agree")
    OBJECT = "object", _("object")
    ABSTAIN = "abstain", _("abstain")


class PracticeExampleQuerySet(models.QuerySet["PracticeExample"]):
    def standing(self) -> "PracticeExampleQuerySet":
        """Those that nobody removed, in their order."""
        return self.filter(removed_at=None).order_by("position", "id")


class PracticeExample(Identified):
    """A short conversation and one criterion, with what the guidelines answer and why."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="practice_examples")
    external_id = models.CharField(max_length=500, help_text="By which a file knows it.")
    position = models.PositiveSmallIntegerField(help_text="The place in the study's order; equal ones by id.")
    edition = models.PositiveIntegerField(default=1, help_text="One more with every change; a change names it.")
    messages = models.JSONField()
    language = models.CharField(max_length=35, blank=True, help_text="BCP 47; empty: not known.")
    criterion = models.TextField()
    is_wanted = models.BooleanField(help_text="Whether a good answer does it; else it counts against an answer.")
    choice = models.CharField(max_length=10, choices=PracticeChoice, help_text="What the guidelines answer.")
    points_low = models.SmallIntegerField(null=True, blank=True)
    points_high = models.SmallIntegerField(null=True, blank=True)
    categories = ArrayField(models.CharField(max_length=30, choices=ObjectionCategory), default=list, blank=True)
    feedback = models.TextField(help_text="Markdown: why the guidelines answer so.")
    written_at = models.DateTimeField(auto_now=True)
    written_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    removed_at = models.DateTimeField(null=True, blank=True)
    removed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    objects = PracticeExampleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "external_id"],
                condition=models.Q(removed_at=None),
                name="a_practice_example_is_known_by_one_id",
            ),
            models.CheckConstraint(
                condition=models.Q(choice__in=["agree", "object", "abstain"]),
                name="guidelines_agree_object_or_abstain_in_practice",
            ),
            models.CheckConstraint(
                condition=models.Q(choice="agree", points_low__isnull=False, points_high__isnull=False, categories=[])
                | models.Q(choice="object", points_low=None, points_high=None) & ~models.Q(categories=[])
                | models.Q(choice="abstain", points_low=None, points_high=None, categories=[]),
                name="an_example_has_weights_to_agree_and_categories_to_object",
            ),
            models.CheckConstraint(
                condition=models.Q(points_low=None)
                | models.Q(is_wanted=True, points_low__gte=1, points_high__lte=10)
                | models.Q(is_wanted=False, points_low__gte=-10, points_high__lte=-1),
                name="the_weights_of_an_example_have_the_sign_of_what_it_wants",
            ),
            models.CheckConstraint(
                condition=models.Q(points_low=None) | models.Q(points_low__lte=models.F("points_high")),
                name="the_weights_of_an_example_go_from_low_to_high",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    categories__contained_by=[
                        *("unsafe", "clinically_wrong", "ambiguous", "missing_context", "not_gradable"),
                        *("duplicate", "out_of_scope"),
                    ]
                ),
                name="an_example_is_objected_to_in_categories_of_objection",
            ),
            models.CheckConstraint(
                condition=~models.Q(criterion__regex=BLANK) & ~models.Q(feedback__regex=BLANK),
                name="an_example_has_a_criterion_and_says_why",
            ),
            models.CheckConstraint(
                condition=models.Q(removed_by=None) | models.Q(removed_at__isnull=False),
                name="who_removed_an_example_did_so_at_a_time",
            ),
        ]
        triggers = [never_emptied()]

    def __str__(self) -> str:
        return self.external_id


class PracticeAnswer(Identified):
    """What a person answered to an example the last time; the person's own, to be given again or begun anew."""

    example = models.ForeignKey(PracticeExample, on_delete=models.PROTECT, related_name="answers")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    choice = models.CharField(max_length=10, choices=PracticeChoice)
    points = models.SmallIntegerField(null=True, blank=True)
    category = models.CharField(max_length=30, choices=ObjectionCategory, blank=True)
    answered_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["example", "person"], name="a_person_has_one_answer_an_example"),
            models.CheckConstraint(
                condition=models.Q(choice="agree", points__isnull=False, category="")
                | models.Q(
                    choice="object",
                    points=None,
                    category__in=[
                        *("unsafe", "clinically_wrong", "ambiguous", "missing_context", "not_gradable"),
                        *("duplicate", "out_of_scope"),
                    ],
                )
                | models.Q(choice="abstain", points=None, category=""),
                name="a_practice_answer_agrees_objects_or_abstains",
            ),
            models.CheckConstraint(
                condition=models.Q(points=None) | models.Q(points__gte=-10, points__lte=10) & ~models.Q(points=0),
                name="a_practice_weight_is_from_minus_10_to_10_and_not_0",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} on {self.example}"


class PracticePart(Identified):
    """A person was led to a study's practice, once; and finished or skipped it."""

    class Ending(models.TextChoices):
        FINISHED = "finished", _("finished")
        SKIPPED = "skipped", _("skipped")

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="practice_parts")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    begun_at = models.DateTimeField(auto_now_add=True)
    ending = models.CharField(max_length=10, choices=Ending, blank=True, help_text="Empty: neither yet.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "person"], name="a_person_practises_in_a_study_as_one"),
            models.CheckConstraint(
                condition=models.Q(ending="", ended_at=None)
                | models.Q(ending__in=["finished", "skipped"], ended_at__isnull=False),
                name="practice_is_finished_or_skipped_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} in {self.study}: {self.ending or 'begun'}"
