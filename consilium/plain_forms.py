"""Forms that speak to one person: what is missing or unreadable is said in a plain sentence beside its field.

Django's own sentences ("This field is required.", "Enter a valid value.") are replaced, not what a form says itself.
"""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

SENTENCES: dict[type[forms.Field], dict[str, Any]] = {
    # what a validator says is replaced by its code, with its figures
    forms.Field: {
        "required": _("Please fill this in."),
        "min_value": _("This is at least %(limit_value)s."),
        "max_value": _("This is at most %(limit_value)s."),
        "min_length": _("This has at least %(limit_value)d characters; yours has %(show_value)d."),
        "max_length": _("This has at most %(limit_value)d characters; yours has %(show_value)d."),
        "null_characters_not_allowed": _("This holds a character that can't be kept. Please write it anew."),
    },
    forms.ChoiceField: {
        "required": _("Please choose one."),
        "invalid_choice": _("This is not one of the choices. Please choose again."),
    },
    forms.MultipleChoiceField: {
        "required": _("Please choose at least one."),
        "invalid_choice": _("One of these is not among the choices. Please choose again."),
    },
    forms.BooleanField: {"required": _("Please tick this to go on.")},
    forms.IntegerField: {"invalid": _("Please write a whole number.")},
    forms.FloatField: {"invalid": _("Please write a number.")},
    forms.DecimalField: {"invalid": _("Please write a number.")},
    forms.DateField: {"invalid": _("Please write a date as year-month-day, 2026-05-31.")},
    forms.DateTimeField: {"invalid": _("Please write a date and a time, 2026-05-31 14:00.")},
    forms.EmailField: {"invalid": _("This doesn't read as an e-mail address.")},
    forms.URLField: {"invalid": _("This doesn't read as an address that begins with https:// or http://.")},
    forms.FileField: {
        "required": _("Please choose a file."),
        "empty": _("This file is empty."),
        "missing": _("The file did not arrive. Please choose it again."),
    },
    forms.ModelChoiceField: {
        "required": _("Please choose one."),
        "invalid_choice": _("This is not one of the choices. Please choose again."),
    },
}


class PlainForm(forms.Form):
    """A form whose fields say what is wrong in plain words; a field's own ``error_messages`` stay as they are given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            _speak_plainly(field)


def _speak_plainly(field: forms.Field) -> None:
    ours: dict[str, Any] = {}
    stock: dict[str, Any] = {}
    for kind in reversed(type(field).__mro__):
        ours.update(SENTENCES.get(kind, {}))
        stock.update(getattr(kind, "default_error_messages", {}))
    for code, sentence in ours.items():
        if field.error_messages.get(code) == stock.get(code):
            field.error_messages[code] = sentence
