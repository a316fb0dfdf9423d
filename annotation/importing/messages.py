"""A conversation of a file: its messages, and the facts beside them, each known or null.

Messages are a list of {role, content}, the role system, user or assistant; they end on a user turn that is not empty.
The same checks hold for a study's own files and for published sets.
"""

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.importing.rows import FileRow
from annotation.languages_and_countries import LONGEST_TAG, hint_of_country, is_country, is_language_tag
from annotation.models import Acuity, UserProfile
from consilium.canonical import canonical_line, normal_text, sha256_hex
from consilium.tables import Unreadable, as_choice, as_json, under_known_names

ROLES = ("system", "user", "assistant")
KEYS = frozenset({"role", "content"})
Messages = list[dict[str, str]]
ComparableKeys = tuple[tuple[str, str], ...]
"""Unknown keys as they are compared: each with the digest of its value, in the keys' order."""
_UNKNOWN = {"unknown", "und", "n/a", "none", "null", "?"}
_MOST_TOLD = 3
EXAMPLE = 'messages as JSON: [{"role": "user", "content": "..."}]'
"""How messages are written in one cell."""


class Facts(NamedTuple):
    """What stands beside a conversation's messages, as it is compared: another spelling of the same is equal."""

    language: str | None
    country: str | None
    acuity: str | None
    user_profile: str | None
    has_prior_context: bool | None
    tags: tuple[str, ...]
    source: str
    canary_string: str
    extra: "ComparableKeys"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadConversation:
    """A conversation as a file gives it. ``extra`` are its unknown keys as JSON text, '' for none.

    ``faulty`` are the columns that couldn't be taken. Without an id it is '' where its messages are among them.
    """

    line: int
    external_id: str
    messages: Messages
    language: str | None = None
    country: str | None = None
    acuity: str | None = None
    user_profile: str | None = None
    has_prior_context: bool | None = None
    tags: list[str] = field(default_factory=list)
    source: str = ""
    canary_string: str = ""
    extra: str = ""
    faulty: frozenset[str] = frozenset()

    def facts(self) -> Facts:
        return comparable_facts(
            self.language,
            self.country,
            self.acuity,
            self.user_profile,
            self.has_prior_context,
            self.tags,
            self.source,
            self.canary_string,
            self.extra,
        )


def comparable_facts(
    language: str | None,
    country: str | None,
    acuity: str | None,
    user_profile: str | None,
    has_prior_context: bool | None,
    tags: Collection[str],
    source: str,
    canary_string: str,
    extra: str,
) -> Facts:
    """The facts of a conversation, stored or in a file, as they are compared."""
    return Facts(
        language.lower() if language else None,
        country,
        acuity,
        user_profile,
        has_prior_context,
        tuple(normal_text(tag) for tag in tags),
        normal_text(source),
        normal_text(canary_string),
        comparable_extra(extra),
    )


def comparable_extra(extra: str) -> ComparableKeys:
    """Unknown keys, given as JSON text, with the digests of their values; () for none."""
    values: dict[str, object] = json.loads(extra) if extra else {}
    return tuple(
        (sys.intern(key), sha256_hex(json.dumps(value, sort_keys=True).encode()))
        for key, value in sorted(values.items())
    )


def different_keys(one: ComparableKeys, other: ComparableKeys) -> list[str]:
    """The unknown keys in which two rows differ."""
    return sorted({key for key, _ in set(one) ^ set(other)})


def conversation_sha256(external_id: str, messages: Messages) -> str:
    """The hash of a conversation's canonical line: its id, and of each message the role and the content."""
    return sha256_hex(canonical_line({"id": external_id, "messages": messages}))


def id_from_messages(messages: Messages) -> str:
    """The id of a conversation that has none: from the digest of its messages."""
    return f"conversation-{sha256_hex(canonical_line(messages))[:16]}"


def read_messages(row: FileRow, column: str, value: object) -> Messages:
    """The messages that a value holds; [] and errors where they can't be taken."""
    try:
        given = as_json(value)
    except Unreadable as fault:
        is_json = isinstance(value, str) and value.lstrip().startswith(("[", "{"))
        found = fault.message.removeprefix("Expected JSON. ") if is_json else "Found a plain text."
        row.error(column, f"Expected {EXAMPLE}. {found}")
        return []
    if not isinstance(given, list) or not given:
        found = "nothing" if given is None else "an empty list" if given == [] else "something else"
        row.error(column, f"Expected a list of messages, each {{role, content}}; found {found}. Write {EXAMPLE}.")
        return []
    messages, faults = _taken(row, column, given)
    for told in faults[:_MOST_TOLD]:
        row.error(column, told)
    if len(faults) > _MOST_TOLD:
        row.error(column, f"{len(faults) - _MOST_TOLD} more messages can't be read.")
    if not faults:
        check_ending(row, column, messages)
    return messages


def check_ending(row: FileRow, column: str, messages: Messages) -> None:
    """A conversation ends on a user turn, and this one says something."""
    last = messages[-1]
    if last["role"] != "user":
        row.error(column, f"Expected a user turn as the last message, found one with the role {last['role']}.")
    elif not last["content"].strip():
        row.error(column, "Expected a user turn that says something as the last message, found an empty one.")


def read_role(value: object) -> str:
    """The role that a value names. Raises Unreadable."""
    role = as_choice(value, allowed=ROLES)
    if role is None:
        raise Unreadable(f"Expected one of {', '.join(ROLES)}; found nothing.")
    return role


def _taken(row: FileRow, column: str, given: list[object]) -> tuple[Messages, list[str]]:
    messages: Messages = []
    faults: list[str] = []
    for number, message in enumerate(given, start=1):
        if not isinstance(message, dict):
            faults.append(f"Message {number}: expected an object {{role, content}}.")
            continue
        try:
            message = under_known_names(message, known=KEYS)
        except Unreadable as fault:
            faults.append(f"Message {number}: {fault.message}")
            continue
        content = message.get("content")
        try:
            role = read_role(message.get("role"))
        except Unreadable as fault:
            faults.append(f"Message {number}, role: {fault.message}")
            continue
        if not isinstance(content, str):
            faults.append(f"Message {number}, content: expected a text (it may be empty).")
            continue
        left = sorted(message.keys() - KEYS)
        if left:
            row.warn(
                column, f"Message {number}: only role and content are kept, not {', '.join(left)}.", kind="messages"
            )
        messages.append({"role": role, "content": content})
    return messages, faults


def read_language(row: FileRow, column: str = "language") -> str | None:
    """A language tag of BCP 47, as given; None where it is unknown."""
    tag = row.name(column, longest=LONGEST_TAG)
    if not tag or tag.lower() in _UNKNOWN:
        return None
    if len(tag) <= LONGEST_TAG and not is_language_tag(tag):
        row.error(column, f"Expected a language tag such as en, pt-BR or zh-Hans; found “{tag[:40]}”.")
    return tag


def read_country(row: FileRow, column: str = "country") -> str | None:
    """The two letters of a country in ISO 3166, in capitals; None where it is unknown."""
    given = row.name(column)
    code = given.upper()
    if not code or given.lower() in _UNKNOWN:
        return None
    if not is_country(code):
        hint = hint_of_country(code)
        row.error(column, f"Expected the two letters of a country, such as DE or BR; found “{given[:40]}”.{hint}")
    return code


def read_choice_or_unknown(row: FileRow, column: str, allowed: Collection[str]) -> str | None:
    """One of the words of a closed list, or None for *unknown*."""
    word = row.choice(column, allowed=[*allowed, "unknown"]) if row.has(column) else None
    return None if word == "unknown" else word


def read_acuity(row: FileRow) -> str | None:
    return read_choice_or_unknown(row, "acuity", Acuity.values)


def read_user_profile(row: FileRow) -> str | None:
    return read_choice_or_unknown(row, "user_profile", UserProfile.values)


def read_tags(row: FileRow, column: str = "tags") -> list[str]:
    tags = row.texts(column)
    if any(len(tag) > 200 for tag in tags):
        row.error(column, "Expected tags of at most 200 characters each.")
    return tags


def unknown_keys(values: dict[str, object], *, known: Collection[str]) -> str:
    """The keys of a row that are not known, as JSON text, so that they can be given back; '' for none."""
    others = {key: value for key, value in values.items() if key not in known}
    return json.dumps(others, ensure_ascii=False) if others else ""
