"""Browsing as a person: whole pages, htmx fragments, and forms sent both ways."""

import html
import re
from typing import Any
from uuid import UUID

from django.test import Client
from django.urls import reverse

from annotation.models import Conversation, Criterion, User

HTMX = {"HX-Request": "true"}


class Browser:
    """One person's browser. ``get`` and ``post`` take the name of an address and what it names."""

    def __init__(self, person: User | None = None) -> None:
        self.client = Client()
        if person is not None:
            self.client.force_login(person)

    def get(self, name: str, *, htmx: bool = False, query: dict[str, Any] | None = None, **address: Any) -> Any:
        return self.client.get(reverse(name, kwargs=address), query or {}, headers=HTMX if htmx else {})

    def post(self, name: str, data: dict[str, Any] | None = None, *, htmx: bool = False, **address: Any) -> Any:
        return self.client.post(reverse(name, kwargs=address), data or {}, headers=HTMX if htmx else {})

    def desk(self, conversation: Conversation, *, htmx: bool = False, **query: Any) -> Any:
        return self.get("desk", htmx=htmx, query=query, slug=conversation.study.slug, conversation_id=conversation.id)

    def on(self, conversation: Conversation, name: str, *, htmx: bool = False, **data: Any) -> Any:
        """Send a form of the conversation."""
        return self.post(name, data, htmx=htmx, slug=conversation.study.slug, conversation_id=conversation.id)

    def about(self, criterion: Criterion, name: str, *, htmx: bool = False, **data: Any) -> Any:
        """Send a form about a criterion."""
        return self.post(name, data, htmx=htmx, slug=criterion.study.slug, criterion_id=criterion.id)

    def vote(self, criterion: Criterion, *, htmx: bool = False, seen: UUID | None = None, **data: Any) -> Any:
        current = Criterion.objects.get(pk=criterion.pk).current_revision_id
        return self.about(criterion, "vote", htmx=htmx, seen=seen or current, **data)


def text_of(response: Any) -> str:
    """The words of a page, without tags, white space as single blanks."""
    body = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(html.unescape(body).split())
