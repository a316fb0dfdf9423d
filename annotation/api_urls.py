"""Addresses of the annotation API, below /api/v1/."""

from django.urls import path

from annotation import api

CONVERSATION = "studies/<slug:slug>/conversations/<uuid:conversation_id>/"
CRITERION = "studies/<slug:slug>/criteria/<uuid:criterion_id>/"

urlpatterns = [
    path("studies/", api.Studies.as_view(), name="api_studies"),
    path("studies/<slug:slug>/", api.OneStudy.as_view(), name="api_study"),
    path("studies/<slug:slug>/assignments/", api.Assignments.as_view(), name="api_assignments"),
    path("studies/<slug:slug>/conversations/", api.Conversations.as_view(), name="api_conversations"),
    path(CONVERSATION, api.OneConversation.as_view(), name="api_conversation"),
    path(CONVERSATION + "criteria/", api.Criteria.as_view(), name="api_criteria"),
    path(CONVERSATION + "votes/", api.Votes.as_view(), name="api_votes"),
    path(CRITERION, api.OneCriterion.as_view(), name="api_criterion"),
    path(CRITERION + "comments/", api.Comments.as_view(), name="api_comments"),
    path(CRITERION + "vote-requests/", api.VoteRequests.as_view(), name="api_vote_requests"),
    path(CRITERION + "vote/", api.OwnVote.as_view(), name="api_own_vote"),
    path(CONVERSATION + "reviewer-acts/<slug:act>/", api.ReviewerAct.as_view(), name="api_reviewer_act"),
    path(CONVERSATION + "admin-acts/<slug:act>/", api.AdminAct.as_view(), name="api_admin_act"),
]
