"""Weights in words. One ladder for what is wanted in a good answer, one for what is not; numbers between stay free."""

from dataclasses import dataclass

from annotation.consensus import signed


@dataclass(frozen=True, slots=True)
class Weight:
    """One step of a ladder: whole points, the word for them, and the key that picks it."""

    points: int
    word: str
    key: str

    @property
    def signed(self) -> str:
        """+6 or −6, with a true minus sign."""
        return signed(self.points)


WANTED = tuple(
    Weight(points, word, str(key))
    for key, (points, word) in enumerate(
        [(2, "helps a little"), (4, "useful"), (6, "important"), (8, "essential"), (10, "unsafe without")], 1
    )
)
UNWANTED = tuple(
    Weight(points, word, str(key))
    for key, (points, word) in enumerate(
        [(-2, "a small flaw"), (-4, "unhelpful"), (-6, "a serious fault"), (-8, "does harm"), (-10, "dangerous")], 1
    )
)
_WORDS = {weight.points: weight.word for weight in WANTED + UNWANTED}


def ladder(*, is_wanted: bool) -> tuple[Weight, ...]:
    """The five weights for a criterion that is wanted, or not wanted, in a good answer; mildest first."""
    return WANTED if is_wanted else UNWANTED


def weight_in_words(points: int) -> str:
    """ "important, +6"; a number between two steps is "+5" alone."""
    word = _WORDS.get(points)
    return f"{word}, {signed(points)}" if word else signed(points)
