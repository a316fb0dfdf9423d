"""Files that an admin uploads, by what they hold, and the act that takes each in. Page and API share this list."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db.models import TextChoices
from django.utils.functional import Promise

from annotation.importing.criteria import import_criteria
from annotation.importing.members import PeopleFile, import_members
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.importing.practice import PracticeFile, import_practice
from annotation.importing.report import Report
from annotation.importing.votes import import_votes
from annotation.models import FileImport, Study, User
from rubrics import file_shapes
from rubrics.file_shapes import FileShape
from rubrics.importing import import_conversations


@dataclass(frozen=True, slots=True)
class Upload:
    """One kind of file: how its page names it, what it holds, the act that takes it in, and what that takes besides."""

    kind: TextChoices
    words: str | Promise
    shape: FileShape
    act: Callable[..., Report]
    options: tuple[str, ...] = ()
    care: str | Promise = ""

    @property
    def columns(self) -> str:
        return ", ".join(self.shape.columns.known)


UPLOADS = {
    upload.kind.value: upload
    for upload in (
        Upload(
            FileImport.Kind.CONVERSATIONS,
            "Conversations",
            file_shapes.CONVERSATIONS,
            import_conversations,
            ("name",),
        ),
        Upload(
            FileImport.Kind.CRITERIA,
            "Criteria",
            file_shapes.CRITERIA,
            import_criteria,
            ("keep_drafting", "revise"),
        ),
        Upload(
            FileImport.Kind.VOTES,
            "Votes",
            file_shapes.VOTES,
            import_votes,
            care="Only votes that reviewers gave elsewhere. They are kept marked as imported, with the file's digest; "
            "a vote by a clinician who was not assigned assigns that person.",
        ),
        Upload(
            FileImport.Kind.PILOT_RESPONSES,
            "Pilot responses",
            file_shapes.PILOT_RESPONSES,
            import_pilot_responses,
            care="Reviewers try their criteria on two a conversation. They never see the source, and no pair of these "
            "is ever part of an audit.",
        ),
        Upload(
            PeopleFile.MEMBERS,
            "People",
            file_shapes.MEMBERS,
            import_members,
            care="Who is in the study already keeps every role, and what a person has declared stays: only what is "
            "empty is filled in. No mail is sent: tell them yourself. The file is not listed among those taken in; "
            "what it made stands on Members.",
        ),
        Upload(
            PracticeFile.PRACTICE,
            "Practice examples",
            file_shapes.PRACTICE,
            import_practice,
            care="By these a new clinician tries the guidelines out. They are no study data. An example that is there "
            "already is changed; none is removed. The file is not listed among those taken in.",
        ),
    )
}


def take_file_in(
    upload: Upload, *, study: Study, file: "UploadedFile[Any]", by: User, check: bool, given: dict[str, Any]
) -> Report:
    """Take an uploaded file in, or with ``check`` say what it would do. ``given`` holds the options, maybe others."""
    options = {name: given[name] for name in upload.options}
    if "name" in options:
        options["name"] = options["name"].strip() or None
    return upload.act(
        study=study, source=_source(file), file_name=Path(file.name or "file").name, by=by, check=check, **options
    )


def _source(file: "UploadedFile[Any]") -> Path | BinaryIO:
    """The file as an import takes it: where it lies, or what it holds."""
    if isinstance(file, TemporaryUploadedFile):
        return Path(file.temporary_file_path())
    return io.BytesIO(file.read())
