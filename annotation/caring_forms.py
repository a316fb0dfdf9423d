"""Forms of care: topics to be spared, words with a lock, what is wrong with a conversation."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.caring import LONGEST_WORDS
from annotation.models import ConversationReport
from annotation.topics import Topic
from consilium.plain_forms import PlainForm


def _words(label: Any, help_text: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=LONGEST_WORDS,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=help_text,
    )


class TopicsForm(PlainForm):
    """Which topics a clinician declines."""

    topics = forms.MultipleChoiceField(label=_("Spare me"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, data: Any = None, *, topics: Iterable[Topic]) -> None:
        offered = list(topics)
        declined = [topic.name for topic in offered if topic.is_declined]
        super().__init__(data, initial={"topics": declined})
        self.fields["topics"].choices = [(topic.name, topic.name) for topic in offered]  # type: ignore[attr-defined]


class LockForm(PlainForm):
    words = _words(_("What made you think so"), _("Only admins read it. Please don't copy the conversation here."))


class ReportForm(PlainForm):
    kind = forms.ChoiceField(
        label=_("What is it"), choices=ConversationReport.Kind.choices, widget=forms.RadioSelect, initial="cut_off"
    )
    words = _words(_("In your words"), _("Where it is cut off, which language it is in, or what else is wrong."))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("kind") == ConversationReport.Kind.OTHER and not (cleaned.get("words") or "").strip():
            self.add_error("words", gettext("Say what is wrong with the conversation."))
        return cleaned
