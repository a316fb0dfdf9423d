"""Waves: in which order a study's conversations go out to its clinicians."""

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from annotation.models.people import User
from annotation.models.studies import Study
from consilium.identified import Identified


class WaveQuerySet(models.QuerySet["Wave"]):
    def out(self) -> "WaveQuerySet":
        """Those that an admin opened, or whose date has passed by the database's clock."""
        return self.filter(Q(opened_at__isnull=False) | Q(opens_at__lte=Now()))

    def waiting(self) -> "WaveQuerySet":
        """Those whose conversations no clinician sees yet."""
        return self.filter(Q(opens_at=None) | Q(opens_at__gt=Now()), opened_at=None)


class Wave(Identified):
    """Conversations that go out together; the first can be a pilot, after which the guidelines may change."""

    class Choice(models.TextChoices):
        IN_ORDER = "in_order", "in the order of the file"
        RANDOM = "random", "at random, each acuity and language in proportion"
        BY_HAND = "by_hand", "by hand"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="waves")
    number = models.PositiveSmallIntegerField()
    is_pilot = models.BooleanField(default=False)
    choice = models.CharField(max_length=20, choices=Choice, default=Choice.IN_ORDER)
    seed = models.PositiveBigIntegerField(null=True, blank=True, help_text="What the order was drawn with.")
    planned_at = models.DateTimeField(auto_now_add=True)
    opens_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    opened_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    objects = WaveQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="waves_are_numbered"),
            models.CheckConstraint(condition=Q(number__gte=1), name="waves_count_from_1"),
            models.CheckConstraint(condition=Q(is_pilot=False) | Q(number=1), name="only_the_first_wave_is_a_pilot"),
            models.CheckConstraint(
                condition=Q(choice__in=["in_order", "random", "by_hand"]),
                name="a_wave_is_chosen_in_order_at_random_or_by_hand",
            ),
            models.CheckConstraint(
                condition=~Q(choice="random") | Q(seed__isnull=False), name="what_was_drawn_keeps_its_seed"
            ),
            models.CheckConstraint(
                condition=Q(opened_by=None) | Q(opened_at__isnull=False), name="who_opened_a_wave_did_so_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"wave {self.number} of {self.study}"


def waits_for_its_wave(wave: str = "wave") -> Exists:
    """Over rows that name a wave by ``wave``: whether it isn't open yet. Without a wave nothing waits."""
    return Exists(Wave.objects.waiting().filter(pk=OuterRef(wave)))
