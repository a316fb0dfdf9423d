"""Forms of the steps by which a study is made. What a setting is called and may hold is said once, by the settings."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db.models.functions import Lower
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.consensus import PRESETS
from annotation.joining import AttestationMissing, SlugIsTaken, SlugIsUnreadable
from annotation.models import Study, TextClass, User
from annotation.permissions import administered_by
from annotation.policy_words import PRESET_NAMES
from annotation.setting_up import SETTINGS, clean_setting
from annotation.study_forms import SettingsForm
from consilium.errors import RuleViolation
from consilium.plain_forms import PlainForm

LONGEST_SLUG = 60


def _setting(name: str) -> forms.Field:
    field: forms.Field = SettingsForm.base_fields[name]
    return field


def short_name(slug: str, name: str) -> str:
    """The short name as it was typed, else one made from the name; '' where its letters give none."""
    return slug.strip() or slugify(name)[:LONGEST_SLUG].strip("-")


class StepForm(PlainForm):
    """One step. Its settings are checked as the settings' page checks them."""

    def __init__(self, *args: Any, person: User, source: Study | None, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self.person, self.copied = person, source

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in SETTINGS:
            if name in cleaned:
                try:
                    cleaned[name] = clean_setting(name, cleaned[name])
                except RuleViolation as refusal:
                    self.add_error(name, refusal.sentence)
        return cleaned

    def _demand_attestation(self, text_class: str) -> None:
        if text_class == TextClass.DE_IDENTIFIED and not self.cleaned_data.get("attestation"):
            self.add_error("attestation", AttestationMissing().sentence)


class StartForm(StepForm):
    """The study's name and short name, and the study that it is a copy of, if any."""

    name = _setting("name")
    slug = forms.CharField(
        label=_("Short name"),
        required=False,
        max_length=LONGEST_SLUG,
        help_text=_(
            "Stands in the study's address and can't be changed later: letters, digits and hyphens, as "
            "crisis-support. Left empty, it is made from the name."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )
    source = forms.ChoiceField(
        label=_("Begin with"),
        required=False,
        help_text=_("A copy takes over settings, rule, axes and guidelines; not people, conversations or votes."),
    )

    def __init__(self, *args: Any, **facts: Any) -> None:
        super().__init__(*args, **facts)
        choices = [
            (study.slug, gettext("a copy of {study}").format(study=study.name))
            for study in administered_by(self.person)
        ]
        field = self.fields["source"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", gettext("an empty study")), *choices]
        if not choices:
            del self.fields["source"]

    def clean_slug(self) -> str:
        slug = short_name(self.cleaned_data["slug"], self.cleaned_data.get("name", ""))
        if not slug:
            raise ValidationError(gettext("Please write a short name in plain letters, digits and hyphens."))
        try:
            validate_slug(slug)
        except ValidationError as error:
            raise ValidationError(SlugIsUnreadable().sentence) from error
        if Study.objects.annotate(lower=Lower("slug")).filter(lower=slug.lower()).exists():
            raise ValidationError(SlugIsTaken().sentence)
        return slug


class TextsForm(StepForm):
    """What the study's texts are, and in which languages."""

    text_class = _setting("text_class")
    attestation = _setting("attestation")
    languages = _setting("languages")
    is_not_for_public_text = _setting("is_not_for_public_text")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self._demand_attestation(cleaned.get("text_class", ""))
        return cleaned


class RuleForm(StepForm):
    """Which of the known rules of consensus the study begins with."""

    preset = forms.ChoiceField(
        label=_("The rule of consensus"),
        choices=[(preset, PRESET_NAMES[preset]) for preset in PRESETS],
        widget=forms.RadioSelect,
    )


class WordsForm(StepForm):
    """What the study's people read."""

    what_to_expect = _setting("what_to_expect")
    support_contact = _setting("support_contact")
    consent_text = _setting("consent_text")
    guidelines = _setting("guidelines")


class CopyForm(StepForm):
    """What a copy can't take over: who de-identified its own texts."""

    attestation = _setting("attestation")

    def __init__(self, *args: Any, **facts: Any) -> None:
        super().__init__(*args, **facts)
        if self.copied is None or self.copied.text_class != TextClass.DE_IDENTIFIED:
            del self.fields["attestation"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if "attestation" in self.fields:
            self._demand_attestation(TextClass.DE_IDENTIFIED)
        return cleaned
