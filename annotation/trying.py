"""*Try it*: reviewers mark a criterion met or not met on two pilot responses, blind to their writers and each other.

A mark belongs to a wording, a pilot response and a person. While a wording has not been through a reveal, its marks are
their owners' alone, and each may be changed; from the reveal on none is given or changed, and all are shown as counts.
Where the marks of one response differ (of at least two people one says met and another not met), the criterion was
*applied differently*: that is read before a freeze, and holds nothing up.

Writers mark too: who can't apply the own draft mends it first. (Trying a grader is another thing: grading.trying.)
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.drafting import CriterionIsGone, NotAReviewer, StaleRevision, reviews
from annotation.locks import lock_criterion
from annotation.models import Criterion, Drafting, PilotMark, PilotResponse, Revision, RoundOutcome, User
from annotation.rounds import enter_conversation
from annotation.writers import writers_of
from consilium.canonical import normal_text, sha256_hex
from consilium.errors import RuleViolation, violated_constraint


class MarksAreRevealed(RuleViolation):
    """This wording was revealed: marks on it can't be given or changed any more."""


class NotToBeTriedHere(RuleViolation):
    """This response is not one of those to try the criterion on."""


class NotYoursToTry(RuleViolation):
    """While all draft alone only its writers try a criterion."""


def pilot_text_sha256(text: str) -> str:
    """The digest by which a pilot's text is known: in NFC, line ends as LF, trimmed (models.trials has it in SQL)."""
    return sha256_hex(normal_text(text).strip().encode())


def mark_pilot_response(
    *, criterion: Criterion, seen: Revision, response: PilotResponse, by: User, mark: PilotMark.Mark
) -> PilotMark:
    """Say whether a criterion is met in a pilot response, or change what one said.

    Raises StaleRevision where the wording changed since it was seen, MarksAreRevealed after its reveal.
    """
    try:
        with transaction.atomic():
            conversation, this = enter_conversation(criterion.study_id, criterion.conversation_id)
            criterion = lock_criterion(criterion.id)
            if criterion.withdrawn_at or criterion.merged_into_id:
                raise CriterionIsGone
            if not reviews(by, conversation):
                raise NotAReviewer("Only reviewers who are assigned to this conversation try its criteria.")
            is_alone = conversation.drafting_closed_at is None and conversation.study.policy.drafting == Drafting.ALONE
            if is_alone and by.id not in writers_of([criterion])[criterion.id]:
                raise NotYoursToTry
            current = criterion.current_revision
            assert current is not None
            if seen.wording_id != current.wording_id:
                raise StaleRevision(current=current, text="")
            shown = PilotResponse.objects.shown().filter(conversation=conversation)
            if response.id not in {each.id for each in shown}:
                raise NotToBeTriedHere
            is_past = this is not None and this.is_past  # type: ignore[attr-defined]
            if is_past or RoundOutcome.objects.filter(wording_id=current.wording_id).exists():
                raise MarksAreRevealed
            made, _ = PilotMark.objects.update_or_create(
                wording_id=current.wording_id,
                response=response,
                reviewer=by,
                defaults={"mark": mark, "given_at": timezone.now()},
            )
    except DatabaseError as error:
        if violated_constraint(error) == "marks_are_given_and_changed_until_the_reveal":
            raise MarksAreRevealed from error
        raise
    return made


# What may be seen


@dataclass(frozen=True, slots=True)
class MarksOnOne:
    """The marks on one pilot response, after the reveal."""

    number: int
    met: int
    not_met: int
    cant_tell: int

    @property
    def differ(self) -> bool:
        """Of at least two people one says met and another not met."""
        return self.met > 0 and self.not_met > 0

    @property
    def in_words(self) -> str:
        told = [f"{self.met} met", f"{self.not_met} not met"]
        if self.cant_tell:
            told.append(f"{self.cant_tell} can't tell")
        return f"response {self.number}: {', '.join(told)}"


@dataclass(frozen=True, slots=True)
class Applied:
    """How a panel applied a wording that was revealed, response by response; only those that somebody marked."""

    responses: list[MarksOnOne]

    @property
    def is_different(self) -> bool:
        return any(this.differ for this in self.responses)

    @property
    def in_words(self) -> str:
        """Those on which the marks differ, with the counts."""
        return "; ".join(this.in_words for this in self.responses if this.differ)


def how_applied(wordings: Collection[UUID]) -> dict[UUID, Applied]:
    """How each of these wordings was applied, of those that were revealed and tried. Two queries.

    What counts is stored at the reveal: the marks of those who could vote then, and of the writers.
    """
    panel: dict[UUID, set[UUID]] = {}
    decided = RoundOutcome.objects.filter(wording__in=wordings, round__revealed_at__isnull=False)
    for wording_id, eligible, writers in decided.order_by("-round__number").values_list(
        "wording_id", "eligible", "writers"
    ):
        panel[wording_id] = {*eligible, *writers}  # in the end those of the first reveal, which closed the marks
    counts: dict[UUID, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    marks = PilotMark.objects.filter(wording__in=list(panel))
    for wording_id, reviewer_id, number, mark in marks.values_list(
        "wording_id", "reviewer_id", "response__number", "mark"
    ):
        if reviewer_id in panel[wording_id]:
            counts[wording_id][number][mark] += 1
    return {
        wording_id: Applied(
            [
                MarksOnOne(number, found["met"], found["not_met"], found["cant_tell"])
                for number, found in sorted(responses.items())
            ]
        )
        for wording_id, responses in counts.items()
    }


@dataclass(slots=True)
class Trial:
    """One criterion on the pilot responses of its conversation, as one person may see it now."""

    wording: UUID
    responses: list[PilotResponse]
    is_open: bool
    """Whether marks are given on this wording still: it was through no reveal."""
    own: dict[UUID, str] = field(default_factory=dict)
    """The reader's marks by response."""
    applied: Applied | None = None
    """Null until the reveal."""

    @property
    def cards(self) -> list[tuple[PilotResponse, str, str, MarksOnOne | None]]:
        """Each response, the reader's own mark with its words, and after the reveal the counts."""
        counts = {this.number: this for this in self.applied.responses} if self.applied else {}
        return [
            (
                this,
                self.own.get(this.id, ""),
                PilotMark.Mark(self.own[this.id]).label if this.id in self.own else "",
                counts.get(this.number),
            )
            for this in self.responses
        ]

    @property
    def is_marked(self) -> bool:
        return len(self.own) == len(self.responses)


def lay_out_trial(*, reader: User, criterion: Criterion) -> Trial:
    """A criterion to be tried, with the reader's own marks; of others' nothing is fetched before the reveal."""
    assert criterion.current_revision is not None
    wording = criterion.current_revision.wording_id
    responses = list(PilotResponse.objects.shown().filter(conversation=criterion.conversation_id))
    own = PilotMark.objects.filter(wording=wording, reviewer=reader, response__in=responses)
    is_open = not RoundOutcome.objects.filter(wording=wording).exists()
    return Trial(
        wording=wording,
        responses=responses,
        is_open=is_open,
        own=dict(own.values_list("response_id", "mark")),
        applied=None if is_open else how_applied([wording]).get(wording),
    )
