"""How a page answers: whole pages without JavaScript, fragments for htmx, and who may ask.

Every view carries one decision decorator. Pages of a study carry ``annotation.permissions.study_page``; those outside
any study carry one of the two here::

    @signed_in
    def my_studies(request): ...

    @public_page
    def healthz(request): ...

A view fetches what the person may see, fills a form, calls the act, answers::

    @study_page(Role.CLINICIAN)
    def vote(request, conversation_id):
        conversation = find_conversation(request.user, request.study, conversation_id)
        form = VoteForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            cast_vote(...)  # a RuleViolation is answered by its middleware: 409 with its sentence
            return redirect_or_fragment(request, "vote", "_vote.html", {...}, slug=..., conversation_id=...)
        status = 422 if form.is_bound else 200
        return respond_with_fragment(request, "vote.html", "_vote.html", {"form": form, ...}, status=status)

The fragment is a file ``_name.html`` with one element of a stable id; its page includes it, its view returns it.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django_htmx.middleware import HtmxDetails

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

SIGNED_OUT = _(
    "You were signed out meanwhile. Sign in again in another window, then send this once more: it is still here."
)
OPEN_TOO_LONG = _(
    "You signed in or out since this page was opened, so this was not taken. "
    "Copy what you wrote, load the page again and send it once more."
)


def public_page(view: View[P]) -> View[P]:
    """Anybody may open this page, signed in or not."""

    @wraps(view)
    def decided(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return view(request, *args, **kwargs)

    decided.decision = "public"  # type: ignore[attr-defined]
    return cast("View[P]", login_not_required(decided))


def signed_in(view: View[P]) -> View[P]:
    """Whoever is signed in may open this page; it shows only what is theirs."""

    @wraps(view)
    def decided(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs)

    decided.decision = "signed in"  # type: ignore[attr-defined]
    return cast("View[P]", decided)


def wants_fragment(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page; not where it follows a link or goes back in its history."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def respond_with_fragment(
    request: HttpRequest,
    template: str,
    fragment_template: str,
    context: Mapping[str, Any],
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """The fragment for htmx, else the whole page, both with ``status``."""
    name = fragment_template if wants_fragment(request) else template
    return render(request, name, dict(context), status=status)


def redirect_or_fragment(
    request: HttpRequest,
    to: str,
    fragment_template: str,
    context: Mapping[str, Any],
    *,
    anchor: str = "",
    **address: Any,
) -> HttpResponse:
    """After an act: the fragment for htmx, else a redirect to the page named ``to``, with the parts of its address.

    ``anchor`` is the id of the element to come back to, such as the pane that a phone showed.
    """
    if wants_fragment(request):
        return render(request, fragment_template, dict(context))
    return HttpResponseRedirect(reverse(to, kwargs=address) + (f"#{anchor}" if anchor else ""))


def answer_csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of an earlier sign-in: 403, as a sentence beside the form for htmx, else as a page."""
    if wants_fragment(request):
        return render(request, "_refusal.html", {"sentence": OPEN_TOO_LONG}, status=HTTPStatus.CONFLICT)
    return render(request, "403_csrf.html", status=HTTPStatus.FORBIDDEN)


def keep_words_when_signed_out(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: a fragment that would be the sign-in page is a sentence (401) instead: no typed word is lost."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not getattr(request, "htmx", False) or request.user.is_authenticated:
            return response
        if response.status_code == HTTPStatus.FOUND and response["Location"].startswith(
            resolve_url(settings.LOGIN_URL)
        ):
            return render(request, "_refusal.html", {"sentence": SIGNED_OUT}, status=HTTPStatus.UNAUTHORIZED)
        return response

    return answer
