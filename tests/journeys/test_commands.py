"""The whole path by commands on real conversations: import, a panel's criteria and votes, freeze, export, grade,
verdicts, scores, agreement. Every figure is computed a second time from the files alone (recompute.py)."""

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grading.models import Grade
from rubrics.models import FrozenCriterion
from tests.grading.endpoint import Endpoint
from tests.journeys import recompute
from tests.journeys.commands import done, run
from tests.journeys.panel_files import (
    CLINICIANS,
    criteria_for,
    read_jsonl,
    verdicts_for,
    votes_for,
    write_jsonl,
)
from tests.journeys.workers import a_worker

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "vera_mh"
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
FOLDERS = [
    pytest.param(DEMO, id="demo"),
    pytest.param(
        REAL, id="vera_mh", marks=pytest.mark.skipif(not REAL.is_dir(), reason="the real conversations aren't there")
    ),
]


def judged(criterion_text: str, response_text: str) -> str | None:
    """The stand-in endpoint's rule: met, not met, or can't assess; known to both sides, and only through the text."""
    roll = sum(criterion_text.encode()) + len(response_text)
    return None if roll % 11 == 0 else "met" if roll % 3 else "not_met"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_whole_path_by_commands(folder: Path, tmp_path: Path, database_url: str) -> None:
    conversations = read_jsonl(folder / "conversations.jsonl")
    responses = read_jsonl(folder / "responses.jsonl")
    ids = [row["id"] for row in conversations]
    criteria = criteria_for(ids)
    votes = votes_for(criteria)

    done("create_study", "journey", "--name", "A journey")
    for email in CLINICIANS:
        done("add_member", "journey", email.upper(), "--role", "clinician")
    done("add_member", "journey", "adam@example.org", "--role", "admin", "--name", "Adam")
    done("add_member", "journey", "rita@example.org", "--role", "researcher")

    # conversations: checked, taken in, the same again
    file = folder / "conversations.jsonl"
    assert done("import_conversations", "journey", file, "--check")["created"] == len(ids)
    assert done("status", "journey")["conversations"]["drafting"] == 0
    assert done("import_conversations", "journey", file)["created"] == len(ids)
    again = done("import_conversations", "journey", file)
    assert (again["created"], again["unchanged"], again["errors"]) == (0, len(ids), [])
    assert done("assign", "journey") == {"assigned": 5 * len(ids), "out_of_reach": 0}

    # a panel's criteria: drafting closes, round 1 opens
    criteria_file = write_jsonl(tmp_path / "criteria.jsonl", criteria)
    assert done("import_criteria", "journey", criteria_file)["created"] == len(criteria)
    assert done("status", "journey")["conversations"] == {"drafting": 0, "voting": len(ids), "revealed": 0}
    assert done("import_criteria", "journey", criteria_file)["unchanged"] == len(criteria)

    # votes of all kinds; everybody voted, so every round is revealed
    votes_file = write_jsonl(tmp_path / "votes.jsonl", votes)
    assert done("import_votes", "journey", votes_file)["created"] == len(votes)
    assert done("import_votes", "journey", votes_file)["unchanged"] == len(votes)
    states = done("status", "journey")
    assert states["conversations"]["revealed"] == len(ids)

    # which criteria the rule takes, computed a second time
    expected = _expected(criteria, votes)
    counted = states["criteria"]
    assert counted["in_consensus"] == sum(points is not None for points in expected.values())

    frozen = done("freeze", "journey", "--note", "The journey's first", "--by", "ADAM@example.org")
    going_in = _scorable(criteria, expected)
    assert (frozen["version"], frozen["criteria"]) == (1, len(going_in))
    assert {row["criterion_id"] for row in frozen["left_out"]} == {row["criterion_id"] for row in criteria} - set(
        going_in
    )
    refused = run("freeze", "journey")
    assert refused.code == 1
    assert "version 1" in refused.data["error"]
    assert dict(FrozenCriterion.objects.values_list("external_id", "points")) == going_in

    _check_exports(tmp_path, frozen, going_in)

    # responses, grading through a protocol-speaking endpoint, with a worker of its own process
    assert done("import_responses", "journey", folder / "responses.jsonl")["created"] == len(responses)
    failing = {"length", "content_filter", "error"}
    usable = [row for row in responses if row["text"].strip() and row.get("finish_reason") not in failing]
    texts = {row["criterion_id"]: row["text"] for row in criteria}
    with Endpoint(rule=judged, criteria=set(texts.values()), responses=[row["text"] for row in usable]) as endpoint:
        done("register_grader", "journey", "stand-in", "--base-url", endpoint.url, "--model", "stand-in-1")
        with a_worker(database_url):
            status = done("grade", "journey", "--version", 1, "--grader", "stand-in", "--wait")
    pairs = _pairs(usable, going_in, texts)
    verdicts = Counter(pair["verdict"] or "unscored" for pair in pairs)
    assert status["state"] == "completed"
    assert status["pairs"] == len(pairs)
    assert [status[name] for name in ("met", "not_met", "unscored")] == [
        verdicts[name] for name in ("met", "not_met", "unscored")
    ]
    assert status["attempts"] == len(pairs) == endpoint.calls
    assert Grade.objects.count() == len(pairs)
    assert done("run_status", status["run"])["state"] == "completed"

    # scores and agreement, beside the second computation
    _check_scores(done("scores", status["run"]), pairs)
    judgements = verdicts_for(_by_conversation(going_in, criteria), usable)
    verdicts_file = write_jsonl(tmp_path / "verdicts.jsonl", judgements)
    assert done("import_verdicts", "journey", verdicts_file)["created"] == len(judgements)
    _check_agreement(done("agreement", status["run"]), pairs, judgements)


def _expected(criteria: list[dict[str, Any]], votes: list[dict[str, Any]]) -> dict[str, int | None]:
    own = {row["criterion_id"]: row for row in criteria}
    by_criterion: dict[str, list[dict[str, Any]]] = {}
    for row in votes:
        full = {"points": own[row["criterion_id"]]["points"], **row}
        full["category"] = full.get("category", "").lower().replace(" ", "_")
        by_criterion.setdefault(row["criterion_id"], []).append(full)
    return {key: recompute.consensus_points(rows, own[key]["author"]) for key, rows in by_criterion.items()}


def _scorable(criteria: list[dict[str, Any]], expected: dict[str, int | None]) -> dict[str, int]:
    """What goes in: in consensus, in conversations where something with positive points is."""
    found: dict[str, int] = {}
    for conversation in {row["conversation_id"] for row in criteria}:
        mine = {
            row["criterion_id"]: points
            for row in criteria
            if row["conversation_id"] == conversation and (points := expected[row["criterion_id"]]) is not None
        }
        if any(points > 0 for points in mine.values()):
            found |= mine
    return found


def _by_conversation(going_in: dict[str, int], criteria: list[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in criteria:
        if row["criterion_id"] in going_in:
            found.setdefault(row["conversation_id"], []).append(row["criterion_id"])
    return found


def _check_exports(folder: Path, frozen: dict[str, Any], going_in: dict[str, int]) -> None:
    for name in ("healthbench", "mentalhealthbench", "csv", "xlsx"):
        one, two = folder / f"one.{name}", folder / f"two.{name}"
        for file in (one, two):
            done("export_version", "journey", 1, "--format", name, "--output", file)
        assert one.read_bytes() == two.read_bytes(), name
    lines = read_jsonl(folder / "one.mentalhealthbench")
    assert recompute.digest_of_export(lines) == frozen["digest"]
    for index, name in enumerate(("healthbench", "mentalhealthbench")):
        done("create_study", f"other-{index}", "--name", "Another study")
        taken = done("import_conversations", f"other-{index}", folder / f"one.{name}")
        assert taken["external"]["digest"] == frozen["digest"]
        assert taken["external"]["criteria"] == len(going_in)
    rows = list(csv.DictReader(io.StringIO((folder / "one.csv").read_text(encoding="utf-8-sig"))))
    assert len(rows) >= len(going_in)


def _pairs(responses: list[dict[str, Any]], going_in: dict[str, int], texts: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "respondent": response["respondent"],
            "conversation": response["conversation_id"],
            "sample": response.get("sample", 1),
            "criterion": criterion_id,
            "points": points,
            "verdict": judged(texts[criterion_id], response["text"]),
        }
        for response in responses
        for criterion_id, points in going_in.items()
        if criterion_id.rsplit("-", 1)[0] == response["conversation_id"]
    ]


def _check_scores(answer: dict[str, Any], pairs: list[dict[str, Any]]) -> None:
    scored = sum(pair["verdict"] is not None for pair in pairs)
    assert answer["coverage"] == pytest.approx(scored / len(pairs), abs=1e-12)
    expected = recompute.scores(pairs)
    assert {row["respondent"] for row in answer["respondents"]} == set(expected)
    for row in answer["respondents"]:
        want = expected[row["respondent"]]
        assert (row["n"], row["complete"]) == (want["n"], want["complete"])
        for name in ("healthbench", "mentalhealthbench"):
            assert row[name] == (None if want[name] is None else pytest.approx(want[name], abs=1e-12))
        low, high = row["bounds"]
        assert low <= high


def _check_agreement(answer: dict[str, Any], pairs: list[dict[str, Any]], judgements: list[dict[str, Any]]) -> None:
    graded = {(pair["respondent"], pair["sample"], pair["criterion"]): pair["verdict"] for pair in pairs}
    units: dict[tuple[Any, ...], list[str]] = {}
    both: list[tuple[str, str]] = []
    by_reviewer: dict[str, list[tuple[str, str]]] = {}
    for row in judgements:
        key = (row["respondent"], row["sample"], row["criterion_id"])
        grader = graded[key]
        values = units.setdefault(key, [grader] if grader else [])
        if row["verdict"] == "cannot_tell":
            continue
        values.append(row["verdict"])
        if grader:
            both.append((grader, row["verdict"]))
            by_reviewer.setdefault(row["reviewer"], []).append((grader, row["verdict"]))
    assert answer["n"] == len(both)
    assert answer["coverage"] == pytest.approx(len(both) / len(judgements), abs=1e-12)
    assert answer["observed"] == pytest.approx(sum(a == b for a, b in both) / len(both), abs=1e-12)
    for name, function in (("kappa", recompute.kappa), ("ac1", recompute.ac1), ("macro_f1", recompute.macro_f1)):
        assert answer[name] == pytest.approx(function(both), abs=1e-12)
        for row in answer["clinicians"]:
            assert row[name] == pytest.approx(function(by_reviewer[row["reviewer"].lower()]), abs=1e-12)
    assert answer["alpha"] == pytest.approx(recompute.alpha(list(units.values())), abs=1e-12)
    humans = [values[1:] if graded[key] else values for key, values in units.items()]
    assert answer["alpha_clinicians"] == pytest.approx(recompute.alpha(humans), abs=1e-12)
    for a in ("met", "not_met"):
        for b in ("met", "not_met"):
            assert answer["confusion"][a][b] == both.count((a, b))
    assert json.dumps(answer)
