"""The language of the pages: the person's own where it was chosen, else the browser's, else English.

The API and the commands speak English: programs read them.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers


def chosen_language(person: object) -> str:
    """The language that a person chose, where pages are there in it; '' else."""
    chosen = getattr(person, "page_language", "")
    return str(chosen) if chosen in dict(settings.LANGUAGES) else ""


def language_for(request: HttpRequest) -> str:
    """One of settings.LANGUAGES."""
    if request.path.startswith("/api/"):
        return str(settings.LANGUAGE_CODE)
    return chosen_language(request.user) or translation.get_language_from_request(request)


def speak_the_readers_language(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware; it needs to know who asks, and stands outside of everything that says something."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with translation.override(language_for(request)):
            response = get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        patch_vary_headers(response, ["Accept-Language"])
        return response

    return middleware
