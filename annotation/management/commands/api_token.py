"""A person's token for the REST API."""

from argparse import ArgumentParser
from typing import Any

from rest_framework.authtoken.models import Token

from annotation.command_line import find_actor
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Show a person's token for the REST API; it is made where there is none yet."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--renew", action="store_true", help="Make a new one; the old one stops working.")

    def act(self, **options: Any) -> dict[str, Any]:
        person = find_actor(options["email"])
        assert person is not None
        if options["renew"]:
            Token.objects.filter(user=person).delete()
        token, _ = Token.objects.get_or_create(user=person)
        return {"email": person.email, "token": token.key}

    def say(self, report: dict[str, Any]) -> str:
        return str(report["token"])
