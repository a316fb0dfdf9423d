"""Runs: which pairs they have, what is queued for them, and how they are paused, resumed and ended."""

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Conversation
from grading import runs
from grading.models import Attempt, Grade, Grader, Response, Run, RunResponse
from grading.queueing import queue_of
from grading.runs import cancel_run, mind_runs, pause_run, resume_run, run_status, start_run
from tests.factories import make_panel, make_study
from tests.grading.making import Set, empty_queue, make_grader, make_response, make_set, waiting_jobs
from tests.journeys.commands import done, run
from tests.rubrics.making import make_agreed

pytestmark = pytest.mark.django_db

URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _empty_queue(db: None) -> None:
    empty_queue()


def start(made: Set, **facts: object) -> Run:
    grader = Grader.objects.filter(study=made.study).first() or make_grader(study=made.study, url=URL)
    return start_run(**{"study": made.study, "version": made.version, "grader": grader, "by": None, **facts})  # type: ignore[arg-type]


def give_grades(run: Run, number: int) -> None:
    """As workers would: the first pairs in the order of responses and criteria."""
    pairs = [
        (response, criterion)
        for response in Response.objects.filter(id__in=run.responses.values("response_id")).order_by("id")
        for criterion in run.version.criteria.filter(frozen_conversation__conversation=response.conversation_id)
    ]
    for response, criterion in pairs[:number]:
        Grade.objects.create(run=run, response=response, criterion=criterion, verdict="met")


def test_a_button_pressed_twice_starts_one_run_and_a_command_as_many_as_it_says() -> None:
    made = make_set()
    first = start(made, is_deliberate=False)
    with pytest.raises(runs.RunStartedAMomentAgo):
        start(made, is_deliberate=False)
    assert start(made).pk != first.pk, "a command means it"
    Run.objects.update(state=Run.State.COMPLETED, ended_at=timezone.now())
    assert start(made, is_deliberate=False)


# Which pairs


def test_pairs_are_the_responses_that_did_not_fail_times_the_criteria_of_their_conversation() -> None:
    made = make_set(conversations=2, criteria=3, respondents=2)
    conversation = made.responses[0].conversation
    for number, facts in enumerate(
        [{"text": "  \n"}, {"finish_reason": "length"}, {"finish_reason": "content_filter"}, {"finish_reason": "error"}]
    ):
        make_response(conversation=conversation, respondent=f"failed-{number}", **facts)
    make_response(conversation=conversation, respondent="model-0", sample=2)
    made_run = start(made)
    assert made_run.pairs == (4 + 1) * 3
    assert RunResponse.objects.filter(run=made_run, is_failed=True).count() == 4
    assert len(waiting_jobs(made_run)) == 5, "one job a response, none for one that failed"


def test_a_response_to_an_equal_conversation_of_the_study_belongs_to_it() -> None:
    """A published set's conversations stand apart from the study's own; a response to the own one counts."""
    made = make_set(conversations=1, criteria=2)
    twin = made.responses[0].conversation
    own = Conversation.objects.create(
        study=made.study, external_id=twin.external_id, messages=twin.messages, item_sha256=twin.item_sha256
    )
    make_response(conversation=own, respondent="to-the-own-one")
    elsewhere = Conversation.objects.create(
        study=make_study(), external_id=twin.external_id, messages=twin.messages, item_sha256=twin.item_sha256
    )
    make_response(conversation=elsewhere, respondent="of-another-study")
    made_run = start(made)
    assert made_run.pairs == 2 * 2
    assert set(made_run.responses.values_list("response__respondent__name", flat=True)) == {"model-0", "to-the-own-one"}


def test_pairs_are_fixed_when_the_run_is_made() -> None:
    made = make_set(conversations=1, criteria=2)
    made_run = start(made)
    make_response(conversation=made.responses[0].conversation, respondent="too-late")
    assert run_status(made_run)["pairs"] == 2
    pause_run(run=made_run)
    resume_run(run=made_run)
    assert [job[1] for job in waiting_jobs(made_run)] == [str(made.responses[0].id)]


def test_an_own_version_is_graded_like_a_published_one() -> None:
    panel = make_panel()
    conversation, _ = make_agreed(panel=panel, texts=["Asks about sleep.", "Is kind."])
    make_response(conversation=conversation)
    version = done("freeze", panel.study.slug)["version"]
    make_grader(study=panel.study, url=URL)
    status = done("grade", panel.study.slug, "--version", version, "--grader", "stand-in")
    assert (status["state"], status["pairs"]) == ("queued", 2)


def test_a_run_without_pairs_is_refused_with_a_sentence() -> None:
    made = make_set(conversations=1, respondents=0)
    with pytest.raises(runs.NoPairs, match="nothing to grade"):
        start(made)
    make_response(conversation=Conversation.objects.get(), text=" ")
    with pytest.raises(runs.NoPairs):
        start(made)
    assert not Run.objects.exists()
    assert not waiting_jobs()


def test_a_version_and_a_grader_of_another_study_are_refused() -> None:
    made, other = make_set(conversations=1), make_set(conversations=1)
    grader = make_grader(study=other.study, url=URL)
    with pytest.raises(runs.NotOfThisStudy):
        start(made, grader=grader)
    with pytest.raises(runs.NotOfThisStudy):
        start(made, version=other.version)


def test_de_identified_texts_leave_this_machine_only_on_a_recorded_basis() -> None:
    made = make_set(conversations=1, text_class="de_identified", attestation="By the data officer, 2026.")
    outside = make_grader(study=made.study, url="https://api.example.org/v1")
    with pytest.raises(runs.NoBasisForOutside, match=r"api\.example\.org"):
        start(made, grader=outside)
    assert start(made, grader=make_grader(study=made.study, url=URL, name="here")).state == "queued"
    made.study.outside_endpoints_basis = "Contract of 3 May."
    made.study.save()
    made_run = start(made, grader=outside)
    pause_run(run=made_run)
    made.study.outside_endpoints_basis = ""
    made.study.save()
    with pytest.raises(runs.NoBasisForOutside):
        resume_run(run=made_run)


# What is queued


def test_the_jobs_come_with_the_run_or_not_at_all() -> None:
    made = make_set(conversations=2)
    try:
        with transaction.atomic():
            start(made)
            assert len(waiting_jobs()) == 2
            raise InterruptedError
    except InterruptedError:
        pass
    assert not waiting_jobs()
    assert not Run.objects.exists()


def test_the_longest_work_is_taken_first_from_the_queue_of_its_endpoint() -> None:
    made = make_set(conversations=3, criteria=2, length=10)
    long = make_response(conversation=made.responses[1].conversation, respondent="wordy", text="x" * 5000)
    made_run = start(made)
    jobs = waiting_jobs(made_run)
    assert jobs[0][1] == str(long.id)
    assert {job[2] for job in jobs} == {queue_of(URL, "")}
    # PostgreSQL cuts no channel's name, it refuses one of 64 bytes
    assert len("procrastinate_queue_v1#" + queue_of("https://" + "x" * 400, "KEY")) < 64


def test_a_job_names_ids_and_nothing_else() -> None:
    made = make_set(conversations=1)
    start(made, grader=make_grader(study=made.study, url=URL, api_key_variable="GRADER_KEY"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT args FROM procrastinate_jobs")
        (arguments,) = cursor.fetchone() or ("",)
    assert "GRADER_KEY" not in str(arguments)
    assert str(arguments).count(":") == 2


# Pausing, resuming, ending


def test_a_paused_run_has_no_jobs_and_resuming_queues_what_is_left() -> None:
    made = make_set(conversations=3, criteria=2)
    made_run, other = start(made), start(made)
    pause_run(run=made_run)
    assert not waiting_jobs(made_run)
    assert len(waiting_jobs(other)) == 3, "another run's jobs stay"
    give_grades(made_run, 3)
    resume_run(run=made_run)
    assert run_status(made_run)["state"] == "queued"
    graded = sorted(str(response.id) for response in made.responses)[0]
    assert {job[1] for job in waiting_jobs(made_run)} == {str(response.id) for response in made.responses} - {graded}


def test_a_paused_run_with_nothing_left_is_completed_by_resuming() -> None:
    made = make_set(conversations=1, criteria=2)
    made_run = start(made)
    pause_run(run=made_run)
    give_grades(made_run, 2)
    resume_run(run=made_run)
    assert run_status(made_run)["state"] == "completed"
    assert not waiting_jobs(made_run)


def test_a_cancelled_run_is_ended_and_keeps_its_grades() -> None:
    made = make_set(conversations=2, criteria=2)
    made_run = start(made)
    give_grades(made_run, 1)
    cancel_run(run=made_run)
    status = run_status(made_run)
    assert (status["state"], status["met"]) == ("cancelled", 1)
    assert not waiting_jobs(made_run)
    assert Run.objects.get(pk=made_run.pk).ended_at is not None


@pytest.mark.parametrize(
    ("state", "refused"),
    [
        ("queued", [resume_run]),
        ("running", [resume_run]),
        ("paused", [pause_run]),
        ("completed", [pause_run, resume_run, cancel_run]),
        ("failed", [pause_run, cancel_run]),
        ("cancelled", [pause_run, resume_run, cancel_run]),
    ],
)
def test_what_a_run_of_each_state_refuses(state: str, refused: list[object]) -> None:
    acts = [pause_run, resume_run, cancel_run]
    for act in acts:
        made_run = start(make_set(conversations=1))
        is_ended = state in {"completed", "failed", "cancelled"}
        Run.objects.filter(pk=made_run.pk).update(state=state, ended_at=timezone.now() if is_ended else None)
        if act in refused:
            with pytest.raises((runs.RunCantBePaused, runs.RunCantBeResumed, runs.RunCantBeCancelled), match=state):
                act(run=made_run)
            assert run_status(made_run)["state"] == state
        else:
            act(run=made_run)
            assert run_status(made_run)["state"] != state


# Runs that nobody works on


def test_a_run_without_jobs_is_completed_or_stopped_with_its_reason() -> None:
    done_one, lost, alive = (start(make_set(conversations=1, criteria=2)) for _ in range(3))
    for each in (done_one, lost):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM procrastinate_jobs WHERE args ->> 'run_id' = %s", [str(each.id)])
    give_grades(done_one, 2)
    give_grades(lost, 1)
    assert mind_runs() == 2
    assert [run_status(each)["state"] for each in (done_one, lost, alive)] == ["completed", "failed", "queued"]
    assert run_status(lost)["stop_reason"] == runs.LEFT_BEHIND
    resume_run(run=lost)
    assert len(waiting_jobs(lost)) == 1
    assert mind_runs() == 0


# The commands


STATUS_KEYS = [
    "run",
    "state",
    "pairs",
    "met",
    "not_met",
    "unscored",
    "attempts",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
]


def test_commands_answer_a_runs_status_and_nothing_else() -> None:
    made = make_set(conversations=1, criteria=3, slug="s")
    make_grader(study=made.study, url=URL)
    status = done("grade", "S", "--version", "HealthBench", "--grader", "stand-in")
    assert list(status) == STATUS_KEYS
    assert status == {**dict.fromkeys(STATUS_KEYS, 0), "run": status["run"], "state": "queued", "pairs": 3}
    made_run = Run.objects.get(pk=status["run"])
    give_grades(made_run, 1)
    response, criterion = made.responses[0], made.version.criteria.order_by("-position")[0]
    Grade.objects.create(run=made_run, response=response, criterion=criterion, verdict="unscored", reason="refusal")
    tokens = {"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 7}
    Attempt.objects.create(
        run=made_run,
        response=response,
        criterion=criterion,
        number=1,
        sent_at=timezone.now(),
        request_sha256="",
        **tokens,
    )
    answer = run("run_status", status["run"])
    assert answer.data == {
        **status,
        "met": made_run.grades.filter(verdict="met").count(),
        "unscored": 1,
        "attempts": 1,
        **tokens,
    }
    assert "1 unscored: The grader refused to judge." in answer.said
    assert done("pause_run", status["run"])["state"] == "paused"
    assert done("resume_run", status["run"])["state"] == "queued"
    assert done("cancel_run", status["run"])["state"] == "cancelled"
    refused = run("pause_run", status["run"])
    assert (refused.code, list(refused.data)) == (1, ["error"])


def test_commands_refuse_what_isnt_there_with_a_sentence() -> None:
    made = make_set(conversations=1, slug="s")
    make_grader(study=made.study, url=URL)
    for words in (
        ["grade", "nobody", "--version", 1, "--grader", "stand-in"],
        ["grade", "s", "--version", 1, "--grader", "stand-in"],
        ["grade", "s", "--version", "healthbench", "--grader", "nobody"],
        ["run_status", "no-uuid"],
        ["run_status", made.study.id],
    ):
        answer = run(*map(str, words))
        assert answer.code == 1, words
        assert answer.data["error"], words
