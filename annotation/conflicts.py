"""Conflicts of interest: words, each the id or a tag of conversations that a member is not assigned to."""

from collections.abc import Iterable

from annotation.sparing import topic_key
from consilium.errors import RuleViolation

LONGEST_CONFLICT = 200
MOST_CONFLICTS = 100


class ConflictTooLong(RuleViolation):
    """A conflict is the id or a tag of conversations, of at most 200 characters."""


class TooManyConflicts(RuleViolation):
    """A member has at most 100 conflicts here."""


def as_conflicts(words: Iterable[str]) -> list[str]:
    """Words as they are kept: each once, in any letter case. Raises ConflictTooLong, TooManyConflicts."""
    found: dict[str, str] = {}
    for word in words:
        if word.strip():
            found.setdefault(topic_key(word), " ".join(word.split()))
    conflicts = list(found.values())
    if any(len(word) > LONGEST_CONFLICT for word in conflicts):
        raise ConflictTooLong
    if len(conflicts) > MOST_CONFLICTS:
        raise TooManyConflicts
    return conflicts
