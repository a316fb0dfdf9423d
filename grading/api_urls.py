"""Addresses of the grading API, below /api/v1/."""

from django.urls import URLPattern, path, re_path

from grading import api, api_judging, api_reports, api_votes

STUDY = "studies/<slug:slug>/"
RUN = STUDY + "runs/<uuid:run_id>/"
JUDGING = STUDY + "judging/"

urlpatterns: list[URLPattern] = [
    path(STUDY + "responses/", api.Responses.as_view(), name="api_responses"),
    path(STUDY + "responses/import/", api.ResponsesImport.as_view(), name="api_responses_import"),
    path(STUDY + "respondents/", api.Respondents.as_view(), name="api_respondents"),
    path(STUDY + "graders/", api.Graders.as_view(), name="api_graders"),
    path(STUDY + "runs/", api.Runs.as_view(), name="api_runs"),
    path(RUN, api.OneRun.as_view(), name="api_run"),
    path(RUN + "open-grades/", api_reports.OpenGrades.as_view(), name="api_open_grades"),
    path(RUN + "scores/", api_reports.Scores.as_view(), name="api_scores"),
    path(RUN + "agreement/", api_reports.Agreement.as_view(), name="api_agreement"),
    path(RUN + "agreement/chart/", api_reports.AgreementChart.as_view(), name="api_agreement_chart"),
    path(RUN + "pairs/", api_reports.Pairs.as_view(), name="api_pairs"),
    path(STUDY + "votes-agreement/", api_votes.VoteAgreement.as_view(), name="api_vote_agreement"),
    path(STUDY + "votes-agreement/mine/", api_votes.OwnVotes.as_view(), name="api_own_votes"),
    path(STUDY + "verdicts/", api_judging.Verdicts.as_view(), name="api_verdicts"),
    path(STUDY + "verdicts/import/", api_judging.VerdictsImport.as_view(), name="api_verdicts_import"),
    path(JUDGING, api_judging.Judging.as_view(), name="api_judging"),
    path(JUDGING + "<str:address>/", api_judging.ToJudgeList.as_view(), name="api_to_judge"),
    path(JUDGING + "<str:address>/<uuid:response_id>/", api_judging.OneToJudge.as_view(), name="api_one_to_judge"),
    re_path(
        r"^studies/(?P<slug>[-\w]+)/runs/(?P<run_id>[0-9a-f-]{36})/(?P<act>pause|resume|cancel)/$",
        api.RunAct.as_view(),
        name="api_run_act",
    ),
]
