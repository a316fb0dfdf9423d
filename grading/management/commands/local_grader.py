"""Serve the local grader until Ctrl-C."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.db import OperationalError, ProgrammingError

from consilium.commands import ConsiliumCommand, WrongUse
from grading.graders import register_local_endpoint
from grading.local_grader import (
    MODEL,
    NOT_TO_BE_TRUSTED,
    end_at_once,
    start_local_grader,
    wait_for_the_end,
)


class Command(ConsiliumCommand):
    help = (
        "Serve a small language model on this machine as a grader, until Ctrl-C, and register it as “local” in the "
        f"demo study. {NOT_TO_BE_TRUSTED}"
    )
    requires_system_checks = []  # it serves without a database too

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=0, help="The port of 127.0.0.1 to listen at; 0, the default, takes a free one."
        )

    def act(self, **options: Any) -> dict[str, Any]:
        if not 0 <= options["port"] < 65_536:
            raise WrongUse("--port takes a whole number from 0 to 65,535.")
        self.server, base_url = start_local_grader(port=options["port"])
        return {
            "base_url": base_url,
            "model": MODEL,
            "registered": self._register(base_url),
            "note": NOT_TO_BE_TRUSTED,
        }

    def _register(self, base_url: str) -> bool:
        if not settings.DATABASES["default"]["NAME"]:
            return False
        try:
            return register_local_endpoint(base_url=base_url) is not None
        except (OperationalError, ProgrammingError) as problem:
            self.note(f"It isn't registered for the demo: {str(problem).strip().splitlines()[0]}")
            return False

    def say(self, report: dict[str, Any]) -> str:
        known = "It is the grader “local” of the demo study. " if report["registered"] else ""
        return f"{report['model']} answers at {report['base_url']}\n{known}{report['note']} Ctrl-C ends it."

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        self.stdout.flush()
        wait_for_the_end()
        end_at_once()
