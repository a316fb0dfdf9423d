"""The demo study's files: its own way in, and what it is called, are read from them."""

import json
from functools import cache
from typing import Any

from django.conf import settings

FOLDER = settings.BASE_DIR / "fixtures" / "demo"


@cache
def read_fixture(name: str) -> Any:
    """One of the demo's JSON files."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def demo_slug() -> str:
    return str(read_fixture("study.json")["slug"])
