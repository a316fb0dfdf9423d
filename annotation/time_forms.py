"""The form of one day's hours."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.declaring_time import LONGEST_NOTE
from consilium.plain_forms import PlainForm


class TimeForm(PlainForm):
    """A day and its hours; ``seen`` names the entry that is corrected."""

    seen = forms.UUIDField(widget=forms.HiddenInput, required=False)
    day = forms.DateField(label=_("Day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    hours = forms.DecimalField(
        label=_("Hours"),
        min_value=0,
        max_value=24,
        max_digits=4,
        decimal_places=2,
        help_text=_("1.5 is one hour and a half; 0 takes the day back."),
        widget=forms.NumberInput(attrs={"class": "short", "step": "0.25"}),
    )
    note = forms.CharField(label=_("Note"), max_length=LONGEST_NOTE, required=False)

    @property
    def facts(self) -> dict[str, Any]:
        """What the act takes."""
        said = self.cleaned_data
        minutes = int((said["hours"] * 60).to_integral_value())
        return {"day": said["day"], "minutes": minutes, "note": said["note"], "seen": said["seen"]}
