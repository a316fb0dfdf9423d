"""Where one criterion stands in each of its study's own versions: in, left out and why, or written after it."""

from annotation.models import Criterion
from rubrics.explaining import Standing
from rubrics.models import FrozenCriterion, FrozenLeftOut, RubricVersion


def standings_of(criterion: Criterion) -> list[Standing]:
    """The standing in each own version, the newest first; none for a criterion of a published set. Three queries."""
    if criterion.external_name:
        return []
    versions = RubricVersion.objects.consensus().filter(study=criterion.study_id).order_by("-number")
    frozen = {this.version_id: this for this in FrozenCriterion.objects.filter(criterion=criterion)}
    left_out = {this.version_id: this for this in FrozenLeftOut.objects.filter(criterion=criterion)}
    return [_standing(version, frozen.get(version.id), left_out.get(version.id)) for version in versions]


def _standing(version: RubricVersion, frozen: FrozenCriterion | None, left_out: FrozenLeftOut | None) -> Standing:
    if frozen is not None:
        return Standing(True, frozen.sentence, version, frozen)
    if left_out is not None:
        return Standing(False, left_out.reason, version, is_acknowledged=left_out.is_acknowledged)
    return Standing(False, "It was written after this version was frozen.", version)
