"""What an act is, as the comparison knows it: what is sent, by whom it is taken, and what must come before it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any


@dataclass(frozen=True)
class File:
    """A file that is sent; a new one each time, since sending reads it to its end."""

    content: str
    name: str = "brought.jsonl"

    def opened(self) -> BytesIO:
        file = BytesIO(self.content.encode())
        file.name = self.name
        return file


def rows(*these: Mapping[str, Any]) -> File:
    return File("".join(json.dumps(row) + "\n" for row in these))


@dataclass(frozen=True)
class Sent:
    """What somebody sends to an address.

    ``to``: what goes into the address in place of the first known value; ``first``: what others do before, undone with
    the act itself; ``is_refused``: everybody is refused, and this is what is looked at; ``ends_blindness``: what a
    round held is told from then on, so that the queries may differ.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    to: Mapping[str, Any] = field(default_factory=dict)
    method: str = "POST"
    first: Callable[[], object] | None = None
    is_refused: bool = False
    ends_blindness: bool = False

    def as_form(self) -> dict[str, Any]:
        return {key: value.opened() if isinstance(value, File) else value for key, value in self.data.items()}

    @property
    def has_file(self) -> bool:
        return any(isinstance(value, File) for value in self.data.values())


Acts = dict[str, list[Sent]]
