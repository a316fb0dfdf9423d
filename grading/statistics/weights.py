"""How far the weights that raters gave to one criterion lie apart."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from grading.statistics.undefined import Coefficient, Reason, defined, undefined


def median_difference(units: Iterable[tuple[Sequence[int], int]]) -> Coefficient:
    """The median, over all pairs of weights that two raters gave to one unit, of their absolute difference; in points.

    A unit is (its weights, how many units have just these). The middle one of all differences, or the mean of the
    middle two, so a whole or a half; 0 where at least half of the pairs give the same weight. Undefined: no_pairs.
    Source: the median of absolute pairwise differences of Rousseeuw & Croux 1993, Journal of the American
    Statistical Association 88:1273-1283, with the pairs of each unit alone.
    """
    differences: Counter[int] = Counter()
    for weights, times in units:
        held = sorted(Counter(weights).items())
        differences[0] += times * sum(number * (number - 1) // 2 for _, number in held)
        for (low, fewer), (high, more) in combinations(held, 2):
            differences[high - low] += times * fewer * more
    total = differences.total()
    if total == 0:
        return undefined(Reason.NO_PAIRS)
    lower, upper = (_at(differences, place) for place in ((total - 1) // 2, total // 2))
    return defined((lower + upper) / 2)


def _at(differences: Counter[int], place: int) -> int:
    """What stands at a place of the sorted differences, counted from 0."""
    for difference, number in sorted(differences.items()):
        place -= number
        if place < 0:
            return difference
    raise ValueError("There are fewer differences than that.")
