"""The demo study's files and people. The demo's own way in exists only where settings.DEMO is on."""

from annotation.joining import find_person
from annotation.models import Role, Study, User
from consilium.demo_files import FOLDER, demo_slug, read_fixture

__all__ = ["FOLDER", "demo_people", "demo_slug", "demo_study", "read_fixture"]


def demo_study() -> Study | None:
    return Study.objects.filter(slug=demo_slug()).first()


def demo_people() -> list[tuple[str, User]]:
    """Who can be signed in as on the demo's entrance: (role, person), a clinician, an admin and a researcher."""
    study = read_fixture("study.json")
    named = [
        (Role.CLINICIAN.value, study["demo_clinician"]),
        (Role.ADMIN.value, study["demo_admin"]),
        (Role.RESEARCHER.value, study["demo_researcher"]),
    ]
    found = [(role, find_person(email)) for role, email in named]
    return [(role, person) for role, person in found if person is not None]
