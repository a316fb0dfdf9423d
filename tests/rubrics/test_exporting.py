"""Exports: the published shapes, tables, the same bytes whenever made, and digests that a stranger can recompute.

The lines of Python in docs/digests.md are run as they stand there, on the exported files alone.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Acuity, Conversation, Criterion, Study, UserProfile
from rubrics.exporting import ExportFormat, export_version
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version, withdraw_version
from rubrics.importing import import_conversations
from rubrics.models import FrozenVote, RubricVersion
from rubrics.taking_in import ExternalCriterion
from tests.factories import Panel, make_panel, make_study, vote
from tests.rubrics.making import AXIS, make_agreed, make_drafted, make_row, take_in

pytestmark = pytest.mark.django_db

DOCS = Path(__file__).parents[2] / "docs" / "digests.md"
FORMATS = list(ExportFormat)
Recompute = Callable[[str], tuple[str, str]]

HOSTILE = [
    "=1+1 is no formula.",
    "'quoted at the start",
    "+41 is dialled\tfirst.",
    "One line\r\nand another\rand a third\n.",
    "Line separators\u2028and\u2029and\x85 are text.",
    "A vertical tab\x0b, and what looks like an escape: _x0041_ and _x005F_x0041_.",
    "Mu\u0308digkeit, Müdigkeit",
    "قل له إن النوم مهم \U0001f634\U0001f468\u200d\U0001f469\u200d\U0001f467",
    '"Quotes", commas; and \\ backslashes',
    "\u00a0Not trimmed \u3000",
    "\U0001f634" * 32_767,
    "=" + "a" * 32_766,
]

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60),
    st.text(st.sampled_from(list("=+-@'_x0041F|\"\t\r\n, \u2028\x0b\u0301e")), min_size=1, max_size=60),
)


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture(scope="module")
def recompute() -> dict[ExportFormat, Recompute]:
    """The functions of docs/digests.md, one a format. They know nothing of this project."""
    lines = "\n".join(re.findall(r"```python\n(.*?)```", DOCS.read_text(), flags=re.S))
    assert "rubrics" not in re.findall(r"^(?:import|from) .*", lines, flags=re.M)
    named: dict[str, Any] = {}
    exec(compile(lines, str(DOCS), "exec"), named)
    return {
        ExportFormat.HEALTHBENCH: named["healthbench"],
        ExportFormat.MENTALHEALTHBENCH: named["mentalhealthbench"],
        ExportFormat.CSV: named["from_csv"],
        ExportFormat.XLSX: named["from_xlsx"],
    }


def export(version: RubricVersion, format: ExportFormat) -> bytes:
    file = io.BytesIO()
    export_version(version=version, format=format, file=file)
    return file.getvalue()


def objects(version: RubricVersion, format: ExportFormat) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export(version, format).decode().splitlines()]


def csv_rows(version: RubricVersion) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(version, ExportFormat.CSV).decode(), newline="")))


def freeze(panel: Panel, **facts: object) -> RubricVersion:
    return freeze_version(study=panel.study, by=panel.adam, **{"acknowledged": ACKNOWLEDGE_ALL, **facts})  # type: ignore[arg-type]


def make_rich_version(panel: Panel) -> RubricVersion:
    """An own version with all that a conversation may hold, an objection, and texts that break careless writers."""
    long = "Wort für Wort. " * 6_000
    make_agreed(
        panel=panel,
        external_id="=007",
        messages=[
            {"role": "system", "content": "An adult."},
            {"role": "user", "content": HOSTILE[3]},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": long + HOSTILE[7]},
        ],
        texts=HOSTILE,
        points=5,
        language="de",
        country="CH",
        acuity=Acuity.EMERGENT,
        user_profile=UserProfile.ADULT,
        has_prior_context=True,
        tags=["theme:hedging", "a|b"],
        source="=interview",
        canary_string="the file's own canary",
        extra=json.dumps({"id": "its old id", "prompt": "old", "score": 0.5, "nested": {"ü": [1, None]}}),
        position=1,
    )
    _, (objected,) = make_drafted(panel=panel, texts=["Names a next step."], points=8, axis="", position=2)
    for reviewer, weight in zip(panel.reviewers[:3], (7, 8, 9), strict=True):
        vote(criterion=objected, reviewer=reviewer, points=weight)
    vote(criterion=objected, reviewer=panel.eva, choice="object", reason="Says too little.")
    Criterion.objects.filter(pk=objected.pk).update(extra=json.dumps({"weighting": 1.5, "text": "old text"}))
    return freeze(panel, note="=Note\n" + "lang " * 10_000)


def make_external_version(study: Study) -> RubricVersion:
    levels = [{"value": 0, "description": "none"}, {"value": 2, "description": "much"}]
    ordinal = ExternalCriterion(
        text="How much empathy it shows.",
        points=4,
        extra=json.dumps({"consilium": {"scale": "ordinal", "levels": levels}}),
    )
    tagged = ExternalCriterion(
        text="Asks about sleep.",
        points=-3,
        axis="accuracy",
        extra=json.dumps({"tags": ["level:cluster", "axis:accuracy", "cluster:hedging_any_asks"], "hint": "x"}),
    )
    rows = [
        make_row(
            external_id="one",
            criteria=[ordinal, tagged, tagged],
            tags=["theme:hedging"],
            canary_string="their canary",
            extra=json.dumps({"ideal_completions_data": {"ideal_completion": "Sleep."}, "more": [1, 2.5]}),
        ),
        make_row(external_id="two", criteria=[tagged], canary_string="their canary"),
    ]
    return take_in(study=study, rows=rows)


# Digests


@pytest.mark.parametrize("format", FORMATS)
def test_a_stranger_recomputes_both_digests_from_the_file_alone(
    panel: Panel, recompute: dict[ExportFormat, Recompute], tmp_path: Path, format: ExportFormat
) -> None:
    version = make_rich_version(panel)
    file = tmp_path / "version"
    file.write_bytes(export(version, format))
    assert recompute[format](_named(file, format)) == (version.digest, version.record_digest)


@pytest.mark.parametrize("format", FORMATS)
def test_so_does_a_stranger_for_a_published_set(
    panel: Panel, recompute: dict[ExportFormat, Recompute], tmp_path: Path, format: ExportFormat
) -> None:
    version = make_external_version(panel.study)
    file = tmp_path / "version"
    file.write_bytes(export(version, format))
    assert recompute[format](_named(file, format)) == (version.digest, version.record_digest)


@pytest.mark.parametrize("format", FORMATS)
def test_one_changed_letter_moves_the_digest(
    panel: Panel, recompute: dict[ExportFormat, Recompute], tmp_path: Path, format: ExportFormat
) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep."])
    version = freeze(panel)
    file = tmp_path / "version"
    file.write_bytes(export(version, format).replace(b"Asks about sleep.", b"Asks about sheep."))
    if format != ExportFormat.XLSX:  # a workbook so changed is damaged, and says so
        digest, _ = recompute[format](_named(file, format))
        assert digest != version.digest


def _named(file: Path, format: ExportFormat) -> str:
    """A workbook's name must end so for openpyxl."""
    return str(file.rename(file.with_suffix(f".{format.value}")))


@pytest.mark.parametrize("format", [ExportFormat.HEALTHBENCH, ExportFormat.MENTALHEALTHBENCH])
@pytest.mark.parametrize("make", [make_rich_version, lambda panel: make_external_version(panel.study)])
def test_an_export_reimports_to_the_same_digest(
    panel: Panel, tmp_path: Path, format: ExportFormat, make: Callable[[Panel], RubricVersion]
) -> None:
    version = make(panel)
    file = tmp_path / "version.jsonl"
    export_version(version=version, format=format, file=file)
    other = make_study()
    report = import_conversations(study=other, source=file, file_name="v.jsonl", by=None, check=False, name="again")
    assert report.errors == []
    again = RubricVersion.objects.get(study=other)
    assert again.digest == version.digest
    assert again.criteria_count == version.criteria_count
    first, last = (this.conversations.order_by("position").first() for this in (version, again))
    assert first is not None
    assert last is not None
    for name in ("language", "country", "acuity", "user_profile", "has_prior_context", "tags", "source"):
        assert getattr(last, name) == getattr(first, name), name
    kept: dict[str, object] = {"ideal_completions_data": None} if format == ExportFormat.HEALTHBENCH else {}
    own: dict[str, object] = {"source_canary": first.canary_string} if version.number else {}
    kept["consilium"] = own | {"is_not_for_public_text": False}
    assert json.loads(last.extra) == kept | json.loads(first.extra or "{}")
    # And so on, for ever.
    twice = tmp_path / "twice.jsonl"
    export_version(version=again, format=format, file=twice)
    third = make_study()
    import_conversations(study=third, source=twice, file_name="v.jsonl", by=None, check=False, name="again")
    assert RubricVersion.objects.get(study=third).digest == version.digest
    thrice = tmp_path / "thrice.jsonl"
    export_version(version=RubricVersion.objects.get(study=third), format=format, file=thrice)
    assert thrice.read_bytes() == twice.read_bytes()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS.filter(str.strip), min_size=2, max_size=6), name=TEXTS)
def test_any_text_comes_back_from_every_format(
    panel: Panel, recompute: dict[ExportFormat, Recompute], tmp_path: Path, texts: list[str], name: str
) -> None:
    study = make_study()
    criteria = [ExternalCriterion(text=text, points=3, axis=name[:100]) for text in texts[1:]]
    row = make_row(external_id=name, criteria=criteria, messages=[{"role": "user", "content": texts[0]}])
    version = take_in(study=study, rows=[row])
    for format in FORMATS:
        file = tmp_path / f"version.{format}"
        export_version(version=version, format=format, file=file)
        assert recompute[format](str(file)) == (version.digest, version.record_digest)


# The shapes


def test_healthbenchs_shape_holds_what_its_readers_expect(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="c1", texts=["Asks about sleep."], points=6, tags=["theme:hedging"])
    version = freeze(panel)
    (row,) = objects(version, ExportFormat.HEALTHBENCH)
    assert list(row) == [
        "prompt_id",
        "prompt",
        "rubrics",
        "example_tags",
        "ideal_completions_data",
        "canary_string",
        "consilium",
    ]
    assert (row["prompt_id"], row["prompt"]) == ("c1", [{"role": "user", "content": "I can't sleep."}])
    assert (row["example_tags"], row["ideal_completions_data"]) == (["theme:hedging"], None)
    (item,) = row["rubrics"]
    assert (item["criterion"], item["points"]) == ("Asks about sleep.", 6)
    assert item["tags"] == ["level:example", f"axis:{AXIS}"]
    own = item["consilium"]
    assert (own["id"], own["scale"], own["round"]) == (Criterion.objects.get().external_id, "binary", 1)
    assert own["votes"] == sorted(FrozenVote.objects.values_list("item_sha256", flat=True))
    assert len(own["votes"]) == 4


def test_mentalhealthbenchs_shape_holds_what_its_readers_expect(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="c1", language="de", acuity=Acuity.NON_ACUTE)
    version = freeze(panel)
    (row,) = objects(version, ExportFormat.MENTALHEALTHBENCH)
    assert list(row) == [
        "id",
        "conversation",
        "rubric_items",
        "acuity",
        "user_profile",
        "language",
        "has_prior_context",
        "canary_string",
        "consilium",
    ]
    assert row["conversation"] == {"messages": [{"role": "user", "content": "I can't sleep."}]}
    assert (row["acuity"], row["language"], row["user_profile"], row["has_prior_context"]) == (
        "non_acute",
        "de",
        None,
        None,
    )
    (item,) = row["rubric_items"]
    assert (item["criterion_text"], item["points"], item["behavior_axis"]) == ("Asks about sleep.", 6, AXIS)
    assert row["canary_string"] == panel.study.canary_string


@pytest.mark.parametrize("format", [ExportFormat.HEALTHBENCH, ExportFormat.MENTALHEALTHBENCH])
def test_what_a_shape_lacks_stands_under_consilium(panel: Panel, format: ExportFormat) -> None:
    version = make_rich_version(panel)
    row, other = objects(version, format)
    own = row["consilium"]
    assert (own["version"], own["kind"], own["digest"]) == (1, "consensus", version.digest)
    assert (own["record_digest"], own["policy_sha256"]) == (version.record_digest, version.policy_sha256)
    assert own["note_sha256"] == version.note_sha256
    assert (own["country"], own["source"]) == ("CH", "=interview")
    assert row["canary_string"] == panel.study.canary_string
    assert own["source_canary"] == "the file's own canary"
    assert "source_canary" not in other["consilium"]
    everything = {**row, **own}
    assert {everything[name] for name in ("language", "acuity", "user_profile")} == {"de", "emergent", "adult"}
    assert everything["has_prior_context"] is True
    assert (row.get("example_tags") or own["tags"]) == ["theme:hedging", "a|b"]


def test_unknown_keys_of_an_imported_row_come_out_again(panel: Panel) -> None:
    version = make_rich_version(panel)
    row, other = objects(version, ExportFormat.HEALTHBENCH)
    assert (row["id"], row["score"], row["nested"]) == ("its old id", 0.5, {"ü": [1, None]})
    # "prompt" is the shape's own.
    assert row["consilium"]["unknown_keys"] == {"prompt": "old"}
    assert other["rubrics"][0]["weighting"] == 1.5
    row, _ = objects(version, ExportFormat.MENTALHEALTHBENCH)
    assert row["id"] == "=007"
    assert row["consilium"]["unknown_keys"] == {"id": "its old id", "prompt": "old"}


def test_a_published_sets_own_tags_keys_and_canary_come_out_again(panel: Panel) -> None:
    version = make_external_version(panel.study)
    row, _ = objects(version, ExportFormat.HEALTHBENCH)
    assert row["ideal_completions_data"] == {"ideal_completion": "Sleep."}
    assert row["more"] == [1, 2.5]
    assert row["canary_string"] == "their canary"
    assert "source_canary" not in row["consilium"]
    ordinal, tagged, _ = row["rubrics"]
    assert tagged["tags"] == ["level:cluster", "axis:accuracy", "cluster:hedging_any_asks"]
    assert tagged["hint"] == "x"
    assert ordinal["tags"] == ["level:example"]
    assert ordinal["consilium"]["levels"] == [
        {"value": 0, "description": "none"},
        {"value": 2, "description": "much"},
    ]


def test_each_row_of_a_published_set_keeps_its_own_canary(panel: Panel) -> None:
    version = take_in(
        study=panel.study, rows=[make_row(canary_string="one"), make_row(canary_string="two"), make_row()]
    )
    for format in (ExportFormat.HEALTHBENCH, ExportFormat.MENTALHEALTHBENCH):
        assert [row.get("canary_string") for row in objects(version, format)] == ["one", "two", None]


# Tables


def test_the_csv_file_has_one_row_a_criterion_with_its_conversations_facts(panel: Panel) -> None:
    make_agreed(panel=panel, external_id="c1", texts=["Asks.", "Stays warm."], language="de", acuity=Acuity.EMERGENT)
    make_agreed(panel=panel, external_id="c2", texts=["Asks."], position=1)
    version = freeze(panel)
    rows = [row for row in csv_rows(version) if row["kind"] == "criterion"]
    told = [(row["conversation_id"], row["text"], row["points"], row["language"], row["acuity"]) for row in rows]
    assert sorted(told[:2]) == [("c1", "Asks.", "6", "de", "emergent"), ("c1", "Stays warm.", "6", "de", "emergent")]
    assert told[2:] == [("c2", "Asks.", "6", "", "")]
    assert {row["part"] for row in rows} == {"1"}
    facts = {row["name"]: row["value"] for row in csv_rows(version) if row["kind"] == "version"}
    assert (facts["version"], facts["digest"]) == ("1", version.digest)
    assert json.loads(facts["policy"])["min_ratio"] == "0.750"


def test_the_workbook_has_a_sheet_for_each_kind(panel: Panel) -> None:
    version = make_rich_version(panel)
    workbook = openpyxl.load_workbook(io.BytesIO(export(version, ExportFormat.XLSX)))
    assert workbook.sheetnames == ["criteria", "conversations", "messages", "votes", "version"]
    headings, *rows = workbook["criteria"].iter_rows(values_only=True)
    whole = [dict(zip(headings, row, strict=True)) for row in rows if row[headings.index("part")] == 1]
    assert len(whole) == version.criteria_count
    assert {row["criterion_id"] for row in whole} == set(version.criteria.values_list("external_id", flat=True))
    assert workbook["votes"].max_row == 1 + FrozenVote.objects.count()


@pytest.mark.parametrize("format", [ExportFormat.CSV, ExportFormat.XLSX])
def test_a_text_that_is_too_long_for_a_cell_goes_on_in_numbered_rows(panel: Panel, format: ExportFormat) -> None:
    version = make_rich_version(panel)
    if format == ExportFormat.CSV:
        cells = [cell for row in csv_rows(version) for cell in row.values()]
        parts = [row for row in csv_rows(version) if row["kind"] == "message" and row["turn"] == "4"]
    else:
        workbook = openpyxl.load_workbook(io.BytesIO(export(version, format)))
        cells = [str(cell) for sheet in workbook for row in sheet.iter_rows(values_only=True) for cell in row]
        headings, *rows = workbook["messages"].iter_rows(values_only=True)
        named = [dict(zip(map(str, headings), map(str, row), strict=True)) for row in rows]
        parts = [row for row in named if row["turn"] == "4"]
    assert max(len(cell.encode("utf-16-le")) // 2 for cell in cells) <= 32_767
    assert [row["part"] for row in parts] == [str(number) for number in range(1, len(parts) + 1)]
    assert len(parts) > 2
    held = version.conversations.get(external_id="=007").messages
    assert held is not None
    assert "".join(row["content"] for row in parts) == held[3]["content"]


def test_no_cell_of_the_csv_file_is_a_formula(panel: Panel) -> None:
    version = make_rich_version(panel)
    for row in csv_rows(version):
        for name, cell in row.items():
            if name not in ("points", "turn", "part", "round"):
                assert not re.match(r"\s*[=+\-@]", cell), (name, cell[:20])


# The same bytes


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_is_byte_identical_whenever_it_is_made(panel: Panel, format: ExportFormat) -> None:
    version = make_rich_version(panel)
    first = export(version, format)
    withdraw_version(version=version, by=None, reason="Its rubric was unsafe.")
    Study.objects.update(name="Renamed", slug="renamed", canary_string="another", axes=["other"])
    Conversation.objects.update(language="fr", tags=[], source="", position=9)
    with timezone.override("Pacific/Kiritimati"):
        again = export(RubricVersion.objects.get(), format)
    assert again == first


@pytest.mark.parametrize("format", FORMATS)
def test_an_existing_file_is_replaced_whole(panel: Panel, tmp_path: Path, format: ExportFormat) -> None:
    make_agreed(panel=panel)
    version = freeze(panel)
    file = tmp_path / "version"
    file.write_bytes(b"x" * 1_000_000)
    exported = export_version(version=version, format=format, file=file)
    assert file.read_bytes() == export(version, format)
    assert exported.replaced == 0
    assert list(tmp_path.iterdir()) == [file]


def test_characters_that_xml_can_not_hold_are_reported(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["A vertical tab\x0b."])
    exported = export_version(version=freeze(panel), format=ExportFormat.XLSX, file=io.BytesIO())
    assert exported.replaced == 1
