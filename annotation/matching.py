"""Who may review a conversation, and who suits it best.

Never: whoever doesn't read its language, has a conflict of interest with it, or declined a topic of it. A conflict is a
word of the membership, the conversation's id or one of its tags. Who pauses takes nothing new until the pause is over.

Rather: whoever is of its country, profession and speciality. A conversation names a profession or a speciality by a
tag, "profession: nurse", "speciality: addiction". The study may demand each of the three; then nobody else takes it.
An unknown language suits any reviewer; a clinician who declared no language reads all. Words are the same in any
letter case and with any white space between them.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.balancing import bits
from annotation.models import Conversation, Demand, Membership, Role, Study, User
from annotation.sparing import declined_topics, topic_key

WISHES = ("profession", "speciality")
"""What a tag can name, as "speciality: addiction"."""


def reads(user: User, language: str | None) -> bool:
    """Whether a person reads a language (BCP 47; the first subtag decides: es-MX is read by who reads es)."""
    if not language or not user.languages:
        return True
    wanted = _subtag(language)
    return any(_subtag(known) == wanted for known in user.languages)


def _subtag(language: str) -> str:
    return language.split("-")[0].lower()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clinician of the study, with what keeps that person from some conversations."""

    person: User
    declined: frozenset[str]
    """Topics that the person declined, as keys."""
    conflicts: frozenset[str]
    """Conflicts of interest, as keys."""
    is_paused: bool

    def has(self, wish: Demand, value: str) -> bool:
        mine = self.person.country if wish == Demand.COUNTRY else getattr(self.person, wish)
        return topic_key(mine) == value


def wishes_of(conversation: Conversation) -> frozenset[tuple[Demand, str]]:
    """What a conversation would like in a reviewer: (what, its key). Empty where nothing is given."""
    found = {(Demand.COUNTRY, topic_key(conversation.country))} if conversation.country else set()
    for tag in conversation.tags:
        what, colon, value = tag.partition(":")
        if colon and topic_key(what) in WISHES and topic_key(value):
            found.add((Demand(topic_key(what)), topic_key(value)))
    return frozenset(found)


class Bench:
    """A study's clinicians as bits of a number, in the order of their ids. Two queries."""

    def __init__(self, study: Study) -> None:
        self.candidates = candidates_of(study)
        self.people = [each.person for each in self.candidates]
        self.place = {person.id: place for place, person in enumerate(self.people)}
        self.demands = [Demand(each) for each in study.demands]
        self.everybody = self._those(self.candidates)
        self.awake = self._those(each for each in self.candidates if not each.is_paused)
        self._kept_from_tag = self._by_word((each, each.declined | each.conflicts) for each in self.candidates)
        self._kept_from_id = self._by_word((each, each.conflicts) for each in self.candidates)
        self._readers: dict[str | None, int] = {}
        self._with_wishes: dict[frozenset[tuple[Demand, str]], tuple[int, ...]] = {}

    def _those(self, candidates: Iterable[Candidate]) -> int:
        return sum(1 << self.place[each.person.id] for each in candidates)

    def _by_word(self, words_of: Iterable[tuple[Candidate, Collection[str]]]) -> dict[str, int]:
        found: dict[str, int] = {}
        for each, words in words_of:
            for word in words:
                found[word] = found.get(word, 0) | self.at(each.person.id)
        return found

    def at(self, person_id: UUID) -> int:
        """The person's bit; 0 for who is no clinician here now."""
        place = self.place.get(person_id)
        return 0 if place is None else 1 << place

    def ids(self, mask: int) -> set[UUID]:
        """Those whose bits are set."""
        return {self.people[place].id for place in bits(mask)}

    def may_review(self, conversation: Conversation) -> int:
        """Those whom nothing keeps from a conversation for good; a pause ends, and a demand is no ban."""
        language = _subtag(conversation.language) if conversation.language else None
        if language not in self._readers:
            self._readers[language] = self._those(each for each in self.candidates if reads(each.person, language))
        kept = self._kept_from_id.get(topic_key(conversation.external_id), 0) if self._kept_from_id else 0
        for tag in conversation.tags if self._kept_from_tag else ():
            kept |= self._kept_from_tag.get(topic_key(tag), 0)
        return self._readers[language] & ~kept

    def demanded(self, conversation: Conversation) -> int:
        """Those who have what the study demands for a conversation."""
        found = self.everybody
        for wish, value in wishes_of(conversation) if self.demands else ():
            if wish in self.demands:
                found &= self._those(each for each in self.candidates if each.has(wish, value))
        return found

    def near(self, conversation: Conversation) -> tuple[int, ...]:
        """[d]: those who miss at most d of what the conversation would like; empty where it would like nothing."""
        wishes = wishes_of(conversation)
        if wishes not in self._with_wishes:
            missed = [sum(not each.has(wish, value) for wish, value in wishes) for each in self.candidates]
            self._with_wishes[wishes] = tuple(
                sum(1 << place for place, count in enumerate(missed) if count <= most) for most in range(len(wishes))
            )
        return self._with_wishes[wishes]


def candidates_of(study: Study, *, on: date | None = None) -> list[Candidate]:
    """The active clinicians of a study, by id; paused as of a day, today if none is named. Two queries."""
    today = on or timezone.now().date()
    declined = declined_topics(study)
    rows: Any = clinicians_among(study).select_related("user").order_by("user_id")
    found = []
    for membership in rows:
        conflicts = frozenset(topic_key(word) for word in membership.conflicts)
        found.append(
            Candidate(
                person=membership.user,
                declined=frozenset(declined.get(membership.user_id, ())),
                conflicts=conflicts,
                is_paused=membership.paused_until is not None and membership.paused_until > today,
            )
        )
    return found


def clinicians_among(study: Study) -> Any:
    """The memberships of a study's active clinicians."""
    return Membership.objects.filter(study=study, user__is_active=True, left_at=None, roles__contains=[Role.CLINICIAN])


def clinicians(study: Study) -> list[User]:
    """The active clinicians of a study, by id."""
    return [membership.user for membership in clinicians_among(study).select_related("user").order_by("user_id")]
