"""Inviting people by mail: with the study's name, who invites, what is asked, and a link to sign in.

Who was invited and has not signed in yet can be invited again. An invitation is accepted by the first sign-in.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Digests, Membership, Notice, Study, User
from annotation.sending import send_waiting
from consilium.errors import RuleViolation

MOMENTS = timedelta(minutes=10)


class InvitedMomentsAgo(RuleViolation):
    """{person} was invited a moment ago. Give the mail some minutes."""


class InvitationOnItsWay(RuleViolation):
    """An invitation to {person} is on its way: it goes out as soon as the mail server takes it."""


class WantsNoMail(RuleViolation):
    """{person} asked for no more mail. Write to them yourself."""


class CantBeInvited(RuleViolation):
    """{person} has left the study, or can't sign in any more."""


def invite_member(*, membership: Membership, by: User | None) -> Notice:
    """Invite a member by mail, for the first time or again. The mail goes out when the act is done.

    Where the mail server can't be reached it waits, and a worker sends it. Raises CantBeInvited, WantsNoMail,
    InvitationOnItsWay, InvitedMomentsAgo.
    """
    with transaction.atomic():
        rows = Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("user", "study")
        held = rows.get(pk=membership.pk)
        person = held.user
        if held.left_at is not None or not person.is_active:
            raise CantBeInvited(person=str(person))
        if not _may_be_written_to(person):
            raise WantsNoMail(person=str(person))
        earlier = list(
            Notice.objects.filter(kind=Notice.Kind.INVITATION, study=held.study, person=person).order_by("-asked_at")
        )
        if earlier and earlier[0].sent_at is None and earlier[0].dropped_at is None:
            raise InvitationOnItsWay(person=str(person))
        if earlier and earlier[0].sent_at is not None and earlier[0].asked_at > timezone.now() - MOMENTS:
            raise InvitedMomentsAgo(person=str(person))
        notice = _ask(held, by, number=len(earlier) + 1)
        notice.save(force_insert=True)
        transaction.on_commit(lambda: _send_now(notice), robust=True)
    return notice


def invite_everybody(*, study: Study, by: User | None) -> int:
    """Invite every member who has never signed in and was never invited. Returns how many; a worker sends the mails."""
    with transaction.atomic():
        rows = Membership.objects.filter(study=study, left_at=None, user__is_active=True)
        held = list(rows.select_for_update(no_key=True, of=("self",)).order_by("pk").select_related("user"))
        invited = Notice.objects.filter(kind=Notice.Kind.INVITATION, study=study)
        known = set(invited.values_list("person_id", flat=True))
        asked = [
            _ask(each, by, number=1)
            for each in held
            if each.user.last_login is None and each.user_id not in known and _may_be_written_to(each.user)
        ]
        Notice.objects.bulk_create(asked)
    return len(asked)


def _may_be_written_to(person: User) -> bool:
    """Who stopped the mail before ever signing in wants no invitation either."""
    return person.last_login is not None or person.digests != Digests.OFF


def _ask(membership: Membership, by: User | None, *, number: int) -> Notice:
    return Notice(
        kind=Notice.Kind.INVITATION,
        person_id=membership.user_id,
        study_id=membership.study_id,
        period=str(number),
        asked_by=by,
    )


def _send_now(notice: Notice) -> None:
    send_waiting(only=[notice.pk])
