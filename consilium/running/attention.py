"""What a start listens to: Ctrl-C and its like, and the lines that its parts print."""

import os
import select
import selectors
import signal
import socket
from types import FrameType

from consilium.processes import Child
from consilium.running.terminal import Terminal


class AskedToEnd(Exception):
    """Ctrl-C, SIGTERM, a closed terminal, or the end of `make`."""


class Attention:
    """One loop for signals and output. A signal only wakes it, so that none ever cuts a start of a process in two."""

    def __init__(self, terminal: Terminal, *, ends_with_parent: bool = False) -> None:
        self.terminal = terminal
        self.is_asked_to_end = False
        self.is_in_a_hurry = False
        self._parent = os.getppid() if ends_with_parent else None
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._window = select.poll()
        if terminal.stream.isatty():
            self._window.register(terminal.stream.fileno(), 0)

    def listen_for_signals(self) -> None:
        """From here on Ctrl-C, SIGTERM and a closed terminal ask for the end; asked twice, it hurries."""
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

    def stay(self) -> None:
        """Raises AskedToEnd where the end was asked for."""
        if self._parent is not None and os.getppid() != self._parent:
            self.is_asked_to_end = True
        # A closed window sends SIGHUP to the first program in it only, and `make` doesn't pass it on.
        if any(event & select.POLLHUP for _, event in self._window.poll(0)):
            self.is_asked_to_end = True
        if self.is_asked_to_end:
            raise AskedToEnd

    def launch(self, child: Child) -> None:
        """Start a child and listen to what it prints."""
        child.start()
        self._selector.register(child.output, selectors.EVENT_READ, child)

    def pump(self, seconds: float) -> None:
        """Read what the children print; returns as soon as something happened, and after this long at the latest."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._woken:
                try:
                    self._woken.recv(4096)
                except BlockingIOError:
                    pass
            else:
                self.pass_on(key.data)

    def pass_on(self, child: Child) -> None:
        """Print the lines that came from a child that is to be heard, and let go of one that has ended."""
        for line in child.read():
            if child.is_heard and not (child.answers_in_json and line.startswith("{")):
                self.terminal.line_of(child.name, line)
        if not child.is_running:
            self.let_go(child)

    def let_go(self, child: Child) -> None:
        if any(key.data is child for key in self._selector.get_map().values()):
            self._selector.unregister(child.output)
            child.output.close()
