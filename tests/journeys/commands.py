"""Running a command as a person would, and reading its answer."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from django.core.management import call_command


@dataclass(frozen=True)
class Answer:
    """What a command answered: its exit code, the JSON object, and what it said beside."""

    code: int
    data: dict[str, Any]
    said: str


def run(name: str, *words: object) -> Answer:
    """Run ``manage.py NAME WORDS --json``; standard output must be one JSON object and nothing else."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            call_command(name, *map(str, words), "--json", stdout=out, stderr=err)
    except SystemExit as end:
        code = int(end.code or 0)
    return Answer(code, json.loads(out.getvalue()), err.getvalue())


def done(name: str, *words: object) -> dict[str, Any]:
    """Run a command that must succeed."""
    answer = run(name, *words)
    assert answer.code == 0, (name, words, answer)
    return answer.data
