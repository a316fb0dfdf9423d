"""Addresses of the versions' API, below /api/v1/."""

from django.urls import URLPattern, path

from rubrics import api

STUDY = "studies/<slug:slug>/"
VERSION = STUDY + "versions/<str:address>/"

urlpatterns: list[URLPattern] = [
    path(STUDY + "versions/", api.Versions.as_view(), name="api_versions"),
    path(STUDY + "freeze/", api.FreezePreview.as_view(), name="api_freeze_preview"),
    path(VERSION, api.OneVersion.as_view(), name="api_version"),
    path(VERSION + "criteria/", api.VersionCriteria.as_view(), name="api_version_criteria"),
    path(VERSION + "left-out/", api.VersionLeftOut.as_view(), name="api_version_left_out"),
    path(VERSION + "files/<slug:file_format>/", api.VersionFile.as_view(), name="api_version_file"),
    path(VERSION + "withdrawal/", api.Withdrawal.as_view(), name="api_version_withdrawal"),
    path(STUDY + "criteria/<uuid:criterion_id>/why/", api.Why.as_view(), name="api_why"),
    path(STUDY + "imports/", api.ImportsList.as_view(), name="api_imports"),
    path(STUDY + "imports/<slug:kind>/", api.Imports.as_view(), name="api_import"),
]
