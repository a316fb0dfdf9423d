"""The reviewer verdicts of a file against what is stored: the responses, the criteria, the verdicts given before."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from annotation.importing.report import Report
from annotation.importing.rows import and_lines, in_batches
from annotation.models import Criterion, Study
from consilium.canonical import normal_text
from grading.importing.finding import NamedConversation, find_conversations
from grading.importing.verdicts_read import ReadVerdict
from grading.models import Respondent, Response, ReviewerVerdict
from rubrics.models import FrozenCriterion

BATCH = 5000
Place = tuple[UUID, UUID, UUID]
"""What a verdict belongs to: response, wording, reviewer."""


@dataclass(frozen=True, slots=True)
class ToWrite:
    """A verdict to be stored."""

    response_id: UUID
    wording_id: UUID
    reviewer_id: UUID
    verdict: str
    comment: str


@dataclass(frozen=True, slots=True)
class _Response:
    id: UUID
    conversation_id: UUID
    item_sha256: str
    is_failed: bool


class StoredVerdicts:
    """What is stored of the responses and criteria that a file of verdicts names, without a query a row."""

    def __init__(self, study: Study, rows: list[ReadVerdict]) -> None:
        self._study = study
        self._rows = rows
        self._conversations = find_conversations(study, {row.conversation_id for row in rows})
        self._respondents = set(Respondent.objects.filter(study=study).values_list("name", flat=True))
        self._responses = self._find_responses()
        self._criteria = self._find_criteria()
        self._given = {
            (response_id, wording_id, reviewer_id): (verdict, comment)
            for response_id, wording_id, reviewer_id, verdict, comment in ReviewerVerdict.objects.filter(
                study=study, reviewer__in={row.reviewer_id for row in rows if row.reviewer_id}
            ).values_list("response_id", "wording_id", "reviewer_id", "verdict", "comment")
        }
        self._earlier = self._frozen_with_an_earlier_wording()

    def compare(self, report: Report) -> list[ToWrite]:
        """Compare each row; errors go to the report, and so do the counts."""
        told: dict[Place, ReadVerdict] = {}
        writing: list[ToWrite] = []
        for row in self._rows:
            found = self._find(row, report)
            if found is None or row.reviewer_id is None:
                continue
            response, criterion = found
            assert criterion.current_revision is not None
            place = (response.id, criterion.current_revision.wording_id, row.reviewer_id)
            before = told.setdefault(place, row)
            if before is not row:
                _report_double(before, row, report)
                continue
            given = self._given.get(place)
            if given is not None:
                if _differs(given, row):
                    report.error(row.line, "verdict", self._other_verdict(given, row))
                else:
                    report.unchanged += not row.faulty
            elif not row.faulty:
                writing.append(ToWrite(*place, row.verdict, row.comment))
                self._warn(row, response, criterion, report)
        report.created = len(writing)
        return writing

    def _find_responses(self) -> dict[tuple[UUID, str, int], _Response]:
        """The responses of the conversations that the file names, by conversation, respondent and sample."""
        hashes = {
            named.id: named.item_sha256 for row in self._rows for named in self._conversations.all(row.conversation_id)
        }
        found: dict[tuple[UUID, str, int], _Response] = {}
        for ids in in_batches(hashes, BATCH):
            responses = Response.objects.filter(study=self._study, conversation__in=ids)
            for response_id, conversation_id, name, sample, is_failed in responses.values_list(
                "id", "conversation_id", "respondent__name", "sample", "is_failed"
            ):
                found[conversation_id, name, sample] = _Response(
                    response_id, conversation_id, hashes[conversation_id], is_failed
                )
        return found

    def _find_criteria(self) -> dict[str, list[Criterion]]:
        """The criteria that the file names, the study's own first, then the newest external version's."""
        found: dict[str, list[Criterion]] = defaultdict(list)
        for ids in in_batches({row.criterion_id for row in self._rows}, BATCH):
            criteria = Criterion.objects.filter(
                study=self._study, external_id__in=ids, conversation__undone_at=None
            ).select_related("current_revision", "conversation")
            for criterion in criteria.defer("conversation__messages", "conversation__extra").order_by("-created_at"):
                found[criterion.external_id].append(criterion)
        for named in found.values():
            named.sort(key=lambda criterion: criterion.external_name != "")
        return found

    def _frozen_with_an_earlier_wording(self) -> dict[UUID, int]:
        """The newest own version that holds a wording of the criterion which is not the current one: its number."""
        current = {
            criterion.id: criterion.current_revision.wording_id
            for named in self._criteria.values()
            for criterion in named
            if criterion.current_revision and not criterion.external_name
        }
        newest: dict[UUID, tuple[int, bool]] = {}
        for ids in in_batches(current, BATCH):
            frozen = FrozenCriterion.objects.filter(criterion__in=ids, version__number__isnull=False)
            for criterion_id, wording_id, number in frozen.values_list(
                "criterion_id", "wording_id", "version__number"
            ).order_by("version__number"):
                assert number is not None
                newest[criterion_id] = number, wording_id != current[criterion_id]
        return {criterion_id: number for criterion_id, (number, is_earlier) in newest.items() if is_earlier}

    def _find(self, row: ReadVerdict, report: Report) -> tuple[_Response, Criterion] | None:
        """The response and the criterion that a row names, of one conversation; else None, and each error.

        What a faulty cell should have named is not looked for, all else is.
        """
        conversations = self._conversations.all(row.conversation_id)
        if not conversations and "conversation_id" not in row.faulty:
            told = f"Expected the id of one of the study's conversations; found “{row.conversation_id}”."
            report.error(row.line, "conversation_id", told)
        responses = self._find_response(row, conversations, report)
        criteria = self._criteria.get(row.criterion_id, [])
        for criterion in criteria:
            for response in responses:
                if criterion.conversation_id == response.conversation_id:
                    return response, criterion
        for criterion in criteria:
            for response in responses:
                if criterion.conversation.item_sha256 == response.item_sha256:
                    return response, criterion
        items = {this.item_sha256 for this in responses or conversations}
        if "criterion_id" in row.faulty or any(criterion.conversation.item_sha256 in items for criterion in criteria):
            return None
        if criteria and not conversations:
            return None  # it is not known whose it should be
        told = f"Expected a criterion of conversation “{row.conversation_id}”; “{row.criterion_id}” is "
        told += "another conversation's." if criteria else "not known."
        report.error(row.line, "criterion_id", told)
        return None

    def _find_response(
        self, row: ReadVerdict, conversations: list[NamedConversation], report: Report
    ) -> list[_Response]:
        """The responses that a row may mean, the study's own conversation's first; [] and an error where none is."""
        if "respondent" in row.faulty:
            return []
        if row.respondent not in self._respondents:
            report.error(row.line, "respondent", f"Expected a respondent of the study; found “{row.respondent}”.")
            return []
        places = [(this.id, row.respondent, row.sample) for this in conversations]
        responses = [self._responses[place] for place in places if place in self._responses]
        if conversations and not responses and "sample" not in row.faulty:
            told = f"{row.respondent} has no sample {row.sample} in conversation “{row.conversation_id}”."
            report.error(row.line, "respondent", f"Expected a response that is stored: {told}")
        return [] if "sample" in row.faulty else responses

    def _other_verdict(self, given: tuple[str, str], row: ReadVerdict) -> str:
        what = "verdict" if given[0] != row.verdict else "comment"
        return f"{row.reviewer} is stored with another {what} on this response and criterion. Expected the same."

    def _warn(self, row: ReadVerdict, response: _Response, criterion: Criterion, report: Report) -> None:
        if response.is_failed:
            told = "This response failed (blank or cut off): the verdict is kept, and no grade stands beside it."
            report.warn(row.line, "respondent", told, kind="verdicts on failed responses")
        number = self._earlier.get(criterion.id)
        if number is not None:
            told = f"Criterion “{row.criterion_id}” was revised since version {number}; the verdict is on its text now."
            report.warn(row.line, "criterion_id", told, kind="verdicts on revised criteria")


def _differs(given: tuple[str, str], row: ReadVerdict) -> bool:
    """Whether a row contradicts a stored verdict. An empty comment says nothing of it, and so does a faulty cell."""
    is_other_comment = bool(row.comment.strip()) and normal_text(given[1]) != normal_text(row.comment)
    return ("verdict" not in row.faulty and given[0] != row.verdict) or (
        "comment" not in row.faulty and is_other_comment
    )


def _report_double(before: ReadVerdict, row: ReadVerdict, report: Report) -> None:
    lines = and_lines(before.line, row.line)
    if before.faulty or row.faulty:
        is_sure = not (before.faulty | row.faulty) & {"verdict", "reviewer"} and before.verdict != row.verdict
        if not is_sure:
            return
    if (before.verdict, normal_text(before.comment)) == (row.verdict, normal_text(row.comment)):
        report.warn(row.line, None, f"The {lines} hold the same verdict; it counts once.", kind="doubles")
    else:
        told = f"The {lines} are different verdicts by {row.reviewer} on one response and criterion. Expected one."
        report.error(row.line, "verdict", told)
