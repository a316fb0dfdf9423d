"""What tests of pages share: somebody signed in, addresses of a study, a page's text without its tokens."""

import re

from django.test import Client
from django.urls import reverse

from annotation.models import Study, User


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
