"""The manner of every command: ``--json``, exit codes, sentences.

With ``--json`` one JSON object goes to standard output and nothing else, also where a command can't begin; messages go
to standard error. Exit 0 on success, 1 with a sentence on refusal, 2 on wrong use. Every command takes ``--by``, and
refuses an unknown address; where nothing is recorded of who acts, its help says so.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import DataError, OperationalError, ProgrammingError

from consilium.downloads import CantBeWritten, FileCantBeWritten
from consilium.environment import answer_as_json
from consilium.errors import RuleViolation
from consilium.tables import Unwritable

NOT_MIGRATED = {"42P01", "42703", "42883"}
"""PostgreSQL's states for a table, a column or a function that isn't there."""


class Refused(RuleViolation):
    """Refused."""

    def __init__(self, sentence: str, report: dict[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.report = report


class NobodyKnown(RuleViolation):
    """Nobody is known by the address "{email}"."""


class WrongUse(Exception):
    """The command line's words don't fit; exit 2."""


@contextmanager
def writing_to(file: Path) -> Iterator[None]:
    """Around writing the file that --output names: what stands in the way is said in a sentence."""
    if not file.name:
        raise WrongUse("--output takes the name of a file.")
    try:
        yield
    except Unwritable as misfit:
        raise CantBeWritten(why=str(misfit)) from misfit
    except OSError as error:
        raise FileCantBeWritten(file=file, why=error.strerror or str(error)) from error


def replaced_in_words(cells: int) -> list[str]:
    """A line where characters had to be replaced, for a report in words."""
    if not cells:
        return []
    which = "1 cell holds" if cells == 1 else f"{cells:,} cells hold"
    return [f"{which} characters that a workbook can't; they are written as _xHHHH_."]


class _Parser(CommandParser):
    """Django's parser, whose sentence about wrong use is answered as JSON too."""

    def error(self, message: str) -> Any:
        if self.called_from_command_line:
            answer_as_json(message)
        super().error(message)


class ConsiliumCommand(BaseCommand):
    """A command that answers with a report.

    Subclasses implement ``add_words`` (their arguments), ``act`` (do it, return the report as plain data) and
    ``say`` (the report in words for a terminal). A refusal is a RuleViolation; ``Refused(sentence, report)`` answers
    ``report`` in place of ``{"error": sentence}``.
    """

    output_transaction = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = _Parser  # Django's method makes no other class
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:  # a system check
            self._refuse(str(error), error.returncode, as_json=options["json"])

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_words(parser)
        if "--by" not in parser._option_string_actions:
            parser.add_argument("--by", metavar="EMAIL", help="Who acts; this command keeps no record of it.")
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
            self._check_actor(options["by"])
            report = self.act(**options)
        except RuleViolation as refusal:
            self._refuse(refusal.sentence, 1, as_json=as_json, report=getattr(refusal, "report", None))
        except WrongUse as wrong:
            self._refuse(str(wrong), 2, as_json=as_json)
        except OperationalError as error:
            self._refuse(f"PostgreSQL can't be reached: {_first_line(error)}", 1, as_json=as_json)
        except ProgrammingError as error:
            if getattr(error.__cause__, "sqlstate", None) not in NOT_MIGRATED:
                raise
            self._refuse("The database isn't set up for this release. Run: manage.py migrate", 1, as_json=as_json)
        except DataError as error:
            sentence = f"A value is too long, or one that the database can't hold: {_first_line(error)}"
            self._refuse(sentence, 1, as_json=as_json)
        except ImproperlyConfigured as error:
            self._refuse(str(error), 1, as_json=as_json)
        else:
            self.stdout.write(json.dumps(report, ensure_ascii=False) if as_json else self.say(report))

    def _check_actor(self, email: str | None) -> None:
        if email and not get_user_model().objects.filter(email__iexact=email.strip()).exists():
            raise NobodyKnown(email=email)

    def _refuse(self, sentence: str, code: int, *, as_json: bool, report: dict[str, Any] | None = None) -> NoReturn:
        """End with a sentence, and with ``--json`` its object: the report where the refusal has one."""
        if as_json:
            self.stdout.write(json.dumps(report or {"error": sentence}, ensure_ascii=False))
        self.stderr.write(sentence)
        self.stdout.flush()
        sys.exit(code)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
