"""Files that are brought to the study of the scene, by kind."""

from tests.worlds.acts import File, rows
from tests.worlds.scene import Scene


def files_of(scene: Scene) -> dict[str, list[File]]:
    """Files by kind. Those of votes and of criteria try to find out what Ben has voted, by guessing it."""
    sleep, meals = scene.criteria["sleep"], scene.criteria["meals"]
    ben, ana = scene.panel.ben.email, scene.panel.ana.email
    guess = {"criterion_id": sleep.external_id, "reviewer": ben}
    return {
        "conversations": [rows({"id": "six", "messages": [{"role": "user", "content": "I can't eat."}]})],
        "criteria": [
            rows(
                {"conversation_id": "one", "criterion_id": sleep.external_id, "text": "Asks about rest.", "points": 6},
                {"conversation_id": "one", "criterion_id": "new", "text": "Asks about tea.", "points": 3},
            ),
            rows(
                {
                    "conversation_id": "two",
                    "criterion_id": meals.external_id,
                    "text": "Asks about each meal.",
                    "points": 4,
                    "author": ana,
                }
            ),
            rows({"conversation_id": "one", "criterion_id": "b", "text": "Names tea.", "points": 3, "author": ben}),
        ],
        "votes": [
            rows({**guess, "choice": "agree", "points": 2}),
            rows(
                {**guess, "choice": "recuse", "round": 1},
                {**guess, "criterion_id": meals.external_id, "choice": "agree"},
            ),
            rows({**guess, "choice": "object", "category": "unsafe", "reason": "Never this. " * 40}),
        ],
        "members": [rows({"email": "gina@example.org", "roles": "clinician"}, {"email": ben, "roles": "clinician"})],
        "responses": [rows({"conversation_id": "three", "respondent": "model-c", "text": "Tell me more."})],
        "pilot_responses": [rows({"conversation_id": "three", "text": "Tell me of your nights.", "source": "m"})],
        "practice": [
            rows(
                {
                    "messages": [{"role": "user", "content": "I can't eat."}],
                    "criterion": "Asks about food.",
                    "wanted": "true",
                    "answer": "abstain",
                    "feedback": "It says so.",
                }
            )
        ],
        "verdicts": [
            rows(
                {
                    "conversation_id": "three",
                    "respondent": "model-a",
                    "criterion_id": scene.criteria["settled"].external_id,
                    "reviewer": scene.panel.chloe.email,
                    "verdict": "met",
                }
            )
        ],
    }
