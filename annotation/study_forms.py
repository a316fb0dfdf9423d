"""Forms by which an admin sets a study up, changes its policy, and sets dates. Rules stand with the acts."""

import json
import re
from datetime import UTC
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.consensus import ALL_CATEGORIES, PRESETS
from annotation.models import Demand, Drafting, ObjectionCategory, Policy, Study, TextClass, Weights
from annotation.models.studies import DEFAULT_AXES
from annotation.setting_dates import CONSEQUENCES, DateOf
from annotation.setting_up import (
    MOST_EMERGENT_IN_A_ROW,
    SETTINGS,
    clean_setting,
    hash_of,
    hashes_of,
    settings_of,
)
from consilium.errors import RuleViolation
from consilium.plain_forms import PlainForm

MARKDOWN = ("what_to_expect", "consent_text", "guidelines")
"""Settings that are Markdown: the page shows what becomes of them."""


DEMANDED = {
    Demand.COUNTRY: _("country"),
    Demand.PROFESSION: _("profession"),
    Demand.SPECIALITY: _("speciality"),
}


def _text(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "dir": "auto"})


class LinesField(forms.CharField):
    """A list, one entry a line."""

    widget = forms.Textarea(attrs={"rows": 10, "dir": "auto"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value) or "").splitlines() if line.strip()]


class TagsLine(LinesField):
    """Language tags on one line, parted by commas or blanks."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(widget=forms.TextInput, **facts)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [tag for tag in re.split(r"[\s,;]+", str(value or "")) if tag]


class SettingsForm(PlainForm):
    """All settings of a study. ``seen`` holds the hashes of those that the page was made from."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    what_to_expect = forms.CharField(
        label=_("What to expect of the texts"),
        required=False,
        strip=False,
        widget=_text(5),
        help_text=_("Shown before the first conversation and above each. Markdown."),
    )
    support_contact = forms.CharField(
        label=_("Somebody to talk to"),
        required=False,
        strip=False,
        widget=_text(2),
        help_text=_(
            "A name, and how to reach them. In reach on every page. A line that begins with a country's two letters, "
            "such as GB: Samaritans, 116 123, comes first for the people who are there."
        ),
    )
    consent_text = forms.CharField(
        label=_("Consent text"),
        required=False,
        strip=False,
        widget=_text(8),
        help_text=_("Purpose, pay, credit, licence of what is written, withdrawal. Markdown. Empty: nothing is asked."),
    )
    guidelines = forms.CharField(
        label=_("Guidelines"),
        required=False,
        strip=False,
        widget=_text(10),
        help_text=_("How this panel writes criteria, weighs them and votes. Markdown."),
    )
    axes = LinesField(
        label=_("Axes"),
        help_text=_("The behaviours that criteria measure, one a line. Criteria keep an axis that you take away here."),
        error_messages={"required": _("A study has at least one axis.")},
    )
    languages = TagsLine(
        label=_("Languages of the texts"),
        required=False,
        help_text=_("Tags such as en, es-MX, zh-Hans, with commas between."),
    )
    name = forms.CharField(label=_("Name of the study"), max_length=200)
    text_class = forms.ChoiceField(
        label=_("The texts are"),
        choices=[
            (TextClass.SYNTHETIC.value, _("synthetic: invented, nobody's")),
            (TextClass.PUBLIC.value, _("public: published by those who may")),
            (TextClass.DE_IDENTIFIED.value, _("de-identified: of real people, who can't be recognised")),
        ],
        widget=forms.RadioSelect,
        help_text=_("Texts that identify people have no place here."),
    )
    attestation = forms.CharField(
        label=_("Who de-identified them, how and when"),
        required=False,
        strip=False,
        widget=_text(2),
        help_text=_("Needed for de-identified texts."),
    )
    outside_endpoints_basis = forms.CharField(
        label=_("Legal basis for graders outside this machine"),
        required=False,
        strip=False,
        widget=_text(2),
        help_text=_(
            "De-identified texts go to such a grader only when this is written. Who wrote it and when is kept."
        ),
    )
    is_not_for_public_text = forms.BooleanField(
        label=_("Never show these texts in public reports or demo pages"), required=False
    )

    topics = LinesField(
        label=_("Topics that clinicians can ask to be spared"),
        required=False,
        help_text=_("One a line, each a tag of conversations. Empty: all the tags that the conversations carry."),
    )
    emergent_in_a_row = forms.IntegerField(
        label=_("Emergent conversations in a row, at most"),
        required=False,
        min_value=0,
        max_value=MOST_EMERGENT_IN_A_ROW,
        help_text=_("After so many another one comes in between, where there is one. 0: no limit."),
    )
    care_lead = forms.EmailField(
        label=_("Who is told when a conversation may be a real person"),
        required=False,
        help_text=_("The e-mail address of a member. Empty: all admins are told. No mail holds any of its text."),
    )

    reviewers_by_rule = LinesField(
        label=_("More reviewers for some conversations"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=_(
            "One rule a line, such as acuity emergent: 6, tag self-harm: 7, language ar: 5. Of several that a "
            "conversation meets the largest number counts; a rule never takes reviewers away."
        ),
    )
    demands = forms.MultipleChoiceField(
        label=_("Only reviewers who share a conversation's"),
        choices=[(each.value, DEMANDED[each]) for each in Demand],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "Where nothing is ticked they are preferred. A conversation names a profession or a speciality by a tag, "
            "such as speciality: addiction."
        ),
    )

    GROUPS = (
        (_("Before the first text"), ("what_to_expect", "support_contact", "consent_text")),
        (_("Care"), ("topics", "emergent_in_a_row", "care_lead")),
        (_("How the panel works"), ("guidelines", "axes", "languages")),
        (_("Who reviews what"), ("reviewers_by_rule", "demands")),
        (
            _("What the study is"),
            ("name", "text_class", "attestation", "outside_endpoints_basis", "is_not_for_public_text"),
        ),
    )

    def __init__(self, *args: Any, study: Study, **facts: Any) -> None:
        facts.setdefault("initial", {**settings_of(study), "seen": json.dumps(hashes_of(study))})
        super().__init__(*args, **facts)
        self.study = study
        self.conflicts: dict[str, str] = {}
        """Settings that somebody else changed meanwhile: what stands now, as text."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in SETTINGS:
            if name in cleaned:
                try:
                    cleaned[name] = clean_setting(name, cleaned[name])
                except RuleViolation as refusal:
                    self.add_error(name, refusal.sentence)
        return cleaned

    @property
    def groups(self) -> list[tuple[Any, list[tuple[forms.BoundField, str | None, bool]]]]:
        """(heading, fields): each field with what somebody else wrote meanwhile, and whether it is Markdown."""
        return [
            (heading, [(self[name], self.conflicts.get(name), name in MARKDOWN) for name in names])
            for heading, names in self.GROUPS
        ]

    @property
    def previews(self) -> list[tuple[str, str]]:
        """(label, Markdown) of the texts as they are typed now."""
        return [(str(self[name].label), str(self[name].value() or "")) for name in MARKDOWN]

    @property
    def has_default_axes(self) -> bool:
        return self.study.axes == DEFAULT_AXES

    @property
    def seen_hashes(self) -> dict[str, str]:
        """What the page was made from; nothing readable is nothing seen, so that it overwrites nothing."""
        try:
            read = json.loads(self.cleaned_data.get("seen") or "{}")
        except ValueError:
            return {}
        return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}

    @property
    def facts(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "seen"}

    def after_conflict(self, fields: list[str]) -> "SettingsForm":
        """The form again with what was typed, beside what stands now; sending it once more overwrites knowingly.

        What this person left as it was takes what somebody else wrote.
        """
        current, seen = settings_of(self.study), self.seen_hashes
        base = SettingsForm(study=self.study)
        data = cast(QueryDict, self.data).copy()
        data["seen"] = json.dumps(hashes_of(self.study))
        for name in current:
            if name not in fields and seen.get(name) == hash_of(self.facts[name]):
                value = base[name].value()
                data.setlist(name, value if isinstance(value, list) else [value])
        form = SettingsForm(data, study=self.study)
        form.conflicts = {name: str(base[name].value() or gettext("(empty)")) for name in fields}
        return form


class PolicyForm(PlainForm):
    """A policy of consensus; ``against`` is the version that it was made from."""

    against = forms.IntegerField(widget=forms.HiddenInput)
    min_reviewed = forms.IntegerField(
        label=_("Reviewers who must have judged it"),
        min_value=1,
        max_value=100,
        help_text=_(
            "They agree, object or abstain; its writers don't count. So many objections, nobody agreeing: out."
        ),
    )
    min_agree = forms.IntegerField(
        label=_("Of these, so many must agree"),
        min_value=1,
        max_value=100,
        help_text=_("Fewer than must have judged: then every objection blocks, whatever its category."),
    )
    min_ratio = forms.DecimalField(
        label=_("Share that agrees, of those who agree or object (%)"),
        min_value=Decimal("50.1"),
        max_value=100,
        max_digits=4,
        decimal_places=1,
        help_text=_("Above 50. At 75, 3 of 4 are enough. The weights near the middle one need the same share."),
    )
    points_tolerance = forms.IntegerField(
        label=_("How far weights may lie from the middle one"),
        min_value=0,
        max_value=20,
        help_text=_("In points. The middle weight becomes the criterion's points."),
    )
    blocks = forms.MultipleChoiceField(
        label=_("One such objection blocks it"),
        choices=[(each, ObjectionCategory(each).label) for each in ALL_CATEGORIES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    max_rounds = forms.IntegerField(
        label=_("Rounds a conversation"),
        min_value=1,
        max_value=100,
        help_text=_("What is unsettled after the last one has no consensus."),
    )
    reviewers_per_conversation = forms.IntegerField(
        label=_("Reviewers a conversation"),
        min_value=1,
        max_value=100,
        help_text=_("One more than must have judged leaves the writer out; more than that may be away."),
    )
    drafting = forms.ChoiceField(
        label=_("Drafting"),
        choices=[
            (Drafting.ALONE.value, _("each alone, until drafting closes")),
            (Drafting.TOGETHER.value, _("together: drafts that are open now are seen by all at once")),
        ],
        widget=forms.RadioSelect,
    )
    weights = forms.ChoiceField(
        label=_("Weights"),
        choices=[
            (Weights.OWN.value, _("each chooses the own; the author's is hidden until the first reveal")),
            (Weights.PREFILLED.value, _("the author's is shown, in open rounds too")),
        ],
        widget=forms.RadioSelect,
    )
    names_shown_after_reveal = forms.BooleanField(
        label=_("Show votes with names after a reveal"),
        required=False,
        help_text=_("For rounds that are revealed from then on. What was promised before stays so."),
    )

    GROUPS = (
        (_("What a criterion needs"), ("min_reviewed", "min_agree", "min_ratio", "blocks", "points_tolerance")),
        (
            _("How the panel works"),
            ("reviewers_per_conversation", "max_rounds", "drafting", "weights", "names_shown_after_reveal"),
        ),
    )

    def __init__(self, *args: Any, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self.fields["min_ratio"].widget.attrs["step"] = "0.1"

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        return [(heading, [self[name] for name in names]) for heading, names in self.GROUPS]

    @property
    def facts(self) -> dict[str, Any]:
        """What the act takes."""
        facts = {name: value for name, value in self.cleaned_data.items() if name != "against"}
        facts["min_ratio"] = facts["min_ratio"] / 100
        return facts


def policy_initial(policy: Policy, preset: str = "") -> dict[str, Any]:
    """A policy as the form's initial values, with a preset's rule in place of its own where one is named."""
    rule: Any = PRESETS.get(preset, policy)
    share = Decimal(rule.min_ratio.numerator) / rule.min_ratio.denominator if preset in PRESETS else policy.min_ratio
    return {
        "against": policy.version,
        "min_reviewed": rule.min_reviewed,
        "min_agree": rule.min_agree,
        "min_ratio": (share * 100).quantize(Decimal("0.1")).normalize(),
        "points_tolerance": rule.points_tolerance,
        "blocks": [each for each in ALL_CATEGORIES if each in rule.blocks],
        "max_rounds": policy.max_rounds,
        "reviewers_per_conversation": policy.reviewers_per_conversation,
        "drafting": policy.drafting,
        "weights": policy.weights,
        "names_shown_after_reveal": policy.names_shown_after_reveal,
    }


class DatesForm(PlainForm):
    """Until when something goes on, of the conversations chosen."""

    of = forms.ChoiceField(
        label=_("What ends then"),
        choices=[(of.value, CONSEQUENCES[of]) for of in DateOf],
        widget=forms.RadioSelect,
    )
    until = forms.DateTimeField(
        label=_("Until, in UTC"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("All times of this study are in UTC."),
        error_messages={"required": _("Give a date, or tick that there is none.")},
    )
    has_no_date = forms.BooleanField(label=_("No date any more"), required=False)

    def __init__(self, data: Any = None, **facts: Any) -> None:
        super().__init__(data, **facts)
        self.fields["until"].required = not (data and data.get("has_no_date"))

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"] if self.fields["until"].required else None
        if until is not None and until.astimezone(UTC) <= timezone.now():
            raise forms.ValidationError(gettext("This has passed already. Give a date that lies ahead."))
        return until
