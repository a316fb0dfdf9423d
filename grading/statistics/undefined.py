"""A number that a report shows is a finite float, or undefined with its reason: never 0 for want of data,
never NaN, never an exception because of what the data are."""

import math
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a number is undefined. The values stand in JSON; `sentence` is what a reader of a page sees."""

    NO_PAIRS = "no_pairs"
    SINGLE_CLASS = "single_class"
    CONSTANT_RATER = "constant_rater"
    CLASS_ABSENT = "class_absent"
    CLASS_NOT_GIVEN = "class_not_given"
    NO_RESPONSES = "no_responses"
    NO_POSITIVE_POINTS = "no_positive_points"
    UNSCORED_PAIRS = "unscored_pairs"
    NO_COMPLETE_RESPONSES = "no_complete_responses"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Reason.NO_PAIRS: "There is nothing that two raters both judged.",
    Reason.SINGLE_CLASS: "Every verdict is the same, so agreement beyond chance can't be told.",
    Reason.CONSTANT_RATER: "One rater gave the same class to everything, so there is no correlation.",
    Reason.CLASS_ABSENT: "Neither side gave this class.",
    Reason.CLASS_NOT_GIVEN: "The side that is divided by never gave this class.",
    Reason.NO_RESPONSES: "There are no responses.",
    Reason.NO_POSITIVE_POINTS: "There are no criteria with positive points to divide by.",
    Reason.UNSCORED_PAIRS: "Some criteria of this response are unscored, so it has bounds and no score.",
    Reason.NO_COMPLETE_RESPONSES: "No response that can be scored has all its criteria scored.",
}


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient, rate or score: `value` is a finite float, or None and `reason` says why.

    Make one with `defined` or `undefined`. ValueError when it would hold both, neither, or NaN or an
    infinity: that is a fault in a formula, never in the data.
    """

    value: float | None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("A coefficient has a value or a reason, and not both.")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"A coefficient is a finite number or undefined with a reason, not {self.value}.")


def defined(value: float) -> Coefficient:
    """A number that could be computed. NumPy's floats become Python's, so that JSON and `==` see plain
    numbers."""
    return Coefficient(value=float(value))


def undefined(reason: Reason) -> Coefficient:
    """A number that can't be computed, and why."""
    return Coefficient(value=None, reason=reason)
