"""``python -m tests.benchmarks [WORD ...]``: measure the benchmarks whose name holds one of the words, or all."""

import importlib
import os
import pkgutil
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import tests.benchmarks
from consilium.embedded import start_server, temporary_folder
from tests.benchmarks.measuring import Benchmark, measure


def find_benchmarks() -> list[Benchmark]:
    """Those of all modules of this folder."""
    found: list[Benchmark] = []
    for module in pkgutil.iter_modules(tests.benchmarks.__path__):
        if module.name.startswith("bench_"):
            found += importlib.import_module(f"tests.benchmarks.{module.name}").BENCHMARKS
    return found


@contextmanager
def a_product() -> Iterator[None]:
    """Django set up on an empty, migrated database of its own, as in the tests."""
    folder = temporary_folder("consilium-bench")
    server = start_server(data=folder / "postgres", log=folder / "postgres.log", is_durable=False)
    try:
        server.ensure_database()
        os.environ |= {
            "DATABASE_URL": server.address(),
            "CONSILIUM_VAR": str(folder / "var"),
            "DJANGO_SETTINGS_MODULE": "consilium.settings",
        }
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", verbosity=0)
        yield
        connections.close_all()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main(words: Sequence[str]) -> int:
    """Measure and print. Returns 1 where a ratio is above its limit."""
    slow = []
    with a_product():
        for benchmark in find_benchmarks():
            if words and not any(word in benchmark.name for word in words):
                continue
            measured = measure(benchmark)
            limit = "" if benchmark.limit is None else f", at most {benchmark.limit:g}"
            sys.stdout.write(
                f"{benchmark.name}: {measured.ratio:.2f} x {benchmark.yardstick}{limit}"
                f" ({measured.seconds:.3f} s / {measured.yardstick_seconds:.3f} s)\n"
            )
            sys.stdout.flush()
            if benchmark.limit is not None and measured.ratio > benchmark.limit:
                slow.append(benchmark.name)
    if slow:
        sys.stdout.write(f"Slower than allowed: {', '.join(slow)}.\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
