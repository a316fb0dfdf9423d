"""Addresses of the clinician's pages and of the entrance; the admin's pages stand in their own list."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.views import (
    caring,
    data,
    desk,
    discussion,
    drafting,
    mail,
    making,
    studies,
    sufficiency,
    time,
    trying,
    voting,
    you,
)

STUDY = "studies/<slug:slug>/"
CONVERSATION = STUDY + "conversations/<uuid:conversation_id>/"
CRITERION = STUDY + "criteria/<uuid:criterion_id>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", studies.my_studies, name="my_studies"),
    path("you/", you.you, name="you"),
    path("mail/stop/<str:token>/", mail.stop, name="stop_mail"),
    path("new-study/", making.new_study, name="new_study"),
    path("new-study/<slug:step>/", making.new_study, name="new_study_step"),
    path("demo/", studies.demo_sign_in, name="demo_sign_in"),
    path(STUDY, studies.show_study, name="study"),
    path(STUDY + "consent/", studies.consent, name="study_consent"),
    path(STUDY + "guidelines/", studies.guidelines, name="study_guidelines"),
    path(STUDY + "topics/", caring.topics, name="study_topics"),
    path(STUDY + "topics/hand-back/", caring.hand_back, name="hand_back"),
    path(STUDY + "time/", time.declare, name="study_time"),
    path(STUDY + "pause/", studies.pause, name="study_pause"),
    path(STUDY + "continue/", studies.go_on, name="study_continue"),
    path(STUDY + "conversations/", studies.list_conversations, name="study_conversations"),
    path(STUDY + "data/", data.show_data, name="study_data"),
    path(STUDY + "data/<slug:kind>/<slug:format>/", data.download, name="study_data_file"),
    path(CONVERSATION, desk.show_desk, name="desk"),
    path(CONVERSATION + "rounds/", desk.show_rounds, name="rounds"),
    path(CONVERSATION + "recuse/", desk.recuse, name="recuse"),
    path(CONVERSATION + "real-person/", caring.lock, name="lock_conversation"),
    path(CONVERSATION + "broken/", caring.report, name="report_conversation"),
    path(CONVERSATION + "unsent/", desk.keep, name="keep_unsent"),
    path(CONVERSATION + "drafts/", drafting.draft, name="draft"),
    path(CONVERSATION + "advice/", drafting.advice, name="advice"),
    path(CONVERSATION + "merges/", discussion.merge, name="merge"),
    path(CONVERSATION + "kept-pairs/", discussion.keep_both_of_a_pair, name="keep_both"),
    path(CONVERSATION + "finished/", drafting.finish, name="finish_drafting"),
    path(CONVERSATION + "drafting-again/", drafting.resume, name="resume_drafting"),
    path(CONVERSATION + "nothing-to-add/", discussion.end, name="end_discussion"),
    path(CONVERSATION + "enough/", sufficiency.answer, name="answer_sufficiency"),
    path(CRITERION, discussion.show_history, name="criterion_history"),
    path(CRITERION + "revise/", drafting.revise, name="revise"),
    path(CRITERION + "withdraw/", drafting.withdraw, name="withdraw"),
    path(CRITERION + "objections/<uuid:vote_id>/accept/", drafting.accept, name="accept_objection"),
    path(CRITERION + "vote/", voting.vote, name="vote"),
    path(CRITERION + "take-back/", voting.take_back, name="take_back"),
    path(CRITERION + "try/", trying.try_criterion, name="try_criterion"),
    path(CRITERION + "comments/", discussion.comment, name="comment"),
    path(CRITERION + "another-vote/", discussion.ask_for_vote, name="ask_for_vote"),
    path("", include("annotation.admin_urls")),
]
