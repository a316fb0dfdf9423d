"""A mail server for tests: SMTP over a real socket, that takes mail, or answers an address with a refusal."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any


@dataclass
class Post:
    """What a server took, and which addresses it answers otherwise."""

    port: int = 0
    taken: list[EmailMessage] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    """By address: what RCPT is answered, as "550 No such mailbox"; "hang up" ends the connection."""

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for mail in self.taken if mail["To"] == address]


class _Session(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        post: Post = self.server.post  # type: ignore[attr-defined]
        self._say("220 test")
        while line := self.rfile.readline():
            words = line.decode().strip()
            verb = words[:4].upper()
            if verb == "RCPT":
                answer = post.answers.get(words[words.index("<") + 1 : words.index(">")], "250 ok")
                if answer == "hang up":
                    return
                self._say(answer)
            elif verb == "DATA":
                self._say("354 go on")
                post.taken.append(self._read_mail())
                self._say("250 taken")
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _read_mail(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return message_from_bytes(b"".join(lines), policy=policy.default)

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    post: Post


@contextmanager
def mail_server(*, port: int = 0) -> Iterator[Post]:
    """A server that is up while the block runs; ``port`` 0 takes a free one."""
    server = _Server(("127.0.0.1", port), _Session)
    server.post = Post(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.post
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def uses(settings: Any, post: Post) -> None:
    """Let Django's mail go to a server."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", post.port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.EMAIL_TIMEOUT = 5
