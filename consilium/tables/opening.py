"""A file's bytes: opened at their beginning as often as needed, digested, and found to be text or not.

Text is UTF-8, or UTF-16 with its mark. Other bytes are never guessed at: the first of them is a refusal.
"""

import codecs
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from consilium.tables.table import Limits, Refused

_CHUNK = 1_000_000
HOW_TO_SAVE_AS_UTF8 = (
    "Save the file as UTF-8: in Excel as “CSV UTF-8 (Comma delimited)”, "
    "in LibreOffice as CSV with the character set “Unicode (UTF-8)”."
)


class Source:
    """A path, or an open file that can be read again from its beginning (and is left open)."""

    def __init__(self, file: Path | BinaryIO) -> None:
        self._file = file
        self._first_state = self._state()

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        if isinstance(self._file, Path):
            with self._file.open("rb") as opened:
                yield opened
        else:
            self._file.seek(0)
            yield self._file

    @contextmanager
    def opened_as_text(self, *, encoding: str, newline: str) -> Iterator[TextIO]:
        with self.opened() as binary:
            text = io.TextIOWrapper(binary, encoding=encoding, newline=newline)
            try:
                yield text
            finally:
                text.detach()

    def is_unchanged(self) -> bool:
        """Whether a path still leads to the same bytes, as far as the file system tells."""
        return self._state() == self._first_state

    def _state(self) -> tuple[int, ...] | None:
        if not isinstance(self._file, Path):
            return None
        state = os.stat(self._file)
        return state.st_ino, state.st_size, state.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Survey:
    """What one pass over all bytes found: `start` is the first of them, `text` their first characters."""

    sha256: str
    start: bytes
    text: str = ""
    encoding: str | None = None
    refusal: Refused | None = None
    """Why this is no text; None where it is one, and where it need not be one (a spreadsheet)."""


def survey(source: Source, *, limits: Limits) -> Survey:
    """Read all bytes once. Raises Refused when there are too many."""
    digest = hashlib.sha256()
    size = 0
    start = b""
    decoding: _Decoding | None = None
    with source.opened() as binary:
        while chunk := binary.read(_CHUNK):
            size += len(chunk)
            if size > limits.file_bytes:
                raise Refused(f"The file is larger than {limits.file_bytes // 1_000_000:,} MB.")
            digest.update(chunk)
            if decoding is None:
                start = chunk[:1024]
                decoding = _Decoding(start)
            decoding.take(chunk)
    if decoding is None:
        return Survey(digest.hexdigest(), b"", encoding="utf-8")
    decoding.take(b"", final=True)
    return Survey(digest.hexdigest(), start, decoding.first_text, decoding.encoding, decoding.refusal)


class _Decoding:
    """Decodes the bytes as they come, and remembers where they stop being text."""

    def __init__(self, start: bytes) -> None:
        self.first_text = ""
        self.refusal: Refused | None = None
        self.encoding = "utf-8-sig"
        if start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
            self.refusal = Refused(f"The text is in UTF-32. {HOW_TO_SAVE_AS_UTF8}")
        elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self.encoding = "utf-16"
        elif start.count(0) * 4 > len(start):
            self.refusal = Refused(f"The text seems to be UTF-16 without its mark. {HOW_TO_SAVE_AS_UTF8}")
        self._decoder = codecs.getincrementaldecoder(self.encoding)("strict")
        self._line_ends = 0
        self._in_line = 0

    def take(self, chunk: bytes, *, final: bool = False) -> None:
        if self.refusal:
            return
        try:
            text = self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            self._count(error.object[: error.start].decode(error.encoding, "ignore"))
            self.refusal = self._not_text(error.object[error.start : error.start + 1])
            return
        self._count(text)
        if not self.first_text.strip():
            self.first_text = text[:_CHUNK]

    def _count(self, text: str) -> None:
        ends = text.count("\n")
        self._line_ends += ends
        self._in_line = len(text) - text.rfind("\n") - 1 if ends else self._in_line + len(text)

    def _not_text(self, byte: bytes) -> Refused:
        name = "UTF-16" if self.encoding == "utf-16" else "UTF-8"
        return Refused(
            f"From here on the file is not {name} (byte 0x{byte.hex().upper()}). {HOW_TO_SAVE_AS_UTF8}",
            line=self._line_ends + 1,
            column=f"character {self._in_line + 1}",
        )
