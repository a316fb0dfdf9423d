"""What one job has to do: a response, and those of its criteria that have no grade yet.

The texts of the conversation and the criteria are the version's own, as frozen. A response belongs to a conversation
of the version when it answers that very conversation, or one of the study with the same hash (a published set's
conversations stand apart from the study's own, with equal texts).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from grading.graders import OURS
from grading.ledger import PairKey
from grading.prompting import build_request_messages, fence_boundary, response_format
from grading.reasons import NoReplyReason
from grading.session import Session

WORKER_ENDED = "The worker ended before the answer came."


@dataclass(frozen=True, slots=True)
class GraderFacts:
    """What a call needs to know of the grader."""

    base_url: str
    model: str
    prompt_version: str
    parameters: Mapping[str, Any]
    api_key_variable: str
    concurrency: int


@dataclass(slots=True)
class Pair:
    """A criterion to grade, and the attempts made so far: how many were answered, broke off, were refused."""

    key: PairKey
    text: str
    cannot_be_asked: NoReplyReason | None
    last_number: int
    answered: int
    unknown: int
    refused: int


@dataclass(slots=True)
class Work:
    """A response of a run with what is left to grade. ``all_texts`` are all that its calls may quote."""

    run_id: UUID
    response_id: UUID
    state: str
    grader: GraderFacts
    response_text: str
    messages: list[dict[str, str]]
    pairs: list[Pair]
    all_texts: list[str]
    answer_format: dict[str, Any] | None
    boundary: str = ""
    is_lost: bool = False

    def request(self, pair: Pair, *, with_schema: bool) -> dict[str, Any]:
        """The body of the call for one criterion."""
        body = {name: value for name, value in self.grader.parameters.items() if name not in OURS}
        if with_schema and self.answer_format is not None:
            body["response_format"] = self.answer_format
        body["model"] = self.grader.model
        body["messages"] = build_request_messages(
            prompt_version=self.grader.prompt_version,
            conversation=self.messages,
            response_text=self.response_text,
            criterion_text=pair.text,
            boundary=self.boundary,
        )
        return body

    def request_sha256(self, pair: Pair, body: Mapping[str, Any]) -> str:
        """SHA-256 (64 hex digits) over all that decides the answer: equal for identical requests."""
        facts = {
            "endpoint": self.grader.base_url,
            "prompt_version": self.grader.prompt_version,
            "repeat": pair.key.repeat,
            "request": body,
        }
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def load_work(session: Session, *, run_id: UUID, response_id: UUID, fence_key: bytes) -> Work | None:
    """What is left to do for a response of a run; None where the run has no such response, or its response failed.

    Open attempts are ended as unknown first: whoever calls this holds the response, so whoever opened them is gone.
    """
    found = await session.rows(_RESPONSE, {"run": run_id, "response": response_id})
    if not found:
        return None
    row = found[0]
    await session.rows(_ABANDON, {"run": run_id, "response": response_id, "problem": WORKER_ENDED})
    facts = {"run": run_id, "response": response_id, "conversation": row["frozen_conversation"]}
    criteria = await session.rows(_CRITERIA, facts)
    is_removed = row["messages"] is None
    texts = [criterion["text"] or "" for criterion in criteria]
    messages = row["messages"] or []
    parameters = row["parameters"]
    asks_for_schema = parameters.get("response_format", "json_schema") == "json_schema"
    work = Work(
        run_id=run_id,
        response_id=response_id,
        state=row["state"],
        grader=GraderFacts(
            row["base_url"],
            row["model"],
            row["prompt_version"],
            parameters,
            row["api_key_variable"],
            row["concurrency"],
        ),
        response_text=row["response_text"],
        messages=messages,
        pairs=[
            _pair(run_id, response_id, criterion, is_removed=is_removed)
            for criterion in criteria
            if not criterion["is_graded"]
        ],
        answer_format=response_format(longest_text=parameters.get("longest_text")) if asks_for_schema else None,
        all_texts=[*(message["content"] for message in messages), row["response_text"], *texts],
    )
    work.boundary = fence_boundary(key=fence_key, response_id=str(response_id), texts=work.all_texts)
    return work


def _pair(run_id: UUID, response_id: UUID, row: Mapping[str, Any], *, is_removed: bool) -> Pair:
    reason = None
    if is_removed or row["text"] is None:
        reason = NoReplyReason.TEXT_REMOVED
    elif row["scale"] != "binary":
        reason = NoReplyReason.SCALE_NOT_GRADED
    return Pair(
        key=PairKey(run_id, response_id, row["id"], row["repeat"]),
        text=row["text"] or "",
        cannot_be_asked=reason,
        last_number=row["last_number"],
        answered=row["answered"],
        unknown=row["unknown"],
        refused=row["refused"],
    )


_RESPONSE: LiteralString = """
    SELECT run.state, grader.base_url, grader.model, grader.prompt_version, grader.parameters,
           grader.api_key_variable, grader.concurrency,
           response.text AS response_text, frozen.id AS frozen_conversation, frozen.messages
    FROM grading_run AS run
    JOIN grading_grader AS grader ON grader.id = run.grader_id
    JOIN grading_runresponse AS held ON held.run_id = run.id AND NOT held.is_failed
    JOIN grading_response AS response ON response.id = held.response_id
    JOIN annotation_conversation AS conversation ON conversation.id = response.conversation_id
    JOIN rubrics_frozenconversation AS frozen ON frozen.id = coalesce(
        (SELECT id FROM rubrics_frozenconversation
         WHERE version_id = run.version_id AND conversation_id = conversation.id),
        (SELECT id FROM rubrics_frozenconversation
         WHERE version_id = run.version_id AND item_sha256 = conversation.item_sha256 ORDER BY position, id LIMIT 1)
    )
    WHERE run.id = %(run)s AND response.id = %(response)s AND NOT EXISTS (
        -- locked for a person's sake: nothing of it goes to a grader (annotation.care_locks)
        SELECT FROM annotation_conversationlock AS lock
        WHERE lock.conversation_id = conversation.id AND NOT EXISTS (
            SELECT FROM annotation_lockdecision WHERE lock_id = lock.id AND decision = 'released'
        )
    )
"""

_ABANDON: LiteralString = """
    UPDATE grading_attempt SET status = 'unknown', ended_at = clock_timestamp(), problem = %(problem)s
    WHERE run_id = %(run)s AND response_id = %(response)s AND ended_at IS NULL
"""

_CRITERIA: LiteralString = """
    SELECT criterion.id, criterion.text, criterion.scale, turn.repeat,
           grade.id IS NOT NULL AS is_graded, attempts.last_number, attempts.answered, attempts.unknown,
           attempts.refused
    FROM grading_run AS run
    CROSS JOIN generate_series(1, run.repeats) AS turn (repeat)
    JOIN rubrics_frozencriterion AS criterion ON criterion.frozen_conversation_id = %(conversation)s
    LEFT JOIN grading_grade AS grade
        ON grade.run_id = run.id AND grade.response_id = %(response)s
        AND grade.criterion_id = criterion.id AND grade.repeat = turn.repeat
    CROSS JOIN LATERAL (
        SELECT coalesce(max(number), 0) AS last_number,
               count(*) FILTER (WHERE status = 'answered') AS answered,
               count(*) FILTER (WHERE status = 'unknown') AS unknown,
               count(*) FILTER (WHERE status = 'refused') AS refused
        FROM grading_attempt AS attempt
        WHERE attempt.run_id = run.id AND attempt.response_id = %(response)s
          AND attempt.criterion_id = criterion.id AND attempt.repeat = turn.repeat
    ) AS attempts
    WHERE run.id = %(run)s
    ORDER BY turn.repeat, criterion.position, criterion.id
"""
