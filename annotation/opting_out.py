"""Opting out of mail: by a link in each mail that works without signing in, and by one click of a mail program.

The link's token names the person, signed; whoever forwards a mail lets others stop it, and nothing more: the page shows
neither the address nor a study. What was chosen is changed again on the person's own page.
"""

from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from annotation.models import Digests, User

_signer = Signer(salt="annotation.opting_out")


def token_of(person: User) -> str:
    return _signer.sign(person.pk.hex)


def whose(token: str) -> User | None:
    """The person whom a token names; None for one that was not made here."""
    try:
        return User.objects.filter(pk=UUID(hex=_signer.unsign(token))).first()
    except (BadSignature, ValueError):
        return None


def stop_mail(*, person: User) -> bool:
    """No digests and no reminders any more. False: there were none."""
    return bool(User.objects.filter(pk=person.pk).exclude(digests=Digests.OFF).update(digests=Digests.OFF))


def page_address(person: User) -> str:
    """The page that asks whether mail is to end."""
    return settings.SITE_URL + reverse("stop_mail", kwargs={"token": token_of(person)})


def one_click_address(person: User) -> str:
    """Where a mail program sends its one click (RFC 8058)."""
    return settings.SITE_URL + reverse("api_stop_mail", kwargs={"token": token_of(person)})
