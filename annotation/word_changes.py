"""What changed from one text to the next, word by word: in scripts without spaces, character by character."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# Chinese, Japanese, Thai, Lao, Khmer and Burmese set no spaces between words.
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"\s+|[{_NO_SPACES}]|[^\s{_NO_SPACES}]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of text that was kept, added or removed."""

    kind: Literal["kept", "added", "removed"]
    text: str


def word_changes(before: str, after: str) -> list[Change]:
    """The stretches that lead from one text to the other, in reading order; a removed one before what replaces it.

    The kept and removed stretches joined are ``before``, the kept and added ones ``after``.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    changes: list[Change] = []
    for act, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if act == "equal":
            changes.append(Change("kept", "".join(old[old_from:old_to])))
            continue
        if old_to > old_from:
            changes.append(Change("removed", "".join(old[old_from:old_to])))
        if new_to > new_from:
            changes.append(Change("added", "".join(new[new_from:new_to])))
    return changes
