"""System checks: what a start must have, said in one sentence."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.core.management.base import CommandError


@register()
def database_is_named(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Every command but ``--help`` needs a database. Raised, not listed: a list of one comes with Django's headings."""
    if not settings.DATABASES["default"]["NAME"]:
        raise CommandError(
            "DATABASE_URL is not set. "
            "Give a PostgreSQL address (postgresql://user:password@host:5432/name), or use `make run`."
        )
    return []
