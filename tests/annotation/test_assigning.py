"""Assigning: balanced, matched on language, nobody twice, substitutes, out of reach."""

from collections import Counter

import pytest

from annotation.assigning import assign_reviewers, recuse_from_conversation
from annotation.models import Assignment
from tests.factories import join, make_conversation, make_study

pytestmark = pytest.mark.django_db


def test_work_is_balanced_and_everybody_is_assigned_once() -> None:
    study = make_study()
    for number in range(7):
        join(study=study, name=f"person{number}")
    for _ in range(14):
        make_conversation(study=study)
    result = assign_reviewers(study=study)
    assert len(result.made) == 14 * 5
    assert set(Counter(made.reviewer_id for made in result.made).values()) == {10}
    assert assign_reviewers(study=study).made == []


def test_a_language_is_matched_and_an_unknown_one_suits_anybody() -> None:
    study = make_study()
    ana = join(study=study, name="ana", languages=["es", "en"])
    ben = join(study=study, name="ben", languages=["en-GB"])
    chloe = join(study=study, name="chloe")
    spanish = make_conversation(study=study, language="es-MX")
    unknown = make_conversation(study=study, language=None)
    assign_reviewers(study=study)
    assert {each.reviewer for each in Assignment.objects.filter(conversation=spanish)} == {ana, chloe}
    assert {each.reviewer for each in Assignment.objects.filter(conversation=unknown)} == {ana, ben, chloe}


def test_a_rare_language_is_served_before_the_readers_are_used_up() -> None:
    study = make_study()
    for number in range(3):
        join(study=study, name=f"arabic{number}", languages=["ar"])
    for number in range(3):
        join(study=study, name=f"english{number}", languages=["en"])
    for _ in range(5):
        make_conversation(study=study, language=None)
    arabic = make_conversation(study=study, language="ar")
    result = assign_reviewers(study=study, reviewers=3)
    assert Assignment.objects.filter(conversation=arabic).count() == 3
    assert result.out_of_reach == []


def test_with_too_few_readers_a_conversation_is_out_of_reach() -> None:
    study = make_study()
    for name in ("ana", "ben"):
        join(study=study, name=name)
    conversation = make_conversation(study=study)
    assert assign_reviewers(study=study).out_of_reach == [conversation]
    join(study=study, name="chloe")
    assert assign_reviewers(study=study).out_of_reach == []


def test_who_recused_is_not_assigned_again() -> None:
    study = make_study()
    people = [join(study=study, name=name) for name in ("ana", "ben", "chloe", "dev")]
    conversation = make_conversation(study=study)
    assign_reviewers(study=study, reviewers=3)
    leaving = conversation.assignments.order_by("id")[0].reviewer
    substitute = recuse_from_conversation(conversation=conversation, by=leaving)
    assert substitute is not None
    assert substitute.reviewer in people
    recuse_from_conversation(conversation=conversation, by=substitute.reviewer)
    assign_reviewers(study=study, reviewers=3)
    active = set(Assignment.objects.active().filter(conversation=conversation).values_list("reviewer", flat=True))
    assert active == {person.id for person in people} - {leaving.id, substitute.reviewer_id}
