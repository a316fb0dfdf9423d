"""The scores of a run: what each respondent scores by the two published formulas, with coverage and bounds.

A pair without a grade yet counts as unscored, so that an unfinished run shows what it is: bounds and little coverage.
Where nothing at all is graded yet the report says so, for each respondent, axis and acuity.
Failed responses are counted apart and never graded.
"""

from collections import defaultdict
from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple
from uuid import UUID

from grading.models import Grade, Run, RunResponse
from grading.scoring import UNKNOWN_ACUITY, GradedPair, GradedResponse, RespondentScores, Verdict, score_respondents
from grading.statistics.undefined import Coefficient
from rubrics.models import FrozenCriterion


class Slice(NamedTuple):
    """A respondent's part of a run: all of it, one axis, or one acuity (`scoring.UNKNOWN_ACUITY` among them)."""

    respondent: str
    axis: str | None = None
    acuity: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """A run's scores. ``pairs`` are the run's, ``graded`` those with a grade, ``scored`` those with a verdict;
    ``failed`` counts responses. ``waiting`` holds the slices in which no pair has a grade yet."""

    run: Run
    pairs: int
    graded: int
    scored: int
    failed: int
    respondents: list[RespondentScores]
    waiting: Set[Slice]

    @property
    def coverage(self) -> float | None:
        """Scored pairs / pairs, 0 to 1; None where there is no pair."""
        return self.scored / self.pairs if self.pairs else None

    @property
    def is_unfinished(self) -> bool:
        return self.graded < self.pairs


@dataclass(frozen=True, slots=True)
class GradedResponses:
    """A run's usable responses with all their pairs, how many failed, and what is graded so far."""

    responses: list[GradedResponse]
    failed: int
    graded: int
    waiting: Set[Slice]


def criteria_by_conversation(run: Run) -> dict[str, list[FrozenCriterion]]:
    """The version's criteria by the hash of their conversation, by which responses belong to them."""
    found: dict[str, list[FrozenCriterion]] = defaultdict(list)
    criteria = FrozenCriterion.objects.filter(version=run.version_id).select_related("frozen_conversation")
    for criterion in criteria.defer("frozen_conversation__messages").order_by("position", "id"):
        found[criterion.frozen_conversation.item_sha256].append(criterion)
    return found


def graded_responses(run: Run) -> GradedResponses:
    """The run's responses with their pairs. Three queries."""
    criteria = criteria_by_conversation(run)
    grades: dict[tuple[UUID, UUID], str] = {
        (response_id, criterion_id): verdict
        for response_id, criterion_id, verdict in Grade.objects.filter(run=run, repeat=1)
        .values_list("response_id", "criterion_id", "verdict")
        .iterator(chunk_size=20_000)
    }
    responses, failed = [], 0
    is_begun: dict[Slice, bool] = {}
    rows = RunResponse.objects.filter(run=run).select_related("response__conversation", "response__respondent")
    rows = rows.defer("response__text", "response__conversation__messages")
    for row in rows.order_by("response__respondent__name", "response__conversation__external_id", "response__sample"):
        if row.is_failed:
            failed += 1
            continue
        response, conversation = row.response, row.response.conversation
        name = response.respondent.name
        pairs = []
        for criterion in criteria[conversation.item_sha256]:
            verdict = grades.get((response.id, criterion.id))
            pairs.append(GradedPair(criterion.points, criterion.axis, Verdict(verdict or Verdict.UNSCORED)))
            acuity = conversation.acuity or UNKNOWN_ACUITY
            for part in (Slice(name), Slice(name, axis=criterion.axis), Slice(name, acuity=acuity)):
                is_begun[part] = is_begun.get(part, False) or verdict is not None
        responses.append(
            GradedResponse(conversation.item_sha256, name, response.sample, conversation.acuity, pairs),
        )
    waiting = frozenset(part for part, has_begun in is_begun.items() if not has_begun)
    return GradedResponses(responses, failed, len(grades), waiting)


def report_scores(run: Run) -> ScoreReport:
    """The scores of a run as they are now."""
    found = graded_responses(run)
    verdicts = [pair.verdict for response in found.responses for pair in response.pairs]
    return ScoreReport(
        run=run,
        pairs=len(verdicts),
        graded=found.graded,
        scored=sum(verdict != Verdict.UNSCORED for verdict in verdicts),
        failed=found.failed,
        respondents=score_respondents(found.responses),
        waiting=found.waiting,
    )


def scores_as_data(report: ScoreReport) -> dict[str, Any]:
    """The report as plain data, for the API and ``scores --json``. Undefined numbers are null, with their reason."""
    return {
        "run": str(report.run.id),
        "grader": report.run.grader.name,
        "version": report.run.version.address,
        "state": report.run.state,
        "pairs": report.pairs,
        "graded": report.graded,
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
        "scorable": scores.scorable,
        "pairs": scores.pairs,
        "scored": scores.scored_pairs,
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
