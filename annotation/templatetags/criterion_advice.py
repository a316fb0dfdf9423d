"""Advice on a criterion that was saved, for browsers that could not be told while it was typed."""

from django import template

from annotation.advising import advise
from annotation.models import Revision

register = template.Library()


@register.filter
def advice(revision: Revision) -> list[str]:
    """The advice on a wording, to one of its writers."""
    return advise(revision.text, revision.points)
