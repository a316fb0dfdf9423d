"""The manner of every command: ``--json``, ``--by``, exit codes, sentences.

With ``--json`` one JSON object goes to standard output and nothing else; messages go to standard error. Exit 0 on
success, 1 with a sentence on refusal, 2 on wrong use.
"""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandParser
from django.db.utils import OperationalError

from consilium.errors import RuleViolation


class Refused(RuleViolation):
    """Refused."""

    def __init__(self, sentence: str, report: dict[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.report = report


class WrongUse(Exception):
    """The command line's words don't fit; exit 2."""


class ConsiliumCommand(BaseCommand):
    """A command that answers with a report.

    Subclasses implement ``add_words`` (their arguments), ``act`` (do it, return the report as plain data) and
    ``say`` (the report in words for a terminal). A refusal is a RuleViolation; ``Refused(sentence, report)`` answers
    ``report`` in place of ``{"error": sentence}``.
    """

    output_transaction = False

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_words(parser)
        parser.add_argument("--json", action="store_true", help="One JSON object on standard output.")

    def add_words(self, parser: ArgumentParser) -> None:
        """The command's own arguments."""

    def act(self, **options: Any) -> dict[str, Any]:
        """Do it, and return the report."""
        raise NotImplementedError

    def say(self, report: dict[str, Any]) -> str:
        """The report in words."""
        return "\n".join(f"{key}: {value}" for key, value in report.items())

    def note(self, sentence: str) -> None:
        """A message beside the report: on standard error."""
        self.stderr.write(sentence)

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"]
        try:
            report = self.act(**options)
        except RuleViolation as refusal:
            answer = getattr(refusal, "report", None) or {"error": refusal.sentence}
            if as_json:
                self.stdout.write(json.dumps(answer, ensure_ascii=False))
            self._end(refusal.sentence, 1)
        except WrongUse as wrong:
            if as_json:
                self.stdout.write(json.dumps({"error": str(wrong)}, ensure_ascii=False))
            self._end(str(wrong), 2)
        except OperationalError as error:
            sentence = f"PostgreSQL can't be reached: {str(error).strip().splitlines()[0]}"
            if as_json:
                self.stdout.write(json.dumps({"error": sentence}, ensure_ascii=False))
            self._end(sentence, 1)
        except ImproperlyConfigured as error:
            self._end(str(error), 1)
        else:
            self.stdout.write(json.dumps(report, ensure_ascii=False) if as_json else self.say(report))

    def _end(self, sentence: str, code: int) -> None:
        self.stderr.write(sentence)
        self.stdout.flush()
        sys.exit(code)
