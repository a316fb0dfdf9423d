"""Files that a researcher brings: responses, and reviewer verdicts given elsewhere; with the act that takes each in."""

from django.utils.translation import gettext_lazy as _

from annotation.models import FileImport
from grading.importing import responses, verdicts_read
from grading.importing.responses import import_responses
from grading.importing.verdicts import import_verdicts
from grading.models import Respondent, ReviewerVerdict
from grading.models.responses import FAILING_FINISH_REASONS
from rubrics.file_shapes import CLINICIAN, FileShape, one_of
from rubrics.uploading import Upload

RESPONSES = FileShape(
    responses.COLUMNS,
    {
        "conversation_id": _("the id of a conversation of the study"),
        "respondent": _("the model's or person's name"),
        "sample": _("a whole number from 1; without one, 1"),
        "text": _("may be empty: then the response failed"),
        "finish_reason": f"as the model gave it; with {one_of(FAILING_FINISH_REASONS)} the response failed",
        "kind": one_of(Respondent.Kind.values),
    },
    (
        {
            "conversation_id": "example-1",
            "respondent": "model-a",
            "sample": 1,
            "text": "How many hours do you sleep at the moment?",
            "finish_reason": "stop",
            "kind": Respondent.Kind.MODEL.value,
        },
        {
            "conversation_id": "example-1",
            "respondent": "counsellor",
            "sample": 1,
            "text": "Three weeks is long. Tell me about your nights.",
            "finish_reason": "",
            "kind": Respondent.Kind.HUMAN.value,
        },
    ),
)

VERDICTS = FileShape(
    verdicts_read.COLUMNS,
    {
        "conversation_id": _("the id of a conversation of the study"),
        "respondent": _("who wrote the response"),
        "sample": _("a whole number from 1; without one, 1"),
        "criterion_id": _("its own id, or of an external version's the first 16 hex digits of its hash"),
        "reviewer": CLINICIAN,
        "verdict": one_of(ReviewerVerdict.Verdict.values),
    },
    (
        {
            "conversation_id": "example-1",
            "respondent": "model-a",
            "sample": 1,
            "criterion_id": "example-1-a",
            "reviewer": "ana@example.org",
            "verdict": ReviewerVerdict.Verdict.MET.value,
            "comment": "",
        },
        {
            "conversation_id": "example-1",
            "respondent": "model-a",
            "sample": 1,
            "criterion_id": "example-1-b",
            "reviewer": "ana@example.org",
            "verdict": ReviewerVerdict.Verdict.CANNOT_TELL.value,
            "comment": "It names none.",
        },
    ),
)

UPLOADS = {
    upload.kind.value: upload
    for upload in (
        Upload(FileImport.Kind.RESPONSES, _("Responses"), RESPONSES, import_responses),
        Upload(
            FileImport.Kind.VERDICTS,
            _("Reviewer verdicts"),
            VERDICTS,
            import_verdicts,
            care=_("Only verdicts given elsewhere. They are kept marked as imported, with the file's digest."),
        ),
    )
}
