"""What commands about a study share: finding it, and who acts."""

from argparse import ArgumentParser

from annotation.joining import find_person
from annotation.models import Study, User
from consilium.commands import NobodyKnown
from consilium.errors import RuleViolation


class NoSuchStudy(RuleViolation):
    """There is no study "{slug}"."""


def add_study(parser: ArgumentParser, *, records_who: bool = True) -> None:
    """STUDY, and --by where it is recorded who acts."""
    parser.add_argument("study", metavar="STUDY", help="The study's short name.")
    if records_who:
        parser.add_argument("--by", metavar="EMAIL", help="Who acts; without it the record says: command line.")


def find_study(slug: str) -> Study:
    study = Study.objects.filter(slug__iexact=slug).first()
    if study is None:
        raise NoSuchStudy(slug=slug)
    return study


def find_actor(email: str | None) -> User | None:
    if not email:
        return None
    person = find_person(email)
    if person is None:
        raise NobodyKnown(email=email)
    return person
