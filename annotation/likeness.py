"""How alike two criteria are: pure, by their characters and words, in any language.

Two with the same sign are *alike* where their texts nearly agree. Two with opposite signs are *mirrored*: asks, +8;
fails to ask, -8. One act then counts twice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

ALIKE = 75
"""Per cent from which two texts are called alike."""
SHORT, ALIKE_WHEN_SHORT = 40, 86
"""In a text of fewer characters one word is much of it: "asks about sleep", "asks about food"."""

_NOT = re.compile(
    r"^(?:the (?:response|answer|assistant|model|reply) )?"
    r"(?:fails? to|does not|doesn['’]t|do not|neglects? to|omits? to|refuses? to|never|no) ",
)


@dataclass(frozen=True, slots=True)
class Alike:
    """A text found among others, by its place in them, and how alike it is (per cent)."""

    place: int
    score: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two criteria that are alike, by their places, the first one first."""

    one: int
    other: int
    score: float
    is_mirrored: bool


def fold(text: str) -> str:
    """A text as it is compared: lower case, single spaces."""
    return " ".join(text.casefold().split())


def find_alike(text: str, folded: Sequence[str], *, at_most: int = 3) -> list[Alike]:
    """The texts most like ``text``, the likest first. ``folded``: they, folded already.

    One pass by characters over all of them, which is what makes 50,000 quick; the words' order is looked at after.
    """
    wanted = fold(text)
    if not wanted:
        return []
    rough = process.extract(wanted, folded, scorer=fuzz.ratio, score_cutoff=60, limit=10 * at_most)
    found = [Alike(place, _score(wanted, other)) for other, _, place in rough if _is_alike(wanted, other)]
    return sorted(found, key=lambda each: (-each.score, each.place))[:at_most]


def find_pairs(criteria: Sequence[tuple[str, int]]) -> list[Pair]:
    """The pairs among criteria (text, points) that are alike or mirrored, the likest first."""
    folded = [fold(text) for text, _ in criteria]
    bare = [_bare(text) for text in folded]
    found = []
    for one, (_, points) in enumerate(criteria):
        for other in range(one + 1, len(criteria)):
            is_mirrored = (points > 0) != (criteria[other][1] > 0)
            texts = bare if is_mirrored else folded
            if _is_alike(texts[one], texts[other]):
                found.append(Pair(one, other, _score(texts[one], texts[other]), is_mirrored))
    return sorted(found, key=lambda pair: (-pair.score, pair.one, pair.other))


def _score(one: str, other: str) -> float:
    return max(fuzz.ratio(one, other), fuzz.token_sort_ratio(one, other))


def _is_alike(one: str, other: str) -> bool:
    least = ALIKE_WHEN_SHORT if min(len(one), len(other)) < SHORT else ALIKE
    return fuzz.ratio(one, other, score_cutoff=least) > 0 or fuzz.token_sort_ratio(one, other, score_cutoff=least) > 0


def _bare(folded: str) -> str:
    """What is done or not done: "fails to ask about it" and "asks about it" are the same here."""
    without = _NOT.sub("", folded)
    first, _, rest = without.partition(" ")
    return f"{_verb(first)} {rest}"


def _verb(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
