"""What the environment may say, read and checked in one place.

A value that makes no sense stops the start with one sentence that names the variable. A start is *local* where
ALLOWED_HOSTS is unset or names this machine only; otherwise it is production, which demands SECRET_KEY.
"""

import ipaddress
import json
import os
import re
import secrets
import sys
from collections.abc import Mapping
from email.utils import parseaddr
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlsplit

from psycopg.conninfo import conninfo_to_dict

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
_ORIGIN = re.compile(r"https?://(?P<host>[^/:@?#\s]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?")


def stop(sentence: str) -> NoReturn:
    """End the start with a sentence on standard error, for ``--json`` also as an object, and exit code 1."""
    sentence = f"Consilium can't start: {sentence}"
    answer_as_json(sentence)
    raise SystemExit(sentence)


def answer_as_json(sentence: str) -> None:
    """Answer a sentence as an object on standard output, where ``--json`` is among the words and no command runs."""
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"error": sentence}, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def read_flag(name: str, environ: Mapping[str, str] = os.environ) -> bool:
    """A variable that is on or off; unset is off."""
    value = environ.get(name, "").strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    stop(f"{name} is {value!r}; it takes true or false.")


def read_whole_number(
    name: str, default: int, environ: Mapping[str, str] = os.environ, *, least: int = 0, most: int = 1_000_000
) -> int:
    """A variable that is a whole number from ``least`` to ``most``."""
    value = environ.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit():
        stop(f"{name} is {value!r}; it takes a whole number.")
    if len(value) > 20 or not least <= int(value) <= most:
        stop(f"{name} is {value!r}; it takes a whole number from {least:,} to {most:,}.")
    return int(value)


def read_list(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A variable that holds names separated by commas."""
    return [part.strip() for part in environ.get(name, "").split(",") if part.strip()]


def read_hosts(name: str, environ: Mapping[str, str] = os.environ, *, patterns: bool = False) -> list[str]:
    """A variable that holds host names, separated by commas; with ``patterns`` also ``*`` and ``.example.org``."""
    hosts = read_list(name, environ)
    for host in hosts:
        bare = host.removeprefix(".") if patterns else host
        if not (_is_host(bare) or (patterns and host == "*")):
            stop(f"{name} names {host!r}; it takes host names such as study.example.org, without scheme, port or path.")
    return hosts


def read_origins(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A variable that holds origins (scheme, host and perhaps a port), separated by commas."""
    origins = read_list(name, environ)
    for origin in origins:
        match = _ORIGIN.fullmatch(origin)
        if not match or not _is_host(match["host"].removeprefix("*.")):
            stop(f"{name} names {origin!r}; it takes origins such as https://study.example.org.")
    return origins


def read_variable_names(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A variable that holds names of other variables, separated by commas."""
    names = read_list(name, environ)
    for each in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", each):
            stop(f"{name} names {each!r}; it takes names of environment variables such as JUDGE_KEY.")
    return names


def read_people(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """A variable that holds e-mail addresses, separated by commas, or ``*`` for everybody; in small letters."""
    people = [each.lower() for each in read_list(name, environ)]
    for each in people:
        if each != "*" and not re.fullmatch(r"[^@\s]+@[^@\s]+", each):
            stop(f"{name} names {each!r}; it takes e-mail addresses, or * for everybody who can sign in.")
    return people


def read_sender(name: str, default: str, environ: Mapping[str, str] = os.environ) -> str:
    """A variable that holds whom mail is from: an address, or a name with an address."""
    value = environ.get(name, "").strip() or default
    _, address = parseaddr(value)
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", address) or "\n" in value:
        stop(f"{name} is {value!r}; it takes an address such as Consilium <study@example.org>.")
    return value


def read_site_url(name: str, *, hosts: list[str], is_local: bool, environ: Mapping[str, str] = os.environ) -> str:
    """A variable that holds the site's own address, which links in mail begin with; without a slash at its end.

    Unset: this machine in a local start; else https and the first host name that there is.
    """
    value = environ.get(name, "").strip().rstrip("/")
    if value:
        match = _ORIGIN.fullmatch(value)
        if not match or not _is_host(match["host"]):
            stop(f"{name} is {value!r}; it takes an address such as https://study.example.org.")
        return value
    if is_local:
        port = environ.get("PORT", "").strip()
        return f"http://127.0.0.1:{port if port.isascii() and port.isdigit() else '8000'}"
    host = next((host for host in hosts if host != "*" and not is_this_machine(host)), "")
    return f"https://{host.removeprefix('.')}" if host else "https://localhost"


def read_folder(name: str, default: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """A variable that holds a folder, which need not be there yet."""
    value = environ.get(name, "").strip()
    folder = Path(value) if value else default
    there = next((path for path in (folder, *folder.absolute().parents) if path.exists()), folder)
    if not there.is_dir():
        stop(f"{name} is {str(folder)!r}; it takes a folder, and {there} is a file.")
    return folder


def _is_host(text: str) -> bool:
    """Whether a text is a host name, or an IP address (of the sixth version in brackets or not)."""
    try:
        return bool(ipaddress.ip_address(text.removeprefix("[").removesuffix("]")))
    except ValueError:
        return len(text) <= 253 and re.fullmatch(r"[\w-]{1,63}(?:\.[\w-]{1,63})*\.?", text) is not None


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
    port = str(parts.get("port") or "")
    if any(each and not (each.isascii() and each.isdigit() and 0 < int(each) < 65_536) for each in port.split(",")):
        stop(f"DATABASE_URL has the port {port!r}; a port is a whole number from 1 to 65,535.")
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
