"""Add a person to a study, or a role to a member."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_study
from annotation.joining import add_member
from annotation.models import Role
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Add a person to a study, or a role to a member. An unknown person is made; no mail is sent."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--role", required=True, choices=Role.values, action="append")
        parser.add_argument("--name", default="")
        parser.add_argument(
            "--language",
            action="append",
            default=[],
            metavar="TAG",
            help="A language that the person reads (BCP 47), once or more; none means all.",
        )
        parser.add_argument("--country", default="")
        parser.add_argument("--profession", default="")
        parser.add_argument("--speciality", default="")

    def act(self, **options: Any) -> dict[str, Any]:
        languages = [tag for words in options["language"] for tag in words.replace(",", " ").split()]
        facts = {name: options[name].strip() for name in ("name", "country", "profession", "speciality")}
        membership = add_member(
            study=find_study(options["study"]),
            email=options["email"],
            roles=options["role"],
            languages=languages,
            **facts,
        )
        person = membership.user
        given = {**facts, "country": facts["country"].upper(), "languages": languages}
        warnings = [
            f"{person.email} is known with {'other' if fact == 'languages' else 'another'} {fact}: what is known stays."
            for fact, value in given.items()
            if value and getattr(person, fact) != value
        ]
        for warning in warnings:
            self.note(warning)
        return {
            "study": membership.study.slug,
            "email": person.email,
            "name": person.name,
            "roles": membership.roles,
            "languages": person.languages,
            "warnings": warnings,
        }

    def say(self, report: dict[str, Any]) -> str:
        return f"{report['name'] or report['email']} is {' and '.join(report['roles'])} in {report['study']}."
