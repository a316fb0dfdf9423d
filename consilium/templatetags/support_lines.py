"""Somebody to talk to, as the person who reads the page finds it."""

from django import template

from consilium.support import Support, support_for

register = template.Library()


@register.filter(name="support_for")
def of_a_country(text: str, country: str) -> Support:
    """A study's support contact with the lines of a country first."""
    return support_for(text or "", country or "")
