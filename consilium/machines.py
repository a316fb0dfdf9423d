"""What machines ask this site for: whether it is well, and whether they may index it."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from consilium.pages import public_page


@public_page
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 when the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("The database does not answer.\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


@public_page
@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Nothing here is for a search engine."""
    return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain")
