"""Whom a conversation spares: who declined a topic that it is tagged with isn't assigned to it.

Tags and topics are the same in any letter case and with any white space between their words.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from uuid import UUID

from annotation.models import Conversation, DeclinedTopic, Study

Declined = Mapping[UUID, Collection[str]]
"""By person: the keys of the topics that this person declines."""


def topic_key(topic: str) -> str:
    """What two spellings of a topic have in common."""
    return " ".join(topic.split()).casefold()


def declined_topics(study: Study) -> dict[UUID, set[str]]:
    """What each person of a study declines, as keys. One query."""
    declined: dict[UUID, set[str]] = defaultdict(set)
    for person_id, topic in DeclinedTopic.objects.filter(study=study).values_list("user_id", "topic"):
        declined[person_id].add(topic_key(topic))
    return declined


def is_spared(person_id: UUID, conversation: Conversation, declined: Declined) -> bool:
    """Whether a person declined a topic that the conversation is tagged with."""
    topics = declined.get(person_id, ())
    return any(topic_key(tag) in topics for tag in conversation.tags)
