"""The REST API of responses, graders and runs: the same acts, predicates and refusals as the pages."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from annotation.api_access import PagedView, StudyView, checked
from annotation.api_shapes import UploadInput
from annotation.models import FileImport, Role
from grading.api_shapes import (
    GraderInput,
    GraderShape,
    RespondentShape,
    ResponseShape,
    RunInput,
    RunShape,
    RunStatusShape,
)
from grading.graders import register_grader
from grading.models import Grader, Response, Run
from grading.permissions import sees_respondents, status_for
from grading.respondents import respondents_of
from grading.runs import cancel_run, pause_run, resume_run, start_run
from grading.uploading import UPLOADS
from rubrics.api_shapes import ReportShape
from rubrics.permissions import find_version_of
from rubrics.uploading import take_file_in

OVERSEERS = (Role.RESEARCHER, Role.ADMIN)
FILE_SCHEMA: dict[str, Any] = {
    "request": {"multipart/form-data": UploadInput},
    "responses": {200: ReportShape, 422: ReportShape},
}


class Responses(PagedView):
    """The study's responses. Whoever judges by hand is not told who wrote them, in whatever other role."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(operation_id="responses_list", responses=ResponseShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        rows = Response.objects.filter(study=self.study).select_related("respondent")
        return self.page(rows, ResponseShape, with_respondents=sees_respondents(self.membership))


class Respondents(PagedView):
    """The study's respondents with their responses in numbers."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(operation_id="respondents_list", responses=RespondentShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        return self.page(respondents_of(self.study), RespondentShape)


class ImportView(StudyView):
    """POST takes a file in, whole; with ``check`` it writes nothing."""

    roles_for = {"POST": (Role.RESEARCHER,)}
    parser_classes = [MultiPartParser]
    kind: FileImport.Kind

    def take_in(self, request: Request) -> Answer:
        given = checked(UploadInput(data=request.data))
        report = take_file_in(
            UPLOADS[self.kind], study=self.study, file=given["file"], by=self.person, check=given["check"], given={}
        )
        code = status.HTTP_422_UNPROCESSABLE_ENTITY if report.errors else status.HTTP_200_OK
        return Answer(report.as_plain(), status=code)


class ResponsesImport(ImportView):
    """POST takes a file of responses in (JSONL, CSV, XLSX), whole; with ``check`` it writes nothing."""

    kind = FileImport.Kind.RESPONSES

    @extend_schema(operation_id="responses_import", **FILE_SCHEMA)
    def post(self, request: Request, slug: str) -> Answer:
        return self.take_in(request)


class Graders(StudyView):
    """The study's graders; POST registers one. Keys are named, never shown."""

    roles_for = {"GET": OVERSEERS, "POST": (Role.RESEARCHER,)}

    @extend_schema(operation_id="graders_list", responses=GraderShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        return Answer(GraderShape(Grader.objects.filter(study=self.study).order_by("name"), many=True).data)

    @extend_schema(operation_id="graders_create", request=GraderInput, responses={201: GraderShape})
    def post(self, request: Request, slug: str) -> Answer:
        facts = checked(GraderInput(data=request.data))
        grader = register_grader(study=self.study, by=self.person, on_page=True, **facts)
        return Answer(GraderShape(grader).data, status=status.HTTP_201_CREATED)


class Runs(PagedView):
    """The study's runs; POST starts one."""

    roles_for = {"GET": OVERSEERS, "POST": (Role.RESEARCHER,)}

    @extend_schema(operation_id="runs_list", responses=RunShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        return self.page(Run.objects.filter(study=self.study).select_related("version", "grader"), RunShape)

    @extend_schema(operation_id="runs_create", request=RunInput, responses={201: RunShape})
    def post(self, request: Request, slug: str) -> Answer:
        facts = checked(RunInput(data=request.data))
        grader = Grader.objects.filter(study=self.study, name=facts["grader"]).first()
        if grader is None:
            raise Http404("The study has no such grader.")
        version = find_version_of(self.study, facts["version"])
        made = start_run(study=self.study, version=version, grader=grader, by=self.person, is_deliberate=False)
        return Answer(RunShape(made).data, status=status.HTTP_201_CREATED)


class RunView(StudyView):
    """What views of one run share."""

    roles_for = {"GET": OVERSEERS, "POST": (Role.RESEARCHER,)}

    def find_run(self, run_id: UUID) -> Run:
        run = Run.objects.select_related("version", "grader", "study").filter(study=self.study, pk=run_id).first()
        if run is None:
            raise Http404("There is no such run.")
        return run


class OneRun(RunView):
    """A run's state and counts."""

    @extend_schema(operation_id="runs_retrieve", responses=RunStatusShape)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        return Answer(status_for(self.find_run(run_id), self.membership))


class RunAct(RunView):
    """POST pauses, resumes or cancels a run."""

    acts = {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}

    @extend_schema(operation_id="runs_act", request=None, responses=RunStatusShape)
    def post(self, request: Request, slug: str, run_id: UUID, act: str) -> Answer:
        run = self.find_run(run_id)
        self.acts[act](run=run)
        return Answer(status_for(self.find_run(run_id), self.membership))
