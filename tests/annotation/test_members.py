"""Members: roles changed by an admin, a name for who has none, and the last admin who stays."""

import threading

import pytest
from django.db import connection

from annotation.assigning import assign_reviewer
from annotation.joining import LastAdminStays, add_member, leave_study
from annotation.members import (
    MemberNeedsARole,
    NameIsTheirs,
    RolesChangedMeanwhile,
    change_member,
)
from annotation.models import Assignment, Membership, Role, Round, User
from consilium.errors import RuleViolation
from tests.factories import Panel, join, make_conversation, make_panel, make_voting, vote
from tests.pages import api, at, shown, signed_in


@pytest.fixture
def panel(db: None) -> Panel:
    return make_panel()


def membership(panel: Panel, person: User) -> Membership:
    return Membership.objects.get(study=panel.study, user=person)


def test_roles_are_given_and_taken(panel: Panel) -> None:
    change_member(study=panel.study, person=panel.ana, roles=["researcher", "clinician"])
    assert membership(panel, panel.ana).roles == [Role.CLINICIAN, Role.RESEARCHER]
    change_member(study=panel.study, person=panel.ana, roles=["researcher"])
    assert membership(panel, panel.ana).roles == [Role.RESEARCHER]


@pytest.mark.parametrize("roles", [[], ["owner"], ["clinician", "owner"]])
def test_a_member_keeps_a_role_that_there_is(panel: Panel, roles: list[str]) -> None:
    with pytest.raises(MemberNeedsARole):
        change_member(study=panel.study, person=panel.ana, roles=roles)


def test_the_last_admin_neither_leaves_nor_loses_the_role(panel: Panel) -> None:
    with pytest.raises(LastAdminStays, match="only admin"):
        leave_study(study=panel.study, person=panel.adam)
    with pytest.raises(LastAdminStays):
        change_member(study=panel.study, person=panel.adam, roles=["researcher"])
    change_member(study=panel.study, person=panel.adam, roles=["admin", "clinician"])
    change_member(study=panel.study, person=panel.rita, roles=["admin"])
    change_member(study=panel.study, person=panel.adam, roles=["clinician"])
    with pytest.raises(LastAdminStays):
        leave_study(study=panel.study, person=panel.rita)


def test_an_admin_who_can_t_sign_in_is_none(panel: Panel) -> None:
    add_member(study=panel.study, email="rita@example.org", roles=["admin"])
    User.objects.filter(pk=panel.rita.pk).update(is_active=False)
    with pytest.raises(LastAdminStays):
        leave_study(study=panel.study, person=panel.adam)


def test_who_is_no_clinician_any_more_has_no_votes_in_open_rounds_and_the_others_are_revealed(panel: Panel) -> None:
    _, [criterion], opened = make_voting(panel=panel)
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer)
    change_member(study=panel.study, person=panel.eva, roles=["researcher"])
    assert not Assignment.objects.active().filter(reviewer=panel.eva).exists()
    assert Round.objects.get(pk=opened.pk).revealed_at is not None


def test_roles_that_somebody_else_changed_meanwhile_are_not_overwritten(panel: Panel) -> None:
    change_member(study=panel.study, person=panel.ana, roles=["clinician", "researcher"], seen=["clinician"])
    with pytest.raises(RolesChangedMeanwhile):
        change_member(study=panel.study, person=panel.ana, roles=["admin"], seen=["clinician"])
    change_member(study=panel.study, person=panel.ana, roles=["clinician", "researcher"], seen=["clinician"])


def test_a_name_is_given_to_who_has_none_and_is_theirs_afterwards(panel: Panel) -> None:
    fern = add_member(study=panel.study, email="fern@example.org", roles=["clinician"]).user
    change_member(study=panel.study, person=fern, name=" Fern ")
    fern.refresh_from_db()
    assert fern.name == "Fern"
    change_member(study=panel.study, person=fern, name="Fern")
    with pytest.raises(NameIsTheirs):
        change_member(study=panel.study, person=fern, name="Somebody")


@pytest.mark.django_db(transaction=True)
def test_of_two_admins_who_go_at_once_one_stays() -> None:
    panel = make_panel()
    others = [panel.adam, join(study=panel.study, name="amy", role="admin")]
    start, refused = threading.Barrier(2), []

    def go(person: User) -> None:
        try:
            start.wait()
            if person == panel.adam:
                leave_study(study=panel.study, person=person)
            else:
                change_member(study=panel.study, person=person, roles=["clinician"])
        except RuleViolation as refusal:
            refused.append(type(refusal))
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=(person,)) for person in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == [LastAdminStays]
    assert panel.study.memberships.filter(left_at=None, roles__contains=["admin"]).count() == 1


# The page and the API


def test_a_member_s_page_changes_roles(panel: Panel) -> None:
    client = signed_in(panel.adam)
    page = at(panel.study, "member", membership_id=membership(panel, panel.ana).id)
    assert page in shown(client, at(panel.study, "study_members"))
    assert 'name="name"' not in shown(client, page)
    response = client.post(page, {"roles": ["clinician", "admin"], "seen": "clinician"}, follow=True)
    assert "Ana is admin and clinician here." in response.content.decode()
    stale = client.post(page, {"roles": ["researcher"], "seen": "clinician"})
    assert stale.status_code == 409
    assert "Somebody else changed" in stale.content.decode()
    none = client.post(page, {"seen": "admin,clinician"})
    assert none.status_code == 422
    assert "Choose at least one role" in none.content.decode()


def test_the_last_admin_is_refused_with_a_sentence(panel: Panel) -> None:
    client, mine = signed_in(panel.adam), membership(panel, panel.adam).id
    page = at(panel.study, "member", membership_id=mine)
    assert "only admin" in shown(client, page)
    response = client.post(page, {"roles": ["researcher"], "seen": "admin"})
    assert response.status_code == 409
    assert "Make somebody else an admin first." in response.content.decode()
    leaving = at(panel.study, "member_leaves", membership_id=mine)
    assert "Leave the study" not in shown(client, leaving)
    assert client.post(leaving).status_code == 409
    assert membership(panel, panel.adam).left_at is None


def test_changing_a_member_belongs_to_admins(panel: Panel) -> None:
    page = at(panel.study, "member", membership_id=membership(panel, panel.ana).id)
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        assert signed_in(person).get(page).status_code == status
        assert signed_in(person).post(page, {"roles": ["admin"]}).status_code == status
    assert membership(panel, panel.ana).roles == [Role.CLINICIAN]


def test_the_api_changes_a_member(panel: Panel) -> None:
    address = at(panel.study, "api_member", membership_id=membership(panel, panel.ana).id)
    changed = api(panel.adam).patch(address, {"roles": ["clinician", "researcher"]}, format="json")
    assert (changed.status_code, changed.json()["roles"]) == (200, ["clinician", "researcher"])
    assert api(panel.adam).patch(address, {"roles": []}, format="json").status_code == 400
    assert api(panel.adam).patch(address, {"name": "Other"}, format="json").status_code == 409
    assert api(panel.rita).patch(address, {"roles": ["admin"]}, format="json").status_code == 403
    own = at(panel.study, "api_member", membership_id=membership(panel, panel.adam).id)
    assert api(panel.adam).delete(own).status_code == 409
    assert api(panel.adam).patch(own, {"roles": ["clinician"]}, format="json").status_code == 409


def test_who_is_assigned_is_told_what_losing_the_role_means(panel: Panel) -> None:
    assign_reviewer(conversation=make_conversation(study=panel.study), reviewer=panel.ana)
    page = at(panel.study, "member", membership_id=membership(panel, panel.ana).id)
    assert "Ana reviews 1 conversation." in shown(signed_in(panel.adam), page)
