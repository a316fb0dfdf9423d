"""The pairs behind a number as a page shows them: one card a response x criterion, with every clinician's verdict."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext

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
    if asked.axis:
        parts.append(gettext("on the axis {axis}").format(axis=axis_words(asked.axis)))
    elif asked.axis is not None:
        parts.append(gettext("without an axis"))
    if asked.criterion is not None:
        parts.append(gettext("on the criterion {criterion}").format(criterion=asked.criterion))
    if asked.reviewer is not None:
        parts.append(gettext("judged by {name}").format(name=names.get(asked.reviewer, asked.reviewer)))
    grader, clinician = (in_words(said or "").lower() for said in (asked.grader, asked.clinician))
    if grader and grader == clinician:
        parts.append(gettext("where grader and clinician say {verdict}").format(verdict=grader))
    elif grader and clinician:
        said = gettext("where the grader says {grader} and the clinician {clinician}")
        parts.append(said.format(grader=grader, clinician=clinician))
    elif grader:
        parts.append(gettext("where the grader says {verdict}").format(verdict=grader))
    elif clinician:
        parts.append(gettext("where the clinician says {verdict}").format(verdict=clinician))
    if asked.differ:
        parts.append(gettext("where grader and clinician differ"))
    if not parts:
        return gettext("All pairs")
    return gettext("Pairs {of_what}").format(of_what=" ".join(parts))


def summary(chosen: Sequence[Judged], cards: int) -> str:
    """How many verdicts a page holds, and how many of them make a pair: "168 verdicts, 151 make a pair"."""
    pairs = sum(pair.is_pair for pair in chosen)
    verdicts = ngettext("{number} verdict", "{number} verdicts", len(chosen)).format(number=f"{len(chosen):,}")
    units = ngettext("{number} response and criterion", "{number} responses × criteria", cards)
    sentence = ngettext(
        "{verdicts} on {units}: {pairs} makes a pair with a grade.",
        "{verdicts} on {units}: {pairs} make a pair with a grade.",
        pairs,
    ).format(verdicts=verdicts, units=units.format(number=f"{cards:,}"), pairs=f"{pairs:,}")
    cannot_tell = sum(pair.clinician is None for pair in chosen)
    unscored = sum(pair.clinician is not None and pair.grader is None and pair.is_graded for pair in chosen)
    waiting = sum(pair.clinician is not None and not pair.is_graded for pair in chosen)
    left = (
        (gettext("{number} can't tell"), cannot_tell),
        (gettext("{number} on what the grader left unscored"), unscored),
        (gettext("{number} not graded yet"), waiting),
    )
    without = ", ".join(words.format(number=f"{number:,}") for words, number in left if number)
    if not without:
        return sentence
    return gettext("{sentence} The rest make none: {without}.").format(sentence=sentence, without=without)
