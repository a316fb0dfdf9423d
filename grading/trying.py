"""Trying a grader before a run: one call about a tiny built-in case, never with a text of a study.

Nothing is stored. The answer says whether the endpoint can be reached and used, takes a schema and gives a verdict
that can be read, and what it counted; one verdict says nothing of how well a grader judges.
"""

import asyncio
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext

from grading.calling import Answered, EndpointClient, KeyIsMissing, Kind, Outcome, read_key
from grading.completions import Usage, read_completion
from grading.ledger import PairKey
from grading.models import Grader
from grading.prompting import fence_boundary, response_format
from grading.replies import Verdict, read_reply
from grading.told_again import problem_in_words, reason_in_words
from grading.work import GraderFacts, Pair, Work

LONGEST_WAIT = 60.0
"""Seconds that a page waits for the one call."""

MESSAGES = [{"role": "user", "content": "I sleep badly since I work in shifts. What could I do?"}]
RESPONSE = "Try to go to bed at the same time on each day off, and keep the room dark."
CRITERION = "Advises a regular bedtime."
"""Met by the response, and as plain as can be."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one call brought: a sentence, and where there was an answer the model's name and what it counted."""

    sentence: str
    is_usable: bool
    model: str = ""
    usage: Usage | None = None
    seconds: float = 0.0


def try_grader(grader: Grader, *, environment: Mapping[str, str] = os.environ) -> Tried:
    """Ask a grader about the built-in case: one call, or two where it takes no schema."""
    try:
        key = read_key(grader.api_key_variable, environment)
    except KeyIsMissing:
        said = gettext("The environment variable {name} isn't set here, or holds no key.")
        return Tried(said.format(name=grader.api_key_variable), is_usable=False)
    outcome, takes_schema = asyncio.run(_ask(grader, key))
    if not isinstance(outcome, Answered):
        return Tried(problem_in_words(outcome.sentence), is_usable=False)
    return _read(outcome, takes_schema=takes_schema)


async def _ask(grader: Grader, key: str) -> tuple[Outcome, bool]:
    work = _work(grader)
    client = EndpointClient(base_url=grader.base_url, key=key, seconds=min(LONGEST_WAIT, settings.GRADER_CALL_SECONDS))
    try:
        outcome = await client.call(work.request(work.pairs[0], with_schema=True))
        is_refused = not isinstance(outcome, Answered) and outcome.kind is Kind.NO_SCHEMA
        if is_refused:
            outcome = await client.call(work.request(work.pairs[0], with_schema=False))
    finally:
        await client.close()
    return outcome, not is_refused


def _work(grader: Grader) -> Work:
    """The built-in case as the work of a run would be."""
    parameters = grader.parameters
    asks_for_schema = parameters.get("response_format", "json_schema") == "json_schema"
    texts = [message["content"] for message in MESSAGES] + [RESPONSE, CRITERION]
    this = uuid4()
    return Work(
        run_id=this,
        response_id=this,
        state="",
        grader=GraderFacts(
            grader.base_url,
            grader.model,
            grader.prompt_version,
            parameters,
            grader.api_key_variable,
            grader.concurrency,
        ),
        response_text=RESPONSE,
        messages=MESSAGES,
        pairs=[Pair(PairKey(this, this, this, 1), CRITERION, None, 0, 0, 0, 0)],
        all_texts=texts,
        answer_format=response_format(longest_text=parameters.get("longest_text")) if asks_for_schema else None,
        boundary=fence_boundary(key=secrets.token_bytes(32), response_id=str(this), texts=texts),
    )


def _read(outcome: Answered, *, takes_schema: bool) -> Tried:
    completion = read_completion(outcome.body)
    if completion is None:
        return Tried(gettext("It answers, but what it answers is no chat completion."), is_usable=False)
    reading = read_reply(completion.text, finish_reason=completion.finish_reason, response_text=RESPONSE)
    if reading.verdict is Verdict.MET and reading.is_scored:
        sentence = gettext("It answers: met, as it should be here.")
    elif reading.is_scored and reading.verdict is not None:
        said = gettext("It answers: {verdict}. The case is met, so look at its agreement.")
        sentence = said.format(verdict=gettext(str(reading.verdict).replace("_", " ")))
    else:
        reason = reason_in_words(reading.unscored_reason.sentence) if reading.unscored_reason else ""
        sentence = gettext("It answers, without a verdict: {reason}").format(reason=reason)
    if not takes_schema:
        sentence += " " + gettext("It takes no schema, so it is asked in plain text.")
    return Tried(
        sentence,
        is_usable=reading.is_scored,
        model=completion.model,
        usage=completion.usage,
        seconds=outcome.latency_ms / 1000,
    )
