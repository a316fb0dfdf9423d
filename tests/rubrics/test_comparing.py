"""What changed between versions: matched by criterion, told by kind."""

import pytest

from annotation.drafting import revise_criterion
from annotation.models import Criterion
from annotation.round_acts import open_round
from rubrics.comparing import Change, ChangeKind, counted, stands_of, what_changed
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version, preview_freeze
from rubrics.models import RubricVersion
from tests.factories import Panel, make_panel, vote
from tests.rubrics.making import make_agreed

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def freeze(panel: Panel, **facts: object) -> RubricVersion:
    return freeze_version(study=panel.study, by=None, note="", acknowledged=ACKNOWLEDGE_ALL, **facts)  # type: ignore[arg-type]


def agree_again(panel: Panel, criterion: Criterion, *, text: str, axis: str, points: int) -> None:
    """Revise after the reveal, and bring the new wording to consensus in the next round."""
    criterion = Criterion.objects.select_related("current_revision").get(pk=criterion.pk)
    assert criterion.current_revision is not None
    revise_criterion(
        criterion=criterion, against=criterion.current_revision, by=panel.ana, text=text, points=points, axis=axis
    )
    open_round(conversation=criterion.conversation, by=panel.adam)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer, points=points)


def kinds(changes: list[Change]) -> dict[object, list[str]]:
    return {change.criterion_id: [kind.value for kind in change.kinds] for change in changes}


def test_criteria_are_added_removed_reworded_reweighted_and_moved(panel: Panel) -> None:
    _, (same, gone) = make_agreed(panel=panel, texts=["Same.", "Gone."])
    _, (changed,) = make_agreed(panel=panel, texts=["Changed."], points=5)
    first = freeze(panel)
    agree_again(panel, changed, text="Worded anew.", axis="empathy_emotional_attunement_and_support", points=3)
    _, (added,) = make_agreed(panel=panel, texts=["Added."])
    second = freeze(panel, leave_out={gone.id: "Not needed."})
    changes = what_changed(stands_of(first), stands_of(second))
    assert kinds(changes) == {
        changed.id: ["reworded", "reweighted", "axis_moved"],
        added.id: ["added"],
        gone.id: ["removed"],
    }
    assert same.id not in kinds(changes)
    assert counted(changes) == {
        "added": 1,
        "removed": 1,
        "reworded": 1,
        "reweighted": 1,
        "axis_moved": 1,
        "rescaled": 0,
    }
    by_id = {change.criterion_id: change for change in changes}
    assert (by_id[gone.id].after, by_id[gone.id].stand.text) == (None, "Gone.")
    assert by_id[changed.id].before is not None
    assert by_id[changed.id].stand.text == "Worded anew."


def test_nothing_changed_between_a_version_and_the_same_preview(panel: Panel) -> None:
    make_agreed(panel=panel)
    freeze(panel)
    assert preview_freeze(study=panel.study).changes == []


def test_a_change_of_points_alone_is_no_rewording(panel: Panel) -> None:
    make_agreed(panel=panel)
    before = stands_of(freeze(panel))
    (key, stand), *_ = before.items()
    after = {key: type(stand)(**{**{name: getattr(stand, name) for name in stand.__slots__}, "points": -1})}
    assert what_changed(before, after)[0].kinds == (ChangeKind.REWEIGHTED,)
