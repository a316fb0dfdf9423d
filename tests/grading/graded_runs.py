"""What tests of the grading pages and reports need: a frozen version with responses, a run with grades."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Criterion, User
from consilium.canonical import sha256_hex
from grading.graders import register_grader
from grading.models import Grade, Grader, Respondent, Response, ReviewerVerdict, Run
from grading.runs import start_run
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.models import FrozenCriterion, RubricVersion
from tests.factories import Panel, make_panel, make_voting, vote
from tests.grading.making import make_grader, make_set

TEXTS = ("Asks about sleep.", "Names a helpline.", "Takes up the fear of Monday.")


@dataclass
class Graded:
    """A panel with version 1, two responses by two respondents to its one conversation, and a run of six pairs."""

    panel: Panel
    version: RubricVersion
    criteria: list[FrozenCriterion]
    responses: list[Response]
    grader: Grader
    run: Run


def make_version(*, panel: Panel) -> tuple[RubricVersion, list[Criterion]]:
    """One conversation with three criteria in consensus at +6, frozen as the next version."""
    _, criteria, _ = make_voting(panel=panel, texts=TEXTS, external_id=f"case-{sha256_hex(panel.study.id.bytes)[:6]}")
    for criterion in criteria:
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
    version = freeze_version(study=panel.study, by=panel.adam, note="The first.", acknowledged=ACKNOWLEDGE_ALL)
    return version, criteria


def make_response(*, version: RubricVersion, respondent: str, text: str = "How do you sleep?") -> Response:
    conversation = version.conversations.order_by("position")[0].conversation
    who, _ = Respondent.objects.get_or_create(study=version.study, name=respondent)
    return Response.objects.create(study=version.study, conversation=conversation, respondent=who, text=text)


def make_graded(*, verdicts: str = "mmnmnu") -> Graded:
    """A run whose grades are ``verdicts`` (m, n, u for met, not met, unscored), by response, then criterion."""
    panel = make_panel()
    version, _ = make_version(panel=panel)
    responses = [make_response(version=version, respondent=name) for name in ("model-a", "model-b")]
    grader = register_grader(
        study=panel.study, name="judge", base_url="http://127.0.0.1:9/v1", model="m", on_page=False
    )
    run = start_run(study=panel.study, version=version, grader=grader, by=panel.rita)
    criteria = list(version.criteria.order_by("external_id"))
    words = {"m": "met", "n": "not_met", "u": "unscored"}
    pairs = [(response, criterion) for response in responses for criterion in criteria]
    Grade.objects.bulk_create(
        Grade(
            run=run,
            response=response,
            criterion=criterion,
            verdict=words[letter],
            reason="unreadable" if letter == "u" else "",
            explanation="Because it does.",
            quotes=[{"text": "How do you sleep?", "is_found": True}],
        )
        for letter, (response, criterion) in zip(verdicts, pairs, strict=True)
    )
    return Graded(panel, version, criteria, responses, grader, run)


def grade_all_pairs(*, run: Run, verdict: str = "met", skip: int = 0) -> list[tuple[Response, FrozenCriterion]]:
    """Grade a run's pairs, all alike, but for the last ``skip``; answers all pairs, by conversation and respondent."""
    criteria = run.version.criteria.select_related("frozen_conversation").order_by("position")
    responses = Response.objects.filter(study=run.study).order_by("conversation__external_id", "respondent__name")
    pairs = [
        (response, criterion)
        for response in responses
        for criterion in criteria
        if criterion.frozen_conversation.conversation_id == response.conversation_id
    ]
    Grade.objects.bulk_create(
        Grade(run=run, response=response, criterion=criterion, verdict=verdict)
        for response, criterion in pairs[: len(pairs) - skip]
    )
    return pairs


def judge_pairs(*, pairs: Sequence[tuple[Response, FrozenCriterion]], reviewer: User, verdicts: str) -> None:
    """A clinician's verdicts on pairs, the letters over and over: m, n, c (can't tell), - for none."""
    words = {"m": "met", "n": "not_met", "c": "cannot_tell"}
    letters = [verdicts[index % len(verdicts)] for index in range(len(pairs))]
    ReviewerVerdict.objects.bulk_create(
        ReviewerVerdict(
            study=response.study,
            response=response,
            wording_id=criterion.wording_id,
            reviewer=reviewer,
            verdict=words[letter],
        )
        for letter, (response, criterion) in zip(letters, pairs, strict=True)
        if letter != "-"
    )


def make_larger() -> tuple[Run, list[tuple[Response, FrozenCriterion]]]:
    """A run over four conversations of three criteria with two respondents: 24 pairs, enough for coefficients."""
    made = make_set(conversations=4, criteria=3, respondents=2)
    grader = make_grader(study=made.study, url="http://127.0.0.1:9/v1")
    run = start_run(study=made.study, version=made.version, grader=grader, by=None)
    return run, grade_all_pairs(run=run)


def judge(*, graded: Graded, reviewer: User, verdicts: str, is_blind: bool = True) -> None:
    """A clinician's verdicts on the run's pairs: m, n, c (can't tell), - for none."""
    words = {"m": "met", "n": "not_met", "c": "cannot_tell"}
    pairs = [(response, criterion) for response in graded.responses for criterion in graded.criteria]
    ReviewerVerdict.objects.bulk_create(
        ReviewerVerdict(
            study=graded.panel.study,
            response=response,
            wording_id=criterion.wording_id,
            reviewer=reviewer,
            verdict=words[letter],
            is_blind=is_blind,
        )
        for letter, (response, criterion) in zip(verdicts, pairs, strict=True)
        if letter != "-"
    )
