"""The page that a mail's last line leads to: no more mail, without signing in."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from annotation.models import Digests
from annotation.opting_out import stop_mail, whose
from consilium.pages import public_page


@require_http_methods(["GET", "HEAD", "POST"])
@public_page
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """GET: asks, since programs open links by themselves. POST: no digests and reminders any more."""
    person = whose(token)
    if person is None:
        raise Http404("This link stops nobody's mail.")
    if request.method == "POST":
        stop_mail(person=person)
        person.refresh_from_db()
    return render(request, "annotation/stop_mail.html", {"is_off": person.digests == Digests.OFF})
