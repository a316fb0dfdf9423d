"""End a person's access, or with --undo give it back; votes stay."""

from argparse import ArgumentParser
from typing import Any

from annotation.deactivating import deactivate_person, reactivate_person
from annotation.joining import find_person
from consilium.commands import ConsiliumCommand
from consilium.errors import RuleViolation


class NobodyByThisAddress(RuleViolation):
    """Nobody here has the address "{email}"."""


class Command(ConsiliumCommand):
    help = "End a person's access to everything here. Votes in revealed rounds stay; open rounds no longer wait."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--undo", action="store_true", help="Give access back.")

    def act(self, **options: Any) -> dict[str, Any]:
        person = find_person(options["email"])
        if person is None:
            raise NobodyByThisAddress(email=options["email"])
        act = reactivate_person if options["undo"] else deactivate_person
        return {"email": person.email, "changed": act(person=person), "is_active": options["undo"]}

    def say(self, report: dict[str, Any]) -> str:
        now = "has access" if report["is_active"] else "has no access any more"
        return f"{report['email']} {now}." if report["changed"] else f"{report['email']}: nothing to change."
