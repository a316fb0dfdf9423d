"""Refusals: a rule of the study that an act would break, said in one sentence to the person who acts.

A ``RuleViolation`` subclass stands beside its rule; its docstring is the sentence. Pages answer it with 409 and the
sentence, the API with 409 and ``{"error": sentence}``, commands with exit code 1 and the sentence.
"""

from collections.abc import Callable
from typing import Any

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext
from rest_framework.response import Response
from rest_framework.views import exception_handler


def first_line(kind: type) -> str:
    """The first line of a class's docstring: of a refusal, its sentence in English."""
    return (kind.__doc__ or "").strip().splitlines()[0]


class RuleViolation(Exception):
    """This can't be done now."""

    def __init__(self, sentence: str | None = None, **facts: Any) -> None:
        self.sentence = sentence or gettext(first_line(type(self))).format(**facts)
        self.facts = facts
        super().__init__(self.sentence)


def violated_constraint(error: DatabaseError) -> str | None:
    """The name of the constraint that a database error broke, if it says one."""
    cause = error.__cause__
    diagnosis = getattr(cause, "diag", None)
    return getattr(diagnosis, "constraint_name", None)


class RuleViolationMiddleware:
    """Answers a refusal that a view did not handle itself: 409 with its sentence, as a fragment for htmx."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, RuleViolation):
            return None
        template = "_refusal.html" if getattr(request, "htmx", False) else "refusal.html"
        return render(request, template, {"sentence": exception.sentence}, status=409)


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an address with a NUL in it names nothing (PostgreSQL holds no such text): 404."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or any("\x00" in each for _, values in request.GET.lists() for each in values):
            if request.path.startswith("/api/"):
                return JsonResponse({"detail": "There is no such address."}, status=404)
            return render(request, "404.html", status=404)
        return get_response(request)

    return middleware


def api_exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's handler, with refusals as 409."""
    if isinstance(exception, RuleViolation):
        return Response({"error": exception.sentence, **_plain(exception.facts)}, status=409)
    return exception_handler(exception, context)


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if isinstance(value, str | int | float | bool | list | dict)}
