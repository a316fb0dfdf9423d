"""`make test` itself: everything runs and reports, one failure is enough, and nothing of a developer's own is used."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tests.__main__ as everything
from tests import chromium

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def names(commands: list[list[str]]) -> list[str]:
    return [next(word for word in command if word in KNOWN) for command in commands]


KNOWN = {
    "ruff",
    "mypy",
    "check",
    "makemigrations",
    "pytest",
    everything.script("djade"),
    everything.script("lint-imports"),
}


@pytest.mark.parametrize("failing", [None, "ruff", "mypy", "makemigrations", "pytest"])
def test_all_checks_run_also_after_one_has_failed(
    failing: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], env: dict[str, str]) -> int:
        ran.append(command)
        return 1 if failing in command else 0

    monkeypatch.setattr(everything, "run", run)
    monkeypatch.setattr(everything, "ensure_chromium", lambda: "/usr/bin/chromium")
    code = everything.everything({})
    assert set(names(ran)) == KNOWN
    assert "pytest" in ran[-1], "its line is the last"
    assert code == (1 if failing else 0)
    assert ("Not ready to land" in capsys.readouterr().out) == bool(failing)


def test_without_a_browser_it_says_what_to_install_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "run", lambda command, env: 0)
    monkeypatch.setattr(everything, "ensure_chromium", lambda: None)
    assert everything.everything({}) == 1
    assert "apt-get install chromium" in capsys.readouterr().out


@pytest.mark.parametrize(("user", "has_apt", "installs"), [(0, True, True), (0, False, False), (1000, True, False)])
def test_the_browser_is_installed_only_by_root_on_debian(
    user: int, has_apt: bool, installs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/apt-get" if has_apt and name == "apt-get" else None)
    monkeypatch.setattr(subprocess, "run", lambda command, **options: ran.append(command))
    assert chromium.ensure_chromium() is None
    assert bool(ran) is installs
    if installs:
        assert ran[-1] == ["apt-get", "-qq", "install", "--yes", "--no-install-recommends", "chromium"]


def test_a_command_that_fails_is_reported_by_its_exit_code() -> None:
    assert everything.run([sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ)) == 3
    assert everything.run([sys.executable, "-c", "import sys; sys.exit(bool(sys.stdin.read()))"], dict(os.environ)) == 0


def test_continuous_integration_decides_by_make_test_alone() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines == ["#!/usr/bin/env bash", "set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / name).read_text()))


def canonical(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0]).lower()


def test_the_locks_are_whole_and_hold_what_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base, dev = pins("requirements.txt"), pins("requirements-dev.txt")
    local = pins("requirements-local-grader.txt")
    assert {canonical(each) for each in project["dependencies"]} <= set(base)
    assert {canonical(each) for each in project["optional-dependencies"]["dev"]} <= set(dev)
    assert {canonical(each) for each in project["optional-dependencies"]["local-grader"]} == set(local)
    assert base.items() <= dev.items(), "what is tested is what is installed"
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-local-grader.txt"):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
        unhashed = [entry for entry in entries if not entry.startswith("#") and "--hash=sha256:" not in entry]
        assert unhashed == []
