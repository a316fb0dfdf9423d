"""Addresses of the grading pages."""

from django.urls import path, re_path

from grading.views import graders, judging, reports, responses, runs, unscored, votes

STUDY = "studies/<slug:slug>/"
RUN = STUDY + "runs/<uuid:run_id>/"

urlpatterns = [
    path(STUDY + "responses/", responses.responses, name="study_responses"),
    path(STUDY + "responses/take-in/<slug:kind>/", responses.take_in, name="take_in"),
    path(STUDY + "responses/take-in/<slug:kind>/example/", responses.show_example, name="take_in_example"),
    path(STUDY + "graders/", graders.graders, name="study_graders"),
    path(STUDY + "graders/register/", graders.register, name="register_grader"),
    path(STUDY + "graders/<uuid:grader_id>/try/", graders.try_it, name="try_grader"),
    path(STUDY + "runs/", runs.runs, name="study_runs"),
    path(STUDY + "runs/start/", runs.start, name="start_run"),
    path(RUN, runs.run, name="run"),
    path(RUN + "open/", reports.open_them, name="open_grades"),
    path(RUN + "scores/", reports.scores, name="run_scores"),
    path(RUN + "agreement/", reports.agreement, name="run_agreement"),
    path(RUN + "agreement.svg", reports.chart, name="agreement_chart"),
    path(RUN + "criteria/", reports.criteria, name="run_criteria"),
    path(RUN + "pairs/", reports.pairs, name="run_pairs"),
    path(RUN + "unscored/", unscored.unscored, name="run_unscored"),
    re_path(
        r"^studies/(?P<slug>[-\w]+)/runs/(?P<run_id>[0-9a-f-]{36})/(?P<act>pause|resume|cancel)/$",
        runs.act,
        name="run_act",
    ),
    path(STUDY + "votes-agreement/", votes.agreement, name="vote_agreement"),
    path(STUDY + "votes-agreement/mine/", votes.own, name="own_votes"),
    path(STUDY + "waiting-to-judge/", judging.waiting, name="waiting_to_judge"),
    path(STUDY + "judging/", judging.judging, name="study_judging"),
    path(STUDY + "judging/<str:version>/", judging.go_on, name="go_on_judging"),
    path(STUDY + "judging/<str:version>/<uuid:response_id>/", judging.judge, name="judge"),
    path(STUDY + "judging/<str:version>/<uuid:response_id>/undo/", judging.take_back, name="take_back_verdict"),
]
