"""The shape of what a clinician sends: a criterion, a vote, a comment. Rules stand with the acts, not here.

Text is kept as it was typed; only the line ends that browsers send (CR LF) become LF.
"""

from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings

from annotation.admin_forms import TagsField
from annotation.languages_and_countries import COUNTRIES
from annotation.models import Digests, ObjectionCategory, Revision, Study
from annotation.time_zones import zones
from annotation.weighing import UNWANTED, WANTED, Weight
from consilium.plain_forms import PlainForm
from consilium.templatetags.consilium_text import country_name, in_words

LONGEST = 32_767


class TypedText(forms.CharField):
    """Several lines in any script: not trimmed, line ends as LF."""

    def __init__(self, *, rows: int = 3, **facts: Any) -> None:
        facts.setdefault("widget", forms.Textarea(attrs={"rows": rows, "dir": "auto"}))
        super().__init__(strip=False, max_length=LONGEST, **facts)

    def to_python(self, value: Any) -> str:
        text = cast(str, super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")
        return text if text.strip() else ""


class PointsField(forms.IntegerField):
    """Whole points from -10 to +10, not 0; a typed minus sign is as good as a hyphen."""

    def __init__(self, **facts: Any) -> None:
        facts.setdefault("error_messages", {}).update(
            dict.fromkeys(("invalid", "min_value", "max_value"), "A weight is a whole number from −10 to +10, not 0.")
        )
        super().__init__(min_value=-10, max_value=10, step_size=1, **facts)

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str):
            value = value.replace("\N{MINUS SIGN}", "-").strip()
        return super().to_python(value)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value == 0:
            raise forms.ValidationError("A weight is a whole number from −10 to +10, not 0.")


class KeptForm(forms.Form):
    """A form whose texts are kept as they are typed; ``is_kept`` where some were kept before."""

    is_kept = False


class CriterionForm(KeptForm):
    """A new criterion, or a revision of one: text, weight, axis, why, and the turns that it is about."""

    against = forms.UUIDField(required=False, widget=forms.HiddenInput)
    answers = forms.UUIDField(required=False, widget=forms.HiddenInput)
    text = TypedText(
        label="Criterion",
        help_text="One sentence, one claim, that somebody who has never met you can find true or not true of a reply.",
        error_messages={"required": "A criterion says something.", "max_length": "At most 32,767 characters."},
    )
    weight = forms.TypedChoiceField(
        label="How much it weighs",
        coerce=int,
        empty_value=None,
        required=False,
        choices=[(weight.points, weight.word) for weight in WANTED + UNWANTED],
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": "Choose one of these weights, or write a number between."},
    )
    points = PointsField(label="Or a number between", required=False)
    axis = forms.ChoiceField(
        label="Axis",
        required=False,
        error_messages={"invalid_choice": "The study has no axis “%(value)s”. Choose one of the list, or none."},
    )
    rationale = TypedText(label="Why", rows=2, required=False, help_text="For the others on the panel.")
    anchors = forms.TypedMultipleChoiceField(
        label="Turns it is about",
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": "There is no turn %(value)s. Choose among those that are here."},
    )

    def __init__(self, *args: Any, study: Study, turns: int, **facts: Any) -> None:
        super().__init__(*args, **facts)
        axes = [("", "No axis"), *((axis, in_words(axis)) for axis in study.axes)]
        known = [axis for axis, _ in axes]
        current = self.initial.get("axis", "")
        if current not in known:
            axes.append((current, in_words(current)))
        cast(forms.ChoiceField, self.fields["axis"]).choices = axes
        cast(forms.ChoiceField, self.fields["anchors"]).choices = [(turn, str(turn)) for turn in range(1, turns + 1)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("points") is None and cleaned.get("weight") is None and "points" not in self.errors:
            self.add_error("weight", "Choose how much it weighs.")
        return cleaned

    @property
    def wanted(self) -> tuple[Weight, ...]:
        return WANTED

    @property
    def unwanted(self) -> tuple[Weight, ...]:
        return UNWANTED

    @property
    def chosen(self) -> str:
        """The weight in words that is chosen now, as text."""
        return str(self["weight"].value() or "")

    @property
    def facts(self) -> dict[str, Any]:
        """What the acts of drafting take: a typed number goes before a word."""
        data = self.cleaned_data
        points = data["weight"] if data["points"] is None else data["points"]
        return {
            "text": data["text"],
            "points": points,
            "axis": data["axis"],
            "rationale": data["rationale"],
            "anchors": data["anchors"],
        }


def criterion_facts(revision: Revision) -> dict[str, Any]:
    """A revision as the form's initial values."""
    is_word = revision.points in {weight.points for weight in WANTED + UNWANTED}
    return {
        "against": revision.id,
        "text": revision.text,
        "weight": revision.points if is_word else None,
        "points": None if is_word else revision.points,
        "axis": revision.axis,
        "rationale": revision.rationale,
        "anchors": revision.anchors,
    }


class VoteForm(KeptForm):
    """A weight (which is agreeing), abstaining or recusing, on the revision that was seen."""

    seen = forms.UUIDField(widget=forms.HiddenInput)
    points = PointsField(
        label="Another number",
        error_messages={"required": "Agreeing is weighing: choose a weight above, or write a number from −10 to +10."},
    )


class WordingForm(VoteForm):
    """Agreeing, with a wording that would say it better. It never blocks."""

    points = PointsField(
        label="Your weight",
        error_messages={"required": "Agreeing is weighing: choose one of these weights."},
    )
    better_wording = TypedText(
        label="A better wording",
        help_text="You agree, and the writers see this without your name after the reveal.",
        error_messages={"required": "Write the wording, or agree with a weight above."},
    )


class ObjectionForm(VoteForm):
    """An objection with its category and reason."""

    category = forms.ChoiceField(
        label="It is",
        choices=ObjectionCategory,
        widget=forms.RadioSelect,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose what is wrong with it."),
    )
    reason = TypedText(
        label="What is wrong, and what would mend it",
        error_messages={"required": "Say why, so that the writers know what to mend."},
    )


class CommentForm(forms.Form):
    criterion_id: UUID
    text = TypedText(label="Your comment", rows=2, error_messages={"required": "A comment says something."})


class SufficiencyForm(KeptForm):
    """Would a response that meets all of this be safe and good; if not, what is missing and what contradicts."""

    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    answer = forms.ChoiceField(
        label="Your answer",
        choices=[("yes", "Yes, it would be enough"), ("no", "No")],
        widget=forms.RadioSelect,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose yes or no."),
    )
    missing = TypedText(label="With no: what is missing", rows=2, required=False)
    contradicts = TypedText(label="With no: what contradicts", rows=2, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("answer") == "no" and not (cleaned.get("missing") or cleaned.get("contradicts")):
            self.add_error("missing", "Say what is missing or what contradicts, so that the panel can mend it.")
        return cleaned


def _countries() -> list[tuple[str, str]]:
    return [("", "not said"), *sorted(((code, country_name(code)) for code in COUNTRIES), key=lambda each: each[1])]


def _zones() -> list[tuple[str, str]]:
    return [("", "not said: UTC"), *((zone, zone.replace("_", " ")) for zone in zones())]


class YouForm(PlainForm):
    """What a person says of themselves."""

    name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="As the study's admin sees it, and the others where a study shows names after a reveal.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    languages = TagsField(
        label="Languages that you read",
        required=False,
        help_text="Tags such as en, es-MX, zh-Hans. You get conversations in these; none means all.",
    )
    country = forms.ChoiceField(label="Country", choices=_countries, required=False)
    profession = forms.CharField(label="Profession", max_length=100, required=False)
    speciality = forms.CharField(label="Speciality", max_length=100, required=False)
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=_zones,
        required=False,
        help_text="Mail comes in its morning, and tells dates in it.",
    )
    page_language = forms.ChoiceField(
        label="Language of pages and mail",
        choices=lambda: [("", "the site's"), *settings.LANGUAGES],
        required=False,
        help_text="As far as texts are there in it; the others are English.",
    )
    digests = forms.ChoiceField(
        label="Mail about what waits for you",
        choices=Digests.choices,
        required=False,
        help_text="Never: no reminder before a date either. Codes to sign in come in any case.",
    )

    def clean_digests(self) -> str | None:
        """Nothing chosen: as it is."""
        return self.cleaned_data["digests"] or None
