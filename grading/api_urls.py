"""Addresses of the grading API, below /api/v1/."""

from django.urls import path, re_path

from grading import api

STUDY = "studies/<slug:slug>/"
RUN = STUDY + "runs/<uuid:run_id>/"

urlpatterns = [
    path(STUDY + "responses/", api.Responses.as_view(), name="api_responses"),
    path(STUDY + "graders/", api.Graders.as_view(), name="api_graders"),
    path(STUDY + "runs/", api.Runs.as_view(), name="api_runs"),
    path(RUN, api.OneRun.as_view(), name="api_run"),
    path(RUN + "scores/", api.Scores.as_view(), name="api_scores"),
    path(RUN + "agreement/", api.Agreement.as_view(), name="api_agreement"),
    path(STUDY + "verdicts/", api.Verdicts.as_view(), name="api_verdicts"),
    re_path(
        r"^studies/(?P<slug>[-\w]+)/runs/(?P<run_id>[0-9a-f-]{36})/(?P<act>pause|resume|cancel)/$",
        api.RunAct.as_view(),
        name="api_run_act",
    ),
]
