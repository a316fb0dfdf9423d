"""What every template knows: the language and its direction, whether the demo is on, and the study of the page.

``says_demo``: whether the page says that it is a demo, which the demo study's do and those outside any study.

``study`` and ``membership`` are those that the page's decision found (annotation.permissions.study_page), so that a
view need not hand them on. ``notices`` are Django's messages under a name that a conversation's messages don't take.
"""

from typing import Any

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_bidi

from consilium.demo_files import demo_slug


def site(request: HttpRequest) -> dict[str, Any]:
    known: dict[str, Any] = {
        "is_demo": settings.DEMO,
        "is_local": settings.IS_LOCAL,
        "language_code": get_language() or settings.LANGUAGE_CODE,
        "direction": "rtl" if get_language_bidi() else "ltr",
        "notices": get_messages(request),
    }
    for name in ("study", "membership"):
        found = getattr(request, name, None)
        if found is not None:
            known[name] = found
    study = known.get("study")
    known["says_demo"] = settings.DEMO and (study is None or study.slug == demo_slug())
    return known
