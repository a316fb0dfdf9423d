"""The REST API of practice: a clinician's examples and answers, and the examples as an admin writes them."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_access import StudyView, checked
from annotation.api_admin import AdminView
from annotation.api_shapes import MessageShape
from annotation.models import ObjectionCategory, PracticeChoice, PracticeExample, PracticePart, Role
from annotation.practising import Exercise, answer_example, begin_anew, practice_of, skip_practice
from annotation.writing_practice import (
    LONGEST_TEXT,
    ExampleFacts,
    add_example,
    change_example,
    move_example,
    remove_example,
)

EXAMPLE = OpenApiParameter("example_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class PracticeAnswerShape(serializers.Serializer[Any]):
    """What you answered; ``is_same``: as the guidelines do."""

    choice = serializers.ChoiceField(choices=PracticeChoice.choices, source="answer.choice")
    points = serializers.IntegerField(source="answer.points", allow_null=True)
    category = serializers.CharField(source="answer.category", allow_blank=True)
    is_same = serializers.BooleanField()


class PracticeFeedbackShape(serializers.Serializer[Any]):
    """What the guidelines answer, and why, in Markdown."""

    choice = serializers.ChoiceField(choices=PracticeChoice.choices)
    points_low = serializers.IntegerField(allow_null=True)
    points_high = serializers.IntegerField(allow_null=True)
    categories = serializers.ListField(child=serializers.ChoiceField(choices=ObjectionCategory.choices))
    feedback = serializers.CharField()


class ExerciseShape(serializers.Serializer[Any]):
    """One example. ``answer`` and ``guidelines`` are null until you have answered it."""

    id = serializers.UUIDField()
    messages = MessageShape(many=True, source="example.messages")
    language = serializers.CharField(source="example.language", allow_blank=True)
    criterion = serializers.CharField(source="example.criterion")
    is_wanted = serializers.BooleanField(source="example.is_wanted")
    answer = serializers.SerializerMethodField()
    guidelines = serializers.SerializerMethodField()

    @extend_schema_field(PracticeAnswerShape(allow_null=True))
    def get_answer(self, exercise: Exercise) -> Any:
        return PracticeAnswerShape(exercise).data if exercise.answer else None

    @extend_schema_field(PracticeFeedbackShape(allow_null=True))
    def get_guidelines(self, exercise: Exercise) -> Any:
        return PracticeFeedbackShape(exercise.example).data if exercise.answer else None


class PracticeShape(serializers.Serializer[Any]):
    """``is_due``: you are new here and were never led to it. ``ending`` is empty until you finished or skipped it."""

    is_due = serializers.BooleanField()
    ending = serializers.ChoiceField(choices=[("", ""), *PracticePart.Ending.choices])
    examples = ExerciseShape(many=True, source="exercises")


class PracticeAnswerInput(serializers.Serializer[Any]):
    """``points`` with agree, ``category`` with object, neither with abstain."""

    example = serializers.UUIDField()
    choice = serializers.ChoiceField(choices=PracticeChoice.choices)
    points = serializers.IntegerField(min_value=-10, max_value=10, allow_null=True, default=None)
    category = serializers.ChoiceField(choices=[("", ""), *ObjectionCategory.choices], default="")


class ExampleShape(PracticeFeedbackShape):
    """An example as its admin writes it. ``edition`` goes with a change of it."""

    id = serializers.UUIDField()
    external_id = serializers.CharField()
    edition = serializers.IntegerField()
    messages = MessageShape(many=True)
    language = serializers.CharField(allow_blank=True)
    criterion = serializers.CharField()
    is_wanted = serializers.BooleanField()


class MessageInput(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=["system", "user", "assistant"])
    content = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=LONGEST_TEXT)


class ExampleInput(serializers.Serializer[Any]):
    """``points_low`` and ``points_high`` with agree, ``categories`` with object. ``feedback`` is Markdown."""

    messages = MessageInput(many=True)
    language = serializers.CharField(allow_blank=True, default="", max_length=35)
    criterion = serializers.CharField(trim_whitespace=False, max_length=LONGEST_TEXT)
    is_wanted = serializers.BooleanField()
    choice = serializers.ChoiceField(choices=PracticeChoice.choices)
    points_low = serializers.IntegerField(min_value=-10, max_value=10, allow_null=True, default=None)
    points_high = serializers.IntegerField(min_value=-10, max_value=10, allow_null=True, default=None)
    categories = serializers.ListField(child=serializers.ChoiceField(choices=ObjectionCategory.choices), default=list)
    feedback = serializers.CharField(trim_whitespace=False, max_length=LONGEST_TEXT)


class ExampleChangeInput(ExampleInput):
    """The whole example anew; ``seen`` is the edition that you read: another one by now answers 409."""

    seen = serializers.IntegerField(min_value=1)


class MoveInput(serializers.Serializer[Any]):
    to = serializers.ChoiceField(choices=["earlier", "later"])


class OwnPractice(StudyView):
    """The study's practice, and your own answers to it. Nobody else reads them, and nothing of it counts."""

    roles_for = dict.fromkeys(("GET", "POST"), (Role.CLINICIAN,))

    @extend_schema(operation_id="practice_retrieve", responses=PracticeShape)
    def get(self, request: Request, slug: str) -> Response:
        return self.told()

    def told(self, code: int = status.HTTP_200_OK) -> Response:
        practice = practice_of(self.study, self.person)
        facts = {
            "is_due": practice.is_due,
            "ending": practice.part.ending if practice.part else "",
            "exercises": practice.exercises,
        }
        return Response(PracticeShape(facts).data, status=code)


class PracticeAnswers(StudyView):
    """POST answers an example, or answers it again, and gives what the guidelines say."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="practice_answer", request=PracticeAnswerInput, responses={201: ExerciseShape})
    def post(self, request: Request, slug: str) -> Response:
        facts = checked(PracticeAnswerInput(data=request.data))
        example_id = facts.pop("example")
        exercise = practice_of(self.study, self.person).exercise(example_id)
        if exercise is None:
            raise Http404("There is no such practice example in this study.")
        exercise.answer = answer_example(example=exercise.example, by=self.person, **facts)
        return Response(ExerciseShape(exercise).data, status=status.HTTP_201_CREATED)


class SkipPractice(StudyView):
    """POST leaves the practice out; you can come back to it."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="practice_skip", request=None, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        skip_practice(study=self.study, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PracticeAgain(StudyView):
    """POST takes your answers back, so that you can answer afresh."""

    roles_for = {"POST": (Role.CLINICIAN,)}

    @extend_schema(operation_id="practice_begin_anew", request=None, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        begin_anew(study=self.study, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Examples(AdminView):
    """The study's practice examples in their order. POST writes one more, the last."""

    @extend_schema(operation_id="practice_examples_list", responses=ExampleShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = PracticeExample.objects.standing().filter(study=self.study)
        return Response(ExampleShape(rows, many=True).data)

    @extend_schema(operation_id="practice_examples_add", request=ExampleInput, responses={201: ExampleShape})
    def post(self, request: Request, slug: str) -> Response:
        facts = ExampleFacts(**_plain(checked(ExampleInput(data=request.data))))
        made = add_example(study=self.study, facts=facts, by=self.person)
        return Response(ExampleShape(made).data, status=status.HTTP_201_CREATED)


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return facts | {"messages": [dict(message) for message in facts["messages"]]}


class ExampleView(AdminView):
    """Something about one example."""

    def find(self, example_id: UUID) -> PracticeExample:
        rows = PracticeExample.objects.standing().filter(study=self.study)
        found = rows.select_related("study").filter(pk=example_id).first()
        if found is None:
            raise Http404("There is no such practice example in this study.")
        return found


class OneExample(ExampleView):
    """One example. PUT writes it anew, DELETE takes it out of the practice."""

    roles_for = {**AdminView.roles_for, "PUT": (Role.ADMIN,)}

    @extend_schema(operation_id="practice_examples_retrieve", parameters=[EXAMPLE], responses=ExampleShape)
    def get(self, request: Request, slug: str, example_id: UUID) -> Response:
        return Response(ExampleShape(self.find(example_id)).data)

    @extend_schema(
        operation_id="practice_examples_change",
        parameters=[EXAMPLE],
        request=ExampleChangeInput,
        responses=ExampleShape,
    )
    def put(self, request: Request, slug: str, example_id: UUID) -> Response:
        example = self.find(example_id)
        facts = _plain(checked(ExampleChangeInput(data=request.data)))
        seen = facts.pop("seen")
        changed = change_example(example=example, seen=seen, facts=ExampleFacts(**facts), by=self.person)
        return Response(ExampleShape(changed).data)

    @extend_schema(operation_id="practice_examples_remove", parameters=[EXAMPLE], responses={204: None})
    def delete(self, request: Request, slug: str, example_id: UUID) -> Response:
        remove_example(example=self.find(example_id), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MoveExample(ExampleView):
    """POST lets an example change places with the one before it or after it."""

    @extend_schema(
        operation_id="practice_examples_move", parameters=[EXAMPLE], request=MoveInput, responses={204: None}
    )
    def post(self, request: Request, slug: str, example_id: UUID) -> Response:
        earlier = checked(MoveInput(data=request.data))["to"] == "earlier"
        move_example(example=self.find(example_id), earlier=earlier)
        return Response(status=status.HTTP_204_NO_CONTENT)
