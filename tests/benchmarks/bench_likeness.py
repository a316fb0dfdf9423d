"""Criteria like a text that somebody types, among 50,000: the comparing is done before the next word (100 ms)."""

import difflib
import random

from annotation.likeness import find_alike, fold
from tests.benchmarks.measuring import Act, Benchmark

MANY_WORDS = (
    "asks names offers explains about the a user sleep helpline plan means doctor family before after when how nights "
    "directly kindly without blame that which medicine alone tonight country number thoughts safety friend next step"
)
WORDS = MANY_WORDS.split()
SHARE = 100
"""The yardstick compares one text in so many: all of them would take it some minutes."""


def finding_alike(size: int) -> tuple[Act, Act]:
    chance = random.Random(1)
    texts = [fold(" ".join(chance.choices(WORDS, k=chance.randint(8, 40)))) for _ in range(size)]
    typed = f"{texts[size // 2]} now"

    def product() -> object:
        found = find_alike(typed, texts)
        assert found[0].place == size // 2
        return found

    def yardstick() -> float:
        return max(difflib.SequenceMatcher(None, typed, text).ratio() for text in texts[:: min(SHARE, size)])

    return product, yardstick


BENCHMARKS = [
    Benchmark(
        name="a text among 50,000 like it",
        yardstick=f"difflib over one in {SHARE} of them",
        prepare=finding_alike,
        size=50_000,
        limit=1,
    ),
]
