"""Who is in a study, with which roles; roles are changed by an admin, and so is a name that nobody gave yet.

A study that has an admin keeps one: the last who can sign in neither leaves nor loses the role. Both acts hold the
study, so that of two admins who go at once one stays.
"""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.assigning import hand_work_over
from annotation.invitations import with_invitation
from annotation.joining import LONGEST, NobodyByThisAddress, TooLong, must_keep_an_admin
from annotation.locks import hold_study
from annotation.models import Assignment, Consent, Conversation, Membership, Role, Study, User
from annotation.rounds import settle, settle_if_due
from consilium.errors import RuleViolation


class MemberNeedsARole(RuleViolation):
    """A member has at least one role: clinician, admin or researcher. Who has none any more leaves the study."""


class RolesChangedMeanwhile(RuleViolation):
    """Somebody else changed this person's roles meanwhile. Look at what stands now, then choose again."""


class NameIsTheirs(RuleViolation):
    """This person has a name already, and changes it themselves."""


def members_of(study: Study) -> "QuerySet[Membership, Any]":
    """Who is in the study, by name.

    Each has ``has_accepted`` (the consent text in its present version), ``assigned``, a count of conversations, and how
    far the invitation has come (annotation.inviting).
    """
    accepted = Consent.objects.filter(study=study, user=OuterRef("user"), text_version=study.consent_version)
    own = Conversation.objects.own().filter(study=study)
    assigned = (
        Assignment.objects.filter(reviewer=OuterRef("user"), conversation__in=own, recused_at=None)
        .order_by()
        .values("reviewer")
        .annotate(number=Count("pk"))
        .values("number")
    )
    return (
        with_invitation(study.memberships.filter(left_at=None).select_related("user"), study)
        .annotate(has_accepted=Exists(accepted), assigned=Coalesce(Subquery(assigned), Value(0)))
        .order_by("user__name", "user__email")
    )


def change_member(
    *,
    study: Study,
    person: User,
    roles: Collection[str] | None = None,
    name: str = "",
    seen: Collection[str] | None = None,
) -> Membership:
    """Give a member these roles and no others (None: as they are), and a name to who has none yet.

    ``seen`` are the roles that the change was made against (None: whichever stand). Who is no clinician any more
    reviews nothing: votes in revealed rounds stay, those in open rounds no longer count. Raises MemberNeedsARole,
    RolesChangedMeanwhile, LastAdminStays, NameIsTheirs, TooLong, NobodyByThisAddress.
    """
    wanted = None if roles is None else sorted(set(roles))
    if wanted is not None and (not wanted or not set(wanted) <= set(Role.values)):
        raise MemberNeedsARole
    called = name.strip()
    if len(called) > LONGEST["name"]:
        raise TooLong(what="name", longest=LONGEST["name"], found=len(called))
    with transaction.atomic():
        hold_study(study.id)
        membership = Membership.objects.select_related("user").filter(study=study, user=person, left_at=None).first()
        if membership is None:
            raise NobodyByThisAddress(email=person.email)
        if called and called != membership.user.name:
            if not User.objects.filter(pk=person.pk, name="").update(name=called):
                raise NameIsTheirs
            membership.user.name = called
        if wanted is not None and wanted != sorted(membership.roles):
            if seen is not None and sorted(seen) != sorted(membership.roles):
                raise RolesChangedMeanwhile
            if Role.ADMIN not in wanted:
                must_keep_an_admin(membership)
            loses_reviews = Role.CLINICIAN in membership.roles and Role.CLINICIAN not in wanted
            if loses_reviews:
                settle_if_due(study)
            membership.roles = wanted
            membership.save(update_fields=["roles"])
            if loses_reviews:
                hand_work_over(study=study, person=person)
                settle(study)
    return membership
