"""Writing a study's practice examples: what one may hold, and an admin's acts on them.

An example that is changed keeps the answers that people gave: they are theirs, and each is compared with the example
as it stands when it is read. One that is removed is marked, and shown to nobody any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext

from annotation.languages_and_countries import LanguageIsUnreadable, check_language
from annotation.locks import lock_study_row
from annotation.models import ObjectionCategory, PracticeChoice, PracticeExample, Study, User
from consilium.canonical import canonical_line, sha256_hex
from consilium.errors import RuleViolation

MOST_EXAMPLES = 50
"""A practice set is short; a page shows all of it."""
LONGEST_TEXT = 32_767
ROLES = ("system", "user", "assistant")


class ExampleIsFaulty(RuleViolation):
    """This example can't be taken."""


class ExampleIsThere(RuleViolation):
    """An example with this conversation and criterion is there already."""


class ExampleChanged(RuleViolation):
    """Somebody else changed this example meanwhile. Look at it again; what you wrote is kept."""


class ExampleIsGone(RuleViolation):
    """This example was removed meanwhile."""


class EnoughExamples(RuleViolation):
    """A study has at most {most} practice examples. Remove one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFacts:
    """What an example says. ``points_low`` to ``points_high`` where the guidelines agree, ``categories`` to object."""

    messages: list[dict[str, str]]
    criterion: str
    is_wanted: bool
    choice: str
    feedback: str
    language: str = ""
    points_low: int | None = None
    points_high: int | None = None
    categories: list[str] = field(default_factory=list)

    def values(self) -> dict[str, Any]:
        """As the columns of an example."""
        return {name: getattr(self, name) for name in self.__slots__}

    def same_as(self, example: PracticeExample) -> bool:
        return all(getattr(example, name) == value for name, value in self.values().items())

    def own_id(self) -> str:
        """The id of an example that was given none: from what is asked in it."""
        return f"practice-{sha256_hex(canonical_line([self.messages, self.criterion]))[:16]}"


def example_facts(example: PracticeExample) -> ExampleFacts:
    """What a stored example says."""
    return ExampleFacts(**{name: getattr(example, name) for name in ExampleFacts.__slots__})


def faults_of(facts: ExampleFacts) -> Iterator[tuple[str, str]]:
    """What is wrong with an example: (the name of what is wrong, a sentence)."""
    yield from _faults_of_messages(facts.messages)
    if facts.language:
        try:
            check_language(facts.language)
        except LanguageIsUnreadable as refusal:
            yield "language", refusal.sentence
    if not facts.criterion.strip():
        yield "criterion", gettext("Write the criterion that is voted on.")
    if not facts.feedback.strip():
        yield "feedback", gettext("Say why the guidelines answer so: it is what people learn by.")
    for name, text in (("criterion", facts.criterion), ("feedback", facts.feedback)):
        if not _can_be_kept(text):
            yield name, gettext("At most 32,767 characters, and none that can't be kept.")
    yield from _faults_of_answer(facts)


def _faults_of_messages(messages: object) -> Iterator[tuple[str, str]]:
    are_messages = isinstance(messages, list) and all(
        isinstance(message, dict)
        and message.keys() == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
        for message in messages
    )
    if not isinstance(messages, list) or not messages or not are_messages:
        yield "messages", gettext("A conversation has turns, each by the user, the assistant or the system.")
        return
    if not _can_be_kept("".join(message["content"] for message in messages)):
        yield "messages", gettext("At most 32,767 characters, and none that can't be kept.")
    if messages[-1]["role"] != "user" or not messages[-1]["content"].strip():
        yield "messages", gettext("A conversation ends on a turn in which the user says something.")


def _can_be_kept(text: str) -> bool:
    """Whether PostgreSQL holds it, and a page shows it."""
    if len(text) > LONGEST_TEXT or "\x00" in text:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _faults_of_answer(facts: ExampleFacts) -> Iterator[tuple[str, str]]:
    low, high = facts.points_low, facts.points_high
    if facts.choice not in PracticeChoice.values:
        yield "choice", gettext("The guidelines agree, object or abstain.")
    if facts.choice == PracticeChoice.AGREE:
        span = (1, 10) if facts.is_wanted else (-10, -1)
        if low is None or high is None:
            yield "points_low", gettext("To agree is to weigh: give the lowest and the highest weight that fits.")
        elif not span[0] <= low <= high <= span[1]:
            yield (
                "points_low",
                gettext("The weights go from the lower to the higher one, +1 to +10 for what is wanted.")
                if facts.is_wanted
                else gettext("The weights go from the lower to the higher one, −10 to −1 for what is not wanted."),
            )
    elif low is not None or high is not None:
        yield "points_low", gettext("Only agreeing has weights.")
    if not set(facts.categories) <= set(ObjectionCategory.values):
        yield "categories", gettext("This is no category of objection.")
    elif facts.choice == PracticeChoice.OBJECT and not facts.categories:
        yield "categories", gettext("Choose at least one category in which the guidelines object.")
    elif facts.choice != PracticeChoice.OBJECT and facts.categories:
        yield "categories", gettext("Only an objection has categories.")


def _check(facts: ExampleFacts) -> None:
    faults: dict[str, list[str]] = {}
    for name, sentence in faults_of(facts):
        faults.setdefault(name, []).append(sentence)
    if faults:
        raise ExampleIsFaulty(next(iter(faults.values()))[0], faults=faults)


def add_example(*, study: Study, facts: ExampleFacts, by: User | None, external_id: str = "") -> PracticeExample:
    """Write one more example, the last one. Raises ExampleIsFaulty, ExampleIsThere and EnoughExamples."""
    _check(facts)
    external_id = external_id or facts.own_id()
    with transaction.atomic():
        study = lock_study_row(study)
        standing = PracticeExample.objects.standing().filter(study=study)
        if standing.filter(external_id=external_id).exists():
            raise ExampleIsThere
        if standing.count() >= MOST_EXAMPLES:
            raise EnoughExamples(most=MOST_EXAMPLES)
        last = standing.aggregate(last=Max("position"))["last"] or 0
        return PracticeExample.objects.create(
            study=study, external_id=external_id, position=last + 1, written_by=by, **facts.values()
        )


def _lock(example: PracticeExample) -> PracticeExample:
    """The example as it stands now; its study is held, so that acts on examples come one after another."""
    lock_study_row(example.study)
    found = PracticeExample.objects.standing().select_related("study").filter(pk=example.pk).first()
    if found is None:
        raise ExampleIsGone
    return found


def change_example(*, example: PracticeExample, seen: int, facts: ExampleFacts, by: User | None) -> PracticeExample:
    """Write an example anew; ``seen`` is the edition that the writer had before them.

    Raises ExampleIsFaulty, ExampleIsGone, and ExampleChanged where another edition stands by now.
    """
    _check(facts)
    with transaction.atomic():
        example = _lock(example)
        if facts.same_as(example):
            return example
        if example.edition != seen:
            raise ExampleChanged
        for name, value in facts.values().items():
            setattr(example, name, value)
        example.edition += 1
        example.written_by = by
        example.save(update_fields=[*facts.values(), "edition", "written_by", "written_at"])
    return example


def move_example(*, example: PracticeExample, earlier: bool) -> None:
    """Let an example change places with the one before it, or after it; at the end nothing moves."""
    with transaction.atomic():
        example = _lock(example)
        order = list(PracticeExample.objects.standing().filter(study=example.study_id))
        here = order.index(example)
        there = here - 1 if earlier else here + 1
        if 0 <= there < len(order):
            order[here], order[there] = order[there], order[here]
        for position, this in enumerate(order, start=1):
            this.position = position
        PracticeExample.objects.bulk_update(order, ["position"])


def remove_example(*, example: PracticeExample, by: User | None) -> None:
    """Take an example out of the practice. Raises ExampleIsGone where that was done already."""
    with transaction.atomic():
        example = _lock(example)
        example.removed_at = timezone.now()
        example.removed_by = by
        example.save(update_fields=["removed_at", "removed_by"])
