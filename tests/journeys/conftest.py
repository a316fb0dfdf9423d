"""What journeys need: the test database's address for other processes, and a real browser."""

import os
import shutil
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.db import connection
from playwright.sync_api import Browser, sync_playwright

# The browser's driver runs an event loop in this thread; the journeys' own queries are plain, between its steps.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The address of the test's own database, for a worker in another process."""
    facts = connection.settings_dict
    user = quote(str(facts["USER"] or "postgres"))
    password = f":{quote(str(facts['PASSWORD']))}" if facts["PASSWORD"] else ":"
    host = str(facts["HOST"] or "")
    port = f"&port={facts['PORT']}" if facts["PORT"] else ""
    return f"postgresql://{user}{password}@/{facts['NAME']}?host={quote(host, safe='')}{port}"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium, without a sandbox where the tests run as root."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.fail("These tests need a browser; on Debian: apt-get install chromium")
    words = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    if os.geteuid() == 0:
        words.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=words)
        yield browser
        browser.close()
