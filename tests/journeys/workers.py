"""A worker in a process of its own, as it runs beside the web server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def a_worker(database_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``manage.py procrastinate worker`` on a database until the block ends."""
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "procrastinate", "worker"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield worker
    finally:
        worker.terminate()
        try:
            worker.wait(20)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
