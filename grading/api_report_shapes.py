"""What the API answers of a run's scores, its agreement and the pairs behind them.

A number that can't be computed is null, and ``undefined`` says why, by the number's name.
"""

from typing import Any

from rest_framework import serializers

from grading.models import Grade
from grading.statistics.undefined import Reason

VERDICTS = ["met", "not_met"]


def number() -> serializers.FloatField:
    return serializers.FloatField(allow_null=True)


def reasons(**facts: Any) -> serializers.DictField:
    return serializers.DictField(
        child=serializers.ChoiceField(choices=[(this.value, this.sentence) for this in Reason]),
        help_text="Why a number is null, by its name.",
        **facts,
    )


def confusion() -> serializers.DictField:
    return serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField()),
        help_text="Pairs by what the grader said, then by what the clinician said: met, not_met.",
    )


# Scores


class AxisScoresShape(serializers.Serializer[Any]):
    healthbench = number()
    mentalhealthbench = number()
    averaged = serializers.IntegerField()
    conversations = serializers.IntegerField()
    scorable = serializers.IntegerField()
    undefined = reasons(required=False)


class AcuityScoresShape(serializers.Serializer[Any]):
    healthbench = number()
    mentalhealthbench = number()
    n = serializers.IntegerField()
    complete = serializers.IntegerField()
    averaged = serializers.IntegerField()
    scorable = serializers.IntegerField()
    undefined = reasons(required=False)


class RespondentScoresShape(serializers.Serializer[Any]):
    """What a run says of one respondent. ``bounds`` are the lowest and the highest score that any verdicts on the
    unscored pairs could lead to; null where no response has positive points."""

    respondent = serializers.CharField()
    healthbench = number()
    mentalhealthbench = number()
    coverage = number()
    positive_points_earned = number()
    penalty_burden = number()
    critical_failure_rate = number()
    n = serializers.IntegerField()
    complete = serializers.IntegerField()
    averaged = serializers.IntegerField()
    conversations = serializers.IntegerField()
    scorable = serializers.IntegerField()
    pairs = serializers.IntegerField()
    scored = serializers.IntegerField()
    without_positive_points = serializers.IntegerField()
    bounds = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, help_text="[low, high]"
    )
    critical_failures = serializers.IntegerField()
    by_axis = serializers.DictField(child=AxisScoresShape())
    by_acuity = serializers.DictField(child=AcuityScoresShape())
    undefined = reasons()


class ScoresShape(serializers.Serializer[Any]):
    """The scores of a run as they are now. ``pairs`` are the run's, ``graded`` those with a grade, ``scored``
    those with a verdict; ``failed`` counts responses. ``averaged`` of ``scorable`` responses stand behind a mean."""

    run = serializers.UUIDField()
    grader = serializers.CharField()
    version = serializers.CharField()
    state = serializers.CharField()
    pairs = serializers.IntegerField()
    graded = serializers.IntegerField()
    scored = serializers.IntegerField()
    coverage = number()
    failed = serializers.IntegerField()
    respondents = RespondentScoresShape(many=True)


# Agreement


class CountsShape(serializers.Serializer[Any]):
    """Agreement on a single criterion: counts, for it has one conversation."""

    n = serializers.IntegerField()
    judged = serializers.IntegerField()
    coverage = number()
    observed = number()
    confusion = confusion()


class FiguresShape(serializers.Serializer[Any]):
    """Agreement over ``n`` pairs, which ``judged`` verdicts made. ``observed`` is percent agreement as a proportion.
    Pages show counts in place of coefficients where pairs or ``conversations`` are very few."""

    n = serializers.IntegerField()
    judged = serializers.IntegerField()
    coverage = number()
    conversations = serializers.IntegerField()
    observed = number()
    kappa = number()
    ac1 = number()
    macro_f1 = number()
    confusion = confusion()
    undefined = reasons()


class ClinicianFiguresShape(FiguresShape):
    reviewer = serializers.CharField()


class AgreementShape(FiguresShape):
    """The grader against every clinician, and each clinician against the others on the same pairs.

    ``not_blind`` counts verdicts that stay out, since their owners had opened the grades before.
    """

    run = serializers.UUIDField()
    grader = serializers.CharField()
    grader_digest = serializers.CharField()
    version = serializers.CharField()
    state = serializers.CharField()
    pairs = serializers.IntegerField(help_text="The run's.")
    graded = serializers.IntegerField(help_text="The run's pairs that have a grade, scored or not.")
    finding = serializers.CharField(help_text="The report in one sentence.")
    alpha = number()
    alpha_clinicians = number()
    clinicians = ClinicianFiguresShape(many=True)
    among_clinicians = ClinicianFiguresShape(many=True)
    by_criterion = serializers.DictField(child=CountsShape())
    by_axis = serializers.DictField(child=FiguresShape())
    not_blind = serializers.IntegerField()


class ChartPointShape(serializers.Serializer[Any]):
    """A clinician in the figure of the agreement page: kappa with the grader, and with the other clinicians."""

    reviewer = serializers.CharField()
    kappa_with_grader = number()
    kappa_with_clinicians = number()


# Pairs


class QuoteShape(serializers.Serializer[Any]):
    text = serializers.CharField()
    is_found = serializers.BooleanField()


class GradeShape(serializers.ModelSerializer[Grade]):
    quotes = QuoteShape(many=True)

    class Meta:
        model = Grade
        fields = ["verdict", "reason", "explanation", "quotes", "condition_absent", "is_contradicting_itself"]


class PairShape(serializers.Serializer[Any]):
    """What a clinician and the grader said of one response and criterion.

    ``clinician`` is null for *can't tell*; ``grade`` where there is none yet.
    """

    reviewer = serializers.CharField(source="pair.reviewer")
    clinician = serializers.ChoiceField(choices=VERDICTS, source="pair.clinician", allow_null=True)
    criterion = serializers.UUIDField(source="pair.criterion.criterion_id")
    external_id = serializers.CharField(source="pair.criterion.external_id")
    text = serializers.CharField(source="pair.criterion.text", allow_null=True)
    points = serializers.IntegerField(source="pair.criterion.points")
    axis = serializers.CharField(source="pair.criterion.axis")
    response = serializers.UUIDField(source="response.id")
    response_text = serializers.CharField(source="response.text")
    respondent = serializers.CharField(source="response.respondent.name")
    conversation = serializers.CharField(source="response.conversation.external_id")
    grade = GradeShape(allow_null=True)
