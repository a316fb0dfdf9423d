"""The scores of a run: what each respondent scores by the two published formulas, with coverage and bounds.

A pair without a grade yet counts as unscored, so that an unfinished run shows what it is: bounds and little coverage.
Failed responses are counted apart and never graded.
"""

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from grading.models import Grade, Run, RunResponse
from grading.scoring import GradedPair, GradedResponse, RespondentScores, Verdict, score_respondents
from grading.statistics.undefined import Coefficient
from rubrics.models import FrozenCriterion


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """A run's scores. ``pairs`` are the run's, ``scored`` those with a verdict; ``failed`` counts responses."""

    run: Run
    pairs: int
    scored: int
    failed: int
    respondents: list[RespondentScores]

    @property
    def coverage(self) -> float:
        """Scored pairs / pairs, 0 to 1."""
        return self.scored / self.pairs


def criteria_by_conversation(run: Run) -> dict[str, list[FrozenCriterion]]:
    """The version's criteria by the hash of their conversation, by which responses belong to them."""
    found: dict[str, list[FrozenCriterion]] = defaultdict(list)
    criteria = FrozenCriterion.objects.filter(version=run.version_id).select_related("frozen_conversation")
    for criterion in criteria.order_by("position", "id"):
        found[criterion.frozen_conversation.item_sha256].append(criterion)
    return found


def graded_responses(run: Run) -> tuple[list[GradedResponse], int]:
    """The run's usable responses with all their pairs, and how many responses failed. Three queries."""
    criteria = criteria_by_conversation(run)
    grades: dict[tuple[UUID, UUID], str] = {
        (response_id, criterion_id): verdict
        for response_id, criterion_id, verdict in Grade.objects.filter(run=run, repeat=1)
        .values_list("response_id", "criterion_id", "verdict")
        .iterator(chunk_size=20_000)
    }
    responses, failed = [], 0
    rows = RunResponse.objects.filter(run=run).select_related("response__conversation", "response__respondent")
    for row in rows.order_by("response__respondent__name", "response__conversation__external_id", "response__sample"):
        if row.is_failed:
            failed += 1
            continue
        response, conversation = row.response, row.response.conversation
        responses.append(
            GradedResponse(
                conversation=conversation.item_sha256,
                respondent=response.respondent.name,
                sample=response.sample,
                acuity=conversation.acuity,
                pairs=[
                    GradedPair(
                        criterion.points,
                        criterion.axis,
                        Verdict(grades.get((response.id, criterion.id), Verdict.UNSCORED.value)),
                    )
                    for criterion in criteria[conversation.item_sha256]
                ],
            )
        )
    return responses, failed


def report_scores(run: Run) -> ScoreReport:
    """The scores of a run as they are now."""
    responses, failed = graded_responses(run)
    pairs = sum(len(response.pairs) for response in responses)
    scored = sum(pair.verdict != Verdict.UNSCORED for response in responses for pair in response.pairs)
    return ScoreReport(run, pairs, scored, failed, score_respondents(responses))


def scores_as_data(report: ScoreReport) -> dict[str, Any]:
    """The report as plain data, for the API and ``scores --json``. Undefined numbers are null, with their reason."""
    return {
        "run": str(report.run.id),
        "state": report.run.state,
        "pairs": report.pairs,
        "scored": report.scored,
        "coverage": report.coverage,
        "failed": report.failed,
        "respondents": [_respondent(scores) for scores in report.respondents],
    }


_NUMBERS = (
    "healthbench",
    "mentalhealthbench",
    "coverage",
    "positive_points_earned",
    "penalty_burden",
    "critical_failure_rate",
)


def _respondent(scores: RespondentScores) -> dict[str, Any]:
    numbers: dict[str, Coefficient] = {name: getattr(scores, name) for name in _NUMBERS}
    return {
        "respondent": scores.respondent,
        **{name: number.value for name, number in numbers.items()},
        "n": scores.n,
        "complete": scores.complete,
        "averaged": scores.averaged,
        "conversations": scores.conversations,
        "without_positive_points": scores.without_positive_points,
        "bounds": None if scores.bounds is None else [scores.bounds.low, scores.bounds.high],
        "critical_failures": scores.critical_failures,
        "by_axis": {axis: _plain(asdict(slice_)) for axis, slice_ in scores.by_axis.items()},
        "by_acuity": {acuity: _plain(asdict(slice_)) for acuity, slice_ in scores.by_acuity.items()},
        "undefined": {name: number.reason.value for name, number in numbers.items() if number.reason},
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Coefficients, as asdict leaves them, become their value; reasons are kept where there are any."""
    plain: dict[str, Any] = {}
    reasons = {}
    for name, value in values.items():
        if isinstance(value, dict):
            plain[name] = value["value"]
            if value["reason"]:
                reasons[name] = str(value["reason"])
        else:
            plain[name] = value
    return {**plain, "undefined": reasons} if reasons else plain
