"""Time that people declare of themselves, by study and day. An entry is never changed: a correction is a new one."""

from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models.people import User
from annotation.models.studies import Study
from consilium.guards import holds_when_written, never_changes
from consilium.identified import Identified

MINUTES_A_DAY = 24 * 60


class DeclaredTimeQuerySet(models.QuerySet["DeclaredTime"]):
    def standing(self) -> "DeclaredTimeQuerySet":
        """Those that nothing has corrected."""
        return self.filter(~Exists(DeclaredTime.objects.filter(corrects=OuterRef("pk"))))


class DeclaredTime(Identified):
    """So many minutes on one day; 0 in a correction takes the day back."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="declared_times")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="declared_times")
    day = models.DateField()
    minutes = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=500, blank=True)
    corrects = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    declared_at = models.DateTimeField(auto_now_add=True)

    objects = DeclaredTimeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(minutes__lte=MINUTES_A_DAY), name="a_day_has_24_hours"),
            models.UniqueConstraint(
                fields=["study", "person", "day"],
                condition=Q(corrects=None),
                name="a_day_is_declared_once_then_corrected",
            ),
            models.UniqueConstraint(fields=["corrects"], name="an_entry_is_corrected_once"),
        ]
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_declaredtime AS earlier
                     WHERE earlier.id = NEW.corrects_id AND earlier.study_id = NEW.study_id
                       AND earlier.person_id = NEW.person_id AND earlier.day = NEW.day
                )
                """,
                name="a_correction_is_of_the_same_day",
                what="a correction is of the same study, person and day",
                only="NEW.corrects_id IS NOT NULL",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.minutes} minutes of {self.person} on {self.day}"
