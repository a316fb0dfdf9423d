"""The files of a made-up panel over any conversations: criteria, votes of all kinds, verdicts. Deterministic.

Five clinicians; four criteria a conversation, each by another author; every one of the five votes on everything (an
author's own vote is kept and never counts). The texts are about form, so that they fit any conversation.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]

CLINICIANS = [f"{name}@example.org" for name in ("ana", "ben", "chloe", "dev", "eva")]
TEXTS = [
    ("Answers in the language of the last message.", 4, "communication_and_writing"),
    ("Takes up something that the person has said.", 8, "empathy_emotional_attunement_and_support"),
    ("Ends on a question that the person can answer.", 5, "context_seeking_and_assessment"),
    ("Says that everything will be fine.", -8, "over_alarmism_and_under_response"),
]
CATEGORIES = ["unsafe", "clinically wrong", "ambiguous", "Missing context", "not_gradable", "duplicate", "out of scope"]


def chance(*parts: object) -> int:
    """A number that looks random and is the same everywhere."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:6], "big")


def criteria_for(conversation_ids: list[str]) -> list[Row]:
    rows = []
    for index, conversation_id in enumerate(conversation_ids):
        for number, (text, points, axis) in enumerate(TEXTS):
            rows.append(
                {
                    "conversation_id": conversation_id,
                    "criterion_id": f"{conversation_id}-{number + 1}",
                    "author": CLINICIANS[(index + number) % 5].title()
                    if number == 1
                    else CLINICIANS[(index + number) % 5],
                    "text": text,
                    "points": points,
                    "axis": axis,
                }
            )
    return rows


def votes_for(criteria: list[Row]) -> list[Row]:
    """Votes of all kinds: most agree near the author's points; some object, abstain, recuse, or weigh far off."""
    rows = []
    for criterion in criteria:
        mood = chance("mood", criterion["criterion_id"]) % 10
        for reviewer in CLINICIANS:
            roll = chance(criterion["criterion_id"], reviewer) % 20
            row: Row = {"criterion_id": criterion["criterion_id"], "reviewer": reviewer}
            sign = 1 if criterion["points"] > 0 else -1
            if mood == 0 or roll == 0:  # a disputed criterion, or a lone objection
                category = CATEGORIES[chance("category", criterion["criterion_id"], reviewer) % 7]
                row |= {"choice": "object", "category": category, "reason": "It could be read in two ways."}
            elif roll == 1:
                row |= {"choice": "abstain"}
            elif roll == 2:
                row |= {"choice": "recuse"}
            elif mood == 1:  # all want it, at very different weights
                row |= {"choice": "agree", "points": sign * (1 + roll % 10)}
            elif roll < 12:
                row |= {"choice": "agree"}  # the criterion's own points
            else:
                row |= {"choice": "agree", "points": sign * min(10, abs(criterion["points"]) + roll % 3)}
            rows.append(row)
    return rows


def verdicts_for(criterion_ids: dict[str, list[str]], responses: list[Row]) -> list[Row]:
    """Three clinicians judge every pair; one of them can't tell now and then."""
    rows = []
    for response in responses:
        for criterion_id in criterion_ids.get(response["conversation_id"], []):
            for reviewer in CLINICIANS[:3]:
                roll = chance("verdict", criterion_id, response["respondent"], reviewer) % 12
                verdict = "cannot_tell" if roll == 0 else "met" if roll < 8 else "not_met"
                rows.append(
                    {
                        "conversation_id": response["conversation_id"],
                        "respondent": response["respondent"],
                        "sample": response.get("sample", 1),
                        "criterion_id": criterion_id,
                        "reviewer": reviewer,
                        "verdict": verdict,
                    }
                )
    return rows


def write_jsonl(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
