"""Forms of the page of waves. Rules stand with the acts."""

import re
from typing import Any

from django import forms

from annotation.models import Wave
from annotation.waves import LARGEST_SEED, MOST_WAVES
from consilium.plain_forms import PlainForm


class SizesField(forms.CharField):
    """Whole numbers, parted by commas or blanks."""

    def clean(self, value: Any) -> list[int]:
        words = [word for word in re.split(r"[\s,;]+", super().clean(value) or "") if word]
        if not words or len(words) >= MOST_WAVES or not all(re.fullmatch(r"[1-9]\d{0,6}", word) for word in words):
            raise forms.ValidationError("Give whole numbers from 1 on, such as 20, 200, 200.")
        return [int(word) for word in words]


class PlanForm(PlainForm):
    """How what isn't out is cut into waves."""

    sizes = SizesField(
        label="Conversations a wave",
        help_text="Such as 20, 200, 200: the first wave has 20. What is left makes one more.",
        error_messages={"required": "Give the number of conversations of at least one wave."},
    )
    choice = forms.ChoiceField(
        label="Which come first",
        choices=[(each.value, each.label) for each in (Wave.Choice.IN_ORDER, Wave.Choice.RANDOM)],
        widget=forms.RadioSelect,
        initial=Wave.Choice.IN_ORDER,
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Of a random order: the same seed draws the same one. Empty: a new one, which is kept.",
    )
    is_pilot = forms.BooleanField(
        label="The study's first wave is a pilot", required=False, help_text="After it the guidelines may change."
    )


class ByHandForm(PlainForm):
    """Conversations named one a line, and the wave that they go out with."""

    number = forms.IntegerField(
        label="Wave",
        required=False,
        min_value=1,
        max_value=MOST_WAVES,
        help_text="One that waits, or the next number for a new one. Empty: they go out at once.",
    )
    ids = forms.CharField(
        label="Conversations",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="Their ids, one a line.",
        error_messages={"required": "Name at least one conversation."},
    )

    def clean_ids(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["ids"].splitlines() if line.strip()]


class WaveDateForm(PlainForm):
    """When a wave opens of itself."""

    opens_at = forms.DateTimeField(
        label="Opens on, in UTC",
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        error_messages={"invalid": "Give a date and a time."},
    )
