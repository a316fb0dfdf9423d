"""Addresses of the REST API, /api/v1/. Each app lists its own; the schema and its pages stand here."""

from django.urls import include, path, re_path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView


class NoSuchAddress(APIView):
    """What a program hears at an address that the API doesn't have: JSON, not a page. Who isn't known, 401 first."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound("There is no such address.")


urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api_schema"), name="api_docs"),
    path("", include("annotation.api_urls")),
    path("", include("rubrics.api_urls")),
    path("", include("grading.api_urls")),
    # only what ends in a slash, as all of the API does: without one Django leads to it
    re_path(r"^(?:.*/)?$", extend_schema(exclude=True)(NoSuchAddress).as_view(), name="api_no_such_address"),
]
