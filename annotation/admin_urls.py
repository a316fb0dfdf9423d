"""Addresses of the admin's pages of a study: progress, dates, members, assignment, settings, policy."""

from django.urls import URLPattern, path

from annotation.views import (
    adjudicating,
    assignment,
    caring,
    dates,
    members,
    policies,
    practice,
    progress,
    settings,
    time,
    waves,
)

ADMIN = "studies/<slug:slug>/admin/"
EXAMPLE = ADMIN + "practice/<uuid:example_id>/"
CONVERSATION = ADMIN + "conversations/<uuid:conversation_id>/"

urlpatterns: list[URLPattern] = [
    path(ADMIN, progress.show_progress, name="study_progress"),
    path(ADMIN + "counts/", progress.show_counts, name="study_counts"),
    path(ADMIN + "acts/<slug:act>/", progress.act_on_conversations, name="admin_act"),
    path(ADMIN + "assign/", assignment.assign, name="study_assign"),
    path(ADMIN + "waves/", waves.waves, name="study_waves"),
    path(ADMIN + "waves/by-hand/", waves.by_hand, name="waves_by_hand"),
    path(ADMIN + "waves/<int:number>/open/", waves.open_one, name="wave_opens"),
    path(ADMIN + "waves/<int:number>/date/", waves.date_one, name="wave_date"),
    path(ADMIN + "members/", members.list_members, name="study_members"),
    path(ADMIN + "members/<uuid:membership_id>/", members.edit_member, name="member"),
    path(ADMIN + "members/invitations/", members.invite_all, name="study_invitations"),
    path(ADMIN + "members/<uuid:membership_id>/facts/", members.describe, name="member_facts"),
    path(ADMIN + "members/<uuid:membership_id>/pause/", members.pause, name="member_pause"),
    path(ADMIN + "members/<uuid:membership_id>/invitation/", members.invite, name="member_invitation"),
    path(ADMIN + "members/<uuid:membership_id>/leave/", members.let_leave, name="member_leaves"),
    path(ADMIN + "time/", time.show_sheet, name="study_time_sheet"),
    path(ADMIN + "time/xlsx/", time.download_sheet, name="study_time_sheet_xlsx"),
    path(ADMIN + "dates/", dates.edit_dates, name="study_dates"),
    path(ADMIN + "settings/", settings.edit_settings, name="study_settings"),
    path(ADMIN + "practice/", practice.list_examples, name="practice_examples"),
    path(ADMIN + "practice/new/", practice.new_example, name="practice_example_new"),
    path(EXAMPLE, practice.edit_example, name="practice_example"),
    path(EXAMPLE + "move/", practice.move, name="practice_example_move"),
    path(EXAMPLE + "remove/", practice.remove, name="practice_example_remove"),
    path(ADMIN + "policy/", policies.show_policy, name="study_policy"),
    path(ADMIN + "policy/change/", policies.edit_policy, name="study_policy_change"),
    path(
        ADMIN + "criteria/<uuid:criterion_id>/adjudicate/",
        adjudicating.adjudicate_criterion,
        name="adjudicate_criterion",
    ),
    path(CONVERSATION + "lock/", caring.decide, name="decide_lock"),
    path(ADMIN + "reports/<uuid:report_id>/", caring.close, name="close_report"),
    path(CONVERSATION, assignment.show_conversation, name="admin_conversation"),
    path(CONVERSATION + "reviewers/", assignment.assign_one, name="assign_one"),
    path(CONVERSATION + "reviewers/<uuid:reviewer_id>/unassign/", assignment.unassign_one, name="unassign_one"),
]
