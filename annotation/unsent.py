"""Texts are kept as they are typed, for their writer alone, and purged once they are sent.

A form that was refused is kept whole. An act that succeeds calls the ``sent_`` function of its kind, whoever sent it:
page or API. They are no part of the study: no vote, no draft criterion, nothing that anybody else or an export can see.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from annotation.models import Conversation, Criterion, UnsentText, User, Vote
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


DRAFT = "draft"
"""The place of the form for a new criterion."""


def revision_place(criterion_id: UUID, accepts: UUID | None = None) -> str:
    """The place of the form that revises a criterion; ``accepts`` is the objection that it answers."""
    return f"accept-{accepts}" if accepts else f"revise-{criterion_id}"


def sent_draft(*, writer: User, conversation: Conversation) -> None:
    """A new criterion was written."""
    purge_unsent(person=writer, conversation=conversation, place=DRAFT)


def sent_revision(*, by: User, criterion: Criterion, accepts: UUID | None = None) -> None:
    """A criterion was revised."""
    place = revision_place(criterion.id, accepts)
    purge_unsent(person=by, conversation=criterion.conversation, place=place)


def sent_vote(*, reviewer: User, criterion: Criterion, choice: str, has_wording: bool = False) -> None:
    """A vote was cast. What was typed into another form than the one that was sent stays kept."""
    act = "object" if choice == Vote.Choice.OBJECT else "wording" if has_wording else ""
    if act:
        purge_unsent(person=reviewer, conversation=criterion.conversation, place=f"{act}-{criterion.id}")


def sent_comment(*, author: User, criterion: Criterion) -> None:
    """A comment was sent."""
    purge_unsent(person=author, conversation=criterion.conversation, place=f"comment-{criterion.id}")


SUFFICIENCY = "sufficiency"
"""The place of the form that says whether it is enough."""


def sent_sufficiency(*, reviewer: User, conversation: Conversation) -> None:
    """Whether it is enough was said."""
    purge_unsent(person=reviewer, conversation=conversation, place=SUFFICIENCY)


def unsent_texts(person: User, conversation: Conversation) -> dict[str, dict[str, list[str]]]:
    """What a person has typed in a conversation and not sent: place -> {field: values}. One query."""
    return dict(UnsentText.objects.filter(person=person, conversation=conversation).values_list("place", "fields"))
