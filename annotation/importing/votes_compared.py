"""The votes of a file against the rounds and the votes that are stored: unchanged, to be written, or out of place."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from annotation.care_locks import locked_among
from annotation.importing.blindness import SENTENCE, blind_for
from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.importing.votes_read import ReadVote, is_same, report_double
from annotation.models import Assignment, Criterion, FileImport, Round, RoundCriterion, Study, User, Vote
from annotation.voting import Ballot

BATCH = 5000


@dataclass(frozen=True, slots=True)
class ToWrite:
    """A vote to be cast or, where one is ``stored``, to be changed; ``assigns``: its owner was not assigned."""

    round: Round
    wording_id: UUID
    reviewer_id: UUID
    ballot: Ballot
    stored: Vote | None
    assigns: bool


class StoredVotes:
    """What is stored of the criteria that a file of votes names, found with a fixed number of queries."""

    def __init__(self, study: Study, rows: list[ReadVote], *, by: User | None, sha256: str) -> None:
        self._study = study
        self._rows = rows
        self._criteria: dict[str, Criterion] = {}
        for ids in in_batches({row.criterion_id for row in rows}, BATCH):
            found = Criterion.objects.own().filter(study=study, external_id__in=ids)
            for criterion in found.select_related("current_revision", "conversation").defer(
                "conversation__messages", "conversation__extra"
            ):
                self._criteria[criterion.external_id] = criterion
        conversations = {criterion.conversation_id for criterion in self._criteria.values()}
        self._blind = blind_for(by, conversations)
        # Of blind votes only who brought them, by the very same file, is told that they are unchanged; and the command
        # line, which the database hides nothing from.
        known = FileImport.objects.filter(study=study, kind=FileImport.Kind.VOTES)
        known = known if by is None else known.filter(sha256=sha256, imported_by=by)
        self._own_imports = set(known.values_list("id", flat=True))
        self._open = {
            this.conversation_id: this for this in Round.objects.open().filter(conversation__in=conversations)
        }
        self._covered = set(
            RoundCriterion.objects.filter(round__in=self._open.values()).values_list("round_id", "criterion_id")
        )
        self._recused_at: dict[tuple[UUID, UUID | None], datetime | None] = {
            (conversation_id, reviewer_id): recused_at
            for conversation_id, reviewer_id, recused_at in Assignment.objects.filter(
                conversation__in=conversations
            ).values_list("conversation_id", "reviewer_id", "recused_at")
        }
        self._locked = locked_among({criterion.conversation_id for criterion in self._criteria.values()})
        self._votes: dict[tuple[UUID, UUID | None], list[Vote]] = defaultdict(list)
        for batch in in_batches((criterion.id for criterion in self._criteria.values()), BATCH):
            votes = Vote.objects.filter(wording__criterion__in=batch).select_related("round", "wording")
            for vote in votes.order_by("round__number", "wording__number"):
                self._votes[vote.wording.criterion_id, vote.reviewer_id].append(vote)

    def compare(self, report: Report) -> list[ToWrite]:
        """Compare each row; errors go to the report, and so do the counts."""
        said: dict[tuple[str, UUID | None, int | None], ReadVote] = {}
        told: dict[tuple[UUID, UUID | None, UUID], tuple[ReadVote, Ballot]] = {}
        writing: list[ToWrite] = []
        elsewhere = self._external_ids()
        for row in self._rows:
            criterion = self._criteria.get(row.criterion_id)
            if criterion is None:
                if "criterion_id" not in row.faulty:
                    report.error(row.line, "criterion_id", _no_criterion(row.criterion_id, elsewhere))
                continue
            if criterion.conversation_id in self._blind:
                sentence = SENTENCE.format(id=criterion.conversation.external_id)
                report.error(row.line, "criterion_id", sentence)
                continue
            first = said.setdefault((row.criterion_id, row.reviewer_id, row.round_number), row)
            if row.faulty or first.faulty:
                if _differ_for_sure(first, row):
                    report_double(first, row, report, is_double=False)
            elif first is not row:
                report_double(first, row, report, is_double=self._say_the_same(first, row, criterion))
                continue
            if row.faulty:
                self._compare_faulty(row, criterion, report)
                continue
            equal = self._equal_vote(row, criterion)
            if equal is None:
                faults = self._faults(row, criterion)
                for column, told_of in faults:
                    report.error(row.line, column, told_of)
                if faults:
                    continue
                this = self._to_write(row, criterion)
                place, ballot = (this.round.id, this.wording_id, this.reviewer_id), this.ballot
            else:
                place, ballot = (equal.round_id, equal.wording_id, equal.reviewer_id), _ballot(equal)
            before, its_ballot = told.setdefault(place, (row, ballot))
            if before is not row:
                report_double(before, row, report, is_double=is_same(its_ballot, ballot))
            elif equal is None:
                writing.append(this)
            else:
                report.unchanged += 1
                self._warn_of_a_later_round(row, criterion, equal, report)
        report.created = len(writing)
        return writing

    def _compare_faulty(self, row: ReadVote, criterion: Criterion, report: Report) -> None:
        """Report what keeps a vote out of the round whatever its faulty cells will say: it repeats no stored vote."""
        may_repeat = row.reviewer_id is None or any(self._told_votes(row, criterion))
        for column, sentence in [] if may_repeat else self._faults(row, criterion):
            if column not in row.faulty:
                report.error(row.line, column, sentence)

    def _external_ids(self) -> set[str]:
        """Those of the file's criteria that are an external version's and not the study's own. One query."""
        missing = {row.criterion_id for row in self._rows} - self._criteria.keys()
        external = Criterion.objects.filter(study=self._study, external_id__in=missing).exclude(external_name="")
        return set(external.values_list("external_id", flat=True)) if missing else set()

    def _say_the_same(self, one: ReadVote, other: ReadVote, criterion: Criterion) -> bool:
        assert criterion.current_revision is not None
        points = criterion.current_revision.points
        return is_same(one.with_points(points), other.with_points(points))

    def _equal_vote(self, row: ReadVote, criterion: Criterion) -> Vote | None:
        """The stored vote that the row repeats: on the current wording or, where it names a round, there.

        A vote in the open round is told equal only to who brought it, by the same file (or to the command line): who
        may import could else try rows until one is unchanged, and so learn it. Such a row counts as any other vote
        that goes to the open round.
        """
        current = criterion.current_revision
        assert current is not None
        named = row.round_number
        open_round = self._open.get(criterion.conversation_id)
        is_open = open_round is not None and open_round.number == named
        for vote in self._told_votes(row, criterion):
            is_current = vote.wording_id == current.wording_id
            is_meant = is_current if named is None else vote.round.number == named and (is_current or not is_open)
            if is_meant and is_same(row.with_points(vote.wording.points), _ballot(vote)):
                return vote
        return None

    def _told_votes(self, row: ReadVote, criterion: Criterion) -> Iterator[Vote]:
        """The person's stored votes on the criterion that may be told of, the latest first."""
        open_round = self._open.get(criterion.conversation_id)
        for vote in reversed(self._votes[criterion.id, row.reviewer_id]):
            is_blind = open_round is not None and vote.round_id == open_round.id
            if not is_blind or vote.imported_from_id in self._own_imports:
                yield vote

    def _warn_of_a_later_round(self, row: ReadVote, criterion: Criterion, equal: Vote, report: Report) -> None:
        this = self._open.get(criterion.conversation_id)
        if row.round_number is None and this and this.id != equal.round_id and (this.id, criterion.id) in self._covered:
            report.warn(
                row.line,
                "round",
                f"The same vote stands in round {equal.round.number}. To cast it in round {this.number} too, name it.",
                kind="votes of an earlier round",
            )

    def _faults(self, row: ReadVote, criterion: Criterion) -> list[tuple[str, str]]:
        """What keeps the row out of the open round, as (column, sentence)."""
        faults = []
        if fault := self._fault(row, criterion):
            faults.append(fault)
        conversation = criterion.conversation
        if self._recused_at.get((conversation.id, row.reviewer_id)) is not None:
            told = f"{row.reviewer} recused from conversation “{conversation.external_id}”."
            faults.append(("reviewer", told))
        return faults

    def _fault(self, row: ReadVote, criterion: Criterion) -> tuple[str, str] | None:
        """What keeps anybody's vote on the criterion out of the round that the row means."""
        conversation = criterion.conversation
        this = self._open.get(conversation.id)
        if criterion.withdrawn_at or criterion.merged_into_id:
            return "criterion_id", f"Criterion “{row.criterion_id}” was withdrawn or merged: it takes no votes."
        if conversation.id in self._locked:
            return "criterion_id", f"Conversation “{conversation.external_id}” is locked: its votes wait."
        if conversation.drafting_closed_at is None:
            return "criterion_id", (
                f"Expected a conversation whose drafting is closed; that of “{conversation.external_id}” is open."
            )
        if this is None:
            return "criterion_id", f"Expected an open round; conversation “{conversation.external_id}” has none."
        if row.round_number is not None and row.round_number != this.number:
            return "round", (
                f"Expected the open round, {this.number}, or a vote as it is stored in round {row.round_number}."
            )
        if (this.id, criterion.id) not in self._covered:
            return "criterion_id", f"Expected a criterion that round {this.number} covers; “{row.criterion_id}” is not."
        return None

    def _to_write(self, row: ReadVote, criterion: Criterion) -> ToWrite:
        this = self._open[criterion.conversation_id]
        current = criterion.current_revision
        assert current is not None
        assert row.reviewer_id is not None
        stored = [
            vote
            for vote in self._votes[criterion.id, row.reviewer_id]
            if vote.round_id == this.id and vote.wording_id == current.wording_id
        ]
        return ToWrite(
            round=this,
            wording_id=current.wording_id,
            reviewer_id=row.reviewer_id,
            ballot=row.with_points(current.points),
            stored=stored[0] if stored else None,
            assigns=(criterion.conversation_id, row.reviewer_id) not in self._recused_at,
        )


def _differ_for_sure(one: ReadVote, other: ReadVote) -> bool:
    """Whether two votes by one person differ whatever their faulty cells will say: each says its choice and whose."""
    unsure = (one.faulty | other.faulty) & {"criterion_id", "reviewer", "choice", "round"}
    return not unsure and one.ballot.choice != other.ballot.choice


def _ballot(vote: Vote) -> Ballot:
    return Ballot(Vote.Choice(vote.choice), vote.points, category=vote.category, reason=vote.reason)


def _no_criterion(criterion_id: str, external: set[str]) -> str:
    if criterion_id in external:
        return f"Expected a criterion of the study's own; “{criterion_id}” is an external version's, without votes."
    return f"Expected the id of one of the study's criteria; found “{criterion_id}”."
