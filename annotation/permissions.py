"""Who may see and do what. Predicates, each rule once, and the decorators by which every view says its decision.

Every object is reached through the studies that a person belongs to: someone else's is 404. One that a person may
see but not change is 403. Blindness binds persons: an admin who also reviews a conversation sees it as a reviewer.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from annotation.care_locks import ConversationIsLocked, is_locked
from annotation.joining import must_consent
from annotation.models import (
    Assignment,
    Conversation,
    Criterion,
    Membership,
    Role,
    RoundOutcome,
    Study,
    User,
    Weights,
)
from annotation.rounds import settle_if_due
from annotation.writers import writers_of

P = ParamSpec("P")


class StudyRequest(HttpRequest):
    """A request for a page of a study, by a member."""

    user: User
    study: Study
    membership: Membership


def membership_of(user: User, study: Study) -> Membership | None:
    return Membership.objects.filter(user=user, study=study, left_at=None, user__is_active=True).first()


def has_role(membership: Membership, *roles: str) -> bool:
    return bool(set(membership.roles) & set(roles))


def find_study(user: User, slug: str) -> tuple[Study, Membership]:
    """The study by its short name and the person's membership in it; Http404 where there is none of both."""
    membership = (
        Membership.objects.select_related("study")
        .filter(user=user, study__slug__iexact=slug, left_at=None, user__is_active=True)
        .first()
    )
    if membership is None:
        raise Http404(gettext("There is no such study, or you don't belong to it."))
    return membership.study, membership


def study_page(
    *roles: str, consent: bool = True
) -> Callable[
    [Callable[Concatenate[StudyRequest, P], HttpResponse]],
    Callable[Concatenate[HttpRequest, P], HttpResponse],
]:
    """The decision of a study's page: members only (404 else), with one of ``roles`` if any are named (403 else).

    The address gives ``slug``; the view finds ``request.study`` and ``request.membership``. Dates that have passed
    are settled first, and who has still to accept the consent text is led there (``consent=False``: not).
    """

    def decorate(
        view: Callable[Concatenate[StudyRequest, P], HttpResponse],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
        @wraps(view)
        def decided(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            slug = str(kwargs.pop("slug"))
            assert isinstance(request.user, User)
            study, membership = find_study(request.user, slug)
            if roles and not has_role(membership, *roles):
                raise PermissionDenied(_page_is_for(roles))
            if consent and must_consent(study, request.user):
                return redirect("study_consent", slug=study.slug)
            settle_if_due(study)
            request.study, request.membership = study, membership  # type: ignore[attr-defined]
            return view(request, *args, **kwargs)  # type: ignore[arg-type]

        decided.decision = f"study page for {', '.join(roles) or 'members'}"  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[HttpRequest, P], HttpResponse]", decided)

    return decorate


def _page_is_for(roles: Iterable[str]) -> str:
    """Who may open a page, in words."""
    several = {
        Role.CLINICIAN: gettext("clinicians"),
        Role.ADMIN: gettext("admins"),
        Role.RESEARCHER: gettext("researchers"),
    }
    named = gettext(" and ").join(several[Role(role)] for role in roles)
    return gettext("This page is for {roles}.").format(roles=named)


def reviewed_by(user: User, conversation: Conversation) -> Assignment | None:
    """The person's active assignment to a conversation."""
    return Assignment.objects.active().filter(conversation=conversation, reviewer=user).first()


def find_conversation(user: User, study: Study, conversation_id: UUID) -> Conversation:
    """A conversation of the study that the person may see; Http404 else.

    One that is locked for a person's sake only admins read: ConversationIsLocked for the others.
    """
    rows: Any = Conversation.objects.visible_to(user).annotate(is_locked=is_locked())
    found = rows.filter(study=study, pk=conversation_id).first()
    if found is None:
        raise Http404(gettext("There is no such conversation, or it isn't yours to see."))
    if found.is_locked:
        membership = membership_of(user, study)
        if membership is None or not has_role(membership, Role.ADMIN):
            raise ConversationIsLocked
    return cast("Conversation", found)


def visible_criteria(user: User, conversation: Conversation) -> list[Criterion]:
    """The criteria of a conversation that a person may see now, in reading order.

    A reviewer sees the own drafts only until drafting is closed (policy: alone). Who oversees the study without
    reviewing this conversation sees all.
    """
    criteria = list(
        Criterion.objects.filter(conversation_id=conversation.id).in_reading_order().select_related("current_revision")
    )
    is_reviewer = conversation.assignments.filter(reviewer=user).exists()
    if conversation.drafting_closed_at or not is_reviewer:
        return criteria
    if conversation.study.policy.drafting == "together":
        return criteria
    writers = writers_of(criteria)
    return [criterion for criterion in criteria if user.id in writers[criterion.id]]


def sees_points(user: User, criteria: list[Criterion]) -> set[UUID]:
    """The ids of those criteria (of one study) whose points a person may see now.

    Under the policy of own weights the author's points are hidden from reviewers until the criterion's first reveal;
    writers see their own.
    """
    if not criteria:
        return set()
    study = criteria[0].study
    everything: set[UUID] = {criterion.id for criterion in criteria}
    if study.policy.weights == Weights.PREFILLED:
        return everything
    conversations = {criterion.conversation_id for criterion in criteria}
    reviewing = set(
        Assignment.objects.filter(conversation__in=conversations, reviewer=user).values_list(
            "conversation_id", flat=True
        )
    )
    revealed = set(RoundOutcome.objects.filter(criterion__in=everything).values_list("criterion_id", flat=True))
    writers = writers_of(criteria)
    return {
        criterion.id
        for criterion in criteria
        if criterion.conversation_id not in reviewing or criterion.id in revealed or user.id in writers[criterion.id]
    }


def oversees(membership: Membership) -> bool:
    """Admins and researchers see the study's whole progress, never what an open round holds."""
    return has_role(membership, Role.ADMIN, Role.RESEARCHER)


def administered_by(user: User) -> "QuerySet[Study]":
    """The studies that a person is an admin of, by name; which may be copied, too."""
    memberships = Membership.objects.filter(user=user, user__is_active=True, left_at=None, roles__contains=[Role.ADMIN])
    return Study.objects.filter(pk__in=memberships.values("study")).order_by("name", "slug")


def may_make_studies(user: User) -> bool:
    """Whether a person may make a study: an admin of some study, and whom the setting STUDY_MAKERS names."""
    if not user.is_active:
        return False
    named = settings.STUDY_MAKERS
    return "*" in named or user.email.lower() in named or administered_by(user).exists()
