"""Plain functions that make what grading takes: a version, responses to it, a grader, and somebody who does the jobs.
All keyword-only."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connection, connections
from procrastinate.contrib.django import connector_params

from annotation.models import Conversation, Study
from grading.engine import Engine
from grading.graders import register_grader
from grading.models import Attempt, Grade, Grader, Respondent, Response, Run
from grading.patience import Patience
from grading.queueing import Crowds
from grading.runs import start_run
from rubrics.models import RubricVersion
from rubrics.taking_in import ExternalCriterion
from tests.factories import make_study
from tests.grading.endpoint import Endpoint
from tests.rubrics.making import make_row, take_in

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")

SOON = Patience(first_pause=0.01, longest_pause=0.05, faults=3, too_many=5, seconds_away=0.0)
"""As patient as a worker, in less time."""

_numbers = itertools.count(1)


@dataclass
class Set:
    """A study with a version and responses to its conversations."""

    study: Study
    version: RubricVersion
    responses: list[Response]

    @property
    def pairs(self) -> int:
        return sum(
            self.version.criteria.filter(frozen_conversation__conversation=response.conversation_id).count()
            for response in self.responses
        )


def make_set(
    *,
    conversations: int = 2,
    criteria: int = 3,
    respondents: int = 1,
    length: int = 200,
    **facts: Any,
) -> Set:
    """A published set with so many conversations of so many criteria, and a response to each by each respondent."""
    study = make_study(**facts)
    numbers = [next(_numbers) for _ in range(conversations)]
    rows = [
        make_row(
            external_id=f"conversation-{number}",
            messages=[{"role": "user", "content": f"I can't sleep, {number}."}],
            criteria=[
                ExternalCriterion(text=f"Asks about {number}, point {point}.", points=5 - point % 3, axis="accuracy")
                for point in range(criteria)
            ],
        )
        for number in numbers
    ]
    version = take_in(study=study, rows=rows)
    responses = [
        make_response(
            conversation=frozen.conversation,
            respondent=f"model-{name}",
            text=f"Response {name} to {frozen.external_id}. " + "x" * length,
        )
        for frozen in version.conversations.select_related("conversation").order_by("position")
        for name in range(respondents)
    ]
    return Set(study, version, responses)


def make_response(
    *, conversation: Conversation, respondent: str = "model-a", text: str = "Hm.", **facts: Any
) -> Response:
    who, _ = Respondent.objects.get_or_create(study_id=conversation.study_id, name=respondent)
    return Response.objects.create(
        study_id=conversation.study_id, conversation=conversation, respondent=who, text=text, **facts
    )


def make_grader(*, study: Study, url: str, name: str = "stand-in", concurrency: int = 8, **facts: Any) -> Grader:
    return register_grader(
        study=study, name=name, base_url=url, model="stand-in-1", concurrency=concurrency, on_page=False, **facts
    )


def waiting_jobs(run: Run | None = None) -> list[tuple[str, str, str]]:
    """(run id, response id, queue) of the jobs that wait, in the order in which they will be taken."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT args ->> 'run_id', args ->> 'response_id', queue_name FROM procrastinate_jobs "
            "WHERE task_name = 'grading.grade_response' AND status = 'todo' ORDER BY priority DESC, id"
        )
        rows = [tuple(map(str, row)) for row in cursor.fetchall()]
    return [row for row in rows if run is None or row[0] == str(run.id)]  # type: ignore[misc]


def empty_queue() -> None:
    """The queue's tables are not Django's to flush after a test."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_periodic_defers")
        cursor.execute("DELETE FROM procrastinate_jobs")
        cursor.execute("DELETE FROM procrastinate_workers")


def grade_now(
    run: Run, *, patience: Patience = SOON, environment: Mapping[str, str] | None = None, call_seconds: float = 5.0
) -> None:
    """Do all jobs of a run here, by an engine of one's own, as one worker would; the queue itself is left alone."""

    async def all_jobs(engine: Engine) -> None:
        await asyncio.gather(*(engine.grade_response(run_id=run.id, response_id=UUID(job[1])) for job in jobs))

    jobs = waiting_jobs(run)
    with_engine(all_jobs, patience=patience, environment=environment, call_seconds=call_seconds)


def with_engine(
    act: Callable[[Engine], Awaitable[None]],
    *,
    patience: Patience = SOON,
    environment: Mapping[str, str] | None = None,
    call_seconds: float = 5.0,
) -> None:
    """Give an engine to ``act``, in an event loop of its own."""
    parameters = connector_params("default")

    async def main() -> None:
        engine = Engine(
            parameters=parameters,
            fence_key=b"a key for tests",
            crowds=Crowds(),
            call_seconds=call_seconds,
            patience=patience,
            environment=environment or {},
        )
        async with engine:
            await act(engine)

    asyncio.run(main())


async def grade_all(engine: Engine, run: Run) -> None:
    """Grade all responses of a run at once, as a worker does that took all its jobs."""
    responses = await beside(lambda: list(run.responses.values_list("response_id", flat=True)))
    await asyncio.gather(*(engine.grade_response(run_id=run.id, response_id=response) for response in responses))


async def beside(act: Callable[[], T]) -> T:
    """Something that waits for PostgreSQL through Django, beside the event loop; leaves no connection behind."""

    def act_and_close() -> T:
        try:
            return act()
        finally:
            connections.close_all()

    return await sync_to_async(act_and_close)()


def begin(made: Set, endpoint: Endpoint, **facts: Any) -> Run:
    """A run of a set by a grader at this endpoint."""
    grader = make_grader(study=made.study, url=endpoint.url, **facts)
    return start_run(study=made.study, version=made.version, grader=grader, by=None)


def state_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


def reasons_of(run: Run) -> Counter[str]:
    """Why pairs of a run are unscored."""
    return Counter(Grade.objects.filter(run=run, verdict="unscored").values_list("reason", flat=True))


def statuses_of(run: Run) -> list[str]:
    """How the attempts of a run ended, in their order."""
    return list(Attempt.objects.filter(run=run).order_by("id").values_list("status", flat=True))
