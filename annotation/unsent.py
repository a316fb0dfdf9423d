"""Texts are kept as they are typed, for their writer alone, and purged once they are sent.

They are no part of the study: no vote, no draft criterion, nothing that anybody else or an export can see.
"""

from collections.abc import Mapping, Sequence

from annotation.models import Conversation, UnsentText, User
from consilium.errors import RuleViolation

LONGEST = 40_000
"""Characters of one value: more than any form of a conversation takes."""


class TooLongToKeep(RuleViolation):
    """This is too long to be kept while you type. A text has at most 32,767 characters."""


def keep_unsent(
    *, person: User, conversation: Conversation, place: str, fields: Mapping[str, Sequence[str]]
) -> UnsentText | None:
    """Keep what a person has typed in one form of a conversation; None where all of it is blank again."""
    kept = {name: [value.replace("\x00", "") for value in values] for name, values in fields.items()}
    if any(len(value) > LONGEST for values in kept.values() for value in values):
        raise TooLongToKeep
    if not any(value.strip() for values in kept.values() for value in values):
        purge_unsent(person=person, conversation=conversation, place=place)
        return None
    unsent, _ = UnsentText.objects.update_or_create(
        person=person, conversation=conversation, place=place, defaults={"fields": kept}
    )
    return unsent


def purge_unsent(*, person: User, conversation: Conversation, place: str) -> None:
    """Forget what was kept for a form: it was sent, or emptied."""
    UnsentText.objects.filter(person=person, conversation=conversation, place=place).delete()


def unsent_texts(person: User, conversation: Conversation) -> dict[str, dict[str, list[str]]]:
    """What a person has typed in a conversation and not sent: place -> {field: values}. One query."""
    return dict(UnsentText.objects.filter(person=person, conversation=conversation).values_list("place", "fields"))
