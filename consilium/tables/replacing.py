"""A file is replaced in one step: whoever reads it sees the old one whole, then the new one whole."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replace_in_one_step(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to. When the block ends well it takes the place of `path`, else nothing of it is left.

    The new file lies beside the old one until then, and takes its permissions. What a link points at is
    replaced, not the link. A path that is no ordinary file (/dev/stdout) is written to directly. Raises
    OSError.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as opened:
            yield opened
        return
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def writable(file: Path | BinaryIO) -> AbstractContextManager[BinaryIO]:
    """Give a file to write to: the open one that was handed in, or one that will replace the path."""
    return replace_in_one_step(file) if isinstance(file, Path) else nullcontext(file)
