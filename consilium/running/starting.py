"""The order of a start and of an end."""

import argparse
import json
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

from consilium.embedded import CannotStart, EmbeddedServer, start_server
from consilium.environment import TRUE, is_this_machine, read_list
from consilium.processes import Child
from consilium.running.attention import AskedToEnd, Attention
from consilium.running.once import CannotRun, RunningOnce, choose_port
from consilium.running.parts import Part, has_local_grader, local_grader, manage, web_server, worker
from consilium.running.terminal import Terminal

DEMO_SLUG = "demo"
GRADER_PORTS = (8200, 8299)
PATIENCE = 90.0
"""Seconds that a part may take until it answers, on a slow machine."""
DEATHS_ALLOWED = 3
"""The number of deaths within a minute at which a part is given up."""
SECONDS_UNTIL_FORCED = 6.0


class Start:
    """One start, from the lock to the last process's end."""

    def __init__(self, *, base: Path, var: Path, terminal: Terminal, attention: Attention) -> None:
        self.base, self.var = base, var.absolute()
        self.logs = self.var / "log"
        self.terminal, self.attention = terminal, attention
        self.once: RunningOnce | None = None
        self.server: EmbeddedServer | None = None
        self.parts: list[Part] = []
        self.helper: Child | None = None
        self.database_url = ""
        self.address = ""

    def run(self) -> int:
        """Everything, until it is asked to end. Returns the exit code."""
        exit_code = 1
        try:
            self.once = RunningOnce(self.var / "run.lock")
            self.start_everything()
            self.watch()
        except AskedToEnd:
            self.terminal.say("\n  Ending ...")
            exit_code = 0
        except (CannotRun, CannotStart) as problem:
            self.terminal.say(f"\n  {problem}\n")
        finally:
            self.end_everything()
        if exit_code == 0:
            self.terminal.say("  Everything has ended; nothing was lost.\n")
        return exit_code

    # The start

    def start_everything(self) -> None:
        """In order, each part waited for; ends with the address."""
        assert self.once is not None
        self.once.end_leftovers()
        wish = os.environ.get("PORT", "").strip()
        port = choose_port(wish)
        self.address = f"http://127.0.0.1:{port}/"
        self.once.record(address=self.address, children=[])
        self.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.terminal.say(f"\n  {self.terminal.bold('Consilium')}\n")
        if not wish and port != 8000:
            self.terminal.step("Port", f"8000 is taken by another program; this is {port}")
        self._start_database()
        began = time.monotonic()
        self._finish("tables", "migrate", "--no-input", "--verbosity", "0")
        self.terminal.step("Tables", f"up to date ({_seconds(began)})")
        has_demo = self._has_demo()
        self._greet(self._start_parts(port, has_demo=has_demo))

    def _start_database(self) -> None:
        url = os.environ.get("DATABASE_URL", "").strip()
        if not url:
            began = time.monotonic()
            self._start_embedded()
            self.terminal.step("PostgreSQL", f"its data is in {self.var / 'postgres'} ({_seconds(began)})")
            return
        try:
            psycopg.connect(url, connect_timeout=10).close()
        except psycopg.Error as problem:
            reason = str(problem).strip().splitlines()[0]
            raise CannotRun(f"PostgreSQL can't be reached at DATABASE_URL: {reason}") from None
        self.database_url = url
        self.terminal.step("PostgreSQL", "your own, from DATABASE_URL")

    def _start_embedded(self) -> None:
        log = self.logs / "postgres.log"
        self.server = start_server(data=self.var / "postgres", log=log, while_waiting=self.attention.stay)
        self.server.ensure_database()
        self.database_url = self.server.address()
        # Commands in a second terminal find the server by this file.
        _write_private(self.var / "database_url", self.database_url)

    @property
    def env(self) -> dict[str, str]:
        """What the parts are given beside what this process was."""
        return {
            **os.environ,
            "DATABASE_URL": self.database_url,
            "CONSILIUM_VAR": str(self.var),
            "DJANGO_SETTINGS_MODULE": "consilium.settings",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(self.base),
            # links in mail lead to this start, whichever port it found free
            "SITE_URL": os.environ.get("SITE_URL", "") or self.address.rstrip("/"),
        }

    def _finish(self, name: str, *words: str) -> str:
        """Run one of the commands to its end; answers its line of JSON, where it has one."""
        file = self.logs / f"{name.replace(' ', '-')}.log"
        self.helper = child = Child(
            name, manage(self.base, *words), env=self.env, log=file, answers_in_json="--json" in words
        )
        self.attention.launch(child)
        while child.is_running:
            self.attention.pump(0.2)
            self.attention.stay()
        self.attention.pass_on(child)
        if child.exit_code != 0:
            command = f"manage.py {' '.join(words)}"
            raise CannotRun(f"“{command}” ended with {child.exit_code}; all it said is in {file}.{_last_words(child)}")
        return next((line for line in reversed(child.last_lines) if line.startswith("{")), "{}")

    def _has_demo(self) -> bool:
        """Whether the demo study is there, after loading it into a database without studies."""
        if os.environ.get("CONSILIUM_DEMO", "").strip().lower() not in TRUE:
            return False
        with psycopg.connect(self.database_url) as connection:
            slugs = [row[0] for row in connection.execute("SELECT slug FROM annotation_study")]
        if not slugs:
            began = time.monotonic()
            self._finish("demo study", "demo", "--json")
            self.terminal.step("Demo study", f"loaded ({_seconds(began)})")
        return not slugs or DEMO_SLUG in slugs

    def _start_parts(self, port: int, *, has_demo: bool) -> dict[str, Any]:
        """Start them and wait for each; answers what the demo says of itself, {} where there is none."""
        demo = "{}"
        if has_local_grader():
            # First, and where it was last time, if it can be: a worker that finds a run asks it at once.
            place = choose_port("", first=GRADER_PORTS[0], last=GRADER_PORTS[1])
            self._launch([local_grader(self.base, self.logs, self.env, place)])
            self._wait_for(self.parts[0])
        others = [
            worker(self.base, self.logs, self.env, self.database_url),
            web_server(self.logs, self.env, port),
        ]
        self._launch(others)
        if has_demo:
            demo = self._finish("demo study", "demo", "--grade", "--json")
        for part in others:
            self._wait_for(part)
        answer: dict[str, Any] = json.loads(demo)
        return answer

    def _launch(self, parts: list[Part]) -> None:
        for part in parts:
            self.parts.append(part)
            self.attention.launch(part.child)
        self._record()

    def _record(self) -> None:
        assert self.once is not None
        self.once.record(address=self.address, children=[part.child for part in self.parts])

    def _wait_for(self, part: Part) -> None:
        began, name = time.monotonic(), part.child.name
        while time.monotonic() - began < PATIENCE:
            self.attention.pump(0.1)
            self.attention.stay()
            words = part.answer()
            if words is not None:
                self.terminal.step(name.capitalize(), words)
                # What a part says on its way up is in its file; from here on it is heard.
                part.child.is_heard = True
                return
            if not part.child.is_running:
                break
        self.attention.pass_on(part.child)
        if part.is_vital:
            raise CannotRun(f"The {name} doesn't start; all it said is in {part.child.log}.{_last_words(part.child)}")
        self.terminal.step(name.capitalize(), f"doesn't start; all it said is in {part.child.log}")
        self._give_up(part)

    def _greet(self, demo: dict[str, Any]) -> None:
        say, bold = self.terminal.say, self.terminal.bold
        if demo:
            say(f"\n  Open {bold(self.address + demo['address_path'].lstrip('/'))} and choose who you are:\n")
            for person in demo["people"]:
                say(f"    {person['role']:<12} {person['name']}, {person['email']}")
            say(f"\n  Or sign in at {self.address} with an e-mail address; the code is printed here.")
        else:
            say(f"\n  Open {bold(self.address)} and sign in with an e-mail address; the code is printed here.")
        say(f"  {self.terminal.dim(f'Ctrl-C ends it; what was done stays in {self.var}.')}\n")

    # While it runs

    def watch(self) -> None:
        """Until it is asked to end, or a part that is needed can't be kept alive."""
        while True:
            self.attention.pump(1.0)
            self.attention.stay()
            if self.server is not None and self.server.process.poll() is not None:
                self.terminal.say("  PostgreSQL ended by itself and is started again.")
                self._start_embedded()
            for part in list(self.parts):
                if not part.child.is_running:
                    self._revive(part)

    def _revive(self, part: Part) -> None:
        self.attention.pass_on(part.child)
        now, name = time.monotonic(), part.child.name
        part.deaths = [moment for moment in part.deaths if now - moment < 60] + [now]
        is_given_up = len(part.deaths) >= DEATHS_ALLOWED
        what_now = f", {DEATHS_ALLOWED} times within a minute." if is_given_up else " and is started again."
        self.terminal.say(
            f"  The {name} ended by itself (exit code {part.child.exit_code}){what_now}{_last_words(part.child)}"
        )
        part.child.kill()
        if not is_given_up:
            self.attention.launch(part.child)
            self._record()
        elif part.is_vital:
            raise CannotRun(f"Without the {name} it can't go on; all it said is in {part.child.log}.")
        else:
            self._give_up(part)
            self.terminal.say(f"  It goes on without the {name}.")

    def _give_up(self, part: Part) -> None:
        part.child.kill()
        self.attention.let_go(part.child)
        self.parts.remove(part)

    # The end

    def end_everything(self) -> None:
        """First those who use the database, then the database."""
        children = [part.child for part in self.parts] + ([self.helper] if self.helper else [])
        for child in children:
            child.ask_to_end()
        until = time.monotonic() + SECONDS_UNTIL_FORCED
        while any(child.is_running for child in children):
            if time.monotonic() > until or self.attention.is_in_a_hurry:
                break
            self.attention.pump(0.1)
        for child in children:
            child.kill()
        if self.server is not None:
            self.server.stop()
            (self.var / "database_url").unlink(missing_ok=True)
        if self.once is not None:
            self.once.release()


def _last_words(child: Child) -> str:
    said = "".join(f"\n    {line}" for line in list(child.last_lines)[-8:])
    return f" Its last lines:{said}" if said else ""


def _seconds(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


def _write_private(file: Path, text: str) -> None:
    """Replace a file in one step; only its owner can read it."""
    fresh = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text + "\n")
    fresh.replace(file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Start everything and stay until it is asked to end. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m consilium.running",
        description="Run Consilium on this machine: PostgreSQL, the web server, a worker and the local grader.",
        epilog="PORT, DATABASE_URL, CONSILIUM_VAR and CONSILIUM_DEMO are read from the environment; see README.md.",
    )
    parser.add_argument("--ends-with-parent", action="store_true", help="End when the calling program is gone.")
    options = parser.parse_args(arguments)
    terminal = Terminal()
    attention = Attention(terminal, ends_with_parent=options.ends_with_parent)
    attention.listen_for_signals()
    others = [host for host in read_list("ALLOWED_HOSTS") if not is_this_machine(host)]
    if others:
        terminal.say(f"ALLOWED_HOSTS names {others[0]}, but make run is for this machine alone; see README.md.")
        return 1
    os.environ.setdefault("CONSILIUM_DEMO", "1")
    # Read only now: a setting that makes no sense ends the start here, with its sentence.
    from consilium import settings

    start = Start(base=settings.BASE_DIR, var=settings.VAR, terminal=terminal, attention=attention)
    try:
        return start.run()
    finally:
        terminal.close()
