"""From verdicts to counts.

Two raters: a table of pairs, rows for the grader (or whoever is measured), columns for the clinician (or
whoever it is measured against). Many raters: a row of counts for each unit (a response x criterion). The
categories are a fixed, ordered list, so that one which nobody used still counts as a possible answer.

None stands for a verdict that is missing, unscored or "can't tell". It makes no pair and no count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """How often the grader (row) and the clinician (column) gave each combination of the categories.

    `counts` has shape (k, k) in the order of `categories`: whole numbers of pairs, or non-negative weights
    where pairs are weighted by how they were drawn. It is copied and can't be written to. ValueError when the
    shape is another, a category stands twice, there is none, or a count is negative or not finite.
    """

    categories: tuple[str, ...]
    counts: Counts

    def __post_init__(self) -> None:
        size = len(self.categories)
        if size == 0 or len(set(self.categories)) != size:
            raise ValueError("A table needs at least one category, and each of them once.")
        counts = checked_counts(self.counts)
        if counts.shape != (size, size):
            raise ValueError(f"A table of {size} categories has {size} rows and columns, not shape {counts.shape}.")
        object.__setattr__(self, "counts", counts)

    @property
    def n(self) -> int | float:
        """The number of pairs (the sum of their weights where they are weighted)."""
        total: int | float = self.counts.sum().item()
        return total


def checked_counts(counts: npt.ArrayLike) -> Counts:
    """A read-only copy of an array of counts, as int64 where they are whole numbers by type, else as float64.
    ValueError when one is negative, not finite or no number."""
    given = np.asarray(counts)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"Counts are numbers, not {given.dtype}.")
    copy: Counts = given.astype(np.float64) if given.dtype.kind == "f" else given.astype(np.int64)
    if not np.isfinite(copy).all() or (copy < 0).any():
        raise ValueError("A count is zero or more, and finite.")
    copy.setflags(write=False)
    return copy


def pair_ratings(
    *, grader: Sequence[str | None], clinician: Sequence[str | None], categories: Sequence[str]
) -> PairTable:
    """The table of two raters' verdicts on the same units: `grader[i]` and `clinician[i]` judge unit i.

    A unit with None on either side makes no pair. ValueError when the lengths differ or a verdict is no
    category.
    """
    return pair_with_others(selves=grader, others=[[verdict] for verdict in clinician], categories=categories)


def pair_with_others(
    *, selves: Sequence[str | None], others: Sequence[Sequence[str | None]], categories: Sequence[str]
) -> PairTable:
    """HealthBench's pairs: `selves[i]`, the measured rater's verdict on unit i, with each verdict of
    `others[i]`.

    A unit with more clinicians weighs more. None on either side makes no pair. ValueError when the lengths
    differ or a verdict is no category. Source: Arora et al. 2025 (HealthBench), meta-evaluation.
    """
    position = {category: index for index, category in enumerate(categories)}
    size = len(position)
    cells = [
        _position_of(own, position) * size + _position_of(other, position)
        for own, row in zip(selves, others, strict=True)
        if own is not None
        for other in row
        if other is not None
    ]
    counts = np.bincount(np.array(cells, dtype=np.int64), minlength=size * size).reshape(size, size)
    return PairTable(categories=tuple(categories), counts=counts)


def pair_each_with_others(
    units: Iterable[Sequence[tuple[str, str | None]]], *, categories: Sequence[str]
) -> dict[str, PairTable]:
    """Each rater against the others on the same units (the human benchmark), by rater in the order of their
    names.

    A unit is a sequence of (rater, verdict). Each pair of verdicts of a unit counts in both directions, once
    in either rater's table. A rater whom nobody else met has an empty table. ValueError when a verdict is no
    category.
    """
    selves: dict[str, list[str | None]] = {}
    others: dict[str, list[list[str | None]]] = {}
    for unit in units:
        verdicts = [verdict for _, verdict in unit]
        for index, (rater, verdict) in enumerate(unit):
            selves.setdefault(rater, []).append(verdict)
            others.setdefault(rater, []).append(verdicts[:index] + verdicts[index + 1 :])
    return {
        rater: pair_with_others(selves=selves[rater], others=others[rater], categories=categories)
        for rater in sorted(selves)
    }


def count_units(units: Iterable[Iterable[str | None]], *, categories: Sequence[str]) -> npt.NDArray[np.int64]:
    """How many raters gave each category to each unit: shape (units, k), whole numbers.

    A unit is its raters' verdicts, in any order; None is a rater who gave none. ValueError when a verdict is
    no category.
    """
    position = {category: index for index, category in enumerate(categories)}
    rows: list[list[int]] = []
    for unit in units:
        row = [0] * len(position)
        for verdict in unit:
            if verdict is not None:
                row[_position_of(verdict, position)] += 1
        rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(position))


def _position_of(verdict: str, position: dict[str, int]) -> int:
    if verdict not in position:
        raise ValueError(f"{verdict!r} is none of the categories {', '.join(position)}.")
    return position[verdict]
