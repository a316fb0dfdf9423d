"""One start at a time over one folder, and an end to what a killed start left behind."""

import fcntl
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

from consilium.processes import Child, command_line_of, is_alive


class CannotRun(Exception):
    """The start can't go on; the message is a sentence for a terminal."""


class RunningOnce:
    """A lock that its holder can't leave behind: the kernel takes it back when the process ends.

    Its file says who holds it, at which address, and which processes belong to it.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.address = ""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise CannotRun(
                f"{file.parent} can't be written to ({problem.strerror}); set CONSILIUM_VAR to a folder of yours."
            ) from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = self._read()
            raise CannotRun(
                f"Consilium is running already at {other.get('address', 'an address it will print')} "
                f"(process {other.get('process', 'unknown')}). End it there with Ctrl-C, or set CONSILIUM_VAR "
                "and PORT for a second one."
            ) from None

    def end_leftovers(self, patience: float = 10) -> None:
        """End the processes of a start that was killed and could not end them itself."""
        for pid, command in self._read().get("children", {}).items():
            self._end_leftover(int(pid), command, patience)

    def _end_leftover(self, pid: int, command: str, patience: float) -> None:
        until = time.monotonic() + patience
        wish = signal.SIGTERM
        # The number alone is no proof: it may be another program's by now.
        while is_alive(pid) and command in command_line_of(pid):
            try:
                os.kill(pid, wish)
            except ProcessLookupError:
                return
            time.sleep(0.1)
            if time.monotonic() > until:
                wish = signal.SIGKILL
            if time.monotonic() > until + 5:
                raise CannotRun(f"A process of an earlier start (number {pid}) doesn't end.")

    def record(self, *, address: str, children: list[Child]) -> None:
        """Write down what belongs to this start."""
        known = {
            "process": os.getpid(),
            "address": address,
            "children": {str(each.process.pid): " ".join(each.command) for each in children if each.process},
        }
        os.lseek(self._handle, 0, os.SEEK_SET)
        os.truncate(self._handle, 0)
        os.write(self._handle, json.dumps(known).encode())

    def release(self) -> None:
        os.truncate(self._handle, 0)
        os.close(self._handle)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.file.read_text() or "{}")
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def is_free(port: int) -> bool:
    """Whether nothing on this machine listens at the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def choose_port(wish: str, *, first: int = 8000, last: int = 8099) -> int:
    """The port that was wished for, or else the first free one. Raises CannotRun with a sentence."""
    free = next((port for port in range(first, last + 1) if is_free(port)), None)
    if not wish:
        if free is None:
            raise CannotRun(f"All ports from {first} to {last} are taken; PORT=9000 make run takes another.")
        return free
    if not (wish.isascii() and wish.isdigit() and 1 <= int(wish) <= 65535):
        raise CannotRun(f"PORT is {wish!r}; it takes a number from 1 to 65535.")
    if not is_free(int(wish)):
        other = f" PORT={free} make run takes a free one." if free else ""
        raise CannotRun(f"Port {wish} is taken by another program, or is not yours to take.{other}")
    return int(wish)
