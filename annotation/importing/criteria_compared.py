"""The criteria of a file against those that are stored: new, unchanged, to be revised, or in contradiction."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db.models import F, Func, IntegerField

from annotation.drafting import same_wording
from annotation.importing.blindness import SENTENCE, blind_for
from annotation.importing.criteria_read import COLUMNS, ReadCriterion, differences
from annotation.importing.messages import comparable_extra
from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.models import (
    Conversation,
    Criterion,
    Revision,
    RevisionWriter,
    Round,
    RoundCriterion,
    Study,
    User,
    Vote,
)
from annotation.writers import writers_of
from consilium.canonical import normal_text

BATCH = 5000


@dataclass(slots=True)
class Compared:
    """What a file of criteria would do. Of a revised one: the criterion, its row, and the wording that it keeps."""

    unchanged: int = 0
    new: list[tuple[Criterion, ReadCriterion]] = field(default_factory=list)
    revised: list[tuple[Criterion, ReadCriterion, UUID | None]] = field(default_factory=list)


class StoredCriteria:
    """What is stored of the criteria and conversations that a file names, found with a fixed number of queries."""

    def __init__(self, study: Study, rows: list[ReadCriterion], *, by: User | None) -> None:
        self._study = study
        self._rows = rows
        self.conversations: dict[str, Conversation] = {}
        self._criteria: dict[str, Criterion] = {}
        for batch in in_batches({row.conversation_id for row in rows}, BATCH):
            found = Conversation.objects.own().filter(study=study, external_id__in=batch).defer("messages", "extra")
            turns = Func(F("messages"), function="jsonb_array_length", output_field=IntegerField())
            for conversation in found.annotate(turns=turns):
                self.conversations[conversation.external_id] = conversation
        for ids in in_batches((row.external_id for row in rows), BATCH):
            criteria = Criterion.objects.filter(study=study, external_name="", external_id__in=ids)
            for criterion in criteria.select_related("current_revision", "conversation").defer(
                "conversation__messages", "conversation__extra"
            ):
                self._criteria[criterion.external_id] = criterion
        self._revisions: dict[UUID, list[Revision]] = defaultdict(list)
        self._writers: dict[UUID, set[UUID]] = defaultdict(set)
        for batch_of_ids in in_batches((criterion.id for criterion in self._criteria.values()), BATCH):
            for revision in Revision.objects.filter(criterion__in=batch_of_ids).order_by("number"):
                self._revisions[revision.criterion_id].append(revision)
            for criterion_id, writer_id in RevisionWriter.objects.filter(
                revision__criterion__in=batch_of_ids
            ).values_list("revision__criterion_id", "writer_id"):
                self._writers[criterion_id].add(writer_id)
        self._blind = blind_for(by, [conversation.id for conversation in self.conversations.values()])
        self._blind |= blind_for(by, {criterion.conversation_id for criterion in self._criteria.values()})
        self._voting = set(
            Round.objects.open()
            .filter(conversation__in=[conversation.id for conversation in self.conversations.values()])
            .values_list("conversation_id", flat=True)
        )

    def compare(self, report: Report, *, revise: bool) -> Compared:
        """Compare each row; errors go to the report. One with faulty columns is compared in the others."""
        compared = Compared()
        others: list[tuple[ReadCriterion, Criterion, list[str]]] = []
        for given in self._rows:
            conversation = self.conversations.get(given.conversation_id)
            criterion = self._criteria.get(given.external_id)
            row = self._placed(given, conversation, report)
            touched = (conversation, criterion.conversation if criterion else None)
            blind = next((this for this in touched if this and this.id in self._blind), None)
            if blind is not None:
                report.error(row.line, "conversation_id", SENTENCE.format(id=blind.external_id))
                continue
            if criterion is None:
                if conversation is not None:
                    made = Criterion(
                        study=self._study, conversation=conversation, external_id=row.external_id, extra=row.extra
                    )
                    compared.new.append((made, row))
            elif self._is_known(row, criterion, report, revise=revise):
                compared.unchanged += not row.faulty
            else:
                different = self._differences(row, criterion)
                fault = self._fault_of_revising(row, criterion, different)
                if fault:
                    report.error(row.line, different[0], f"Criterion “{row.external_id}” {fault}")
                elif revise:
                    compared.revised.append((criterion, row, self._kept_wording(row, criterion)))
                else:
                    others.append((row, criterion, different))
        self._report_others(others, report)
        return compared

    def _placed(self, row: ReadCriterion, conversation: Conversation | None, report: Report) -> ReadCriterion:
        """The row, its conversation or its anchors faulty (and reported) where the study has none such."""
        wrong = set()
        if conversation is None:
            wrong.add("conversation_id")
            told = f"Expected the id of one of the study's own conversations; found “{row.conversation_id}”."
        else:
            turns: int = conversation.turns  # type: ignore[attr-defined]
            if any(not 1 <= anchor <= turns for anchor in row.anchors):
                wrong.add("anchors")
                told = f"Expected numbers of turns from 1 to {turns}."
        for column in wrong - row.faulty:
            report.error(row.line, column, told)
        return replace(row, faulty=row.faulty | wrong) if wrong else row

    def _is_known(self, row: ReadCriterion, criterion: Criterion, report: Report, *, revise: bool) -> bool:
        """Whether the row says what is stored now or, without ``revise``, what was stored once."""
        current = criterion.current_revision
        assert current is not None
        if not self._differences(row, criterion, current):
            return True
        earlier = any(not self._differences(row, criterion, revision) for revision in self._revisions[criterion.id])
        if earlier and not revise and not row.faulty:
            report.warn(
                row.line,
                "criterion_id",
                f"Criterion “{row.external_id}” was revised since; its current text stays.",
                kind="criteria that were revised since",
            )
        return earlier and not revise

    def _differences(self, row: ReadCriterion, criterion: Criterion, revision: Revision | None = None) -> list[str]:
        """The columns in which a row differs from a stored revision, by default the current one."""
        stored = revision or criterion.current_revision
        assert stored is not None
        content = row.content()
        is_writer = row.author is None or row.author.id in self._writers[criterion.id]
        return differences(
            content,
            but=row.faulty,
            other={
                "conversation_id": criterion.conversation.external_id,
                "author": content["author"] if is_writer else "somebody else",
                "text": normal_text(stored.text),
                "points": stored.points,
                "axis": stored.axis,
                "rationale": normal_text(stored.rationale),
                "anchors": tuple(stored.anchors),
                "extra": comparable_extra(criterion.extra),
            },
        )

    def _fault_of_revising(self, row: ReadCriterion, criterion: Criterion, different: list[str]) -> str | None:
        """What keeps the row from becoming a revision, as the end of a sentence about the criterion; None: nothing."""
        fixed = [column for column in different if column == "conversation_id" or column not in COLUMNS.known]
        is_new_wording = self._kept_wording(row, criterion) is None
        if criterion.withdrawn_at or criterion.merged_into_id:
            return "was withdrawn or merged into another; expected the same content, or another id."
        if fixed:
            return f"is stored with another {_in_words(fixed)}; expected the same, or another id."
        if "author" in different and not is_new_wording:
            return "is stored with the same text by another author; expected that author, or none."
        if "author" in different and criterion.conversation_id in self._voting:
            return "is in an open round, in which only its writers revise it; expected one of them as the author."
        return None

    def _kept_wording(self, row: ReadCriterion, criterion: Criterion) -> UUID | None:
        """The wording that a revision keeps, where only white space, the rationale or the cited turns change."""
        current = criterion.current_revision
        assert current is not None
        is_same = same_wording(normal_text(current.text), normal_text(row.text))
        return current.wording_id if is_same and (current.points, current.axis) == (row.points, row.axis) else None

    def _report_others(self, others: list[tuple[ReadCriterion, Criterion, list[str]]], report: Report) -> None:
        """Report the rows whose id is stored with other content, with the votes that a revision would set aside."""
        votes = self._votes([criterion for _, criterion, _ in others])
        for row, criterion, different in others:
            lost = [] if self._kept_wording(row, criterion) else votes[criterion.id]
            sentence = (
                f"Criterion “{row.external_id}” is stored with another {_in_words(different)}; expected the same. "
                f"With --revise it gets a new revision, and {_in_words(lost) or 'no vote'} would stop counting."
            )
            report.error(row.line, different[0], sentence)

    def _votes(self, criteria: list[Criterion]) -> dict[UUID, list[str]]:
        """The votes that count on each criterion's current wording, in words, round by round. Three queries.

        Of an open round it is never told whether there are votes, how many or whose: an import is no way around
        blindness.
        """
        told: dict[UUID, list[str]] = defaultdict(list)
        writers = writers_of(criteria)
        wordings = {c.current_revision.wording_id: c.id for c in criteria if c.current_revision}
        counted: dict[tuple[UUID, Round], list[Vote]] = defaultdict(list)
        for vote in (
            Vote.objects.filter(wording__in=wordings, round__revealed_at__isnull=False)
            .select_related("round__policy", "reviewer")
            .order_by("round__number", "reviewer__name", "reviewer__email")
        ):
            criterion_id = wordings[vote.wording_id]
            if vote.reviewer_id not in writers[criterion_id]:
                counted[criterion_id, vote.round].append(vote)
        for (criterion_id, this), votes in counted.items():
            told[criterion_id].append(_revealed(this, votes))
        for covered in RoundCriterion.objects.filter(
            criterion__in=wordings.values(), round__revealed_at=None
        ).select_related("round"):
            told[covered.criterion_id].append(f"what is voted in the open round {covered.round.number}")
        return told


def _in_words(parts: list[str]) -> str:
    return " and ".join(parts)


def _revealed(this: Round, votes: list[Vote]) -> str:
    """How the votes of a revealed round fell; whose they are only where the round shows names."""
    fell = []
    for choice in Vote.Choice:
        people = [str(vote.reviewer) for vote in votes if vote.choice == choice]
        if people:
            fell.append(f"{choice.label}: {', '.join(people)}" if this.shows_names else f"{len(people)} {choice.label}")
    count = f"{len(votes)} {'vote' if len(votes) == 1 else 'votes'}"
    return f"{count} of round {this.number} ({('; ' if this.shows_names else ', ').join(fell)})"
