"""Roles in a study, as a sentence names them."""

from collections.abc import Sequence

from django import template
from django.utils.translation import gettext

from annotation.models import Role

register = template.Library()


@register.filter
def roles_in_words(roles: Sequence[str]) -> str:
    """What somebody is in a study: "an admin and a clinician"."""
    articled = {
        Role.CLINICIAN: gettext("a clinician"),
        Role.ADMIN: gettext("an admin"),
        Role.RESEARCHER: gettext("a researcher"),
    }
    *others, last = [articled[Role(role)] for role in roles]
    if not others:
        return last
    return gettext("{others} and {last}").format(others=gettext(", ").join(others), last=last)


@register.filter
def role_name(role: str) -> str:
    """One role: "clinician"."""
    return str(Role(role).label)
