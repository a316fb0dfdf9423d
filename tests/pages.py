"""What tests of pages and of the API share: somebody signed in, addresses of a study, an answer's text."""

import re
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.models import Conversation, Criterion, Study, User
from tests.factories import Panel


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def at(study: Study, name: str, **parts: object) -> str:
    return reverse(name, kwargs={"slug": study.slug, **parts})


def shown(client: Client, url: str, **headers: str) -> str:
    response = client.get(url, headers=headers)
    assert response.status_code == 200, (url, response.status_code)
    return response.content.decode()


def plain(html: str) -> str:
    """A page without what differs each time it is made: the token of its forms."""
    return re.sub(r'(csrf-token" content|csrfmiddlewaretoken" value)="[^"]+"', "", html)


def queries_of(client: Client, url: str) -> int:
    """How many queries a page takes, without those asked once a session."""
    client.get(url)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def api(person: User) -> APIClient:
    """Somebody with a token."""
    client = APIClient()
    token, _ = Token.objects.get_or_create(user=person)
    client.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
    return client


def got(person: User, url: str) -> Any:
    """What the API answers to a GET."""
    response = api(person).get(url)
    assert response.status_code == 200, response.content
    return response.json()


def api_addresses(panel: Panel, conversation: Conversation, criterion: Criterion) -> list[str]:
    """The addresses of the annotation API that answer a GET to every member."""
    return [
        reverse("api_studies"),
        at(panel.study, "api_study"),
        at(panel.study, "api_conversations"),
        at(panel.study, "api_conversation", conversation_id=conversation.id),
        at(panel.study, "api_criteria", conversation_id=conversation.id),
        at(panel.study, "api_votes", conversation_id=conversation.id),
        at(panel.study, "api_rounds", conversation_id=conversation.id),
        at(panel.study, "api_desk", conversation_id=conversation.id),
        at(panel.study, "api_criterion", criterion_id=criterion.id),
        at(panel.study, "api_comments", criterion_id=criterion.id),
    ]
