"""What people send to the API: everybody who is let in sends each of these."""

from annotation.caring import lock_conversation_for_care
from annotation.drafting import finish_drafting
from annotation.models import ConversationReport
from annotation.setting_up import hashes_of
from annotation.sufficiency import mark_of_wordings
from tests.worlds.acts import Acts, Sent
from tests.worlds.files import files_of
from tests.worlds.scene import CLINICIAN, EXAMPLE, Scene

NOTHING = [Sent()]


def sent_to_api(scene: Scene) -> Acts:
    """What is sent to each address of the API, by its name. An empty body is sent to each besides."""
    return {
        "api_you": [Sent({"name": "Chloe C.", "languages": ["en"]}, method="PUT")],
        "api_stop_mail": NOTHING,
        "api_studies": [Sent({"slug": "another", "name": "Another"})],
        "api_consent": [Sent({"version": 1}, is_refused=True)],
        **_of_a_clinician(scene),
        **_of_an_admin(scene),
        **_of_versions(scene),
        **_of_grading(scene),
    }


def _of_a_clinician(scene: Scene) -> Acts:
    at, criteria, revisions = scene.conversations, scene.criteria, scene.revisions
    in_drafting, talked = {"conversation_id": at["four"].id}, {"conversation_id": at["talked"].id}
    about_talked, about_twice = {"criterion_id": criteria["talked"].id}, {"criterion_id": criteria["twice"].id}
    new = {"text": "Asks about sleep at night.", "points": 6, "rationale": "It matters."}
    sleep = {"criterion": criteria["sleep"].id, "seen": revisions["sleep"]}
    meals = {"criterion": criteria["meals"].id, "seen": revisions["meals"]}
    try_sleep = {"seen": revisions["sleep"], "response": scene.pilot}
    pair = {"kept": criteria["talked"].id, "merged": criteria["alike"].id}
    seen = {"kept_seen": revisions["talked"], "merged_seen": revisions["alike"]}
    accepted = {"objection": scene.standing_objection.id, "against": revisions["talked"]}
    chloe = getattr(scene.panel, CLINICIAN)
    return {
        "api_criteria": [Sent(new, to=in_drafting), Sent(new, is_refused=True)],
        "api_advice": [Sent({"text": "Asks about sleep."}), Sent({"text": "Asks about meals."}, to=talked)],
        "api_merges": [Sent({**pair, **seen}, to=talked)],
        "api_kept_pairs": [Sent({"one": pair["kept"], "other": pair["merged"]}, to=talked)],
        "api_votes": [
            Sent({**sleep, "choice": "agree", "points": 5, "better_wording": "Asks about nights."}),
            Sent({**sleep, "choice": "abstain"}),
            Sent(
                {**meals, "choice": "object", "category": "unsafe", "reason": "No."},
                to={"conversation_id": at["two"].id},
            ),
            Sent(
                {**meals, "seen": revisions["food"], "choice": "recuse"},
                to={"conversation_id": at["two"].id},
                is_refused=True,
            ),
        ],
        "api_pilot_marks": [Sent({**try_sleep, "mark": "met"}, method="PUT")],
        "api_practice_answers": [Sent({"example": scene.example, "choice": "abstain"})],
        "api_practice_skip": NOTHING,
        "api_practice_again": NOTHING,
        "api_own_vote": [Sent(method="DELETE")],
        "api_reviewer_act": [
            Sent(to={**in_drafting, "act": "finish-drafting"}),
            Sent(
                to={**in_drafting, "act": "resume-drafting"},
                first=lambda: finish_drafting(conversation=at["four"], by=chloe),
            ),
            Sent(to={**talked, "act": "end-discussion"}),
            Sent(to={"act": "recuse"}),
        ],
        "api_criterion": [
            Sent({**new, "against": revisions["twice"]}, to=about_twice),
            Sent({**new, "against": revisions["sleep"]}, is_refused=True),
            Sent(to=about_twice, method="DELETE"),
        ],
        "api_sufficiency": [
            Sent(
                {"seen": mark_of_wordings([revisions["settled"]]), "is_sufficient": True},
                to={"conversation_id": at["three"].id},
            ),
            Sent({"seen": mark_of_wordings([]), "is_sufficient": True}, is_refused=True),
        ],
        "api_comments": [Sent({"text": "Which work?"}, to=about_talked), Sent({"text": "Sleep?"}, is_refused=True)],
        "api_vote_requests": [Sent(to={"criterion_id": criteria["settled"].id}), Sent(is_refused=True)],
        "api_accepted_objections": [Sent({**new, **accepted}, to=about_talked)],
        "api_topics": [Sent({"declined": []}, method="PUT")],
        "api_hand_back": [Sent({"conversations": [at["one"].id]})],
        "api_own_time": [Sent({"day": scene.moment.date().isoformat(), "minutes": 90})],
        "api_lock": [Sent({"words": "She names her street."})],
        "api_reports": [Sent({"kind": "other", "words": "Cut off."})],
    }


def _of_an_admin(scene: Scene) -> Acts:
    at, panel = scene.conversations, scene.panel
    seen = hashes_of(panel.study)
    policy = {"against": panel.study.policy.version, "preset": "two-of-three"}
    own = [this.id for this in at.values()]
    acts = ("close-drafting", "reopen-drafting", "open-round", "close-round")
    example = {**EXAMPLE.values(), "criterion": "Asks about rest."}
    return {
        "api_practice_examples": [Sent(example)],
        "api_practice_example": [Sent({**example, "seen": 1}, method="PUT"), Sent(method="DELETE")],
        "api_practice_example_move": [Sent({"to": "earlier"})],
        "api_adjudication": [Sent({"reason": "Enough."}, to={"criterion_id": scene.criteria["talked"].id})],
        "api_lock_decisions": [
            Sent(
                {"decision": "released", "reason": "Invented."},
                first=lambda: lock_conversation_for_care(conversation=at["one"], by=panel.dev),
            )
        ],
        "api_close_report": [Sent({"note": "Looked at."}, to={"report_id": ConversationReport.objects.get().id})],
        "api_members": [Sent({"email": "gina@example.org", "roles": ["clinician"], "invite": True})],
        "api_member": [Sent({"roles": ["clinician", "researcher"]}, method="PATCH"), Sent(method="DELETE")],
        "api_invitations": NOTHING,
        "api_member_facts": [Sent({"conflicts": [], "is_licence_checked": True}, method="PUT")],
        "api_member_pause": [Sent({"until": scene.later.date().isoformat()}, method="PUT")],
        "api_member_invitation": NOTHING,
        "api_settings": [Sent({"seen": seen, "guidelines": "Two claims."}, method="PATCH")],
        "api_policy": [Sent(policy)],
        "api_policy_preview": [Sent(policy), Sent({**policy, "min_reviewed": 2, "min_agree": 2})],
        "api_dates": [
            Sent({"of": of, "until": scene.later.isoformat(), "conversations": None})
            for of in ("drafting", "round", "discussion")
        ],
        "api_assignments": [Sent({"reviewers": 5})],
        "api_assignments_preview": [Sent({"reviewers": 5})],
        "api_assign_one": [
            Sent({"reviewer": panel.eva.email}, to={"conversation_id": at["four"].id}),
            Sent({"reviewer": panel.ben.email}, method="DELETE"),
        ],
        "api_waves": [
            Sent({"sizes": [2]}),
            Sent({"number": None, "conversations": ["fifth"]}, method="PATCH"),
        ],
        "api_wave_opens": NOTHING,
        "api_wave_date": [Sent({"opens_at": scene.later.isoformat()})],
        "api_admin_act": [
            Sent(to={"act": "close-drafting", "conversation_id": at["four"].id}),
            Sent(to={"act": "close-round"}, ends_blindness=True),
        ],
        "api_act_on_many": [
            Sent({"conversations": own, "check": check}, to={"act": act}, ends_blindness=act == "close-round")
            for act in acts
            for check in (True, False)
        ],
    }


def _of_versions(scene: Scene) -> Acts:
    files = files_of(scene)
    left_out = {"leave_out": {str(scene.criteria["later"].id): "Not yet."}}
    return {
        "api_freeze_preview": [Sent(left_out)],
        "api_versions": [Sent({"seen": scene.seen, "acknowledged": scene.acknowledged})],
        "api_version_withdrawal": [Sent({"reason": "A slip."})],
        "api_import": [
            Sent({"file": file, "check": check}, to={"kind": kind}, is_refused=kind == "criteria")
            for kind in ("conversations", "criteria", "votes", "members", "pilot_responses", "practice")
            for file in files[kind]
            for check in ("true", "false")
        ],
    }


def _of_grading(scene: Scene) -> Acts:
    files = files_of(scene)
    grader = {"name": "second", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    verdict = {"response": scene.response, "criterion": scene.frozen_criterion, "verdict": "met"}
    return {
        "api_responses_import": [Sent({"file": files["responses"][0], "check": check}) for check in ("true", "false")],
        "api_verdicts_import": [Sent({"file": files["verdicts"][0], "check": check}) for check in ("true", "false")],
        "api_graders": [Sent(grader)],
        "api_runs": [Sent({"version": "1", "grader": "judge"})],
        "api_open_grades": NOTHING,
        "api_run_act": [Sent(to={"act": act}) for act in ("pause", "cancel")],
        "api_verdicts": [Sent(verdict)],
    }
