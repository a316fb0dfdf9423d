"""Waiting for a run in a terminal: a bar that moves while it goes on, and a word where nothing can move."""

import time
from collections.abc import Callable
from typing import Any, TextIO

from grading.models import Run
from grading.runs import run_status, workers_up

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_UNTIL_ASKING_FOR_WORKERS = 5.0
BAR = 30

ENDED = frozenset({Run.State.COMPLETED, Run.State.FAILED, Run.State.CANCELLED})
NO_WORKER = "No worker is up, so the run waits. Start one in another terminal: manage.py procrastinate worker"
PAUSED = "The run is paused; it goes on after manage.py resume_run"


def wait_for_run(run: Run, *, stream: TextIO, note: Callable[[str], None]) -> dict[str, Any]:
    """Wait until a run has ended; answers its status. On a terminal ``stream`` shows how far it is."""
    began = time.monotonic()
    asked_at, said = began, ""
    while True:
        status = run_status(run)
        if stream.isatty():
            stream.write("\r\x1b[K" + progress_line(status, seconds=time.monotonic() - began))
            stream.flush()
        # A run that somebody paused is waited for; one that paused itself needs somebody.
        if status["state"] in ENDED or (status["state"] == Run.State.PAUSED and status["stop_reason"]):
            if stream.isatty():
                stream.write("\n")
            return status
        if time.monotonic() - asked_at >= SECONDS_UNTIL_ASKING_FOR_WORKERS:
            asked_at = time.monotonic()
            word = PAUSED if status["state"] == Run.State.PAUSED else "" if workers_up() else NO_WORKER
            if word and word != said:
                if stream.isatty():
                    stream.write("\n")
                note(word)
            said = word
        time.sleep(SECONDS_BETWEEN_LOOKS)


def progress_line(status: dict[str, Any], *, seconds: float) -> str:
    """One line: a bar, the share of pairs with a grade, how fast, what is unscored."""
    graded, pairs = status["graded"], status["pairs"]
    filled = BAR * graded // pairs
    rate = f", {graded / seconds:,.1f} a second" if seconds >= 1 and graded else ""
    unscored = f", {status['unscored']:,} unscored" if status["unscored"] else ""
    bar = "█" * filled + "░" * (BAR - filled)
    return f"{bar} {100 * graded // pairs:3d} %  {graded:,} of {pairs:,} pairs{rate}{unscored}  ({status['state']})"
