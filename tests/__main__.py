"""`make test`: everything that decides whether a change may land, on a PostgreSQL of its own.

All checks run and report, also after one has failed. With words after it (`python -m tests tests/grading -k kappa`)
only pytest runs, with those words. The server, its data and what the tests write are in one temporary folder that
is gone afterwards; nothing of a developer's own settings or data is touched.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from consilium.embedded import CannotStart, start_server, temporary_folder
from consilium.processes import dies_with_parent
from tests.chromium import WHAT_TO_INSTALL, ensure_chromium

ROOT = Path(__file__).resolve().parent.parent
APPS = ["consilium", "annotation", "rubrics", "grading"]
OWN_SETTINGS = [
    "ALLOWED_HOSTS",
    "BEHIND_PROXY",
    "CONSILIUM_DEMO",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_POOL",
    "DEBUG",
    "DEFAULT_FROM_EMAIL",
    "DJANGO_SETTINGS_MODULE",
    "EMAIL_URL",
    "GRADER_CALL_SECONDS",
    "GRADER_HTTP_HOSTS",
    "GRADER_KEY_VARIABLES",
    "PORT",
    "SECRET_KEY",
]
"""Variables of the developer's own that would change what the tests see."""


def main(words: Sequence[str]) -> int:
    """Run the checks. Returns the exit code."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    folder = temporary_folder("consilium-tests")
    try:
        server = start_server(data=folder / "postgres", log=folder / "postgres.log", is_durable=False)
    except CannotStart as problem:
        say(str(problem))
        return 1
    try:
        server.ensure_database()
        env = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
        env |= {"DATABASE_URL": server.address(), "CONSILIUM_VAR": str(folder / "var"), "PYTHONUNBUFFERED": "1"}
        if words:
            return run([*python("pytest"), *words], env)
        return everything(env)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def everything(env: dict[str, str]) -> int:
    """All checks, pytest last, so that its line is the last. Returns the exit code."""
    failed: list[str] = []
    for name, command in checks():
        began = time.monotonic()
        say(f"== {name}")
        if run(command, env) != 0:
            failed.append(name)
        say(f"   {time.monotonic() - began:.0f} s")
    if ensure_chromium() is None:
        say(f"== {WHAT_TO_INSTALL}")
        failed.append("chromium")
    say("== pytest")
    if run([*python("pytest"), "-n", "2", "--dist", "loadfile"], env) != 0:
        failed.append("pytest")
    if failed:
        say(f"Not ready to land: {', '.join(failed)}.")
    return 1 if failed else 0


def checks() -> list[tuple[str, list[str]]]:
    """What is checked without running the product: (name, command)."""
    templates = [str(path.relative_to(ROOT)) for app in APPS for path in sorted((ROOT / app).rglob("*.html"))]
    manage = [sys.executable, "manage.py"]
    return [
        ("ruff check", [*python("ruff"), "check", "."]),
        ("ruff format", [*python("ruff"), "format", "--check", "."]),
        ("djade", [script("djade"), "--check", "--target-version", "5.2", *templates]),
        ("import-linter", [sys.executable, script("lint-imports")]),
        ("mypy", [*python("mypy"), "--strict", *APPS, "tests", "manage.py"]),
        ("system check", [*manage, "check", "--fail-level", "WARNING"]),
        ("makemigrations --check", [*manage, "makemigrations", "--check", "--dry-run"]),
    ]


def python(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def script(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def run(command: list[str], env: dict[str, str]) -> int:
    """Run a command in the project's folder, its output straight to the terminal. Returns its exit code."""
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, preexec_fn=dies_with_parent(signal.SIGTERM)
    ) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait(20)  # Ctrl-C reached it too; it ends by its own way
            raise
        except BaseException:
            process.terminate()
            raise


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
