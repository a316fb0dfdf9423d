"""Addresses of the pages about rubric versions, below a study.

Those of freezing and of why lie below the versions, so that the navigation shows where they belong.
"""

from django.urls import URLPattern, path

from rubrics.views import freeze, imports, versions, why

STUDY = "studies/<slug:slug>/"
VERSION = STUDY + "versions/<str:address>/"
FREEZE = STUDY + "versions/next/freeze/"

urlpatterns: list[URLPattern] = [
    path(STUDY + "versions/", versions.list_versions, name="study_versions"),
    path(VERSION, versions.show_version, name="version"),
    path(VERSION + "left-out/", versions.show_left_out, name="version_left_out"),
    path(VERSION + "withdraw/", versions.withdraw, name="version_withdraw"),
    path(VERSION + "files/<slug:format>/", versions.download, name="version_file"),
    path(FREEZE, freeze.freeze, name="study_freeze"),
    path(FREEZE + "goes-in/", freeze.show_what_goes_in, name="freeze_goes_in"),
    path(FREEZE + "changes/", freeze.show_changes, name="freeze_changes"),
    path(FREEZE + "leave-out/<uuid:criterion_id>/", freeze.leave_out, name="freeze_leave_out"),
    path(FREEZE + "put-back/<uuid:criterion_id>/", freeze.put_back, name="freeze_put_back"),
    path(STUDY + "versions/criteria/<uuid:criterion_id>/why/", why.show_why, name="why"),
    path(STUDY + "admin/import/", imports.list_imports, name="study_imports"),
    path(STUDY + "admin/import/<slug:kind>/", imports.take_in, name="study_import"),
    path(STUDY + "admin/import/<slug:kind>/example/", imports.show_example, name="study_import_example"),
]
