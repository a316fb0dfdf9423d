"""Who sees what: other people's studies are not there, and a reviewer sees what blindness allows."""

import pytest
from django.http import Http404

from annotation.assigning import assign_reviewer, recuse_from_conversation
from annotation.models import Conversation, Study
from annotation.permissions import find_conversation, find_study, sees_points, visible_criteria
from tests.factories import Panel, draft, join, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def test_a_study_is_there_for_its_members_only(panel: Panel) -> None:
    assert find_study(panel.ana, panel.study.slug)[0] == panel.study
    with pytest.raises(Http404):
        find_study(panel.oscar, panel.study.slug)
    assert not Study.objects.visible_to(panel.oscar).exists()


def test_a_clinician_sees_the_conversations_assigned_alone(panel: Panel) -> None:
    mine = make_conversation(study=panel.study)
    other = make_conversation(study=panel.study)
    assign_reviewer(conversation=mine, reviewer=panel.ana)
    assert list(Conversation.objects.visible_to(panel.ana)) == [mine]
    assert set(Conversation.objects.visible_to(panel.adam)) == {mine, other}
    with pytest.raises(Http404):
        find_conversation(panel.ana, panel.study, other.id)


def test_who_recused_sees_the_conversation_no_more(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    recuse_from_conversation(conversation=conversation, by=panel.ben)
    assert not Conversation.objects.visible_to(panel.ben).exists()


def test_others_drafts_are_hidden_until_drafting_closes(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    mine = draft(conversation=conversation, writer=panel.ana)
    draft(conversation=conversation, writer=panel.ben, text="Names a helpline.")
    assert visible_criteria(panel.ana, conversation) == [mine]
    assert len(visible_criteria(panel.adam, conversation)) == 2


def test_the_authors_points_are_hidden_from_reviewers_until_the_reveal(panel: Panel) -> None:
    _, (criterion,), _ = make_voting(panel=panel)
    assert sees_points(panel.ben, [criterion]) == set()
    assert sees_points(panel.ana, [criterion]) == {criterion.id}
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    assert sees_points(panel.ben, [criterion]) == {criterion.id}


def test_an_admin_who_reviews_a_conversation_sees_it_as_a_reviewer(panel: Panel) -> None:

    chair = join(study=panel.study, name="ben", role="admin")
    _, (criterion,), _ = make_voting(panel=panel)
    assert sees_points(chair, [criterion]) == set()
