"""What a grader is asked, word for word, in versioned files.

A version is three files: `NAME_system.txt` (the instructions, the same for every call), `NAME_user.txt` (the
frame around conversation, response and criterion) and `NAME_turn.txt` (one turn of the conversation). A
version that graded anything never changes: other words are another version, because a grader is also its
prompt.

A file's slots, such as `{{response}}`, are found once, when the file is loaded, and never in what fills them:
a response that holds a slot's name stays as it is.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NAMES = ("v1",)
NEWEST = "v1"

_FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{\{([a-z]+)\}\}")
_USER_SLOTS = frozenset({"boundary", "conversation", "response", "criterion"})
_TURN_SLOTS = frozenset({"boundary", "number", "role", "text"})


class UnknownPromptVersion(LookupError):
    """No prompt has this version's name."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A file cut at its slots: literal, slot, literal, ... slot, literal."""

    parts: tuple[str, ...]

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with each slot's value in its place, the value exactly as given."""
        return "".join(part if index % 2 == 0 else values[part] for index, part in enumerate(self.parts))


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """One version: the instructions, the two frames, and `digest`, the hex SHA-256 over its files."""

    name: str
    system: str
    user: Frame
    turn: Frame
    digest: str


@cache
def load(name: str) -> PromptVersion:
    """The prompt of that name ("v1"). UnknownPromptVersion for any other."""
    if name not in NAMES:
        raise UnknownPromptVersion(f'There is no prompt version "{name}". Known: {", ".join(NAMES)}.')
    system, user, turn = ((_FOLDER / f"{name}_{part}.txt").read_bytes().decode() for part in ("system", "user", "turn"))
    return PromptVersion(
        name=name,
        system=system.removesuffix("\n"),
        user=_cut(user.removesuffix("\n"), slots=_USER_SLOTS, last="criterion"),
        turn=_cut(turn, slots=_TURN_SLOTS, last="text"),
        digest=hashlib.sha256("\0".join((system, user, turn)).encode()).hexdigest(),
    )


def _cut(text: str, *, slots: frozenset[str], last: str) -> Frame:
    parts = tuple(_SLOT.split(text))
    # Each quoted text once, and the criterion after all else, so that a response's calls share their
    # beginning.
    found = [part for part in parts[1::2] if part != "boundary"]
    if set(parts[1::2]) != slots or len(found) != len(set(found)) or found[-1] != last:
        raise ValueError(f"A prompt's file needs the slots {', '.join(sorted(slots))}, {last} last.")
    return Frame(parts)
