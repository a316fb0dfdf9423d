"""What changed between two rubric versions, or between the newest version and what a freeze would take now.

Criteria are matched by what they are (the study's criterion), never by their text: one may be added, removed,
reworded, re-weighted, moved to another axis or given another scale, several of these at once.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import QuerySet

from consilium.canonical import normal_text
from rubrics.models import FrozenCriterion, RubricVersion
from rubrics.selecting import Selection


class ChangeKind(models.TextChoices):
    ADDED = "added", "added"
    REMOVED = "removed", "removed"
    REWORDED = "reworded", "reworded"
    REWEIGHTED = "reweighted", "re-weighted"
    AXIS_MOVED = "axis_moved", "moved to another axis"
    RESCALED = "rescaled", "given another scale"


@dataclass(frozen=True, slots=True)
class Stand:
    """A criterion as it stands in a version. A text that had to be emptied is None."""

    external_id: str
    conversation: str
    text: str | None
    points: int
    axis: str
    scale: str
    levels: object


@dataclass(frozen=True, slots=True)
class Change:
    """How one criterion differs: ``before`` is None where it was added, ``after`` where it was removed."""

    criterion_id: UUID
    before: Stand | None
    after: Stand | None
    kinds: tuple[ChangeKind, ...]

    @property
    def stand(self) -> Stand:
        """The criterion as it is named and read: the later one where there is one."""
        found = self.after or self.before
        assert found is not None
        return found


def stands_of(source: RubricVersion | Selection) -> dict[UUID, Stand]:
    """Answer the criteria of a version, or of what a freeze would take, in reading order."""
    if isinstance(source, Selection):
        return {
            this.criterion.id: Stand(
                this.criterion.external_id,
                this.place.external_id,
                this.criterion.text,
                this.points,
                this.criterion.axis,
                this.criterion.scale,
                this.criterion.levels,
            )
            for this in source.goes_in
        }
    rows: QuerySet[Any, Any] = (
        FrozenCriterion.objects.filter(version=source)
        .order_by("position")
        .values_list(
            "criterion_id",
            "external_id",
            "frozen_conversation__external_id",
            "text",
            "points",
            "axis",
            "scale",
            "levels",
        )
    )
    return {criterion_id: Stand(*stand) for criterion_id, *stand in rows.iterator(chunk_size=5000)}


def what_changed(before: Mapping[UUID, Stand], after: Mapping[UUID, Stand]) -> list[Change]:
    """Answer each criterion that differs, in the reading order of ``after``, then those that are gone."""
    changes = [
        Change(key, before.get(key), stand, kinds)
        for key, stand in after.items()
        if (kinds := _kinds(before.get(key), stand))
    ]
    gone = [Change(key, stand, None, (ChangeKind.REMOVED,)) for key, stand in before.items() if key not in after]
    return changes + gone


def counted(changes: list[Change]) -> dict[str, int]:
    """Answer how many criteria changed in each way; one that changed in two ways is counted in both."""
    counts = Counter(kind for change in changes for kind in change.kinds)
    return {kind.value: counts[kind] for kind in ChangeKind}


def _kinds(before: Stand | None, after: Stand) -> tuple[ChangeKind, ...]:
    if before is None:
        return (ChangeKind.ADDED,)
    # What is the same in a digest is the same here.
    is_reworded = normal_text(before.text or "") != normal_text(after.text or "")
    differing = {
        ChangeKind.REWORDED: is_reworded,
        ChangeKind.REWEIGHTED: before.points != after.points,
        ChangeKind.AXIS_MOVED: before.axis != after.axis,
        ChangeKind.RESCALED: (before.scale, before.levels) != (after.scale, after.levels),
    }
    return tuple(kind for kind, differs in differing.items() if differs)
