"""What the environment may say, read and checked in one place.

A value that makes no sense stops the start with one sentence that names the variable. A start is *local* where
ALLOWED_HOSTS is unset or names this machine only; otherwise it is production, which demands SECRET_KEY.
"""

import ipaddress
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlsplit

from psycopg.conninfo import conninfo_to_dict

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def stop(sentence: str) -> NoReturn:
    """End the start with a sentence on standard error and exit code 1."""
    raise SystemExit(f"Consilium can't start: {sentence}")


def read_flag(name: str, environ: Mapping[str, str] = os.environ) -> bool:
    """A variable that is on or off; unset is off."""
    value = environ.get(name, "").strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    stop(f"{name} is {value!r}; it takes true or false.")


def read_whole_number(name: str, default: int, environ: Mapping[str, str] = os.environ) -> int:
    """A variable that is a whole number, zero or more."""
    value = environ.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit():
        stop(f"{name} is {value!r}; it takes a whole number.")
    return int(value)


def read_list(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A variable that holds names separated by commas."""
    return [part.strip() for part in environ.get(name, "").split(",") if part.strip()]


def is_this_machine(host: str) -> bool:
    """Whether a host name means this machine: localhost, or an address of the loopback range."""
    name = host.strip().lower().removeprefix("[").removesuffix("]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def read_database_url(url: str) -> dict[str, object]:
    """Django's settings for a libpq address (``postgresql://user@host/name`` or with ``?host=/directory``).

    Returns {} where ``url`` is empty. Stops the start where it is no PostgreSQL address.
    """
    if not url:
        return {}
    if not url.startswith(("postgresql://", "postgres://")):
        stop(f"DATABASE_URL begins with {url.split(':')[0]!r}; it takes a postgresql:// address.")
    try:
        parts = conninfo_to_dict(url)
    except Exception as reason:  # noqa: BLE001 - psycopg raises several kinds; each means the same here
        stop(f"DATABASE_URL can't be read as a PostgreSQL address ({str(reason).strip()}).")
    name = parts.pop("dbname", None)
    if not name:
        stop("DATABASE_URL names no database: postgresql://user:password@host:5432/NAME")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": str(name),
        "USER": str(parts.pop("user", "") or ""),
        "PASSWORD": str(parts.pop("password", "") or ""),
        "HOST": str(parts.pop("host", "") or ""),
        "PORT": str(parts.pop("port", "") or ""),
        "OPTIONS": dict(parts),
    }


def read_email_url(url: str) -> dict[str, object]:
    """Django's mail settings for ``smtp://user:password@host:587`` (STARTTLS) or ``smtps://`` (TLS from the start).

    Empty prints mail in the terminal.
    """
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    parts = urlsplit(url)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        stop("EMAIL_URL takes smtp://user:password@host:587 or smtps://user:password@host:465.")
    try:
        port = parts.port
    except ValueError:
        stop("EMAIL_URL has a port that is no number.")
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or (465 if parts.scheme == "smtps" else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and not is_this_machine(parts.hostname),
        "EMAIL_TIMEOUT": 20,
    }


def read_secret_key(*, is_local: bool, var: Path, environ: Mapping[str, str] = os.environ) -> str:
    """SECRET_KEY; a local start makes one once under ``var``, production must bring it (at least 32 characters)."""
    key = environ.get("SECRET_KEY", "")
    if key:
        if not is_local and len(key) < 32:
            stop("SECRET_KEY is shorter than 32 characters.")
        return key
    if not is_local:
        stop("SECRET_KEY is not set; with ALLOWED_HOSTS beyond this machine it must be.")
    file = var / "secret_key"
    try:
        var.mkdir(parents=True, exist_ok=True)
        # Created whole or not at all: two processes that start at once must end with one key.
        fresh = var / f"secret_key.{os.getpid()}.{secrets.token_hex(4)}"
        if not file.exists():
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(48))
            try:
                os.link(fresh, file)
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        return file.read_text().strip()
    except OSError:
        # A folder that can't be written to: --help and the like still work, sign-ins last for this process.
        return secrets.token_urlsafe(48)
