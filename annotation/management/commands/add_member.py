"""Add a person to a study, or a role to a member."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.invitations import Invitation
from annotation.inviting import invite_member
from annotation.joining import add_member
from annotation.members import members_of
from annotation.models import Membership, Role, User
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Add a person to a study, or a role to a member. An unknown person is made; mail is sent with --invite only."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
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
        parser.add_argument(
            "--conflict",
            action="append",
            default=[],
            metavar="WORD",
            help="The id or a tag of conversations that the person is not to review, once or more.",
        )
        parser.add_argument("--licence-checked", action="store_true", help="Somebody has seen the person's licence.")
        parser.add_argument("--invite", action="store_true", help="Invite the person by mail.")

    def act(self, **options: Any) -> dict[str, Any]:
        languages = [tag for words in options["language"] for tag in words.replace(",", " ").split()]
        facts = {name: options[name].strip() for name in ("name", "country", "profession", "speciality")}
        by = find_actor(options["by"])
        membership = add_member(
            study=find_study(options["study"]),
            email=options["email"],
            roles=options["role"],
            languages=languages,
            conflicts=options["conflict"],
            is_licence_checked=options["licence_checked"],
            by=by,
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
            "invitation": self._invite(membership, by) if options["invite"] else None,
        }

    def _invite(self, membership: Membership, by: User | None) -> str:
        """How far the invitation has come. Where the mail server can't be reached, a worker sends it later."""
        notice = invite_member(membership=membership, by=by)
        [member] = members_of(membership.study).filter(pk=membership.pk)
        notice.refresh_from_db()
        if notice.sent_at is None:
            self.note(f"The invitation was not sent yet: {notice.problem or 'it waits'}")
        return str(member.invitation)

    def say(self, report: dict[str, Any]) -> str:
        said = f"{report['name'] or report['email']} is {' and '.join(report['roles'])} in {report['study']}."
        if not report["invitation"]:
            return said
        return f"{said} Invitation: {Invitation(report['invitation']).label}."
