"""Assigning: balanced, matched, nobody twice or against their will, as planned, by hand, substitutes, out of reach."""

from collections import Counter
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.assigning import (
    CantBeAssigned,
    NoSuchAssignment,
    PlanChanged,
    assign_reviewer,
    assign_reviewers,
    plan_assignment,
    recuse_from_conversation,
    unassign_reviewer,
)
from annotation.languages_and_countries import LanguageIsUnreadable
from annotation.models import Assignment, Conversation, DeclinedTopic, Membership, Study, User
from annotation.overseeing import recused_from
from annotation.reaching import out_of_reach
from annotation.reviewer_rules import RuleIsUnreadable, TooManyByRule, UnknownAcuity
from annotation.setting_up import UnknownDemand, set_up_study
from consilium.errors import RuleViolation
from tests.factories import join, make_conversation, make_panel, make_study, make_voting, vote

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


# Who never, who rather


def change(study: Study, person: User, **facts: Any) -> None:
    Membership.objects.filter(study=study, user=person).update(**facts)


def reviewers_of(conversation: Conversation) -> set[str]:
    rows = Assignment.objects.active().filter(conversation=conversation)
    return set(rows.values_list("reviewer__name", flat=True))


def test_a_conflict_is_the_id_or_a_tag_of_a_conversation_in_any_letters() -> None:
    study = make_study()
    ana, ben, chloe = (join(study=study, name=name) for name in ("ana", "ben", "chloe"))
    one = make_conversation(study=study, external_id="Case-1", tags=["Site Oslo", "sleep"])
    other = make_conversation(study=study, external_id="case-2", tags=["sleep"])
    change(study, ana, conflicts=["case-1"])
    change(study, ben, conflicts=["site  oslo"])
    assign_reviewers(study=study)
    assert reviewers_of(one) == {"Chloe"}
    assert reviewers_of(other) == {"Ana", "Ben", "Chloe"}
    for person in (ana, ben):
        with pytest.raises(CantBeAssigned):
            assign_reviewer(conversation=one, reviewer=person)
    assert recuse_from_conversation(conversation=one, by=chloe) is None
    assert out_of_reach(study) == [one]


def test_who_pauses_gets_nothing_new_until_the_day_and_still_counts_as_within_reach() -> None:
    study = make_study()
    people = [join(study=study, name=name) for name in ("ana", "ben", "chloe")]
    today = timezone.now().date()
    change(study, people[0], paused_until=today + timedelta(days=1))
    change(study, people[1], paused_until=today)
    conversation = make_conversation(study=study)
    assert assign_reviewers(study=study).out_of_reach == []
    assert reviewers_of(conversation) == {"Ben", "Chloe"}
    with pytest.raises(CantBeAssigned):
        assign_reviewer(conversation=conversation, reviewer=people[0])
    change(study, people[0], paused_until=None)
    assign_reviewers(study=study)
    assert reviewers_of(conversation) == {"Ana", "Ben", "Chloe"}


def test_country_profession_and_speciality_are_preferred_and_where_demanded_nobody_else_is_assigned() -> None:
    study = make_study()
    ana, ben, chloe = (join(study=study, name=name) for name in ("ana", "ben", "chloe"))
    User.objects.filter(pk=ana.pk).update(country="MX", speciality="Addiction")
    User.objects.filter(pk=ben.pk).update(country="MX", profession="Nurse")
    conversation = make_conversation(study=study, country="MX", tags=["Speciality: addiction"])
    nursing = make_conversation(study=study, tags=["profession: NURSE"])
    assign_reviewers(study=study, reviewers=1)
    assert reviewers_of(conversation) == {"Ana"}
    assert reviewers_of(nursing) == {"Ben"}
    assign_reviewers(study=study, reviewers=3)
    assert reviewers_of(conversation) == {"Ana", "Ben", "Chloe"}
    set_up_study(study=study, by=None, demands=["speciality"])
    strict = make_conversation(study=study, country="MX", tags=["speciality: addiction"])
    assign_reviewers(study=study, reviewers=3)
    assert reviewers_of(strict) == {"Ana"}
    assert strict in out_of_reach(study)
    assert assign_reviewer(conversation=strict, reviewer=chloe), "by hand an admin may"


def test_a_rule_gives_more_reviewers_and_never_fewer() -> None:
    study = make_study()
    for number in range(8):
        join(study=study, name=f"person{number}")
    emergent = make_conversation(study=study, acuity="emergent", tags=["Self-Harm"])
    tagged = make_conversation(study=study, tags=["self-harm"], language="es-MX")
    plain = make_conversation(study=study, language="en")
    rules = ["emergent: 6", "tag self-harm: 4", "language es: 2", "tag self-harm: 7"]
    set_up_study(study=study, by=None, reviewers_by_rule=rules)
    assert study.reviewers_by_rule == ["acuity emergent: 6", "tag self-harm: 7", "language es: 2"]
    assign_reviewers(study=study, reviewers=3)
    assert [len(reviewers_of(each)) for each in (emergent, tagged, plain)] == [7, 7, 3]


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("emergent", RuleIsUnreadable),
        ("self-harm: 6", RuleIsUnreadable),
        ("acuity urgent: 6", UnknownAcuity),
        ("emergent: 0", TooManyByRule),
        ("emergent: 101", TooManyByRule),
        ("language klingon!!: 6", LanguageIsUnreadable),
        ("tag x\x00: 6", RuleViolation),
    ],
)
def test_a_rule_that_cant_be_read_is_refused(line: str, refusal: type[RuleViolation]) -> None:
    study = make_study()
    with pytest.raises(refusal):
        set_up_study(study=study, by=None, reviewers_by_rule=["emergent: 6", line])
    assert Study.objects.get(pk=study.pk).reviewers_by_rule == []


def test_an_unknown_demand_is_refused_and_the_database_holds_it() -> None:
    study = make_study()
    with pytest.raises(UnknownDemand):
        set_up_study(study=study, by=None, demands=["age"])
    with pytest.raises(IntegrityError, match="a_study_demands_country_profession_or_speciality"), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(demands=["age"])


@st.composite
def panels(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    languages = st.lists(st.sampled_from(["en", "es-MX", "ar"]), max_size=2, unique=True)
    words = st.lists(st.sampled_from(["war", "Sleep", "id-0", "id-1"]), max_size=2, unique=True)
    people = st.fixed_dictionaries(
        {"languages": languages, "conflicts": words, "declined": words, "is_paused": st.booleans()}
    )
    conversations = st.fixed_dictionaries(
        {
            "language": st.sampled_from([None, "en-GB", "es", "ar"]),
            "tags": st.lists(st.sampled_from(["WAR", "sleep"]), max_size=2, unique=True),
        }
    )
    return (
        draw(st.lists(people, min_size=1, max_size=5)),
        draw(st.lists(conversations, min_size=1, max_size=5)),
        draw(st.integers(1, 4)),
    )


@given(panels())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nobody_with_a_conflict_a_declined_topic_or_an_unread_language_is_ever_assigned(
    case: tuple[list[dict[str, Any]], list[dict[str, Any]], int],
) -> None:
    """The rules are told here once more, plainly, and asked of everything that was assigned."""
    people, conversations, reviewers = case
    with transaction.atomic():
        study = make_study()
        facts: dict[Any, dict[str, Any]] = {}
        for number, each in enumerate(people):
            person = join(study=study, name=f"person{number}", languages=each["languages"])
            User.objects.filter(pk=person.pk).update(languages=each["languages"])
            pause = timezone.now().date() + timedelta(days=9) if each["is_paused"] else None
            change(study, person, conflicts=each["conflicts"], paused_until=pause)
            for topic in each["declined"]:
                DeclinedTopic.objects.create(study=study, user=person, topic=topic)
            facts[person.id] = each
        for number, this in enumerate(conversations):
            make_conversation(study=study, external_id=f"ID-{number}", **this)
        plan = plan_assignment(study, reviewers=reviewers)
        made = assign_reviewers(study=study, reviewers=reviewers, plan=plan.digest).made
        planned = {(each.conversation.id, person.id) for each in plan.filled for person in each.added}
        assert {(one.conversation_id, one.reviewer_id) for one in made} == planned
        loads = Counter(one.reviewer_id for one in made)
        for one in made:
            who, words = facts[one.reviewer_id], {tag.lower() for tag in one.conversation.tags}
            read = {language[:2] for language in who["languages"]}
            assert not read or one.conversation.language is None or one.conversation.language[:2] in read
            assert not words & {word.lower() for word in who["conflicts"] + who["declined"]}
            assert one.conversation.external_id.lower() not in who["conflicts"]
            assert not who["is_paused"]
        for one, other in combinations(facts, 2):
            if {**facts[one], "languages": {each[:2] for each in facts[one]["languages"]}} == {
                **facts[other],
                "languages": {each[:2] for each in facts[other]["languages"]},
            }:
                assert abs(loads[one] - loads[other]) <= 1
        transaction.set_rollback(True)


# What was shown is what is done


def test_what_was_planned_is_done_or_nothing() -> None:
    study = make_study()
    people = [join(study=study, name=name) for name in ("ana", "ben", "chloe", "dev")]
    conversation = make_conversation(study=study)
    plan = plan_assignment(study, reviewers=3)
    change(study, plan.filled[0].added[0], conflicts=[conversation.external_id])
    with pytest.raises(PlanChanged):
        assign_reviewers(study=study, reviewers=3, plan=plan.digest)
    assert not Assignment.objects.exists()
    plan = plan_assignment(study, reviewers=3)
    made = assign_reviewers(study=study, reviewers=3, plan=plan.digest).made
    assert {one.reviewer for one in made} == set(plan.filled[0].added)
    assert len(people) == 4


# By hand


def test_who_is_unassigned_reviews_no_more_and_comes_back_by_hand_only() -> None:
    panel = make_panel()
    conversation, [criterion], this = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    taken = unassign_reviewer(conversation=conversation, reviewer=panel.ben, by=panel.adam)
    assert (taken.unassigned_by, taken.recused_at) == (panel.adam, taken.unassigned_at)
    assert "Ben" not in reviewers_of(conversation)
    assert recused_from(conversation) == []
    assert assign_reviewers(study=panel.study, reviewers=6).made == []
    with pytest.raises(NoSuchAssignment):
        unassign_reviewer(conversation=conversation, reviewer=panel.ben, by=panel.adam)
    assign_reviewer(conversation=conversation, reviewer=panel.ben)
    assert "Ben" in reviewers_of(conversation)
    assert this.votes.get().reviewer == panel.ben


def test_a_round_that_waited_for_the_one_unassigned_is_revealed() -> None:
    panel = make_panel()
    conversation, [criterion], this = make_voting(panel=panel)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    unassign_reviewer(conversation=conversation, reviewer=panel.eva, by=panel.adam)
    this.refresh_from_db()
    assert this.revealed_at is not None


def test_the_database_holds_that_who_is_unassigned_reviews_no_more() -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    assignment = assign_reviewer(conversation=conversation, reviewer=panel.ana)
    mine = Assignment.objects.filter(pk=assignment.pk)
    with pytest.raises(IntegrityError, match="who_is_unassigned_reviews_no_more"), transaction.atomic():
        mine.update(unassigned_at=timezone.now())
    with pytest.raises(IntegrityError, match="who_unassigned_somebody_did_so_at_a_time"), transaction.atomic():
        mine.update(unassigned_by=panel.adam)


def test_who_recused_is_not_assigned_by_hand() -> None:
    panel = make_panel()
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    recuse_from_conversation(conversation=conversation, by=panel.ana)
    with pytest.raises(CantBeAssigned):
        assign_reviewer(conversation=conversation, reviewer=panel.ana)
