"""Topics: who declined one beforehand isn't assigned what carries it, and may hand back what is assigned already."""

import pytest
from django.db import IntegrityError, transaction

from annotation.assigning import (
    assign_reviewer,
    assign_reviewers,
    assignable_to,
    recuse_from_conversation,
)
from annotation.caring import lock_conversation_for_care
from annotation.models import Assignment, Conversation, DeclinedTopic
from annotation.reaching import out_of_reach
from annotation.setting_up import TopicIsUnreadable, set_up_study
from annotation.topics import NoSuchTopic, decline_topics, hand_back, to_hand_back, topics_for, topics_of
from tests.factories import Panel, join, make_conversation, make_panel, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    panel = make_panel()
    make_conversation(study=panel.study, external_id="calm", tags=["sleep"])
    make_conversation(study=panel.study, external_id="hard", tags=["Self-harm", "sleep"])
    return panel


def decline(panel: Panel, *topics: str) -> list[str]:
    return decline_topics(study=panel.study, person=panel.ana, topics=topics)


def reviewers_of(external_id: str) -> set[str]:
    rows = Assignment.objects.filter(conversation__external_id=external_id, recused_at=None)
    return set(rows.values_list("reviewer__name", flat=True))


def test_the_topics_are_the_tags_unless_the_study_names_them(panel: Panel) -> None:
    assert topics_of(panel.study) == ["Self-harm", "sleep"]
    set_up_study(study=panel.study, by=panel.adam, topics=["  War ", "war", "Loss of a child", ""])
    assert topics_of(panel.study) == ["Loss of a child", "War"]
    with pytest.raises(TopicIsUnreadable):
        set_up_study(study=panel.study, by=panel.adam, topics=["x" * 201])
    assert topics_of(make_study()) == []


def test_declining_sets_all_of_it_and_can_be_taken_back(panel: Panel) -> None:
    assert decline(panel, "SELF-HARM") == ["Self-harm"]
    assert decline(panel, "Self-harm", "sleep") == ["Self-harm", "sleep"]
    assert decline(panel, "sleep") == ["sleep"]
    assert decline(panel) == []
    assert not DeclinedTopic.objects.exists()
    with pytest.raises(NoSuchTopic):
        decline(panel, "horses")


def test_what_was_declined_stays_chosen_though_no_tag_has_it_any_more(panel: Panel) -> None:
    decline(panel, "Self-harm")
    Conversation.objects.filter(external_id="hard").update(tags=[])
    assert [(topic.name, topic.is_declined) for topic in topics_for(panel.study, panel.ana)] == [
        ("sleep", False),
        ("Self-harm", True),
    ]


def test_assigning_skips_who_declined_a_tag_in_whatever_letters(panel: Panel) -> None:
    decline(panel, "Self-harm")
    Conversation.objects.filter(external_id="hard").update(tags=["self-HARM"])
    assign_reviewers(study=panel.study, reviewers=5)
    assert reviewers_of("hard") == {"Ben", "Chloe", "Dev", "Eva"}
    assert "Ana" in reviewers_of("calm")
    hard = Conversation.objects.get(external_id="hard")
    assert panel.ana not in assignable_to(hard)


def test_a_substitute_is_nobody_who_declined(panel: Panel) -> None:
    decline(panel, "Self-harm")
    hard = Conversation.objects.get(external_id="hard")
    for person in (panel.ben, panel.chloe, panel.dev):
        assign_reviewer(conversation=hard, reviewer=person)
    found = recuse_from_conversation(conversation=hard, by=panel.ben)
    assert found is not None
    assert found.reviewer == panel.eva
    assert recuse_from_conversation(conversation=hard, by=panel.chloe) is None


def test_out_of_reach_counts_nobody_who_declined_unless_assigned() -> None:
    study = make_study()
    people = [join(study=study, name=name) for name in ("ana", "ben", "chloe")]
    hard = make_conversation(study=study, tags=["war"])
    assert out_of_reach(study) == []
    assign_reviewer(conversation=hard, reviewer=people[0])
    decline_topics(study=study, person=people[0], topics=["war"])
    assert out_of_reach(study) == []
    decline_topics(study=study, person=people[1], topics=["war"])
    assert out_of_reach(study) == [hard]


def test_what_is_assigned_already_is_offered_and_handed_back(panel: Panel) -> None:
    hard, calm = Conversation.objects.get(external_id="hard"), Conversation.objects.get(external_id="calm")
    for this in (hard, calm):
        assign_reviewer(conversation=this, reviewer=panel.ana)
    assert to_hand_back(panel.study, panel.ana) == []
    decline(panel, "Self-harm")
    assert to_hand_back(panel.study, panel.ana) == [hard]
    assert to_hand_back(panel.study, panel.ben) == []
    assert hand_back(study=panel.study, person=panel.ana, conversations=[hard.id, calm.id]) == [hard]
    assert "Ana" not in reviewers_of("hard")
    assert "Ana" in reviewers_of("calm")
    assert to_hand_back(panel.study, panel.ana) == []


def test_what_is_locked_is_not_offered_to_be_handed_back(panel: Panel) -> None:
    hard = Conversation.objects.get(external_id="hard")
    assign_reviewer(conversation=hard, reviewer=panel.ana)
    decline(panel, "Self-harm")
    lock_conversation_for_care(conversation=hard, by=panel.ben)
    assert to_hand_back(panel.study, panel.ana) == []


def test_the_database_holds_a_topic_once_a_person_and_never_blank(panel: Panel) -> None:
    DeclinedTopic.objects.create(study=panel.study, user=panel.ana, topic="war")
    for topic, name in (("war", "a_topic_is_declined_once_a_person"), (" ", "a_declined_topic_has_a_name")):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            DeclinedTopic.objects.create(study=panel.study, user=panel.ana, topic=topic)
