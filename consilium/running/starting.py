"""The order of a start and of an end. See the package's own words."""

import argparse
import json
import os
import secrets
import selectors
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg

from consilium.embedded import CannotStart, EmbeddedServer, start_server
from consilium.environment import is_this_machine, read_list
from consilium.processes import Child
from consilium.running.once import CannotRun, RunningOnce, choose_port
from consilium.running.parts import Part, make_parts, manage
from consilium.running.terminal import Terminal

DEMO_SLUG = "demo"
PATIENCE = 90.0
"""Seconds that a part may take until it answers, on a slow machine."""
DEATHS_ALLOWED = 3
"""How often a part may die within a minute before it is given up."""


class AskedToEnd(Exception):
    """Ctrl-C, SIGTERM, a closed terminal, or the end of `make`."""


class Start:
    """One start, from the lock to the last process's end."""

    def __init__(self, *, base: Path, var: Path, terminal: Terminal, ends_with_parent: bool = False) -> None:
        self.base, self.var, self.terminal = base, var.absolute(), terminal
        self.logs = self.var / "log"
        self.parent = os.getppid() if ends_with_parent else None
        self.is_asked_to_end = False
        self.is_in_a_hurry = False
        self.server: EmbeddedServer | None = None
        self.parts: list[Part] = []
        self.helper: Child | None = None
        self.database_url = ""
        self.address = ""
        self.once: RunningOnce | None = None
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()

    # Signals and waiting: a signal only wakes the loop, so that it never cuts a start of a process in two.

    def listen_for_signals(self) -> None:
        for each in (self._wake, self._woken):
            each.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup a closed terminal is to be survived.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.is_in_a_hurry = self.is_asked_to_end
        self.is_asked_to_end = True

    def stay_attentive(self) -> None:
        """Raises AskedToEnd where that was asked for."""
        if self.parent is not None and os.getppid() != self.parent:
            self.is_asked_to_end = True
        if self.is_asked_to_end:
            raise AskedToEnd

    def pump(self, seconds: float) -> None:
        """Pass on what the parts print, for at most this long; returns early when something happened."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._woken:
                try:
                    self._woken.recv(4096)
                except BlockingIOError:
                    pass
            else:
                self._pass_on(key.data)

    def _pass_on(self, child: Child) -> None:
        for line in child.read():
            if not line.startswith("{"):  # a command's answer, which is for this program
                self.terminal.line_of(child.name, line)
        if not child.is_running:
            self._forget(child)

    def _forget(self, child: Child) -> None:
        if child.process is not None and child.output in self._registered():
            self._selector.unregister(child.output)
            child.output.close()

    def _registered(self) -> list[Any]:
        return [key.fileobj for key in self._selector.get_map().values()]

    # The start

    def run(self) -> int:
        """Everything, until it is asked to end. Returns the exit code."""
        try:
            self.once = RunningOnce(self.var / "run.lock")
            self.start_everything()
            self.watch()
        except AskedToEnd:
            return 0
        except (CannotRun, CannotStart) as problem:
            self.terminal.say(f"\n  {problem}\n")
            return 1
        finally:
            self.end_everything()
        return 1

    def start_everything(self) -> None:
        assert self.once is not None
        self.once.end_leftovers()
        wish = os.environ.get("PORT", "").strip()
        port = choose_port(wish)
        self.address = f"http://127.0.0.1:{port}/"
        self.once.record(address=self.address, children=[])
        self.terminal.say(f"\n  {self.terminal.bold('Consilium')}\n")
        if not wish and port != 8000:
            self.terminal.step("Port", f"8000 is taken by another program, so {port}")
        self.logs.mkdir(parents=True, exist_ok=True)
        self._start_database()
        began = time.monotonic()
        self._finish("tables", "migrate", "--no-input", "--verbosity", "0")
        self.terminal.step("Tables", f"up to date ({_seconds(began)})")
        people = self._demo_people()
        self._start_parts(port)
        if people is not None:
            self._finish("demo study", "demo", "--grade", "--json")
        self._greet(people)

    def _start_database(self) -> None:
        began = time.monotonic()
        url = os.environ.get("DATABASE_URL", "").strip()
        if url:
            try:
                psycopg.connect(url, connect_timeout=10).close()
            except psycopg.Error as problem:
                reason = str(problem).strip().splitlines()[0]
                raise CannotRun(f"PostgreSQL can't be reached at DATABASE_URL: {reason}") from None
            self.database_url = url
            self.terminal.step("PostgreSQL", "your own, from DATABASE_URL")
            return
        self._start_embedded()
        self.terminal.step("PostgreSQL", f"data in {self.var / 'postgres'} ({_seconds(began)})")

    def _start_embedded(self) -> None:
        log = self.logs / "postgres.log"
        self.server = start_server(data=self.var / "postgres", log=log, while_waiting=self.stay_attentive)
        self.server.ensure_database()
        self.database_url = self.server.address()
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
        }

    def _finish(self, name: str, *words: str) -> str:
        """Run one of the commands to its end; answers its line of JSON, where it has one."""
        file = self.logs / f"{name.replace(' ', '-')}.log"
        self.helper = child = Child(name, manage(self.base, *words), env=self.env, log=file)
        self._launch(child)
        while child.is_running:
            self.pump(0.2)
            self.stay_attentive()
        self._pass_on(child)
        if child.exit_code != 0:
            raise CannotRun(f"“manage.py {' '.join(words)}” ended with {child.exit_code}; all it said is in {file}.")
        return next((line for line in reversed(child.last_lines) if line.startswith("{")), "{}")

    def _demo_people(self) -> dict[str, Any] | None:
        """The demo's people, after loading it into a database that has no study; None where it isn't there."""
        if os.environ.get("CONSILIUM_DEMO", "").strip().lower() not in {"1", "true", "yes", "on"}:
            return None
        with psycopg.connect(self.database_url) as connection:
            slugs = [row[0] for row in connection.execute("SELECT slug FROM annotation_study")]
        if slugs and DEMO_SLUG not in slugs:
            return None
        began = time.monotonic()
        answer: dict[str, Any] = json.loads(self._finish("demo study", "demo", "--json"))
        self.terminal.step("Demo study", f"{'there' if slugs else 'loaded'} ({_seconds(began)})")
        return answer

    def _start_parts(self, port: int) -> None:
        self.parts = make_parts(base=self.base, logs=self.logs, env=self.env, port=port, database_url=self.database_url)
        for part in self.parts:
            part.child.log.write_bytes(b"")
            self._launch(part.child)
        self._record()
        for part in self.parts:
            self._wait_for(part)

    def _launch(self, child: Child) -> None:
        child.start()
        self._selector.register(child.output, selectors.EVENT_READ, child)

    def _record(self) -> None:
        assert self.once is not None
        self.once.record(address=self.address, children=[part.child for part in self.parts])

    def _wait_for(self, part: Part) -> None:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            self.pump(0.1)
            self.stay_attentive()
            words = part.answer()
            if words is not None:
                self.terminal.step(part.child.name.capitalize(), f"{words} ({_seconds(began)})")
                return
            if not part.child.is_running:
                break
        self._pass_on(part.child)
        if part.is_vital:
            raise CannotRun(f"The {part.child.name} doesn't start; all it said is in {part.child.log}.")
        self.terminal.step(part.child.name.capitalize(), f"doesn't start; see {part.child.log}")
        self._give_up(part)

    def _greet(self, people: dict[str, Any] | None) -> None:
        say, bold = self.terminal.say, self.terminal.bold
        if people:
            say(f"\n  Open {bold(self.address + people['address_path'].lstrip('/'))} and choose who you are:\n")
            for person in people["people"]:
                say(f"    {person['role']:<12} {person['name']}, {person['email']}")
            say(f"\n  Or sign in at {self.address} with an e-mail address; the code is printed here.")
        else:
            say(f"\n  Open {bold(self.address)} and sign in with an e-mail address; the code is printed here.")
        say(f"  {self.terminal.dim(f'Ctrl-C ends it; what was done stays in {self.var}.')}\n")

    # While it runs

    def watch(self) -> None:
        """Until it is asked to end, or a part that is needed can't be kept alive."""
        while True:
            self.pump(1.0)
            self.stay_attentive()
            if self.server is not None and self.server.process.poll() is not None:
                self.terminal.say("  PostgreSQL ended by itself; it is started again.")
                self._start_embedded()
            for part in list(self.parts):
                if not part.child.is_running:
                    self._revive(part)

    def _revive(self, part: Part) -> None:
        self._pass_on(part.child)
        now = time.monotonic()
        part.deaths = [moment for moment in part.deaths if now - moment < 60] + [now]
        said = "".join(f"\n    {line}" for line in list(part.child.last_lines)[-8:])
        again = len(part.deaths) < DEATHS_ALLOWED
        self.terminal.say(
            f"  The {part.child.name} ended by itself (exit code {part.child.exit_code})"
            + (" and is started again." if again else f" {DEATHS_ALLOWED} times within a minute.")
            + (f" Its last lines:{said}" if said else "")
        )
        part.child.kill()
        if again:
            self._launch(part.child)
            self._record()
        elif part.is_vital:
            raise CannotRun(f"Without the {part.child.name} it can't go on; all it said is in {part.child.log}.")
        else:
            self._give_up(part)
            self.terminal.say(f"  It goes on without the {part.child.name}.")

    def _give_up(self, part: Part) -> None:
        part.child.kill()
        self._forget(part.child)
        self.parts.remove(part)

    # The end

    def end_everything(self) -> None:
        """First those who use the database, then the database."""
        children = [part.child for part in self.parts] + ([self.helper] if self.helper else [])
        alive = [child for child in children if child.is_running]
        if alive or self.server:
            self.terminal.say("\n  Ending ...")
        for child in alive:
            child.ask_to_end()
        until = time.monotonic() + SECONDS_UNTIL_FORCED
        while any(child.is_running for child in alive) and time.monotonic() < until and not self.is_in_a_hurry:
            self.pump(0.1)
        for child in alive:
            child.kill()
        if self.server is not None:
            self.server.stop()
            (self.var / "database_url").unlink(missing_ok=True)
            self.terminal.say("  Everything has ended; nothing was lost.\n")
        if self.once is not None:
            self.once.release()
        self.terminal.close()


SECONDS_UNTIL_FORCED = 6.0


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
    others = [host for host in read_list("ALLOWED_HOSTS") if not is_this_machine(host)]
    if others:
        terminal.say(f"ALLOWED_HOSTS names {others[0]}, and this start is for this machine alone; see README.md.")
        return 1
    os.environ.setdefault("CONSILIUM_DEMO", "1")
    # Read only now: a setting that makes no sense ends the start here, with its sentence.
    from consilium import settings

    start = Start(
        base=settings.BASE_DIR, var=settings.VAR, terminal=terminal, ends_with_parent=options.ends_with_parent
    )
    start.listen_for_signals()
    return start.run()
