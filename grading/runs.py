"""Runs: a grader applied to a rubric version's responses, started, paused, resumed, cancelled, and how far it is.

The pairs of a run are the responses that did not fail x the version's criteria of their conversation, fixed when the
run is made. Its jobs, one a response, are queued in the same transaction; no worker need be up. A run that goes on
has a job for every response with pairs to grade; paused or stopped it has none in the queue, and resuming queues what
is left. Grading the unscored again would be another run: a grade never changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from procrastinate.contrib.django import app

from annotation.care_locks import unlocked
from annotation.models import Study, TextClass, User
from consilium.errors import RuleViolation
from grading.graders import is_outside
from grading.models import Attempt, Grade, Grader, Response, Run, RunResponse
from grading.queueing import FRONT_OF_QUEUE, GRADE_TASK, TAKE_OUT_OF_QUEUE, WORKERS_UP, queue_of
from grading.reasons import sentence_for
from rubrics.models import FrozenConversation, RubricVersion


class NoPairs(RuleViolation):
    """There is nothing to grade: no response that did not fail answers a conversation of {version}."""


class NotOfThisStudy(RuleViolation):
    """A run takes a rubric version and a grader of its own study."""


class NoBasisForOutside(RuleViolation):
    """Texts are de-identified and {host} is another machine: an admin writes the legal basis in the settings first."""


class RunStartedAMomentAgo(RuleViolation):
    """You started this very run less than a minute ago, and it goes on. For a second one wait a minute."""


class RunCantBePaused(RuleViolation):
    """Only a run that is queued or running can be paused; this one is {state}."""


class RunCantBeResumed(RuleViolation):
    """Only a run that is paused or failed can go on; this one is {state}."""


class RunCantBeCancelled(RuleViolation):
    """Only a run that has not ended can be cancelled; this one is {state}."""


@dataclass(frozen=True, slots=True)
class _ToGrade:
    """A response of a run: how many criteria its conversation has, and how long it is (characters)."""

    id: UUID
    is_failed: bool
    criteria: int
    length: int


def start_run(
    *, study: Study, version: RubricVersion, grader: Grader, by: User | None, is_deliberate: bool = True
) -> Run:
    """Make a run and queue its jobs. Raises NoPairs, NotOfThisStudy, NoBasisForOutside, RunStartedAMomentAgo.

    ``is_deliberate=False`` where a button may have been pressed twice: every call of a run may cost money.
    """
    if version.study_id != study.id or grader.study_id != study.id:
        raise NotOfThisStudy
    with transaction.atomic():
        _check_outside(study, grader)
        if not is_deliberate:
            _check_not_twice(version, grader, by)
        responses = _responses_of(version, locked=False)
        pairs = sum(this.criteria for this in responses if not this.is_failed)
        if not pairs:
            raise NoPairs(version=str(version))
        run = Run.objects.create(study=study, version=version, grader=grader, pairs=pairs, created_by=by)
        RunResponse.objects.bulk_create(
            [RunResponse(run=run, response_id=this.id, is_failed=this.is_failed) for this in responses],
            batch_size=5000,
        )
        _queue(run, grader, [this for this in responses if not this.is_failed])
    return run


def _check_not_twice(version: RubricVersion, grader: Grader, by: User | None) -> None:
    """Refuse a person's second run of a version by a grader within a minute, as long as the first goes on."""
    Grader.objects.select_for_update(no_key=True).get(pk=grader.pk)  # two at once: one after the other
    recent = Run.objects.filter(version=version, grader=grader, created_by=by, state__in=GOES_ON)
    if recent.filter(created_at__gt=timezone.now() - timedelta(minutes=1)).exists():
        raise RunStartedAMomentAgo


def pause_run(*, run: Run) -> Run:
    """Make no further calls until the run is resumed; those under way are heard to their end."""
    with transaction.atomic():
        locked = _locked(run)
        if locked.state not in {Run.State.QUEUED, Run.State.RUNNING}:
            raise RunCantBePaused(state=locked.get_state_display())
        _change(locked, state=Run.State.PAUSED)
        _take_out_of_queue(locked)
    return locked


def resume_run(*, run: Run) -> Run:
    """Go on with a run that was paused, or that failed: what has no grade yet is queued again."""
    with transaction.atomic():
        locked = _locked(run)
        if locked.state not in {Run.State.PAUSED, Run.State.FAILED}:
            raise RunCantBeResumed(state=locked.get_state_display())
        grader = Grader.objects.get(pk=locked.grader_id)
        _check_outside(Study.objects.get(pk=locked.study_id), grader)
        left = _left_of(locked)
        if left:
            _change(locked, state=Run.State.QUEUED, stop_reason="", ended_at=None)
            _queue(locked, grader, left)
        else:
            _change(locked, state=Run.State.COMPLETED, stop_reason="", ended_at=timezone.now())
    return locked


def cancel_run(*, run: Run) -> Run:
    """End a run for good. The grades that it has are kept."""
    with transaction.atomic():
        locked = _locked(run)
        if locked.has_ended:
            raise RunCantBeCancelled(state=locked.get_state_display())
        _change(locked, state=Run.State.CANCELLED, ended_at=timezone.now())
        _take_out_of_queue(locked)
    return locked


def run_status(run: Run) -> dict[str, Any]:
    """How far a run is, counted now, as plain data; tokens as the endpoint counted them. Four queries at most.

    ``graded`` are the pairs with a grade, ``reasons`` {sentence: count} why pairs are unscored; ``last_problem`` is
    what the endpoint did last, where the run goes on and none of its last calls got an answer.
    """
    state = Run.objects.values("state", "stop_reason", "pairs").get(pk=run.pk)
    counts = {"met": 0, "not_met": 0, "unscored": 0}
    reasons: dict[str, int] = {}
    rows = Grade.objects.filter(run=run).values("verdict", "reason").annotate(number=Count("id"))
    for row in rows.order_by("verdict", "reason"):
        counts[row["verdict"]] += row["number"]
        if row["reason"]:
            reasons[sentence_for(row["reason"])] = row["number"]
    spent = Attempt.objects.filter(run=run).aggregate(
        attempts=Count("id"),
        prompt_tokens=Sum("prompt_tokens", default=0),
        cached_tokens=Sum("cached_tokens", default=0),
        completion_tokens=Sum("completion_tokens", default=0),
    )
    return {
        "run": str(run.pk),
        "state": state["state"],
        "pairs": state["pairs"],
        **counts,
        **spent,
        "graded": sum(counts.values()),
        "reasons": reasons,
        "stop_reason": state["stop_reason"],
        "last_problem": _last_problem(run) if state["state"] in GOES_ON else "",
    }


GOES_ON = frozenset({Run.State.QUEUED, Run.State.RUNNING})
LAST_CALLS = 5


def _last_problem(run: Run) -> str:
    """Why the last calls of a run got no answer; '' where one of them got one."""
    last = list(
        Attempt.objects.filter(run=run, ended_at__isnull=False).order_by("-id").values("status", "problem")[:LAST_CALLS]
    )
    if any(attempt["status"] == Attempt.Status.ANSWERED for attempt in last):
        return ""
    return next((str(attempt["problem"]) for attempt in last), "")


def why_it_waits(run: Run) -> str:
    """Why a run that goes on has no call under way, in a sentence; '' where it has one, or has ended."""
    if run.state not in GOES_ON or Attempt.objects.filter(run=run, ended_at=None).exists():
        return ""
    if not workers_up():
        return gettext("No worker is up, so the run waits for one.")
    others = (
        Attempt.objects.filter(
            ended_at=None,
            run__grader__base_url=run.grader.base_url,
            run__grader__api_key_variable=run.grader.api_key_variable,
        )
        .exclude(run=run)
        .count()
    )
    if not others:
        return ""
    return ngettext(
        "Waits: {calls} call of another run is with this grader. Runs of one grader are served in turn.",
        "Waits: {calls} calls of other runs are with this grader. Runs of one grader are served in turn.",
        others,
    ).format(calls=f"{others:,}")


def workers_up() -> int:
    """How many workers have said within the last 45 seconds that they live."""
    with connection.cursor() as cursor:
        cursor.execute(WORKERS_UP)
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def mind_runs() -> int:
    """Complete, or stop with a reason, each run that goes on without any job; answers how many.

    No run hangs: a job that ended without its pairs (by something that nobody foresaw) leaves a run behind that would
    wait for ever.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MIND, [GRADE_TASK, LEFT_BEHIND])
        return int(cursor.rowcount)


LEFT_BEHIND = "Its jobs ended before every pair had a grade; the worker's log says why. The run can be resumed."

_MIND = """
    WITH left_behind AS (
        SELECT id, pairs <= (SELECT count(*) FROM grading_grade WHERE run_id = run.id) AS is_complete
        FROM grading_run AS run
        WHERE state IN ('queued', 'running') AND NOT EXISTS (
            SELECT FROM procrastinate_jobs
            WHERE status IN ('todo', 'doing') AND task_name = %s AND args ->> 'run_id' = run.id::text)
        FOR NO KEY UPDATE OF run
    )
    UPDATE grading_run AS run
    SET state = CASE WHEN is_complete THEN 'completed' ELSE 'failed' END,
        stop_reason = CASE WHEN is_complete THEN '' ELSE %s END,
        ended_at = clock_timestamp()
    FROM left_behind WHERE left_behind.id = run.id
"""


# What a run takes


def _responses_of(version: RubricVersion, *, locked: bool = True) -> list[_ToGrade]:
    """The study's responses to conversations of a version, the longest work first: the last to end ends soonest.

    ``locked``: also those to conversations that are locked for a person's sake, which no new run takes.
    """
    by_conversation: dict[UUID, int] = {}
    by_hash: dict[str, int] = {}
    rows = FrozenConversation.objects.filter(version=version).annotate(number=Count("criteria"))
    for conversation_id, item_sha256, number in rows.order_by("position", "id").values_list(
        "conversation_id", "item_sha256", "number"
    ):
        by_conversation[conversation_id] = number
        by_hash.setdefault(item_sha256, number)
    frozen = FrozenConversation.objects.filter(version=version)
    every = Response.objects.filter(study=version.study_id)
    responses = (
        (every if locked else unlocked(every, "conversation"))
        .filter(
            Q(conversation__in=frozen.values("conversation_id"))
            | Q(conversation__item_sha256__in=frozen.values("item_sha256"))
        )
        .annotate(length=Length("text"))
        .values_list("id", "is_failed", "conversation_id", "conversation__item_sha256", "length")
    )
    found = [
        _ToGrade(response_id, is_failed, by_conversation.get(conversation_id, by_hash.get(item_sha256, 0)), length)
        for response_id, is_failed, conversation_id, item_sha256, length in responses.iterator(chunk_size=5000)
    ]
    with_criteria = [this for this in found if this.criteria]
    return sorted(with_criteria, key=lambda this: (-this.criteria, -this.length, this.id))


def _left_of(run: Run) -> list[_ToGrade]:
    """The responses of a run with pairs that have no grade."""
    held = set(RunResponse.objects.filter(run=run, is_failed=False).values_list("response_id", flat=True))
    graded = dict(
        Grade.objects.filter(run=run)
        .values("response_id")
        .annotate(number=Count("id"))
        .values_list("response_id", "number")
    )
    return [
        this
        for this in _responses_of(run.version)
        if this.id in held and graded.get(this.id, 0) < this.criteria * run.repeats
    ]


def _queue(run: Run, grader: Grader, responses: Sequence[_ToGrade]) -> None:
    queue = queue_of(grader.base_url, grader.api_key_variable)
    with connection.cursor() as cursor:
        cursor.execute(FRONT_OF_QUEUE, [GRADE_TASK, queue])
        row = cursor.fetchone()
    front = int(row[0]) if row else 0
    task = app.configure_task(GRADE_TASK, queue=queue)
    for begin in range(0, len(responses), 1000):
        task.job_manager.batch_defer_jobs(
            [
                task.make_new_job(run_id=str(run.id), response_id=str(this.id)).evolve(priority=front - number)
                for number, this in enumerate(responses[begin : begin + 1000], start=begin)
            ]
        )


def _take_out_of_queue(run: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TAKE_OUT_OF_QUEUE, [GRADE_TASK, str(run.id)])


def _locked(run: Run) -> Run:
    return Run.objects.select_for_update(of=("self",), no_key=True).select_related("version").get(pk=run.pk)


def _change(run: Run, **facts: Any) -> None:
    for name, value in facts.items():
        setattr(run, name, value)
    run.save(update_fields=list(facts))


def _check_outside(study: Study, grader: Grader) -> None:
    is_bound = study.text_class == TextClass.DE_IDENTIFIED and not study.outside_endpoints_basis.strip()
    if is_bound and is_outside(grader):
        raise NoBasisForOutside(host=urlsplit(grader.base_url).hostname or "")
