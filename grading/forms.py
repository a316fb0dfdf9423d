"""What the grading pages take."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from annotation.models import Study
from grading.models import Grader, ReviewerVerdict
from rubrics.models import RubricVersion

NO_KEY = "none"
"""The choice of no key; no environment variable that holds one is called so."""


class GraderForm(forms.Form):
    """A grader to register: any OpenAI-compatible server."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("As runs and reports will call it."))
    base_url = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("Of an OpenAI-compatible server, with its path: http://127.0.0.1:8080/v1"),
        widget=forms.TextInput(attrs={"dir": "ltr", "inputmode": "url", "spellcheck": "false"}),
    )
    model = forms.CharField(
        label=_("Model"), max_length=200, widget=forms.TextInput(attrs={"dir": "ltr", "spellcheck": "false"})
    )
    api_key_variable = forms.TypedChoiceField(
        label=_("Key, where the endpoint needs one"),
        coerce=lambda name: "" if name == NO_KEY else name,
        help_text=_("The environment variable that holds the key. Only those that the settings list can be chosen."),
    )
    concurrency = forms.IntegerField(
        label=_("Calls at once"),
        min_value=1,
        max_value=1000,
        initial=8,
        help_text=_("At most, over all workers."),
        widget=forms.NumberInput(attrs={"class": "short"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["api_key_variable"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(NO_KEY, _("None")), *((name, name) for name in settings.GRADER_KEY_VARIABLES)]


class RunForm(forms.Form):
    """A version and a grader to run it with."""

    version = forms.ModelChoiceField(RubricVersion.objects.none(), label=_("Version"), empty_label=None)
    grader = forms.ModelChoiceField(Grader.objects.none(), label=_("Grader"), empty_label=None)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        version, grader = self.fields["version"], self.fields["grader"]
        assert isinstance(version, forms.ModelChoiceField)
        assert isinstance(grader, forms.ModelChoiceField)
        version.queryset = RubricVersion.objects.filter(study=study).order_by("kind", "-number", "name")
        grader.queryset = Grader.objects.filter(study=study).order_by("name")


class VerdictForm(forms.Form):
    """A clinician's verdict on one pair."""

    criterion = forms.UUIDField(widget=forms.HiddenInput)
    verdict = forms.ChoiceField(choices=ReviewerVerdict.Verdict.choices)
    comment = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 2}))
