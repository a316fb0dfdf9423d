"""The REST API of responses, graders, runs, scores, agreement and reviewer verdicts."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from annotation.api_access import PagedView, StudyView, checked
from annotation.models import Role
from grading.agreement import agreement_as_data, report_agreement
from grading.graders import register_grader
from grading.judging import give_verdict, open_grades, responses_to_judge
from grading.models import Grader, Response, ReviewerVerdict, Run
from grading.runs import cancel_run, pause_run, resume_run, run_status, start_run
from grading.score_report import report_scores, scores_as_data
from rubrics.models import RubricVersion

OVERSEERS = (Role.RESEARCHER, Role.ADMIN)


class ResponseShape(serializers.ModelSerializer[Response]):
    respondent = serializers.CharField(source="respondent.name")

    class Meta:
        model = Response
        fields = ["id", "conversation", "respondent", "sample", "text", "finish_reason", "is_refusal", "is_failed"]


class GraderShape(serializers.ModelSerializer[Grader]):
    class Meta:
        model = Grader
        fields = ["name", "base_url", "model", "prompt_version", "mode", "concurrency", "digest", "is_trial_only"]


class GraderInput(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    base_url = serializers.CharField(max_length=500)
    model = serializers.CharField(max_length=200)
    api_key_variable = serializers.CharField(default="", allow_blank=True)
    concurrency = serializers.IntegerField(default=8, min_value=1, max_value=1000)


class RunShape(serializers.ModelSerializer[Run]):
    version = serializers.CharField(source="version.address")
    grader = serializers.CharField(source="grader.name")

    class Meta:
        model = Run
        fields = ["id", "version", "grader", "state", "stop_reason", "pairs", "created_at", "started_at", "ended_at"]


class RunInput(serializers.Serializer[Any]):
    version = serializers.CharField(help_text="The number of an own version, the name of an external one.")
    grader = serializers.CharField(help_text="The grader's name.")


class VerdictInput(serializers.Serializer[Any]):
    response = serializers.UUIDField()
    criterion = serializers.UUIDField(help_text="The frozen criterion.")
    verdict = serializers.ChoiceField(choices=ReviewerVerdict.Verdict.choices)
    comment = serializers.CharField(default="", allow_blank=True)


class Responses(PagedView):
    """The study's responses with their respondents: for researchers and admins."""

    roles_for = {"GET": OVERSEERS}

    @extend_schema(operation_id="responses_list", responses=ResponseShape(many=True))
    def get(self, request: Request, slug: str) -> Answer:
        return self.page(Response.objects.filter(study=self.study).select_related("respondent"), ResponseShape)


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
        made = start_run(study=self.study, version=self._version(facts["version"]), grader=grader, by=self.person)
        return Answer(RunShape(made).data, status=status.HTTP_201_CREATED)

    def _version(self, address: str) -> RubricVersion:
        versions = RubricVersion.objects.filter(study=self.study)
        found = versions.filter(number=int(address)) if address.isdigit() else versions.filter(name__iexact=address)
        version = found.first()
        if version is None:
            raise Http404("The study has no such version.")
        return version


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

    @extend_schema(operation_id="runs_retrieve", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        return Answer(run_status(self.find_run(run_id)))


class RunAct(RunView):
    """POST pauses, resumes or cancels a run."""

    acts = {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}

    @extend_schema(operation_id="runs_act", request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, run_id: UUID, act: str) -> Answer:
        run = self.find_run(run_id)
        self.acts[act](run=run)
        return Answer(run_status(self.find_run(run_id)))


class Scores(RunView):
    """A run's scores. Whoever opens them is no longer a blind judge of its pairs; the opening is recorded."""

    @extend_schema(operation_id="scores_retrieve", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        run = self.find_run(run_id)
        open_grades(run=run, by=self.person)
        return Answer(scores_as_data(report_scores(run)))


class Agreement(RunView):
    """A run's agreement. Whoever opens it is no longer a blind judge of its pairs; the opening is recorded."""

    @extend_schema(operation_id="agreement_retrieve", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, run_id: UUID) -> Answer:
        run = self.find_run(run_id)
        open_grades(run=run, by=self.person)
        return Answer(agreement_as_data(report_agreement(run)))


class Verdicts(StudyView):
    """POST gives or changes your verdict on one response and criterion; you see neither respondent nor grade."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="verdicts_create", request=VerdictInput, responses={201: VerdictInput})
    def post(self, request: Request, slug: str) -> Answer:
        facts = checked(VerdictInput(data=request.data))
        version = RubricVersion.objects.filter(study=self.study, criteria=facts["criterion"]).first()
        if version is None:
            raise Http404("The study has no such frozen criterion.")
        criterion = version.criteria.select_related("frozen_conversation", "version__study").get(pk=facts["criterion"])
        response = responses_to_judge(version).filter(pk=facts["response"]).first()
        if response is None:
            raise Http404("There is no such response to judge.")
        given = give_verdict(
            response=response,
            criterion=criterion,
            reviewer=self.person,
            verdict=ReviewerVerdict.Verdict(facts["verdict"]),
            comment=facts["comment"],
        )
        data = {**facts, "verdict": given.verdict, "comment": given.comment}
        return Answer(VerdictInput(data).data, status=status.HTTP_201_CREATED)
