"""What the API answers of the agreement on blind votes. A number that can't be computed is null, and ``undefined``
says why, by the number's name."""

from typing import Any

from rest_framework import serializers

from grading.api_report_shapes import number, reasons


class VoteFiguresShape(serializers.Serializer[Any]):
    """Agreement on ``criteria``, of which ``compared`` have two votes or more that agree or object.

    ``agree`` and ``object`` are the specific agreements, ``observed`` percent agreement as a proportion, ``weights``
    the median absolute difference of two agreeing people's weights. ``with_majority`` of ``beside_majority`` votes say
    what most of the others say.
    """

    people = serializers.IntegerField()
    criteria = serializers.IntegerField()
    compared = serializers.IntegerField()
    agreed = serializers.IntegerField()
    objected = serializers.IntegerField()
    abstained = serializers.IntegerField()
    recused = serializers.IntegerField()
    imported = serializers.IntegerField()
    is_too_few = serializers.BooleanField(help_text="Pages show counts in place of coefficients.")
    with_majority = serializers.IntegerField()
    beside_majority = serializers.IntegerField()
    agree = number()
    object = number()
    ac1 = number()
    alpha = number()
    observed = number()
    weights = number()
    undefined = reasons()


def by_when(child: serializers.Field[Any, Any, Any, Any], text: str) -> serializers.DictField:
    return serializers.DictField(child=child, help_text=f"{text}, by *first* and *last*.")


class VoteAgreementShape(serializers.Serializer[Any]):
    """The first round in which each criterion was voted in, and the last; ``again`` of those voted on more than once.

    Null where it would tell of fewer than ``fewest_people`` people. ``open_conversations`` have a round that is not
    revealed, and are left out.
    """

    study = serializers.CharField()
    open_conversations = serializers.IntegerField()
    has_votes = serializers.BooleanField()
    voted_again = serializers.IntegerField()
    fewest_people = serializers.IntegerField()
    first = VoteFiguresShape(allow_null=True)
    last = VoteFiguresShape(allow_null=True)
    again_first = VoteFiguresShape(allow_null=True)
    again_last = VoteFiguresShape(allow_null=True)
    by_axis = by_when(serializers.DictField(child=VoteFiguresShape()), "Figures by axis")
    axes_left_out = by_when(serializers.IntegerField(), "How many axes can't be told of")
    by_category = by_when(serializers.DictField(child=serializers.IntegerField()), "Objections by category")
    sentences = serializers.ListField(child=serializers.CharField(), help_text="The report in words.")


class OwnFiguresShape(serializers.Serializer[Any]):
    """Your votes that agree or object, beside the majority of two or more others.

    ``weight_difference`` is your weight less the mean of the others', in points, over ``weighed`` criteria: plus is
    heavier.
    """

    votes = serializers.IntegerField()
    imported = serializers.IntegerField()
    compared = serializers.IntegerField()
    without_majority = serializers.IntegerField()
    others_agreed = serializers.IntegerField()
    agreed_too = serializers.IntegerField()
    others_objected = serializers.IntegerField()
    objected_too = serializers.IntegerField()
    weighed = serializers.IntegerField()
    with_majority = number()
    where_others_agreed = number()
    where_others_objected = number()
    weight_difference = number()
    undefined = reasons()


class OwnVotesShape(serializers.Serializer[Any]):
    """``open_conversations`` of those that you review have a round that is not revealed, and are left out."""

    open_conversations = serializers.IntegerField()
    first = OwnFiguresShape()
    last = OwnFiguresShape()
