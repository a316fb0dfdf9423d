"""What a notice says, put together in the moment in which it is sent: in the person's language, dates in their zone.

Never a word of a conversation, a criterion or a vote; numbers only of what waits for this person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from annotation.models import Digests, Membership, Notice, Role, Study
from annotation.opting_out import one_click_address, page_address
from annotation.time_zones import zone_of
from annotation.waiting_for_you import near_dates, what_is_late, what_waits
from consilium.speaking import chosen_language


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail to one person."""

    notice: Notice
    subject: str
    body: str

    def as_mail(self, connection: BaseEmailBackend) -> EmailMessage:
        """Tried again, it bears the same Message-ID, so that who got it once is not shown it twice."""
        person = self.notice.person
        return EmailMessage(
            subject=self.subject,
            body=self.body,
            to=[person.email],
            connection=connection,
            headers={
                "Message-ID": f"<{self.notice.pk}@{urlsplit(settings.SITE_URL).hostname}>",
                "Auto-Submitted": "auto-generated",
                "List-Unsubscribe": f"<{one_click_address(person)}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
        )


def compose(notice: Notice) -> Letter | None:
    """The letter of a notice; None where there is nothing left to say."""
    person = notice.person
    if not person.is_active:
        return None
    language = chosen_language(person) or settings.LANGUAGE_CODE
    with translation.override(language), timezone.override(zone_of(person)):
        facts = _FACTS[notice.kind](notice)
        return _write(notice, facts) if facts is not None else None


def _write(notice: Notice, facts: Mapping[str, Any]) -> Letter:
    known = {**facts, "person": notice.person, "stop_url": page_address(notice.person), "site_url": settings.SITE_URL}
    subject = render_to_string(f"annotation/mail/{notice.kind}_subject.txt", known)
    body = render_to_string(f"annotation/mail/{notice.kind}.txt", known)
    return Letter(notice, " ".join(subject.split()), body.strip() + "\n")


def sign_in_address(study: Study) -> str:
    """Where a person signs in, and is then led to the study."""
    to = reverse("study", kwargs={"slug": study.slug})
    return f"{settings.SITE_URL}{reverse('account_request_login_code')}?{urlencode({'next': to})}"


def _digest(notice: Notice) -> dict[str, Any] | None:
    person = notice.person
    waiting, late = what_waits(person), what_is_late(person)
    if person.digests == Digests.OFF or not (waiting or late):
        return None
    return {"waiting": waiting, "late": late, "zone": zone_of(person).key}


def _reminder(notice: Notice) -> dict[str, Any] | None:
    person = notice.person
    near = near_dates(person, what_waits(person))
    if person.digests == Digests.OFF or not near:
        return None
    return {"waiting": near, "zone": zone_of(person).key}


def _invitation(notice: Notice) -> dict[str, Any] | None:
    membership = (
        Membership.objects.select_related("study")
        .filter(study=notice.study_id, user=notice.person_id, left_at=None)
        .first()
    )
    if membership is None:
        return None
    return {
        "study": membership.study,
        "asked_by": notice.asked_by,
        "is_clinician": Role.CLINICIAN in membership.roles,
        "is_admin": Role.ADMIN in membership.roles,
        "is_researcher": Role.RESEARCHER in membership.roles,
        "sign_in_url": sign_in_address(membership.study),
    }


_FACTS: Mapping[str, Callable[[Notice], dict[str, Any] | None]] = {
    Notice.Kind.INVITATION: _invitation,
    Notice.Kind.DIGEST: _digest,
    Notice.Kind.REMINDER: _reminder,
}
