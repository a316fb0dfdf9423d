"""A published file becomes an external version: its rows, names, digest, and what is refused."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewers
from annotation.models import Conversation, Criterion, Revision
from annotation.states import count_states
from rubrics import digests
from rubrics.finding import NoSuchVersion, find_version
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion
from rubrics.taking_in import (
    BATCH,
    ExternalCriterion,
    FileHasNoCriteria,
    NameCantBeUsed,
    NameIsTaken,
    RowCantBeTakenIn,
    find_taken,
)
from tests.factories import Panel, make_panel
from tests.rubrics.making import make_agreed, make_row, take_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


ASKS = ExternalCriterion(text="Asks about sleep.", points=5, axis="accuracy", extra='{"tags": ["level:example"]}')
BLAMES = ExternalCriterion(text="Blames the person.", points=-8, axis="communication_quality")


def test_a_published_file_becomes_a_version_known_by_its_name(panel: Panel) -> None:
    rows = [make_row(criteria=[ASKS, BLAMES]), make_row(criteria=[ASKS])]
    version = take_in(study=panel.study, rows=rows)
    assert (version.kind, version.name, version.number, version.policy) == ("external", "healthbench", None, None)
    assert (version.criteria_count, version.conversations_count) == (3, 2)
    assert version.axes == ["accuracy", "communication_quality"]
    assert (version.source_format, version.source_file_name) == ("healthbench", "set.jsonl")
    assert find_version(panel.study, "HealthBench") == version
    held = [
        (this.text, this.points, this.axis, this.position)
        for this in FrozenCriterion.objects.filter(version=version).order_by("position")
    ]
    assert held == [
        ("Asks about sleep.", 5, "accuracy", 0),
        ("Blames the person.", -8, "communication_quality", 1),
        ("Asks about sleep.", 5, "accuracy", 2),
    ]


def test_its_digest_is_made_as_that_of_an_own_version(panel: Panel) -> None:
    row = make_row(criteria=[ASKS])
    version = take_in(study=panel.study, rows=[row])
    items = [
        digests.conversation_sha256(conversation_id=row.external_id, messages=row.messages),
        digests.criterion_sha256(
            conversation_id=row.external_id, text=ASKS.text, points=5, axis="accuracy", scale="binary"
        ),
    ]
    assert version.digest == digests.digest_of(items)
    assert version.record_digest == digests.record_digest_of(
        digest=version.digest, votes=[], policy=digests.policy_sha256(None), note=digests.note_sha256("")
    )


def test_a_criterion_is_named_by_its_item_hash_and_an_exact_double_by_a_number(panel: Panel) -> None:
    version = take_in(study=panel.study, rows=[make_row(criteria=[ASKS, BLAMES, ASKS, ASKS])])
    asks, blames, double, triple = FrozenCriterion.objects.filter(version=version).order_by("position")
    name = asks.item_sha256[:16]
    assert [asks.external_id, double.external_id, triple.external_id] == [name, f"{name}-2", f"{name}-3"]
    assert blames.external_id == blames.item_sha256[:16]
    assert asks.item_sha256 == double.item_sha256


def test_its_rows_belong_to_it_alone(panel: Panel) -> None:
    version = take_in(study=panel.study, rows=[make_row(criteria=[ASKS, BLAMES])])
    conversation = Conversation.objects.get()
    assert conversation.external_name == version.name
    assert set(Criterion.objects.values_list("external_name", flat=True)) == {version.name}
    revision = Revision.objects.get(text=ASKS.text)
    assert revision.criterion.current_revision == revision
    assert revision.wording_id == revision.id
    assert assign_reviewers(study=panel.study).made == []
    assert not conversation.assignments.exists()
    assert sum(count_states(panel.study)["criteria"].values()) == 0
    assert not Conversation.objects.own().exists()


def test_an_id_may_be_the_same_in_the_study_and_in_two_published_sets(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="one")
    take_in(study=panel.study, rows=[make_row(external_id="one")])
    take_in(study=panel.study, rows=[make_row(external_id="one")], name="other")
    assert Conversation.objects.filter(external_id="one").count() == 3


def test_the_same_content_under_the_same_name_changes_nothing(panel: Panel) -> None:
    rows = [
        make_row(
            criteria=[ASKS, BLAMES], language="de", acuity="emergent", tags=["theme:hedging"], extra='{"a": 1, "b": 2}'
        ),
        make_row(criteria=[ASKS]),
    ]
    version = take_in(study=panel.study, rows=rows)
    counts = [model.objects.count() for model in (Conversation, Criterion, Revision, FrozenConversation)]
    again = [rows[1], make_row(**{name: getattr(rows[0], name) for name in rows[0].__slots__})]
    object.__setattr__(again[1], "extra", '{"b": 2, "a": 1}')
    assert take_in(study=panel.study, rows=again, name="HEALTHBENCH") == version
    assert find_taken(study=panel.study, name="healthbench", rows=rows) == version
    assert [model.objects.count() for model in (Conversation, Criterion, Revision, FrozenConversation)] == counts


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"role": "user", "content": "I can sleep."}]},
        {"criteria": [ASKS]},
        {"criteria": [ASKS, BLAMES, BLAMES]},
        {"criteria": [ASKS, ExternalCriterion(text="Blames the person.", points=-7, axis="communication_quality")]},
        {"criteria": [ASKS, ExternalCriterion(text=BLAMES.text, points=-8, axis=BLAMES.axis, extra='{"note": "x"}')]},
        {"language": "fr"},
        {"acuity": None},
        {"has_prior_context": False},
        {"tags": []},
        {"canary_string": "another"},
        {"extra": '{"a": 2}'},
    ],
)
def test_a_name_that_is_taken_by_other_content_is_refused(panel: Panel, change: dict[str, object]) -> None:
    facts: dict[str, object] = {
        "external_id": "one",
        "criteria": [ASKS, BLAMES],
        "language": "de",
        "acuity": "emergent",
        "tags": ["theme:hedging"],
        "canary_string": "canary",
        "extra": '{"a": 1}',
    }
    take_in(study=panel.study, rows=[make_row(**facts)])  # type: ignore[arg-type]
    with pytest.raises(NameIsTaken) as refusal:
        take_in(study=panel.study, rows=[make_row(**{**facts, **change})])  # type: ignore[arg-type]
    assert refusal.value.sentence == (
        'The name "healthbench" is taken by other content. Take the file in under another name.'
    )
    assert RubricVersion.objects.count() == 1


def test_a_file_with_a_row_more_is_other_content(panel: Panel) -> None:
    row = make_row()
    take_in(study=panel.study, rows=[row])
    with pytest.raises(NameIsTaken):
        take_in(study=panel.study, rows=[row, make_row()])
    assert take_in(study=panel.study, rows=[row, make_row()], name="longer").conversations_count == 2


@pytest.mark.parametrize("name", ["", "  ", "12", "٣", "a/b", "two\nlines", "x" * 101, ".."])
def test_a_name_that_could_not_be_an_address_is_refused(panel: Panel, name: str) -> None:
    with pytest.raises(NameCantBeUsed):
        take_in(study=panel.study, rows=[make_row()], name=name)


def test_a_file_without_criteria_is_refused(panel: Panel) -> None:
    row = make_row()
    object.__setattr__(row, "criteria", [])
    with pytest.raises(FileHasNoCriteria):
        take_in(study=panel.study, rows=[row])
    assert not Conversation.objects.exists()
    assert take_in(study=panel.study, rows=[row, make_row()]).conversations_count == 2


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ({"criteria": [ExternalCriterion(text="x", points=11)]}, "points are a whole number"),
        ({"criteria": [ExternalCriterion(text="", points=1)]}, "1 to 32,767 characters"),
        ({"criteria": [ExternalCriterion(text="x", points=1, axis="a" * 101)]}, "an axis has at most 100"),
        ({"acuity": "urgent"}, "acuity is one of non_acute"),
        ({"external_id": "e" * 501}, "an id has 1 to 500"),
        ({"tags": ["t" * 201]}, "a tag has at most 200"),
    ],
)
def test_what_no_row_can_hold_is_refused_with_its_line(panel: Panel, facts: dict[str, object], what: str) -> None:
    with pytest.raises(RowCantBeTakenIn) as refusal:
        take_in(study=panel.study, rows=[make_row(), make_row(**{"line": 7, **facts})])  # type: ignore[arg-type]
    assert refusal.value.sentence.startswith("Line 7: ")
    assert what in refusal.value.sentence
    assert not RubricVersion.objects.exists()


def test_an_id_that_stands_twice_is_refused_across_batches_too(panel: Panel) -> None:
    rows = [make_row(external_id=f"row {number}") for number in range(BATCH + 1)]
    with pytest.raises(RowCantBeTakenIn, match="stands twice"):
        take_in(study=panel.study, rows=[*rows, make_row(external_id="row 0")])


def test_all_of_a_file_is_written_or_nothing(panel: Panel) -> None:
    rows = [make_row(external_id=f"row {number}") for number in range(BATCH + 1)]
    rows.append(make_row(criteria=[ExternalCriterion(text="x", points=0)]))
    with pytest.raises(RowCantBeTakenIn):
        take_in(study=panel.study, rows=rows)
    assert not Conversation.objects.exists()
    assert not Criterion.objects.exists()


def test_mentalhealthbench_marks_the_study_as_not_for_public_text(panel: Panel) -> None:
    take_in(study=panel.study, rows=[make_row()])
    panel.study.refresh_from_db()
    assert not panel.study.is_not_for_public_text
    rows = [make_row(canary_string="the canary"), make_row(canary_string="the canary")]
    version = take_in(study=panel.study, rows=rows, name="mhb", source_format="mentalhealthbench")
    panel.study.refresh_from_db()
    assert panel.study.is_not_for_public_text
    assert version.canary_string == "the canary"


def test_an_own_versions_number_is_never_looked_up_as_a_name(panel: Panel) -> None:
    take_in(study=panel.study, rows=[make_row()])
    for address in ("1", "other", "", "9" * 30):
        with pytest.raises(NoSuchVersion):
            find_version(panel.study, address)


def test_what_our_own_exports_say_beside_the_shape_is_taken_up_again(panel: Panel) -> None:
    levels = [{"value": 0, "description": "none"}, {"value": 1, "description": "some"}]
    own = {"scale": "ordinal", "levels": levels, "rationale": "Why.", "votes": ["x"], "unknown_keys": {"points": "old"}}
    row = make_row(
        criteria=[ExternalCriterion(text="How warm.", points=2, extra=json.dumps({"consilium": own, "note": "kept"}))],
        extra=json.dumps({"consilium": {"language": "de", "country": "CH", "acuity": "emergent", "tags": ["a"]}}),
    )
    version = take_in(study=panel.study, rows=[row])
    held = version.conversations.get()
    assert (held.language, held.country, held.acuity, held.tags) == ("de", "CH", "emergent", ["a"])
    assert held.extra == ""
    criterion = version.criteria.get()
    assert (criterion.scale, criterion.levels, criterion.rationale) == ("ordinal", levels, "Why.")
    assert json.loads(criterion.extra) == {"note": "kept", "points": "old"}


def test_what_a_row_says_itself_goes_before_what_our_export_says(panel: Panel) -> None:
    row = make_row(language="fr", extra=json.dumps({"consilium": {"language": "de"}}))
    assert take_in(study=panel.study, rows=[row]).conversations.get().language == "fr"


@pytest.mark.parametrize("own", [{"acuity": "urgent"}, {"language": 3}, "text"])
def test_nonsense_in_an_export_is_refused_with_its_line(panel: Panel, own: object) -> None:
    with pytest.raises(RowCantBeTakenIn):
        take_in(study=panel.study, rows=[make_row(extra=json.dumps({"consilium": own}))])


def test_rows_are_written_in_batches_and_not_one_by_one(panel: Panel) -> None:
    rows = [make_row(external_id=f"row {number}", criteria=[ASKS, BLAMES]) for number in range(2 * BATCH)]
    with CaptureQueriesContext(connection) as captured:
        take_in(study=panel.study, rows=rows)
    assert len(captured) < 20  # a COPY for each of five tables and batch, and what is asked once
    assert FrozenConversation.objects.count() == 2 * BATCH
    positions = list(FrozenCriterion.objects.order_by("position").values_list("position", flat=True))
    assert positions == list(range(4 * BATCH))
