"""What a benchmark is, and how it is measured."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

Act = Callable[[], object]


@dataclass(frozen=True)
class Benchmark:
    """``prepare(size)`` answers two acts of the same amount of work: the product's, and the yardstick.

    Both are prepared and run inside an empty, migrated database. ``limit`` is the ratio above which the benchmark
    fails; None only reports.
    """

    name: str
    yardstick: str
    prepare: Callable[[int], tuple[Act, Act]]
    size: int
    limit: float | None = None


@dataclass(frozen=True)
class Measured:
    """Seconds of the quickest of several rounds."""

    seconds: float
    yardstick_seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.yardstick_seconds


def measure(benchmark: Benchmark, *, size: int | None = None, rounds: int = 5) -> Measured:
    """Run both acts in turn; the quickest round of each counts, as the one that the machine disturbed least."""
    act, yardstick = benchmark.prepare(size or benchmark.size)
    times: list[tuple[float, float]] = [(_seconds(act), _seconds(yardstick)) for _ in range(rounds)]
    return Measured(min(one for one, _ in times), min(other for _, other in times))


def _seconds(act: Act) -> float:
    gc.collect()
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
