"""Inviting: who is written to, what the mail says, what admins see of it, and how it is stopped."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.deactivating import deactivate_person
from annotation.inviting import (
    CantBeInvited,
    InvitationOnItsWay,
    InvitedMomentsAgo,
    WantsNoMail,
    invite_everybody,
    invite_member,
)
from annotation.joining import add_member, leave_study
from annotation.members import members_of
from annotation.models import Digests, Membership, Notice, User
from annotation.opting_out import token_of
from annotation.sending import send_waiting
from tests.factories import Panel, make_panel, make_study
from tests.journeys.commands import done
from tests.pages import api, at, shown, signed_in


@pytest.fixture
def panel(transactional_db: None) -> Panel:
    return make_panel(slug="pilot")


def add(panel: Panel, *, email: str = "fern@example.org", roles: tuple[str, ...] = ("clinician",)) -> Membership:
    return add_member(study=panel.study, email=email, roles=roles)


def state(membership: Membership) -> str:
    [found] = members_of(membership.study).filter(pk=membership.pk)
    return str(found.invitation)


def test_an_invitation_says_who_invites_to_what_and_where_to_sign_in(panel: Panel) -> None:
    fern = add(panel, roles=("clinician", "researcher"))
    assert state(fern) == "not_invited"
    invite_member(membership=fern, by=panel.adam)
    [sent] = mail.outbox
    body = str(sent.body)
    assert (sent.to, sent.subject) == (["fern@example.org"], "You are invited to Pilot")
    assert "Adam invites you to the study “Pilot”." in body
    assert "As a clinician" in body
    assert "As a researcher" in body
    assert "As an admin" not in body
    assert "/sign-in/?next=%2Fstudies%2Fpilot%2F" in body
    assert state(fern) == "sent"


def test_the_link_of_an_invitation_leads_to_signing_in_and_then_to_the_study(panel: Panel) -> None:
    fern = add(panel)
    invite_member(membership=fern, by=None)
    found = re.search(r"https?://[^/]+(/sign-in/\S+)", str(mail.outbox[0].body))
    assert found
    client = Client()
    page = client.get(found[1])
    assert page.status_code == 200
    assert 'value="/studies/pilot/"' in page.content.decode()
    mail.outbox.clear()
    asked = client.post("/sign-in/", {"email": "fern@example.org", "next": "/studies/pilot/"})
    form = client.get(asked["Location"]).content.decode()
    hidden = dict(re.findall(r'<input type="hidden" name="(next)" value="([^"]*)"', form))
    code = re.search(r"^\s*([A-Z0-9]{3,}-?[A-Z0-9]{2,})\s*$", str(mail.outbox[0].body), re.MULTILINE)
    assert code
    answer = client.post("/sign-in/code/", {"code": code[1], **hidden})
    assert (answer.status_code, answer["Location"]) == (302, "/studies/pilot/")
    assert state(fern) == "signed_in"


def test_a_name_with_line_breaks_makes_no_header(panel: Panel) -> None:
    panel.study.name = "Pilot\nBcc: eve@example.org"
    panel.study.save(update_fields=["name"])
    invite_member(membership=add(panel), by=None)
    assert mail.outbox[0].subject == "You are invited to Pilot Bcc: eve@example.org"
    assert mail.outbox[0].recipients() == ["fern@example.org"]


def test_who_was_invited_a_moment_ago_is_not_invited_again_and_later_is(panel: Panel) -> None:
    fern = add(panel)
    invite_member(membership=fern, by=panel.adam)
    with pytest.raises(InvitedMomentsAgo):
        invite_member(membership=fern, by=panel.adam)
    hour = timezone.now() - timedelta(hours=1)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE annotation_notice SET asked_at = %s", [hour])
        cursor.execute("SET session_replication_role = DEFAULT")
    invite_member(membership=fern, by=panel.adam)
    assert len(mail.outbox) == 2
    assert sorted(Notice.objects.values_list("period", flat=True)) == ["1", "2"]


def test_an_invitation_that_waits_for_the_mail_server_is_not_doubled(panel: Panel, settings: object) -> None:
    fern = add(panel)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined]
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9  # type: ignore[attr-defined]
    settings.EMAIL_TIMEOUT = 5  # type: ignore[attr-defined]
    invite_member(membership=fern, by=panel.adam)
    assert state(fern) == "on_its_way"
    with pytest.raises(InvitationOnItsWay):
        invite_member(membership=fern, by=panel.adam)
    assert "the invitation is on its way" in shown(signed_in(panel.adam), at(panel.study, "study_members"))


def test_who_left_or_was_deactivated_or_stopped_the_mail_is_not_invited(panel: Panel) -> None:
    fern = add(panel)
    leave_study(study=panel.study, person=fern.user)
    with pytest.raises(CantBeInvited):
        invite_member(membership=fern, by=panel.adam)
    gus = add(panel, email="gus@example.org")
    deactivate_person(person=gus.user)
    with pytest.raises(CantBeInvited):
        invite_member(membership=gus, by=panel.adam)
    hal = add(panel, email="hal@example.org")
    User.objects.filter(pk=hal.user_id).update(digests=Digests.OFF)
    with pytest.raises(WantsNoMail):
        invite_member(membership=hal, by=panel.adam)
    assert invite_everybody(study=panel.study, by=panel.adam) == 7
    assert not mail.outbox


def test_everybody_is_invited_who_never_was_and_never_signed_in(panel: Panel) -> None:
    signed_in(panel.ana)
    invite_member(membership=Membership.objects.get(user=panel.ben), by=panel.adam)
    other = add_member(study=make_study(), email="zoe@example.org", roles=["clinician"])
    assert invite_everybody(study=panel.study, by=panel.adam) == 5
    assert invite_everybody(study=panel.study, by=panel.adam) == 0
    assert send_waiting().sent == 5
    assert not Notice.objects.filter(person=other.user).exists()


def test_the_members_page_invites_while_adding_and_says_how_far_each_is(panel: Panel) -> None:
    adam = signed_in(panel.adam)
    page = at(panel.study, "study_members")
    adam.post(page, {"email": "fern@example.org", "roles": ["clinician"], "invite": "on"})
    adam.post(page, {"email": "gus@example.org", "roles": ["clinician"]})
    assert [sent.to for sent in mail.outbox] == [["fern@example.org"]]
    html = shown(adam, page)
    assert f"invited {timezone.now():%-d %b %Y}" in html
    assert "Invite 7 people by mail" in html
    answer = adam.post(at(panel.study, "study_invitations"), follow=True)
    assert "7 people are invited." in answer.content.decode()
    assert "Invite 7 people" not in shown(adam, page)


def test_a_member_s_page_invites_and_refuses_with_a_sentence(panel: Panel) -> None:
    fern = add(panel)
    adam = signed_in(panel.adam)
    address = at(panel.study, "member_invitation", membership_id=fern.id)
    assert adam.post(address).status_code == 302
    again = adam.post(address)
    assert again.status_code == 409
    assert "was invited a moment ago" in again.content.decode()
    assert "Invite again" in again.content.decode()


@pytest.mark.parametrize("name", ["ana", "rita"])
def test_inviting_belongs_to_admins(panel: Panel, name: str) -> None:
    fern = add(panel)
    client = signed_in(getattr(panel, name))
    for address in (
        at(panel.study, "member_invitation", membership_id=fern.id),
        at(panel.study, "study_invitations"),
        at(panel.study, "member_facts", membership_id=fern.id),
        at(panel.study, "member_pause", membership_id=fern.id),
    ):
        assert client.post(address).status_code == 403
        assert signed_in(panel.oscar).post(address).status_code == 404
    for address in (
        at(panel.study, "api_member_invitation", membership_id=fern.id),
        at(panel.study, "api_invitations"),
    ):
        assert api(getattr(panel, name)).post(address).status_code == 403
    assert not Notice.objects.exists()


def test_the_api_invites(panel: Panel) -> None:
    client = api(panel.adam)
    members = at(panel.study, "api_members")
    made = client.post(members, {"email": "fern@example.org", "roles": ["clinician"], "invite": True}, format="json")
    assert made.json()["invitation"] == "sent"
    assert len(mail.outbox) == 1
    again = client.post(at(panel.study, "api_member_invitation", membership_id=made.json()["id"]))
    assert again.status_code == 409
    assert client.post(at(panel.study, "api_invitations")).json() == {"invited": 7}


def test_a_command_invites(panel: Panel) -> None:
    words = ("pilot", "fern@example.org", "--role", "clinician")
    assert done("add_member", *words)["invitation"] is None
    assert not mail.outbox
    answer = done("add_member", *words, "--invite", "--by", "adam@example.org")
    assert answer["invitation"] == "sent"
    assert "Adam invites you" in str(mail.outbox[0].body)


def test_a_list_of_members_takes_as_many_queries_whatever_was_sent(panel: Panel) -> None:
    adam, page = signed_in(panel.adam), at(panel.study, "study_members")
    adam.get(page)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            adam.get(page)
        return len(captured)

    before = queries()
    for number in range(5):
        invite_member(membership=add(panel, email=f"p{number}@example.org"), by=panel.adam)
    assert queries() == before


# Stopping the mail


def test_each_mail_can_be_stopped_without_signing_in(panel: Panel) -> None:
    fern = add(panel)
    invite_member(membership=fern, by=panel.adam)
    [sent] = mail.outbox
    found = re.search(r"https?://[^/]+(/mail/stop/\S+)", str(sent.body))
    assert found
    client = Client()
    asked = client.get(found[1])
    assert asked.status_code == 200
    assert "fern@example.org" not in asked.content.decode()
    fern.user.refresh_from_db()
    assert fern.user.digests == Digests.WEEKLY
    assert "No more mail" in client.post(found[1]).content.decode()
    fern.user.refresh_from_db()
    assert fern.user.digests == Digests.OFF
    assert "No more mail" in client.get(found[1]).content.decode()


def test_one_click_of_a_mail_program_stops_the_mail(panel: Panel) -> None:
    fern = add(panel)
    invite_member(membership=fern, by=panel.adam)
    headers = mail.outbox[0].extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = headers["List-Unsubscribe"].strip("<>").split("/", 3)[3]
    client = Client(enforce_csrf_checks=True)
    answer = client.post(f"/{address}", "List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 204
    fern.user.refresh_from_db()
    assert fern.user.digests == Digests.OFF
    assert client.get(f"/{address}")["Location"] == f"/mail/stop/{token_of(fern.user)}/"


@pytest.mark.parametrize("token", ["x", "0" * 32, "0" * 32 + ":forged", "%00"])
def test_a_forged_token_stops_nothing(panel: Panel, token: str) -> None:
    other = token_of(panel.ana).split(":")[1]
    for each in (token, f"{panel.ben.pk.hex}:{other}"):
        assert Client().get(f"/mail/stop/{each}/").status_code == 404
        assert Client().post(f"/api/v1/mail/stop/{each}/").status_code == 404
    assert not User.objects.filter(digests=Digests.OFF).exists()
