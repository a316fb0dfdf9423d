"""The pairs behind a number as a page shows them: one card a response x criterion, with every clinician's verdict."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from consilium.templatetags.consilium_text import in_words
from grading.agreement import Judged
from grading.models import Grade, Response, Run
from grading.pairs import Asked, show_pairs
from grading.reasons import sentence_for
from grading.score_tables import axis_words
from rubrics.models import FrozenConversation, FrozenCriterion


@dataclass(frozen=True, slots=True)
class PairCard:
    """One response x criterion: the grade, and all clinicians' verdicts as (name, verdict, whether asked for); those
    that were asked for stand first."""

    criterion: FrozenCriterion
    conversation: FrozenConversation
    response: Response
    grade: Grade | None
    verdicts: Sequence[tuple[str, Judged, bool]]

    @property
    def grade_reason(self) -> str:
        return sentence_for(self.grade.reason) if self.grade is not None and self.grade.reason else ""


def group_by_unit(judged: Sequence[Judged], asked: Asked) -> list[list[Judged]]:
    """All verdicts of each response x criterion of which at least one was asked for, in the version's order."""
    units: dict[Any, list[Judged]] = defaultdict(list)
    for pair in judged:
        units[pair.unit].append(pair)
    chosen = [pairs for pairs in units.values() if any(asked.holds(pair) for pair in pairs)]

    def place(pairs: list[Judged]) -> tuple[int, int, UUID]:
        criterion = pairs[0].criterion
        return criterion.frozen_conversation.position, criterion.position, pairs[0].unit[0]

    return sorted(chosen, key=place)


def lay_out(run: Run, units: Sequence[Sequence[Judged]], asked: Asked, names: Mapping[str, str]) -> list[PairCard]:
    """The cards of a page. Three queries, however many."""
    shown = show_pairs(run, [pairs[0] for pairs in units])
    wanted = [pairs[0].criterion.frozen_conversation_id for pairs in units]
    conversations = FrozenConversation.objects.in_bulk(wanted)
    return [
        PairCard(
            criterion=pairs[0].criterion,
            conversation=conversations[pairs[0].criterion.frozen_conversation_id],
            response=this.response,
            grade=this.grade,
            verdicts=sorted(
                ((names[pair.reviewer], pair, asked.holds(pair)) for pair in pairs), key=lambda each: not each[2]
            ),
        )
        for pairs, this in zip(units, shown, strict=True)
    ]


def heading(asked: Asked, names: Mapping[str, str]) -> str:
    """What a page of pairs is of: "Pairs on the axis Accuracy where grader and clinician differ"."""
    parts = []
    if asked.axis is not None:
        parts.append(f"on the axis {axis_words(asked.axis)}" if asked.axis else "without an axis")
    if asked.criterion is not None:
        parts.append(f"on the criterion {asked.criterion}")
    if asked.reviewer is not None:
        parts.append(f"judged by {names.get(asked.reviewer, asked.reviewer)}")
    grader, clinician = (in_words(said or "").lower() for said in (asked.grader, asked.clinician))
    if grader and grader == clinician:
        parts.append(f"where grader and clinician say {grader}")
    elif grader and clinician:
        parts.append(f"where the grader says {grader} and the clinician {clinician}")
    elif grader or clinician:
        parts.append(f"where the {'grader' if grader else 'clinician'} says {grader or clinician}")
    if asked.differ:
        parts.append("where grader and clinician differ")
    return " ".join(["Pairs", *parts]) if parts else "All pairs"


def summary(chosen: Sequence[Judged], cards: int) -> str:
    """How many verdicts a page holds, and how many of them make a pair: "168 verdicts, 151 make a pair"."""
    pairs = sum(pair.is_pair for pair in chosen)
    verdicts = "1 verdict" if len(chosen) == 1 else f"{len(chosen):,} verdicts"
    one_card = "1 response and criterion" if cards == 1 else f"{cards:,} responses \N{MULTIPLICATION SIGN} criteria"
    make = "makes" if pairs == 1 else "make"
    sentence = f"{verdicts} on {one_card}: {pairs:,} {make} a pair with a grade."
    cannot_tell = sum(pair.clinician is None for pair in chosen)
    unscored = sum(pair.clinician is not None and pair.grader is None and pair.is_graded for pair in chosen)
    waiting = sum(pair.clinician is not None and not pair.is_graded for pair in chosen)
    left = {"can't tell": cannot_tell, "on what the grader left unscored": unscored, "not graded yet": waiting}
    without = ", ".join(f"{number:,} {words}" for words, number in left.items() if number)
    return f"{sentence} The rest make none: {without}." if without else sentence
