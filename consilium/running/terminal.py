"""What the start says: calm, in columns, with colours only on a terminal that wants them."""

import os
import sys
from typing import TextIO

BOLD, DIM, NORMAL = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Terminal:
    """Where the start speaks. A terminal that was closed is no reason to end in disorder."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self.has_colours = self.stream.isatty() and not is_plain

    def say(self, line: str = "") -> None:
        try:
            self.stream.write(f"{line}\n")
            self.stream.flush()
        except (OSError, ValueError):
            pass
        except UnicodeEncodeError:
            self.stream.write(line.encode("ascii", "backslashreplace").decode() + "\n")

    def bold(self, text: str) -> str:
        return f"{BOLD}{text}{NORMAL}" if self.has_colours else text

    def dim(self, text: str) -> str:
        return f"{DIM}{text}{NORMAL}" if self.has_colours else text

    def step(self, name: str, text: str) -> None:
        """One line of the list that a start prints."""
        self.say(f"  {name:<13} {self.dim(text)}")

    def line_of(self, name: str, line: str) -> None:
        """A line that one of the parts printed."""
        self.say(f"{self.dim(f'{name:<13} |')} {line}")

    def close(self) -> None:
        """After this nothing is written, so that the interpreter's own end is quiet too."""
        try:
            self.stream.flush()
        except (OSError, ValueError):
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process
