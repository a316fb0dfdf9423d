"""Practising: a clinician tries the study's guidelines out on its examples before the first conversation.

A new clinician is led there once, after consent. Each may skip it at any time, leave it and come back, begin anew. What
the guidelines answer is shown once the person has answered, and the person can answer again. Nothing of it counts, and
nobody else sees it.
"""

from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotation.consensus import signed
from annotation.models import (
    Assignment,
    ObjectionCategory,
    PracticeAnswer,
    PracticeChoice,
    PracticeExample,
    PracticePart,
    RevisionWriter,
    Study,
    User,
    Vote,
)
from annotation.weighing import Weight, ladder, weight_in_words
from consilium.errors import RuleViolation


class NothingToPractise(RuleViolation):
    """This study has no practice examples."""


class PracticeAnswerIsUnclear(RuleViolation):
    """Choose a weight, object in a category, or abstain."""


class WeightHasTheOtherSign(RuleViolation):
    """What is wanted has a weight above 0, what is not wanted one below 0."""


@dataclass(slots=True)
class Exercise:
    """One example, and what the person answered to it, if anything yet."""

    example: PracticeExample
    answer: PracticeAnswer | None
    number: int

    @property
    def id(self) -> UUID:
        return self.example.id

    @property
    def weights(self) -> tuple[Weight, ...]:
        return ladder(is_wanted=self.example.is_wanted)

    @property
    def has_same_choice(self) -> bool:
        return self.answer is not None and self.answer.choice == self.example.choice

    @property
    def is_same(self) -> bool:
        """Whether the person answered as the guidelines do."""
        example, answer = self.example, self.answer
        if answer is None or answer.choice != example.choice:
            return False
        if answer.choice == PracticeChoice.AGREE:
            assert None not in (answer.points, example.points_low, example.points_high)
            return example.points_low <= answer.points <= example.points_high  # type: ignore[operator]
        return answer.choice == PracticeChoice.ABSTAIN or answer.category in example.categories

    @property
    def guidelines_say(self) -> str:
        """What the guidelines answer, as a sentence."""
        example = self.example
        if example.choice == PracticeChoice.ABSTAIN:
            return gettext("The guidelines say: abstain.")
        if example.choice == PracticeChoice.OBJECT:
            names = gettext(" or ").join(_category(name) for name in example.categories)
            return gettext("The guidelines say: object, as {categories}.").format(categories=names)
        assert example.points_low is not None
        assert example.points_high is not None
        if example.points_low == example.points_high:
            return gettext("The guidelines say: agree, {weight}.").format(weight=weight_in_words(example.points_low))
        mildest, strongest = sorted((example.points_low, example.points_high), key=abs)
        return gettext("The guidelines say: agree, from {low} to {high}.").format(
            low=signed(mildest), high=signed(strongest)
        )

    @property
    def compared(self) -> str:
        """How the person's answer lies to it: calm, and no mark."""
        if self.is_same:
            return gettext("So did you.")
        if not self.has_same_choice:
            return gettext("You answered otherwise. That is what practice is for.")
        if self.example.choice == PracticeChoice.AGREE:
            return gettext("You agreed too, with another weight.")
        return gettext("You objected too, in another category.")

    @property
    def answer_in_words(self) -> str:
        """What the person answered."""
        answer = self.answer
        if answer is None:
            return ""
        if answer.choice == PracticeChoice.AGREE:
            assert answer.points is not None
            return gettext("You agreed: {weight}.").format(weight=weight_in_words(answer.points))
        if answer.choice == PracticeChoice.OBJECT:
            return gettext("You objected: {category}.").format(category=_category(answer.category))
        return gettext("You abstained.")


def _category(name: str) -> str:
    return str(ObjectionCategory(name).label)


@dataclass
class Practice:
    """A study's practice, as one person meets it."""

    exercises: list[Exercise]
    part: PracticePart | None
    is_new: bool = True
    """Whether the person has yet to begin in the study's conversations."""

    @property
    def is_due(self) -> bool:
        """Whether the person is to be led there: new to the study, and never led there before."""
        return bool(self.exercises) and self.part is None and self.is_new

    @cached_property
    def answered(self) -> int:
        return sum(this.answer is not None for this in self.exercises)

    @property
    def same(self) -> int:
        return sum(this.is_same for this in self.exercises)

    @property
    def is_over(self) -> bool:
        return self.answered == len(self.exercises)

    def exercise(self, example_id: UUID | None) -> Exercise | None:
        return next((this for this in self.exercises if this.id == example_id), None)

    def next(self, after: UUID | None = None) -> Exercise | None:
        """The first one without an answer; ``after`` an example, where one is left there."""
        here = next((this.number for this in self.exercises if this.id == after), 0)
        left = [this for this in self.exercises if this.answer is None]
        return next((this for this in left if this.number > here), left[0] if left else None)


def practice_of(study: Study, person: User) -> Practice:
    """The practice of a study, and where a person stands in it. At most six queries."""
    examples = list(PracticeExample.objects.standing().filter(study=study))
    if not examples:
        return Practice([], None)
    answers = {
        answer.example_id: answer for answer in PracticeAnswer.objects.filter(example__in=examples, person=person)
    }
    part = PracticePart.objects.filter(study=study, person=person).first()
    exercises = [Exercise(this, answers.get(this.id), number) for number, this in enumerate(examples, start=1)]
    return Practice(exercises, part, is_new=part is None and not has_begun(study, person))


def has_begun(study: Study, person: User) -> bool:
    """Whether a person has drafted, finished drafting or voted in a study."""
    return (
        Vote.objects.filter(reviewer=person, round__conversation__study=study).exists()
        or RevisionWriter.objects.filter(writer=person, revision__criterion__study=study).exists()
        or Assignment.objects.filter(
            finished_drafting_at__isnull=False, reviewer=person, conversation__study=study
        ).exists()
    )


def lead_to_practice(*, study: Study, person: User) -> bool:
    """Whether a person is to be led to the practice now: True once, and kept, so that it never is again."""
    if not practice_of(study, person).is_due:
        return False
    return PracticePart.objects.get_or_create(study=study, person=person)[1]


def _lock_part(study: Study, person: User) -> PracticePart:
    """A person's part in a study's practice, held: what one person does here comes one after another."""
    PracticePart.objects.get_or_create(study=study, person=person)
    return PracticePart.objects.select_for_update(no_key=True).get(study=study, person=person)


def answer_example(
    *, example: PracticeExample, by: User, choice: str, points: int | None = None, category: str = ""
) -> PracticeAnswer:
    """Answer an example, or answer it again. Who has answered all of them has finished.

    Raises PracticeAnswerIsUnclear and WeightHasTheOtherSign.
    """
    is_clear = {
        PracticeChoice.AGREE: points is not None and -10 <= points <= 10 and points != 0 and not category,
        PracticeChoice.OBJECT: points is None and category in ObjectionCategory.values,
        PracticeChoice.ABSTAIN: points is None and not category,
    }
    if not is_clear.get(choice, False):  # type: ignore[call-overload]
        raise PracticeAnswerIsUnclear
    if points is not None and (points > 0) != example.is_wanted:
        raise WeightHasTheOtherSign
    with transaction.atomic():
        part = _lock_part(example.study, by)
        answer, _ = PracticeAnswer.objects.update_or_create(
            example=example, person=by, defaults={"choice": choice, "points": points, "category": category}
        )
        left = PracticeExample.objects.standing().filter(study=example.study).exclude(answers__person=by)
        if not left.exists():
            _end(part, PracticePart.Ending.FINISHED)
    return answer


def skip_practice(*, study: Study, by: User) -> None:
    """Leave the practice out. Who has finished it before has finished it still. Raises NothingToPractise."""
    if not PracticeExample.objects.standing().filter(study=study).exists():
        raise NothingToPractise
    with transaction.atomic():
        _end(_lock_part(study, by), PracticePart.Ending.SKIPPED)


def _end(part: PracticePart, ending: str) -> None:
    if ending == part.ending or part.ending == PracticePart.Ending.FINISHED:
        return
    part.ending = ending
    part.ended_at = timezone.now()
    part.save(update_fields=["ending", "ended_at"])


def begin_anew(*, study: Study, by: User) -> None:
    """Take the own answers back, so that all examples can be answered afresh."""
    with transaction.atomic():
        _lock_part(study, by)
        PracticeAnswer.objects.filter(example__study=study, person=by).delete()
