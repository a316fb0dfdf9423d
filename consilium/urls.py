"""Addresses of the site. Each app lists its own pages and API."""

from django.urls import include, path

urlpatterns = [
    path("", include("consilium.site_urls")),
    path("", include("annotation.urls")),
    path("", include("rubrics.urls")),
    path("", include("grading.urls")),
    path("api/v1/", include("consilium.api_urls")),
]
