"""Addresses of the REST API, /api/v1/. Each app lists its own; the schema and its pages stand here."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api_schema"), name="api_docs"),
    path("", include("annotation.api_urls")),
    path("", include("rubrics.api_urls")),
    path("", include("grading.api_urls")),
]
