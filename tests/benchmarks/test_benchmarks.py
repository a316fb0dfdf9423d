"""The benchmarks still run: each once, at a small size. How long anything takes is not tested here."""

import pytest

from tests.benchmarks.__main__ import find_benchmarks
from tests.benchmarks.measuring import Benchmark, Measured, measure


@pytest.mark.django_db
@pytest.mark.parametrize("benchmark", find_benchmarks(), ids=lambda benchmark: str(benchmark.name))
def test_a_benchmark_runs(benchmark: Benchmark) -> None:
    assert measure(benchmark, size=20, rounds=1).ratio > 0


def test_a_ratio_is_the_products_time_over_the_yardsticks() -> None:
    assert Measured(seconds=3.0, yardstick_seconds=2.0).ratio == 1.5
