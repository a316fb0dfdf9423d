"""The demo study's files and people. The demo's own way in exists only where settings.DEMO is on."""

import json
from functools import cache
from typing import Any

from django.conf import settings

from annotation.joining import find_person
from annotation.models import Role, Study, User

FOLDER = settings.BASE_DIR / "fixtures" / "demo"


@cache
def read_fixture(name: str) -> Any:
    """One of the demo's JSON files."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def demo_slug() -> str:
    return str(read_fixture("study.json")["slug"])


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
