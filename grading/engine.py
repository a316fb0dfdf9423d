"""The grading of one response: its criteria back to back, the first alone, each until it has a grade.

The first call is alone so that the endpoint's prefix cache serves the rest. A readable reply is a grade: met, not met,
or unscored because the grader says that it can't be told, which is not asked again. What can't be read is asked again
at most twice, then it is unscored with its reason. What is unscored is never "not met".

Whoever grades a response holds it (grading.queueing.hold_key), so that two workers never grade it at once. A call
that broke off may have been billed: it is tried again, under a cap of its own.
"""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID

from grading.calling import Answered, EndpointClient, KeyIsMissing, Kind, Outcome, Problem, read_key
from grading.completions import Completion, Usage, read_completion
from grading.ledger import GivenGrade, Ledger, RunHasStopped
from grading.patience import Patience, Tries
from grading.places import Places
from grading.queueing import GRADE_TASK, TAKE_OUT_OF_QUEUE, Crowds, HeldElsewhere, WorkerEnds, hold_key, queue_of
from grading.reasons import NoReplyReason
from grading.replies import Reading, UnscoredReason, Verdict, read_reply
from grading.session import Session
from grading.work import GraderFacts, Pair, Work, load_work

logger = logging.getLogger(__name__)


MAY_STOP = frozenset({Kind.UNUSABLE, Kind.NOT_ACCEPTED, Kind.NO_SCHEMA})
GO_ON_LATER = "Nothing is lost: resume the run when the grader is back."


class Endpoint:
    """What a worker knows of one endpoint: its client, its places, and how it has answered so far."""

    def __init__(self, client: EndpointClient, places: Places) -> None:
        self.client, self.places = client, places
        self.takes_schemas = True
        self.answered_at = 0.0
        self._limits: Counter[int] = Counter()

    @contextmanager
    def used_by(self, grader: GraderFacts) -> Iterator[None]:
        """While several graders use an endpoint, the smallest of their numbers of calls at once holds."""
        self._limits[grader.concurrency] += 1
        self.places.limit = min(+self._limits)
        try:
            yield
        finally:
            self._limits[grader.concurrency] -= 1
            self.places.limit = min(+self._limits, default=self.places.limit)


class Engine:
    """The grading of one worker. ``async with`` opens its connections and ends them."""

    def __init__(
        self,
        *,
        parameters: Mapping[str, Any],
        fence_key: bytes,
        crowds: Crowds,
        call_seconds: float = 300.0,
        patience: Patience | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.session = Session(parameters)
        self.ledger = Ledger(parameters)
        self.crowds = crowds
        self.patience = patience or Patience()
        self._fence_key, self._call_seconds, self._environment = fence_key, call_seconds, environment
        self._endpoints: dict[tuple[str, str], Endpoint] = {}
        self._active: Counter[UUID] = Counter()

    async def __aenter__(self) -> Self:
        await self.session.__aenter__()
        await self.ledger.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.ledger.__aexit__(kind, error, trace)
        for endpoint in self._endpoints.values():
            await endpoint.places.close()
            await endpoint.client.close()
        await self.session.__aexit__(kind, error, trace)

    @property
    def is_open(self) -> bool:
        return self.ledger.is_open

    async def grade_response(self, *, run_id: UUID, response_id: UUID, job_id: int = 0) -> None:
        """Grade what is left of one response. Raises HeldElsewhere, WorkerEnds, and psycopg's errors."""
        self._active[run_id] += 1
        try:
            await self._hold_and_grade(run_id, response_id, job_id)
        except RunHasStopped:
            pass  # what is left waits until the run goes on
        finally:
            self._active[run_id] -= 1
        if self._active[run_id] == 0:
            del self._active[run_id]
            await self.session.rows(_COMPLETE, {"run": run_id})

    async def _hold_and_grade(self, run_id: UUID, response_id: UUID, job_id: int) -> None:
        held: list[Work] = []

        def lose() -> None:
            for work in held:
                work.is_lost = True

        key = hold_key(run_id, response_id)
        if not await self.session.hold(key, on_lost=lose):
            raise HeldElsewhere
        try:
            work = await load_work(self.session, run_id=run_id, response_id=response_id, fence_key=self._fence_key)
            if work is None or work.state not in {"queued", "running"}:
                return
            held.append(work)
            if work.state == "queued":
                await self.session.rows(_BEGIN, {"run": run_id})
            self.crowds.asks(job_id, limit=work.grader.concurrency)
            await self._grade_pairs(work)
        finally:
            await self.session.let_go(key)

    async def _grade_pairs(self, work: Work) -> None:
        if not work.pairs:
            return
        try:
            endpoint = self._endpoint(work.grader)
        except KeyIsMissing as problem:
            return await self._stop_run(work.run_id, str(problem), query=_FAIL)
        with endpoint.used_by(work.grader):
            await self._grade_first_and_rest(work, endpoint)

    async def _grade_first_and_rest(self, work: Work, endpoint: Endpoint) -> None:
        """The first call alone: the others then find their common prefix at the endpoint, and go right after it."""
        first, *rest = work.pairs
        first_is_heard = asyncio.Event()
        is_broken = False

        async def begin() -> None:
            nonlocal is_broken
            try:
                await self._grade_pair(work, endpoint, first, on_answer=first_is_heard.set)
            except BaseException:
                is_broken = not first_is_heard.is_set()
                raise
            finally:
                first_is_heard.set()  # also where it was never asked, or never answered

        async def go_on(pair: Pair) -> None:
            await first_is_heard.wait()
            if not is_broken:
                await self._grade_pair(work, endpoint, pair, is_going_on=True)

        # Calls under way are always heard to their end, whatever happens to another one.
        ends = await asyncio.gather(begin(), *map(go_on, rest), return_exceptions=True)
        broken = [end for end in ends if isinstance(end, BaseException)]
        for reason in sorted(broken, key=lambda each: isinstance(each, RunHasStopped)):
            raise reason

    async def _grade_pair(
        self,
        work: Work,
        endpoint: Endpoint,
        pair: Pair,
        *,
        is_going_on: bool = False,
        on_answer: Callable[[], None] | None = None,
    ) -> None:
        """Ask until the pair has a grade. Raises RunHasStopped when it has to wait for the run to go on.

        ``on_answer`` begins what goes on after this call: those calls stand in line before its place is free.
        """
        if pair.cannot_be_asked is not None:
            return await self._grade_without_call(pair, pair.cannot_be_asked)
        tries = Tries()
        while True:
            if pair.unknown > self.patience.broken_off:
                return await self._grade_without_call(pair, NoReplyReason.OUTCOME_UNKNOWN)
            self._check(work)
            async with endpoint.places.one(is_going_on=is_going_on):
                self._check(work)
                body = work.request(pair, with_schema=endpoint.takes_schemas)
                pair.last_number += 1
                attempt_id = await self.ledger.open(
                    pair.key, number=pair.last_number, request_sha256=work.request_sha256(pair, body)
                )
                outcome = await endpoint.client.call(body)
                if on_answer is not None and isinstance(outcome, Answered):
                    on_answer()
                    is_going_on = True
                    await asyncio.sleep(0)
                if may_stop := isinstance(outcome, Problem) and outcome.kind in MAY_STOP:
                    # Settled before the place goes to another call, which may only fail too.
                    pause = await self._take_problem(work, endpoint, pair, tries, attempt_id, outcome)
            if isinstance(outcome, Answered) or outcome.kind is Kind.FILTERED:
                if await self._take_answer(work, endpoint, pair, attempt_id, outcome):
                    return
                continue
            if not may_stop:
                pause = await self._take_problem(work, endpoint, pair, tries, attempt_id, outcome)
            if pause is None:
                return
            await self.crowds.rest(pause)

    def _check(self, work: Work) -> None:
        if work.is_lost:
            raise HeldElsewhere
        if self.crowds.is_ending:
            raise WorkerEnds

    async def _take_answer(self, work: Work, endpoint: Endpoint, pair: Pair, attempt_id: int, outcome: Outcome) -> bool:
        """Keep a reply, with the grade where it gives one or none will come."""
        endpoint.answered_at = time.monotonic()
        body = outcome.body or b""
        completion = read_completion(body)
        if isinstance(outcome, Problem):
            reading = read_reply("", finish_reason="content_filter")
        elif completion is None:
            reading = Reading(None, UnscoredReason.UNREADABLE)  # whatever it says, it is no answer to a call
        else:
            reading = read_reply(
                completion.text, finish_reason=completion.finish_reason, response_text=work.response_text
            )
        pair.answered += 1
        is_last = not reading.may_be_asked_again or pair.answered > self.patience.asked_again
        said = completion or Completion("", "", "", Usage())
        problem = "" if reading.unscored_reason is None else reading.unscored_reason.sentence
        await self._end(
            pair,
            attempt_id,
            status="answered",
            raw_reply=body,
            http_status=outcome.http_status,
            problem=problem,
            model_returned=said.model,
            finish_reason=said.finish_reason,
            prompt_tokens=said.usage.prompt_tokens,
            cached_tokens=said.usage.cached_tokens,
            completion_tokens=said.usage.completion_tokens,
            reasoning_tokens=said.usage.reasoning_tokens,
            latency_ms=outcome.latency_ms,
            grade=_grade_of(reading) if is_last else None,
        )
        return is_last

    async def _take_problem(
        self, work: Work, endpoint: Endpoint, pair: Pair, tries: Tries, attempt_id: int, problem: Problem
    ) -> float | None:
        """Keep a call without an answer. Answers the seconds until the next try, or None where there is a grade."""
        pause, reason, stop = await self._what_next(work, endpoint, pair, tries, problem)
        if problem.is_possibly_billed:
            pair.unknown += 1
        else:
            pair.refused += 1
        await self._end(
            pair,
            attempt_id,
            status="unknown" if problem.is_possibly_billed else "refused",
            raw_reply=problem.body,
            http_status=problem.http_status,
            problem=problem.sentence,
            latency_ms=problem.latency_ms,
            grade=None if reason is None else GivenGrade("unscored", reason.value),
        )
        if stop:
            # What passes by itself pauses a run; what only a person can mend fails it.
            await self._stop_run(work.run_id, stop, query=_FAIL if problem.kind in MAY_STOP else _PAUSE)
            raise RunHasStopped
        return pause

    async def _what_next(
        self, work: Work, endpoint: Endpoint, pair: Pair, tries: Tries, problem: Problem
    ) -> tuple[float | None, NoReplyReason | None, str]:
        """(pause, reason to leave it unscored, reason to stop the run): exactly one of them says something."""
        patience = self.patience
        if problem.kind is Kind.UNUSABLE:
            return None, None, problem.sentence
        if problem.kind is Kind.TOO_LONG:
            return None, NoReplyReason.CONTEXT_EXCEEDED, ""
        if problem.kind is Kind.NO_SCHEMA and endpoint.takes_schemas:
            endpoint.takes_schemas = False
            return 0.0, None, ""
        if problem.kind in {Kind.NO_SCHEMA, Kind.NOT_ACCEPTED}:
            # Where it accepts others, it is this call; where it never accepted one, it is all of them.
            if endpoint.answered_at or await self._has_answers(work.run_id):
                return None, NoReplyReason.NOT_ACCEPTED, ""
            return None, None, problem.sentence
        if problem.kind is Kind.TOO_MANY:
            tries.too_many += 1
            if tries.too_many > patience.too_many:
                said = f"{problem.sentence} It said so {tries.too_many} times in a row to one call."
                return None, None, f"{said} {GO_ON_LATER}"
            given = problem.retry_after
            return (patience.pause(min(tries.too_many, 6)) if given is None else max(given, 0.02)), None, ""
        tries.faults += 1
        tries.first_fault_at = tries.first_fault_at or time.monotonic()
        is_this_call = endpoint.answered_at > tries.first_fault_at or pair.refused + pair.unknown > patience.lost
        if tries.faults > patience.faults and problem.kind is Kind.FAULT and is_this_call:
            return None, NoReplyReason.ENDPOINT_FAULT, ""
        # What may be billed is not repeated for minutes.
        is_waited_for = (
            not problem.is_possibly_billed and time.monotonic() - tries.first_fault_at < patience.seconds_away
        )
        if tries.faults <= patience.faults or is_waited_for:
            given = problem.retry_after
            return (patience.pause(tries.faults) if given is None else max(given, 0.02)), None, ""
        return None, None, f"{problem.sentence} It was tried {tries.faults} times. {GO_ON_LATER}"

    async def _end(self, pair: Pair, attempt_id: int, **facts: Any) -> None:
        if not await self.ledger.end(self.ledger.ending(pair.key, attempt_id, **facts)):
            raise HeldElsewhere  # it was ended for us: another worker has taken over

    async def _grade_without_call(self, pair: Pair, reason: NoReplyReason) -> None:
        grade = GivenGrade("unscored", reason.value)
        await self.ledger.end(self.ledger.ending(pair.key, None, grade=grade))

    async def _stop_run(self, run_id: UUID, sentence: str, *, query: LiteralString) -> None:
        """Stop a run at once, for a person to look at; its page says why."""
        stopped = await self.session.rows(query, {"run": run_id, "reason": sentence.replace("\x00", " ")})
        await self.session.rows(TAKE_OUT_OF_QUEUE, [GRADE_TASK, str(run_id)])
        if stopped:
            logger.warning("Run %s stopped; its page says why.", run_id)

    async def _has_answers(self, run_id: UUID) -> bool:
        rows = await self.session.rows(_HAS_ANSWERS, {"run": run_id})
        return bool(rows[0]["has_answers"])

    def _endpoint(self, grader: GraderFacts) -> Endpoint:
        key = (grader.base_url, grader.api_key_variable)
        if key not in self._endpoints:
            secret = read_key(grader.api_key_variable, self._environment)
            client = EndpointClient(base_url=grader.base_url, key=secret, seconds=self._call_seconds)
            queue = queue_of(*key)
            places = Places(
                self.session,
                queue,
                limit=grader.concurrency,
                on_waiting=lambda change: self.crowds.waits(queue, change),
            )
            self._endpoints[key] = Endpoint(client, places)
        return self._endpoints[key]


def _grade_of(reading: Reading) -> GivenGrade:
    is_scored = reading.is_scored and reading.verdict in {Verdict.MET, Verdict.NOT_MET}
    reason = "" if reading.unscored_reason is None else reading.unscored_reason.value
    return GivenGrade(
        verdict=str(reading.verdict) if is_scored and reading.verdict else "unscored",
        reason=reason,
        explanation=reading.explanation,
        quotes=[
            {"text": text, "is_found": is_found}
            for text, is_found in zip(reading.quotes, reading.quotes_found, strict=False)
        ],
        condition_absent=reading.condition_absent,
        is_contradicting_itself=reading.contradicts_itself,
    )


_BEGIN: LiteralString = """
    UPDATE grading_run SET state = 'running', started_at = coalesce(started_at, clock_timestamp())
    WHERE id = %(run)s AND state = 'queued'
"""

_COMPLETE: LiteralString = """
    UPDATE grading_run AS run SET state = 'completed', ended_at = clock_timestamp()
    WHERE id = %(run)s AND state IN ('queued', 'running')
      AND pairs <= (SELECT count(*) FROM grading_grade WHERE run_id = run.id)
"""

_FAIL: LiteralString = """
    UPDATE grading_run SET state = 'failed', stop_reason = %(reason)s, ended_at = clock_timestamp()
    WHERE id = %(run)s AND state IN ('queued', 'running') RETURNING id
"""

_PAUSE: LiteralString = """
    UPDATE grading_run SET state = 'paused', stop_reason = %(reason)s
    WHERE id = %(run)s AND state IN ('queued', 'running') RETURNING id
"""

_HAS_ANSWERS: LiteralString = """
    SELECT EXISTS (SELECT FROM grading_attempt WHERE run_id = %(run)s AND status = 'answered') AS has_answers
"""
