"""Processes that end with the one that started them, also when that is killed without a chance to tidy up."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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
    found = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()
