"""Forms of practice: an example as an admin writes it, and a clinician's answer to one. Rules stand with the acts."""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import ObjectionCategory, PracticeChoice, PracticeExample
from annotation.practising import Exercise
from annotation.writing_practice import LONGEST_TEXT, ExampleFacts, example_facts
from consilium.plain_forms import PlainForm

SPOKEN_BY = re.compile(r"^(user|assistant|system)[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)
Messages = list[dict[str, str]]


def as_turns(text: str) -> Messages:
    """The turns of a conversation as it is typed: each begins with who speaks; a text without that is the user's."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if text and not SPOKEN_BY.match(text):
        text = f"user: {text}"
    found = list(SPOKEN_BY.finditer(text))
    ends = [*(this.start() for this in found[1:]), len(text)]
    return [
        {"role": this[1].lower(), "content": text[this.end() : end].strip()}
        for this, end in zip(found, ends, strict=True)
    ]


def as_typed(messages: Messages) -> str:
    """A conversation as it would be typed; as JSON where typing it would make another one of it."""
    text = "\n\n".join(f"{message['role'].title()}: {message['content']}" for message in messages)
    return text if as_turns(text) == messages else json.dumps(messages, ensure_ascii=False, indent=1)


class ConversationField(forms.CharField):
    """A conversation, typed with who speaks before each turn, or as JSON."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.lstrip().startswith("["):
            return as_turns(text)
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValidationError(
                gettext("This begins as JSON does, and can't be read as it. Write the turns as User: and Assistant:.")
            ) from error


def _text(rows: int, **facts: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, "dir": "auto"})
    return forms.CharField(max_length=LONGEST_TEXT, widget=widget, **facts)


class ExampleForm(PlainForm):
    """One practice example. ``seen`` is the edition that its writer had before them."""

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)
    messages = ConversationField(
        label=_("The conversation"),
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text=_("Short, and invented. Begin each turn with User: or Assistant:, and end on the user."),
    )
    language = forms.CharField(
        label=_("Its language"),
        required=False,
        max_length=35,
        help_text=_("A tag such as en, es or ar."),
        widget=forms.TextInput(attrs={"class": "short"}),
    )
    criterion = _text(2, label=_("The criterion"), help_text=_("One sentence, as it would stand on the desk."))
    is_wanted = forms.TypedChoiceField(
        label=_("In a good answer it is"),
        coerce=lambda value: value == "yes",
        choices=[("yes", _("wanted")), ("no", _("not wanted"))],
        widget=forms.RadioSelect,
        initial="yes",
    )
    choice = forms.ChoiceField(
        label=_("What the guidelines answer"), choices=PracticeChoice.choices, widget=forms.RadioSelect
    )
    points_low = forms.IntegerField(
        label=_("To agree: the lowest weight that fits"),
        required=False,
        help_text=_("Of what is wanted, +1 to +10; of what is not, −10 to −1."),
        widget=forms.NumberInput(attrs={"class": "short"}),
    )
    points_high = forms.IntegerField(
        label=_("To agree: the highest weight that fits"),
        required=False,
        widget=forms.NumberInput(attrs={"class": "short"}),
    )
    categories = forms.MultipleChoiceField(
        label=_("To object: the categories that fit"),
        choices=ObjectionCategory.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    feedback = _text(
        4,
        label=_("Why"),
        help_text=_("Shown at once after the answer, whatever it was. Say what the guidelines say. Markdown."),
    )

    def __init__(self, data: Any = None, *, example: PracticeExample | None = None) -> None:
        initial: dict[str, Any] = {}
        if example is not None:
            initial = example_facts(example).values() | {"seen": example.edition}
            initial["messages"] = as_typed(example.messages)
            initial["is_wanted"] = "yes" if example.is_wanted else "no"
        super().__init__(data, initial=initial)

    @property
    def facts(self) -> ExampleFacts:
        """What the acts take. Weights and categories that belong to another answer than the chosen one are left."""
        data = {name: value for name, value in self.cleaned_data.items() if name != "seen"}
        for name in ("criterion", "feedback"):
            data[name] = data[name].replace("\r\n", "\n")
        if data["choice"] != PracticeChoice.AGREE:
            data["points_low"] = data["points_high"] = None
        if data["choice"] != PracticeChoice.OBJECT:
            data["categories"] = []
        return ExampleFacts(**data)

    def take_faults(self, faults: dict[str, Sequence[str]]) -> None:
        """Put what an act found wrong beside the fields."""
        for name, sentences in faults.items():
            self.add_error(name, list(sentences))


class AnswerForm(PlainForm):
    """A clinician's answer to an example: a weight, which is agreeing; an objection's category; or nothing more."""

    points = forms.IntegerField(
        label=_("Another number"),
        required=False,
        error_messages={"invalid": _("A weight is a whole number.")},
    )
    category = forms.ChoiceField(
        label=_("It is"), choices=ObjectionCategory.choices, required=False, widget=forms.RadioSelect
    )

    def __init__(self, exercise: Exercise, data: Any = None) -> None:
        answer = exercise.answer
        initial = {"points": answer.points, "category": answer.category} if answer else {}
        super().__init__(data, initial=initial, auto_id="practice-%s")
        is_wanted = exercise.example.is_wanted
        low, high = (1, 10) if is_wanted else (-10, -1)
        self.fields["points"].widget.attrs |= {"min": low, "max": high}
        self.is_wanted = is_wanted

    @property
    def choice(self) -> str:
        given = self.data.get("act", "")
        return str(given) if given in PracticeChoice.values else PracticeChoice.AGREE.value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        points = cleaned.get("points")
        if self.choice == PracticeChoice.AGREE and "points" not in self.errors:
            span = range(1, 11) if self.is_wanted else range(-10, 0)
            if points is None or points not in span:
                self.add_error(
                    "points",
                    gettext("What is wanted weighs from +1 to +10.")
                    if self.is_wanted
                    else gettext("What is not wanted weighs from −10 to −1."),
                )
        if self.choice == PracticeChoice.OBJECT and not cleaned.get("category") and "category" not in self.errors:
            self.add_error("category", gettext("Choose what is wrong with it."))
        return cleaned

    @property
    def facts(self) -> dict[str, Any]:
        """What the act takes."""
        choice = self.choice
        return {
            "choice": choice,
            "points": self.cleaned_data["points"] if choice == PracticeChoice.AGREE else None,
            "category": self.cleaned_data["category"] if choice == PracticeChoice.OBJECT else "",
        }
