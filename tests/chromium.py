"""Debian's chromium, which the journeys drive."""

import os
import shutil
import subprocess

WHAT_TO_INSTALL = "The journeys need the browser chromium; on Debian and Ubuntu: apt-get install chromium"


def find_chromium() -> str | None:
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def ensure_chromium() -> str | None:
    """The browser's path; it is installed where it is missing, this is Debian and the user is root."""
    found = find_chromium()
    if found or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return found
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        subprocess.run(
            ["apt-get", "-qq", *words], env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
        )
    return find_chromium()
