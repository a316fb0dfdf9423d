"""Topics: what a clinician asks to be spared, beforehand and without a reason.

A topic is a tag that conversations carry. A study may name its topics; else they are the tags of its conversations.
What somebody declines only that person reads: others see no more than that somebody else was assigned.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models import F, Func

from annotation.assigning import recuse_from_conversation
from annotation.care_locks import unlocked
from annotation.locks import share_study
from annotation.models import Conversation, DeclinedTopic, Study, User
from annotation.reaching import undecided
from annotation.sparing import topic_key
from consilium.errors import RuleViolation


class NoSuchTopic(RuleViolation):
    """The study has no topic "{topic}"."""


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    is_declined: bool


def topics_of(study: Study) -> list[str]:
    """A study's topics, by name: those that it names, else the tags of its conversations, each once."""
    names = list(study.topics)
    if not names:
        tag = Func(F("tags"), function="unnest", output_field=models.CharField())
        tags = Conversation.objects.own().filter(study=study).annotate(tag=tag)
        names = list(tags.order_by().values_list("tag", flat=True).distinct())
    by_key: dict[str, str] = {}
    for name in sorted(names):
        if name.strip():
            by_key.setdefault(topic_key(name), name.strip())
    return sorted(by_key.values(), key=topic_key)


def topics_for(study: Study, person: User) -> list[Topic]:
    """The study's topics as one person has chosen; what was declined stays there, though no tag has it any more."""
    declined = list(_declined(study, person).values_list("topic", flat=True))
    keys = {topic_key(topic) for topic in declined}
    names = topics_of(study)
    known = {topic_key(name) for name in names}
    names += sorted(topic for topic in declined if topic_key(topic) not in known)
    return [Topic(name, topic_key(name) in keys) for name in names]


def decline_topics(*, study: Study, person: User, topics: Collection[str]) -> list[str]:
    """Set which topics a clinician declines: all of them; what is left out is taken back. Returns them by name.

    Raises NoSuchTopic. What is assigned already stays assigned: ``to_hand_back`` names it.
    """
    offered = {topic_key(topic.name): topic.name for topic in topics_for(study, person)}
    wanted = {topic_key(topic): topic for topic in topics if topic.strip()}
    for key, topic in wanted.items():
        if key not in offered:
            raise NoSuchTopic(topic=topic[:100])
    with transaction.atomic():
        share_study(study.id)
        held = {topic_key(row.topic): row.pk for row in _declined(study, person)}
        _declined(study, person).filter(pk__in=[pk for key, pk in held.items() if key not in wanted]).delete()
        DeclinedTopic.objects.bulk_create(
            [DeclinedTopic(study=study, user=person, topic=offered[key]) for key in wanted if key not in held],
            ignore_conflicts=True,  # the same page sent twice
        )
    return sorted((offered[key] for key in wanted), key=topic_key)


def to_hand_back(study: Study, person: User) -> list[Conversation]:
    """What is assigned to a person already, is still undecided, and is about a topic that this person declined."""
    keys = {topic_key(topic) for topic in _declined(study, person).values_list("topic", flat=True)}
    if not keys:
        return []
    mine = Conversation.objects.own().filter(
        study=study, assignments__reviewer=person, assignments__recused_at=None, tags__len__gt=0
    )
    rows: Any = unlocked(undecided(mine)).defer("messages", "extra").order_by("position", "id")
    return [this for this in rows if keys & {topic_key(tag) for tag in this.tags}]


def hand_back(*, study: Study, person: User, conversations: Iterable[UUID]) -> list[Conversation]:
    """Recuse a person from those of the conversations that ``to_hand_back`` offers; others are asked. Returns them."""
    wanted = set(conversations)
    handed = [this for this in to_hand_back(study, person) if this.id in wanted]
    with transaction.atomic():
        for this in sorted(handed, key=lambda one: one.id):
            recuse_from_conversation(conversation=this, by=person)
    return handed


def _declined(study: Study, person: User) -> "models.QuerySet[DeclinedTopic]":
    return DeclinedTopic.objects.filter(study=study, user=person)
