"""The REST API of a run's reports: scores, agreement, and the pairs behind every number.

Nothing of them is answered before its reader has opened the run's grades by a POST, which is recorded: whoever has
seen grades is no longer a blind judge of those pairs. A GET records nothing.
"""

from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from annotation.api_access import ByRandomId, PagedView
from grading.agreement import Judged, agreement_as_data, finding, report_agreement
from grading.api import OVERSEERS, RunView
from grading.api_report_shapes import VERDICTS, AgreementShape, ChartPointShape, PairShape, ScoresShape
from grading.judging import open_grades
from grading.models import ReviewerVerdict, Run
from grading.pairs import Asked, find_pairs, show_pairs
from grading.permissions import check_grades_opened
from grading.score_report import report_scores, scores_as_data


class OpenGrades(RunView):
    """POST opens a run's grades to you. From then on you are no longer a blind judge of its pairs: verdicts that you
    give on them afterwards are kept and marked, and don't count in the agreement."""

    roles_for = {"POST": OVERSEERS}

    @extend_schema(operation_id="runs_open_grades", request=None, responses={204: None})
    def post(self, request: Request, slug: str, run_id: UUID) -> Answer:
        open_grades(run=self.find_run(run_id), by=self.person)
        return Answer(status=status.HTTP_204_NO_CONTENT)


class ReportView(RunView):
    """What views of grades share: 409 until the reader has opened them."""

    roles_for = {"GET": OVERSEERS}

    def find_opened_run(self, run_id: UUID) -> Run:
        run = self.find_run(run_id)
        check_grades_opened(run, self.membership)
        return run


class Scores(ReportView):
    """A run's scores by respondent; 409 until you have opened its grades."""

    @extend_schema(operation_id="scores_retrieve", responses=ScoresShape)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        return Answer(scores_as_data(report_scores(self.find_opened_run(run_id))))


class Agreement(ReportView):
    """The agreement of a run's grader with the clinicians, beside theirs; 409 until you have opened its grades."""

    @extend_schema(operation_id="agreement_retrieve", responses=AgreementShape)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        report = report_agreement(self.find_opened_run(run_id))
        return Answer({**agreement_as_data(report), "finding": finding(report)})


class AgreementChart(ReportView):
    """The numbers of the agreement page's figure, a clinician each; 409 until you have opened the grades."""

    @extend_schema(operation_id="agreement_chart", responses=ChartPointShape(many=True))
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        report = report_agreement(self.find_opened_run(run_id))
        return Answer(
            [
                {
                    "reviewer": name,
                    "kappa_with_grader": figures.coefficients["kappa"].value,
                    "kappa_with_clinicians": among.coefficients["kappa"].value if among else None,
                }
                for name, figures in report.by_clinician.items()
                for among in [report.among_clinicians.get(name)]
            ]
        )


def asked_for(name: str, description: str, **facts: object) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=description, **facts)  # type: ignore[arg-type]


class Pairs(ReportView, PagedView):
    """The pairs behind a number of the agreement report; 409 until you have opened the run's grades."""

    @extend_schema(
        operation_id="pairs_list",
        parameters=[
            asked_for("criterion", "The criterion's id as in its file."),
            asked_for("axis", "The criterion's axis; empty for the criteria without one."),
            asked_for("reviewer", "The clinician's address."),
            asked_for("grader", "What the grader said.", enum=VERDICTS),
            asked_for("clinician", "What the clinician said.", enum=VERDICTS),
            asked_for("differ", "With any value: only the pairs on which grader and clinician differ."),
        ],
        responses=PairShape(many=True),
    )
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        run = self.find_opened_run(run_id)
        asked = Asked.of(request.query_params)
        pairs: dict[UUID, Judged] = {pair.verdict_id: pair for pair in find_pairs(run, asked)}
        paginator = ByRandomId()
        rows = ReviewerVerdict.objects.filter(pk__in=pairs).only("id")
        found: list[ReviewerVerdict] = paginator.paginate_queryset(rows, request, view=self) or []
        shaped = PairShape(show_pairs(run, [pairs[this.id] for this in found]), many=True)
        return paginator.get_paginated_response(shaped.data)
