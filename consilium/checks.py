"""System checks: what a start must have, each said in a sentence."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def database_is_named(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Every command but ``--help`` needs a database."""
    if settings.DATABASES["default"]["NAME"]:
        return []
    return [
        Error(
            "DATABASE_URL is not set.",
            hint="Give a PostgreSQL address (postgresql://user:password@host:5432/name), or use `make run`.",
            id="consilium.E001",
        )
    ]
