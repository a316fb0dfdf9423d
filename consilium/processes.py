"""Processes that end with the one that started them, also when that is killed without a chance to tidy up."""

import ctypes
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def dies_with_parent(wish: signal.Signals) -> Callable[[], None]:
    """For Popen's ``preexec_fn``: the kernel sends ``wish`` to the child when the thread that started it ends.

    Elsewhere than on Linux it does nothing: there the next start ends what was left.
    """
    parent = os.getpid()

    def tie() -> None:
        if _libc is None:
            return
        _libc.prctl(PR_SET_PDEATHSIG, int(wish), 0, 0, 0)
        if os.getppid() != parent:  # it died before the tie was made
            os._exit(1)

    return tie


def is_alive(pid: int) -> bool:
    """Whether a process with this number lives (a zombie does not), whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    state = Path(f"/proc/{pid}/stat")
    if not state.exists():
        return True
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return False


def command_line_of(pid: int) -> str:
    """A process's command and arguments, separated by spaces; empty where there is none or it can't be known."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass
    if Path("/proc/self/cmdline").exists():
        return ""
    found = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()


class Child:
    """A program that the start runs beside itself, in a session of its own so that Ctrl-C reaches only the start.

    Its output is read in whole lines, kept in a file, and its last lines are remembered.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        log: Path,
        answers_in_json: bool = False,
    ) -> None:
        self.name = name
        self.answers_in_json = answers_in_json
        self.is_heard = False
        self.command = list(command)
        self.env = dict(env)
        self.log = log
        self.last_lines: deque[str] = deque(maxlen=200)
        self.process: subprocess.Popen[bytes] | None = None
        self._unfinished = b""

    def start(self) -> None:
        """Start it, or start it again; the file goes on then."""
        if self.process is None:
            self.log.write_bytes(b"")
        self.last_lines.clear()
        self._unfinished = b""
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.env,
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGTERM),
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)

    @property
    def output(self) -> IO[bytes]:
        """Where its output is read from."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def exit_code(self) -> int | None:
        """None while it runs or before it was started."""
        return self.process.poll() if self.process else None

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def read(self) -> list[str]:
        """The lines that came since the last call, which were written to the file too; never waits."""
        data = b""
        while chunk := self._read_some():
            data += chunk
        if data:
            with self.log.open("ab") as file:
                file.write(data)
        *whole, self._unfinished = (self._unfinished + data).split(b"\n")
        if len(self._unfinished) > 100_000:
            whole, self._unfinished = [*whole, self._unfinished], b""
        lines = [_plain(line.decode(errors="replace")) for line in whole]
        self.last_lines.extend(lines)
        return lines

    def _read_some(self) -> bytes:
        try:
            return self.output.read(65536) or b""
        except (BlockingIOError, ValueError):
            return b""

    def ask_to_end(self) -> None:
        """Send SIGTERM, which each of them answers by finishing what can be finished at once."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and everything that it started, at once."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()


def _plain(line: str) -> str:
    """A line without what would move a terminal's cursor or colours."""
    return "".join(char for char in line.rstrip("\r") if char == "\t" or char.isprintable())
