"""Importing people: a row a person, with the roles in the study and what is known of the person.

A person is known by the address, in any letter case. Who is in the study already gets the roles that are missing; what
a known person has declared stays, and only what is empty is filled in; conflicts come beside those that are known, and
a licence that was checked stays so. Nobody who left comes back by a file. No mail is sent, and nothing is recorded but
the memberships, so that a file of people need not be kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import TextChoices
from django.db.models.functions import Lower

from annotation.conflicts import as_conflicts
from annotation.importing.files import one_act, open_file
from annotation.importing.report import Report
from annotation.importing.rows import Columns, FileRow, and_lines, in_batches, read_rows
from annotation.joining import LONGEST, add_member
from annotation.languages_and_countries import hint_of_country, is_country, is_language_tag
from annotation.models import Membership, Role, Study, User
from annotation.sparing import topic_key
from consilium.errors import RuleViolation
from consilium.tables import Table

COLUMNS = Columns(
    known=(
        *("email", "name", "roles", "languages", "country", "profession", "speciality"),
        *("licence_checked", "conflicts"),
    ),
    required=("email", "roles"),
)
DECLARED = ("name", "languages", "country", "profession", "speciality")
"""What a person declares of themselves."""
BATCH = 1000


class PeopleFile(TextChoices):
    """A file of people is a kind of its own: no import of it is recorded."""

    MEMBERS = "members", "members"


@dataclass(slots=True)
class ReadMember:
    """A person as a file gives them. ``faulty`` are the columns that couldn't be taken."""

    line: int
    email: str
    roles: list[str]
    declared: dict[str, str | list[str]] = field(default_factory=dict)
    is_licence_checked: bool = False
    conflicts: list[str] = field(default_factory=list)
    faulty: frozenset[str] = frozenset()

    def differs_from(self, other: "ReadMember") -> bool:
        """Whether two rows say different things, in cells that both could be taken."""
        theirs, faulty = other._told, self.faulty | other.faulty
        return any(value != theirs[column] for column, value in self._told.items() if column not in faulty)

    @property
    def _told(self) -> dict[str, object]:
        own = {"roles": self.roles, "licence_checked": self.is_licence_checked, "conflicts": self.conflicts}
        return own | self.declared

    def adds_to(self, membership: Membership) -> bool:
        """Whether the row says something of the membership that isn't known yet."""
        known = {topic_key(word) for word in membership.conflicts}
        return (
            not set(self.roles) <= set(membership.roles)
            or (self.is_licence_checked and membership.licence_checked_at is None)
            or any(topic_key(word) not in known for word in self.conflicts)
            or any(value and not getattr(membership.user, name) for name, value in self.declared.items())
        )


def import_members(*, study: Study, source: Path | BinaryIO, file_name: str, by: User | None, check: bool) -> Report:
    """Take a file of people into a study. ``check``: write nothing, answer the same report.

    ``created`` counts the rows that make a member, or add a role or what was not known to one. Raises FileCantBeRead
    where the machine can't read the file; all else that is wrong is in the report's errors. ``by`` is who says that
    licences were checked; nothing else is recorded of ``file_name`` and ``by``, which are those of every import.
    """
    table = open_file(source, columns=COLUMNS)
    report = Report()
    rows = _read_members(table, report)
    with one_act(study, check=check):
        writing = _compare(study, rows, report)
        if not report.errors and not check:
            for row in writing:
                add_member(
                    study=study,
                    email=row.email,
                    roles=row.roles,
                    conflicts=row.conflicts,
                    is_licence_checked=row.is_licence_checked,
                    by=by,
                    **row.declared,  # type: ignore[arg-type]
                )
    return report.close()


def _read_members(table: Table, report: Report) -> list[ReadMember]:
    """The people of a file, each once, as far as each can be taken."""
    found: dict[str, ReadMember] = {}
    for row in read_rows(table, report, COLUMNS):
        this = _read(row)
        if "email" in this.faulty:
            continue
        before = found.setdefault(this.email.lower(), this)
        if before is this:
            continue
        lines = and_lines(before.line, this.line)
        if before.differs_from(this):
            report.error(this.line, "email", f"The {lines} say different things of {this.email}. Expected one row.")
        elif not (before.faulty or this.faulty):
            report.warn(this.line, None, f"The {lines} hold the same person; they count once.", kind="doubles")
    return list(found.values())


def _read(row: FileRow) -> ReadMember:
    email = row.name("email", longest=LONGEST["email"])
    if not email and row.is_sound:
        row.error("email", "Expected an e-mail address, found nothing.")
    elif email and not _is_address(email):
        row.error("email", f"Expected an e-mail address, found “{email}”.")
    roles = _roles(row)
    declared: dict[str, str | list[str]] = {
        "name": row.name("name", longest=LONGEST["name"]),
        "languages": _languages(row),
        "country": _country(row),
        "profession": row.name("profession", longest=LONGEST["profession"]),
        "speciality": row.name("speciality", longest=LONGEST["speciality"]),
    }
    is_checked = bool(row.true_or_false("licence_checked"))
    conflicts = _conflicts(row)
    return ReadMember(row.line, email, roles, declared, is_checked, conflicts, frozenset(row.faulty))


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return True


def _parts(texts: Iterable[str]) -> list[str]:
    """The parts of a list, those between commas too, each once."""
    return list(dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip()))


def _roles(row: FileRow) -> list[str]:
    roles = [role.lower() for role in _parts(row.texts("roles"))]
    if not roles:
        if not row.has("roles"):
            row.error("roles", f"Expected one or more of {', '.join(Role.values)}, found nothing.")
        return []
    for role in roles:
        if role not in Role.values:
            row.error("roles", f"Expected roles of {', '.join(Role.values)}, found “{role}”.")
    return sorted(set(roles))


def _languages(row: FileRow) -> list[str]:
    tags = _parts(row.texts("languages"))
    for tag in tags:
        if not is_language_tag(tag):
            row.error("languages", f"Expected language tags such as en, es-MX, found “{tag[:40]}”.")
    return tags


def _conflicts(row: FileRow) -> list[str]:
    try:
        return as_conflicts(_parts(row.texts("conflicts")))
    except RuleViolation as refusal:
        row.error("conflicts", refusal.sentence)
        return []


def _country(row: FileRow) -> str:
    code = row.name("country").upper()
    if code and not is_country(code):
        row.error("country", f"Expected a country's two letters, found “{code[:40]}”.{hint_of_country(code)}")
    return code


def _compare(study: Study, rows: list[ReadMember], report: Report) -> list[ReadMember]:
    """The rows that would write something; what is there already is counted, what stays is warned of."""
    people: dict[str, User] = {}
    for batch in in_batches([row.email.lower() for row in rows], BATCH):
        found = User.objects.alias(address=Lower("email")).filter(address__in=batch)
        people |= {known.email.lower(): known for known in found}
    known_here = Membership.objects.filter(study=study).select_related("user")
    memberships = {membership.user_id: membership for membership in known_here}
    writing = []
    for row in rows:
        person = people.get(row.email.lower())
        membership = memberships.get(person.id) if person is not None else None
        if membership is not None and membership.left_at is not None:
            left = f"{row.email} left the study on {membership.left_at:%d %B %Y}, and no file brings anybody back."
            report.warn(row.line, "email", f"{left} The Members page does.", kind="people who left")
            report.unchanged += 1
            continue
        if membership is not None and person is not None:
            _warn_of_what_stays(row, person, report)
        is_known = membership is not None and not row.adds_to(membership)
        if is_known:
            report.unchanged += 1
        else:
            report.created += 1
            writing.append(row)
    return writing


def _warn_of_what_stays(row: ReadMember, person: User, report: Report) -> None:
    """Where a member of this study has declared something else. Of others nothing is told: they are not of it."""
    for name in DECLARED:
        value, known = row.declared[name], getattr(person, name)
        if value and known and value != known:
            another = "other" if name == "languages" else "another"
            told = f"{person.email} has declared {another} {name}: what was declared stays."
            report.warn(row.line, name, told, kind="facts that stay")
