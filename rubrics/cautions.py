"""What an admin reads before freezing, and what holds nothing up: it is said, and the freeze goes on all the same.

Conversations that go in although not each of their reviewers has said whether it is enough: an imported panel was
never asked, say. Criteria that go in although the panel applied them differently when it tried them on pilot responses.
"""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from annotation.states import CriterionState
from annotation.sufficiency import unanswered
from annotation.trying import Applied, how_applied
from rubrics.candidates import Place
from rubrics.counting_words import counted_conversations, counted_criteria
from rubrics.selecting import GoesIn, Selection


@dataclass(frozen=True, slots=True)
class NotAllAnswered:
    """A conversation that goes in, and how many of its reviewers have not said whether what is in consensus is enough.

    0: nobody reviews it any more, so that nobody was asked.
    """

    place: Place
    missing: int

    @property
    def sentence(self) -> str:
        if not self.missing:
            return "Nobody reviews it any more, so nobody was asked."
        return "1 reviewer has not answered." if self.missing == 1 else f"{self.missing} reviewers have not answered."


@dataclass(frozen=True, slots=True)
class AppliedDifferently:
    """A criterion that goes in, and the marks of those who tried it, some met and some not met on one response."""

    goes_in: GoesIn
    applied: Applied


@dataclass(frozen=True, slots=True)
class Cautions:
    """In reading order."""

    not_all_answered: list[NotAllAnswered]
    applied_differently: list[AppliedDifferently]

    @property
    def has_any(self) -> bool:
        return bool(self.not_all_answered or self.applied_differently)

    @property
    def sentences(self) -> list[str]:
        """All of it in a sentence each, with the counts."""
        told = []
        if self.not_all_answered:
            told.append(
                f"{counted_conversations(len(self.not_all_answered))} of those that go in: not every reviewer has said "
                "whether what is in consensus is enough."
            )
        if self.applied_differently:
            told.append(
                f"{counted_criteria(len(self.applied_differently))} of those that go in: tried on one response, some "
                "marked met and some not met."
            )
        return told


def cautions_of(selection: Selection) -> Cautions:
    """Answer what is to be read before a freeze of this selection. A fixed number of queries."""
    places = {this.place.id: this.place for this in selection.goes_in}
    wordings: dict[UUID, list[UUID]] = defaultdict(list)
    candidates = [this.criterion for this in selection.goes_in] + [this.criterion for this in selection.stays_out]
    for candidate in candidates:
        if candidate.conversation_id in places and candidate.state == CriterionState.IN_CONSENSUS:
            wordings[candidate.conversation_id].append(candidate.wording_id)
    missing = unanswered(wordings)
    applied = how_applied([this.criterion.wording_id for this in selection.goes_in])
    return Cautions(
        [NotAllAnswered(place, missing[key]) for key, place in places.items() if key in missing],
        [
            AppliedDifferently(this, found)
            for this in selection.goes_in
            if (found := applied.get(this.criterion.wording_id)) and found.is_different
        ],
    )
