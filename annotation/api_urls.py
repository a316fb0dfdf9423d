"""Addresses of the annotation API, below /api/v1/."""

from django.urls import URLPattern, path

from annotation import (
    api,
    api_admin,
    api_care,
    api_criteria,
    api_data,
    api_likeness,
    api_making,
    api_settings,
    api_votes,
    api_waves,
    api_you,
)

STUDY = "studies/<slug:slug>/"
CONVERSATION = STUDY + "conversations/<uuid:conversation_id>/"
CRITERION = STUDY + "criteria/<uuid:criterion_id>/"
PROGRESS = STUDY + "progress/"

urlpatterns: list[URLPattern] = [
    path("you/", api_you.You.as_view(), name="api_you"),
    path("studies/", api_making.StudiesAndNew.as_view(), name="api_studies"),
    path(STUDY, api.OneStudy.as_view(), name="api_study"),
    path(STUDY + "consent/", api.Consent.as_view(), name="api_consent"),
    path(STUDY + "guidelines/", api.Guidelines.as_view(), name="api_guidelines"),
    path(STUDY + "own/", api.OwnPart.as_view(), name="api_own_part"),
    path(STUDY + "own/conversations/", api.OwnConversations.as_view(), name="api_own_conversations"),
    path(STUDY + "conversations/", api.Conversations.as_view(), name="api_conversations"),
    path(CONVERSATION, api.OneConversation.as_view(), name="api_conversation"),
    path(CONVERSATION + "criteria/", api_criteria.Criteria.as_view(), name="api_criteria"),
    path(CONVERSATION + "advice/", api_likeness.Advice.as_view(), name="api_advice"),
    path(CONVERSATION + "likenesses/", api_likeness.Likenesses.as_view(), name="api_likenesses"),
    path(CONVERSATION + "merges/", api_likeness.Merges.as_view(), name="api_merges"),
    path(CONVERSATION + "kept-pairs/", api_likeness.KeptPairs.as_view(), name="api_kept_pairs"),
    path(CONVERSATION + "rounds/", api_votes.Rounds.as_view(), name="api_rounds"),
    path(CONVERSATION + "desk/", api_votes.OneDesk.as_view(), name="api_desk"),
    path(CONVERSATION + "votes/", api_votes.Votes.as_view(), name="api_votes"),
    path(CONVERSATION + "reviewer-acts/<slug:act>/", api_votes.ReviewerAct.as_view(), name="api_reviewer_act"),
    path(CRITERION, api_criteria.OneCriterion.as_view(), name="api_criterion"),
    path(CRITERION + "comments/", api_criteria.Comments.as_view(), name="api_comments"),
    path(CRITERION + "vote-requests/", api_criteria.VoteRequests.as_view(), name="api_vote_requests"),
    path(CRITERION + "vote/", api_votes.OwnVote.as_view(), name="api_own_vote"),
    path(
        CRITERION + "accepted-objections/",
        api_criteria.AcceptedObjections.as_view(),
        name="api_accepted_objections",
    ),
    path(CRITERION + "adjudication/", api_criteria.Adjudication.as_view(), name="api_adjudication"),
    path(STUDY + "data/<slug:kind>/<slug:file_format>/", api_data.DataFile.as_view(), name="api_data_file"),
    path(STUDY + "topics/", api_care.Topics.as_view(), name="api_topics"),
    path(STUDY + "topics/hand-back/", api_care.HandBack.as_view(), name="api_hand_back"),
    path(STUDY + "care/", api_care.Care.as_view(), name="api_care"),
    path(STUDY + "reports/<uuid:report_id>/closing/", api_care.Closing.as_view(), name="api_close_report"),
    path(CONVERSATION + "lock/", api_care.Lock.as_view(), name="api_lock"),
    path(CONVERSATION + "lock/decisions/", api_care.Decisions.as_view(), name="api_lock_decisions"),
    path(CONVERSATION + "reports/", api_care.Reports.as_view(), name="api_reports"),
    path(STUDY + "members/", api_admin.Members.as_view(), name="api_members"),
    path(STUDY + "members/<uuid:membership_id>/", api_admin.OneMember.as_view(), name="api_member"),
    path(STUDY + "settings/", api_settings.Settings.as_view(), name="api_settings"),
    path(STUDY + "policy/", api_settings.OnePolicy.as_view(), name="api_policy"),
    path(STUDY + "policy/preview/", api_settings.PolicyPreview.as_view(), name="api_policy_preview"),
    path(STUDY + "dates/", api_settings.Dates.as_view(), name="api_dates"),
    path(PROGRESS, api_admin.StudyProgress.as_view(), name="api_progress"),
    path(PROGRESS + "conversations/", api_admin.ProgressByConversation.as_view(), name="api_progress_conversations"),
    path(
        PROGRESS + "conversations/<uuid:conversation_id>/",
        api_admin.ProgressOfOne.as_view(),
        name="api_progress_conversation",
    ),
    path(STUDY + "assignments/", api_admin.Assignments.as_view(), name="api_assignments"),
    path(STUDY + "assignments/preview/", api_admin.AssignmentsPreview.as_view(), name="api_assignments_preview"),
    path(STUDY + "assignments/reach/", api_admin.Reach.as_view(), name="api_reach"),
    path(STUDY + "waves/", api_waves.Waves.as_view(), name="api_waves"),
    path(STUDY + "waves/<int:number>/open/", api_waves.OpenedWave.as_view(), name="api_wave_opens"),
    path(STUDY + "waves/<int:number>/date/", api_waves.WaveDate.as_view(), name="api_wave_date"),
    path(CONVERSATION + "assignments/", api_admin.AssignOne.as_view(), name="api_assign_one"),
    path(CONVERSATION + "admin-acts/<slug:act>/", api_admin.AdminAct.as_view(), name="api_admin_act"),
    path(STUDY + "admin-acts/<slug:act>/", api_admin.AdminActOnMany.as_view(), name="api_act_on_many"),
]
