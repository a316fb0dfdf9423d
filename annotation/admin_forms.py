"""Forms of the admin's pages: people, assignment, and the filter of the progress list."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.assigning import assignable_to
from annotation.conflicts import as_conflicts
from annotation.languages_and_countries import CountryIsUnreadable, LanguageIsUnreadable, check_country, check_language
from annotation.matching import clinicians
from annotation.member_facts import facts_seen
from annotation.models import Conversation, Membership, Role, Study, User
from annotation.overseeing import Stage
from annotation.reviewer_rules import MOST_REVIEWERS
from consilium.errors import RuleViolation
from consilium.plain_forms import PlainForm


class TagsField(forms.CharField):
    """Language tags (BCP 47), parted by commas or spaces."""

    def clean(self, value: Any) -> list[str]:
        tags = list(dict.fromkeys(tag for tag in re.split(r"[\s,;]+", super().clean(value) or "") if tag))
        for tag in tags:
            try:
                check_language(tag)
            except LanguageIsUnreadable as refusal:
                raise ValidationError(refusal.sentence) from refusal
        return tags


ROLE_CHOICES = [
    (Role.CLINICIAN.value, "clinician: drafts, votes, judges responses"),
    (Role.ADMIN.value, "admin: sets up, assigns, freezes"),
    (Role.RESEARCHER.value, "researcher: grades, audits, exports"),
]


class MemberForm(forms.Form):
    """A person joins the study, or a member gets one more role."""

    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        help_text="The person signs in with it, by a code sent there.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
        error_messages={"invalid": "This is no e-mail address.", "required": "Give an e-mail address."},
    )
    name = forms.CharField(label="Name", max_length=200, required=False)
    roles = forms.MultipleChoiceField(
        label="Roles",
        choices=ROLE_CHOICES,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role."},
    )
    languages = TagsField(
        label="Languages that the person reads",
        required=False,
        help_text="Tags such as en, es-MX, zh-Hans. None means all: such a person may get any conversation.",
    )
    country = forms.RegexField(
        label="Country",
        regex=r"^[A-Za-z]{2}$",
        required=False,
        help_text="Two letters, as MX.",
        widget=forms.TextInput(attrs={"class": "short"}),
        error_messages={"invalid": "A country is two letters, as MX."},
    )
    profession = forms.CharField(label="Profession", max_length=100, required=False)
    speciality = forms.CharField(label="Speciality", max_length=100, required=False)
    invite = forms.BooleanField(
        label="Invite by mail",
        required=False,
        initial=True,
        help_text="The mail says who invites, to which study and what is asked, with a link to sign in.",
    )

    def clean_country(self) -> str:
        code: str = self.cleaned_data["country"].upper()
        try:
            if code:
                check_country(code)
        except CountryIsUnreadable as refusal:
            raise ValidationError(refusal.sentence) from refusal
        return code


class ChangeMemberForm(PlainForm):
    """A member's roles, and a name for who has none yet. ``seen`` holds the roles that the page was made from."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="Nobody gave one yet. Once it is there, only the person changes it.",
    )
    roles = forms.MultipleChoiceField(
        label="Roles",
        choices=ROLE_CHOICES,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role, or let the person leave."},
    )

    def __init__(self, *args: Any, member: Membership, **facts: Any) -> None:
        facts.setdefault("initial", {"roles": member.roles, "seen": ",".join(member.roles)})
        super().__init__(*args, **facts)
        if member.user.name:
            del self.fields["name"]

    @property
    def facts(self) -> dict[str, Any]:
        """What the act takes."""
        return {**self.cleaned_data, "seen": [role for role in self.cleaned_data["seen"].split(",") if role]}


class ConflictsField(forms.CharField):
    """Words, one a line."""

    widget = forms.Textarea

    def clean(self, value: Any) -> list[str]:
        try:
            return as_conflicts((super().clean(value) or "").splitlines())
        except RuleViolation as refusal:
            raise ValidationError(refusal.sentence) from refusal


class MemberFactsForm(PlainForm):
    """What assigning asks for. ``seen`` names the facts that the page was made from."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    conflicts = ConflictsField(
        label="Conflicts of interest",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="One a line: the id or a tag of conversations that this person is not to review. What is assigned "
        "already stays until somebody takes it away.",
    )
    is_licence_checked = forms.BooleanField(label="Somebody has seen this person's licence", required=False)

    def __init__(self, *args: Any, member: Membership, **facts: Any) -> None:
        known = {
            "seen": facts_seen(member),
            "conflicts": "\n".join(member.conflicts),
            "is_licence_checked": member.licence_checked_at is not None,
        }
        super().__init__(*args, initial=known, **facts)


class PauseForm(PlainForm):
    """Until when a member gets no new conversations."""

    until = forms.DateField(
        label="New conversations again from",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="Until then nothing new is assigned; what is assigned stays. Empty: no pause.",
    )


class AssignForm(forms.Form):
    """How many reviewers each conversation gets."""

    reviewers = forms.IntegerField(
        label="Reviewers a conversation",
        min_value=1,
        max_value=MOST_REVIEWERS,
        help_text="Conversations that have fewer are filled up; nobody is taken away.",
    )
    plan = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)


class AssignOneForm(forms.Form):
    """One clinician for one conversation, by hand."""

    reviewer = forms.ModelChoiceField(
        queryset=User.objects.none(),
        label="Assign by hand",
        empty_label="Choose a clinician",
        error_messages={
            "required": "Choose a clinician.",
            "invalid_choice": "This person can't be assigned here any more.",
        },
    )

    def __init__(self, *args: Any, conversation: Conversation, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["reviewer"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = assignable_to(conversation)

    @property
    def has_choices(self) -> bool:
        field = self.fields["reviewer"]
        assert isinstance(field, forms.ModelChoiceField)
        return bool(field.queryset is not None and field.queryset.exists())


class ProgressFilter(forms.Form):
    """Which conversations the progress list shows."""

    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[
            ("", "any"),
            *Stage.choices,
            ("out_of_reach", "out of reach"),
        ],
    )
    reviewer = forms.ModelChoiceField(
        queryset=User.objects.none(), label="Waits for", required=False, empty_label="anybody"
    )
    words = forms.CharField(
        label="Id", required=False, max_length=200, widget=forms.TextInput(attrs={"type": "search"})
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["reviewer"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = User.objects.filter(pk__in=[person.pk for person in clinicians(study)]).order_by(
            "name", "email"
        )
