"""Forms of the pages about versions: freezing, leaving out by name, withdrawing, and files to take in."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from consilium.tables import DEFAULT

LONGEST_NOTE = 10_000
LONGEST_REASON = 2_000


class FreezeForm(forms.Form):
    """The last step of a freeze: a note, each heavy criterion acknowledged, the words typed.

    ``seen`` is what the page showed as going in and staying out; if that is another by now, the admin looks again.
    """

    note = forms.CharField(
        label="A note for its readers",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What changed and why, as a reader should know it. It is frozen too.",
    )
    confirmation = forms.CharField(
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, number: int, to_acknowledge: Collection[UUID], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phrase = f"freeze version {number}"
        self.to_acknowledge = {str(each) for each in to_acknowledge}
        self.fields["confirmation"].label = f"Type “{self.phrase}”"
        self.fields["confirmation"].error_messages["required"] = (
            f"Type “{self.phrase}”, so that nobody freezes by slip."
        )

    @property
    def acknowledged(self) -> set[str]:
        """The ids ticked, of those that were asked about."""
        given = self.data.getlist("acknowledged") if hasattr(self.data, "getlist") else []
        return self.to_acknowledge & set(given)

    @property
    def acknowledged_ids(self) -> set[UUID]:
        return {UUID(each) for each in self.acknowledged}

    def clean_confirmation(self) -> str:
        given = str(self.cleaned_data["confirmation"])
        if " ".join(given.split()).casefold() != self.phrase:
            raise ValidationError(f"Type “{self.phrase}”, so that nobody freezes by slip.")
        return given

    def clean(self) -> dict[str, Any]:
        missing = len(self.to_acknowledge - self.acknowledged)
        if missing:
            raise ValidationError(
                "1 criterion that stays out is not acknowledged yet."
                if missing == 1
                else f"{missing:,} criteria that stay out are not acknowledged yet."
            )
        return super().clean() or self.cleaned_data


class ReasonForm(forms.Form):
    """Why a criterion is left out by name, or a version withdrawn."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say why, in a sentence that readers will see."},
    )


class FileForm(forms.Form):
    """A file to take in."""

    file = forms.FileField(
        label="File",
        help_text=f"JSON Lines, CSV or XLSX, told apart by content; at most {DEFAULT.file_bytes // 1_000_000} MB.",
        error_messages={"required": "Choose a file first.", "empty": "The file is empty."},
    )

    def clean_file(self) -> UploadedFile[Any]:
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > DEFAULT.file_bytes:
            raise ValidationError(f"The file is larger than {DEFAULT.file_bytes // 1_000_000} MB.")
        return file


class ConversationsForm(FileForm):
    name = forms.CharField(
        label="Name of a published set",
        required=False,
        max_length=100,
        help_text="Only for a file that brings its criteria along: in HealthBench's or MentalHealthBench's shape, or a "
        "version exported as CSV or Excel workbook. It becomes an external version of this name, else of its shape's.",
    )


class CriteriaForm(FileForm):
    keep_drafting = forms.BooleanField(
        label="Keep drafting open",
        required=False,
        help_text="Else drafting closes for the conversations that the file names, and round 1 opens there.",
    )
    revise = forms.BooleanField(
        label="Revise what is known",
        required=False,
        help_text="A known id with other content becomes a new revision. Votes on the old wording stop counting.",
    )


class VotesForm(FileForm):
    """Votes taken elsewhere; they are kept marked as imported, with the file's digest."""


FILE_FORMS: dict[str, type[FileForm]] = {
    "conversations": ConversationsForm,
    "criteria": CriteriaForm,
    "votes": VotesForm,
    "members": FileForm,
    "pilot_responses": FileForm,
    "practice": FileForm,
}
"""The form of each kind of file (rubrics.uploading)."""
