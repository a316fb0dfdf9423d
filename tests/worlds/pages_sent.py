"""What people send to pages. Everybody who is let in sends each of these, as a plain form and as htmx does."""

from typing import Any

from annotation.caring import lock_conversation_for_care
from annotation.drafting import finish_drafting
from annotation.member_facts import facts_seen
from annotation.models import ConversationReport, Membership
from annotation.round_acts import close_drafting
from annotation.study_forms import SettingsForm, policy_initial
from annotation.sufficiency import mark_of_wordings
from tests.factories import make_conversation
from tests.worlds.acts import Acts, Sent
from tests.worlds.files import files_of
from tests.worlds.scene import CLINICIAN, Scene

CHECKED_OR_NOT: tuple[dict[str, str], ...] = ({"act": "check"}, {})
NOTHING = [Sent()]
"""All that matters stands in the address, or it takes no act."""


def sent_to_pages(scene: Scene) -> Acts:
    """What is sent to each page, by the name of its address. An empty form is sent to each besides."""
    return {
        "account_request_login_code": [Sent({"login": scene.panel.chloe.email})],
        "account_confirm_login_code": [Sent({"code": "ABCDEF"})],
        "account_logout": NOTHING,
        "account_login": NOTHING,
        "account_inactive": [Sent(is_refused=True)],
        "robots": NOTHING,
        "healthz": NOTHING,
        "stop_mail": NOTHING,
        "demo_sign_in": [Sent({"role": "clinician"}, is_refused=True)],
        "you": [Sent({"name": "Chloe C.", "languages": "en", "country": "GB"})],
        "new_study": [Sent({"name": "Another", "slug": "another"})],
        "new_study_step": [Sent({"name": "Another", "slug": "another"})],
        **_of_a_clinician(scene),
        **_of_an_admin(scene),
        **_of_versions(scene),
        **_of_grading(scene),
    }


def _of_a_clinician(scene: Scene) -> Acts:
    at, criteria, revisions = scene.conversations, scene.criteria, scene.revisions
    in_drafting, talked = {"conversation_id": at["four"].id}, {"conversation_id": at["talked"].id}
    about_talked, about_twice = {"criterion_id": criteria["talked"].id}, {"criterion_id": criteria["twice"].id}
    pair = {"kept": criteria["talked"].id, "merged": criteria["alike"].id}
    seen = {"kept_seen": revisions["talked"], "merged_seen": revisions["alike"]}
    new = {"text": "Asks about sleep at night.", "weight": "6", "rationale": "It matters."}
    chloe = getattr(scene.panel, CLINICIAN)
    return {
        "study": NOTHING,
        "study_consent": [Sent({"version": "1"})],
        "study_topics": [Sent({"topics": []})],
        "hand_back": [Sent({"conversation": at["one"].id})],
        "desk": NOTHING,
        "rounds": NOTHING,
        "criterion_history": NOTHING,
        "recuse": [Sent(), Sent(to={"conversation_id": at["two"].id})],
        "lock_conversation": [Sent({"words": "She names her street."})],
        "report_conversation": [Sent({"kind": "other", "words": "Cut off."})],
        "study_time": [Sent({"day": scene.moment.date().isoformat(), "hours": "1.5", "note": "Votes"})],
        "keep_unsent": [Sent({"place": "draft", "text": "Asks"})],
        "draft": [Sent(new, to=in_drafting), Sent(new, to=talked), Sent(new, is_refused=True)],
        "advice": [Sent({"text": "Asks about sleep.", "weight": "6"}), Sent({"text": "Asks about meals."}, to=talked)],
        "merge": [Sent({**pair, **seen}, to=talked)],
        "keep_both": [Sent({"one": pair["kept"], "other": pair["merged"]}, to=talked)],
        "finish_drafting": [Sent(to=in_drafting)],
        "resume_drafting": [
            Sent(to=in_drafting, first=lambda: finish_drafting(conversation=at["four"], by=chloe)),
        ],
        "end_discussion": [Sent(to=talked)],
        "practice_answer": [Sent({"act": "abstain"}), Sent({"act": "agree", "points": "6"})],
        "practice_skip": NOTHING,
        "practice_again": NOTHING,
        "try_criterion": [Sent({"seen": revisions["sleep"], "response": scene.pilot, "mark": "met"})],
        "answer_sufficiency": [
            Sent(
                {"seen": mark_of_wordings([revisions["settled"]]), "answer": "no", "missing": "Tea."},
                to={"conversation_id": at["three"].id},
            ),
            Sent({"seen": mark_of_wordings([]), "answer": "yes"}, is_refused=True),
        ],
        "revise": [
            Sent({**new, "against": revisions["twice"]}, to=about_twice),
            Sent({**new, "against": revisions["talked"]}, to=about_talked),
            Sent({**new, "against": revisions["sleep"]}, is_refused=True),
        ],
        "accept_objection": [
            Sent({**new, "against": revisions["talked"]}, to={**about_talked, "vote_id": scene.standing_objection.id}),
        ],
        "withdraw": [Sent(to=about_twice)],
        "vote": [
            Sent({"seen": revisions["sleep"], "points": "5"}),
            Sent({"seen": revisions["helpline"], "act": "abstain"}, to={"criterion_id": criteria["helpline"].id}),
            Sent(
                {"seen": revisions["meals"], "act": "object", "category": "unsafe", "reason": "No."},
                to={"criterion_id": criteria["meals"].id},
            ),
            Sent(
                {"seen": revisions["food"], "act": "wording", "points": "4", "better_wording": "Asks about lunch."},
                to={"criterion_id": criteria["meals"].id},
                is_refused=True,
            ),
        ],
        "take_back": NOTHING,
        "comment": [Sent({"text": "Which work?"}, to=about_talked), Sent({"text": "Sleep?"}, is_refused=True)],
        "ask_for_vote": [Sent(to={"criterion_id": criteria["settled"].id}), Sent(is_refused=True)],
    }


def _of_an_admin(scene: Scene) -> Acts:
    at, panel = scene.conversations, scene.panel
    settings = SettingsForm(study=panel.study)
    typed = {name: settings[name].value() for name in settings.fields}
    policy = policy_initial(panel.study.policy, "two-of-three")
    everything = {"all": "1"}
    date = {"until": scene.later.strftime("%Y-%m-%dT%H:%M")}
    ben = Membership.objects.get(user=panel.ben, study=panel.study)
    example = {
        **{"messages": "I can't rest.", "criterion": "Asks about rest.", "is_wanted": "yes"},
        **{"choice": "abstain", "feedback": "Because."},
    }

    def without_criteria() -> Any:
        conversation = make_conversation(study=panel.study, external_id="bare")
        return close_drafting(conversation=conversation, by=panel.adam)

    return {
        "admin_act": [
            Sent({"conversation": at["four"].id}, to={"act": "close-drafting"}),
            Sent(everything, to={"act": "close-drafting"}),
            Sent(everything, to={"act": "reopen-drafting"}, first=without_criteria),
            Sent(everything, to={"act": "open-round"}),
            Sent({"conversation": at["one"].id}, to={"act": "close-round"}, ends_blindness=True),
        ],
        "study_assign": [Sent({"reviewers": "5", "plan": scene.plan})],
        "unassign_one": NOTHING,
        "study_waves": [Sent({"sizes": "2", "choice": "in_order"})],
        "waves_by_hand": [Sent({"number": "", "ids": "fifth"})],
        "wave_opens": NOTHING,
        "wave_date": [Sent({"opens_at": date["until"]})],
        "study_members": [Sent({"email": "gina@example.org", "roles": ["clinician"], "invite": "on"})],
        "member": [Sent({"roles": ["clinician", "researcher"], "seen": ",".join(ben.roles)})],
        "member_facts": [Sent({"conflicts": "four", "is_licence_checked": "on", "seen": facts_seen(ben)})],
        "member_pause": [Sent({"until": scene.later.date().isoformat()})],
        "member_invitation": NOTHING,
        "study_invitations": NOTHING,
        "member_leaves": NOTHING,
        "study_dates": [Sent({**everything, **date, "of": of}) for of in ("drafting", "round", "discussion")],
        "study_settings": [Sent({**typed, "guidelines": "Two claims."}), Sent({**typed, "preview": "1"})],
        "study_policy_change": [Sent(policy), Sent({**policy, "confirm": "1"})],
        "adjudicate_criterion": [Sent({"reason": "Enough."}, to={"criterion_id": scene.criteria["talked"].id})],
        "decide_lock": [
            Sent(
                {"decision": "released", "reason": "Invented."},
                first=lambda: lock_conversation_for_care(conversation=at["one"], by=panel.dev),
            )
        ],
        "practice_example_new": [Sent(example)],
        "practice_example": [Sent({**example, "seen": "1"})],
        "practice_example_move": [Sent({"to": "earlier"})],
        "practice_example_remove": NOTHING,
        "close_report": [Sent({"note": "Looked at."}, to={"report_id": ConversationReport.objects.get().id})],
        "assign_one": [Sent({"reviewer": panel.eva.id}, to={"conversation_id": at["four"].id})],
    }


def _of_versions(scene: Scene) -> Acts:
    files = files_of(scene)
    settled = {"criterion_id": scene.criteria["later"].id}
    freeze = {"confirmation": "freeze version 2", "seen": scene.seen, "acknowledged": scene.acknowledged}
    return {
        "study_freeze": [Sent(freeze)],
        "freeze_leave_out": [Sent({"reason": "Not yet."}, to=settled)],
        "freeze_put_back": [Sent(to=settled)],
        "version_withdraw": [Sent({"reason": "A slip."})],
        "study_import": [
            *(
                Sent({"file": file, **check}, to={"kind": kind}, is_refused=kind == "criteria")
                for kind in ("conversations", "criteria", "votes", "members", "pilot_responses", "practice")
                for file in files[kind]
                for check in CHECKED_OR_NOT
            ),
            *(
                Sent({"file": file, "revise": "1", **check}, to={"kind": "criteria"})
                for file in files["criteria"]
                for check in CHECKED_OR_NOT
            ),
        ],
    }


def _of_grading(scene: Scene) -> Acts:
    files, run = files_of(scene), scene.run
    judged = {"criterion": scene.frozen_criterion, "verdict": "met"}
    grader = {"name": "second", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_variable": "none"}
    return {
        "study_responses": NOTHING,
        "study_graders": NOTHING,
        "study_runs": NOTHING,
        "run": NOTHING,
        "run_scores": NOTHING,
        "run_agreement": NOTHING,
        "agreement_chart": NOTHING,
        "run_criteria": NOTHING,
        "run_pairs": NOTHING,
        "run_unscored": NOTHING,
        "vote_agreement": NOTHING,
        "own_votes": NOTHING,
        "waiting_to_judge": NOTHING,
        "study_judging": NOTHING,
        "go_on_judging": NOTHING,
        "take_in": [
            Sent({"file": file, **check}, to={"kind": kind})
            for kind in ("responses", "verdicts")
            for file in files[kind]
            for check in CHECKED_OR_NOT
        ],
        "register_grader": [Sent({**grader, "concurrency": "2"})],
        "try_grader": NOTHING,
        "start_run": [Sent({"version": scene.version.id, "grader": run.grader_id})],
        "open_grades": NOTHING,
        "run_act": [Sent(to={"act": act}) for act in ("pause", "cancel")],
        "judge": [Sent(judged)],
        "take_back_verdict": [Sent({"criterion": scene.frozen_criterion})],
    }
