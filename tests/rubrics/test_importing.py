"""Published sets bring their criteria along as an external version; any other file is the study's own conversations."""

import json
from typing import Any, BinaryIO

import pytest

from annotation.importing.files import FileWasChanged
from annotation.importing.report import Report
from annotation.models import Assignment, Conversation, Criterion, FileImport, Revision, Study
from annotation.states import count_states
from consilium.canonical import canonical_line, sha256_hex
from rubrics.importing import MetaEvaluation, OnlyPublishedSetsHaveAName, import_conversations
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion
from rubrics.taking_in import FileHasNoCriteria, NameCantBeUsed, NameIsTaken
from tests.factories import make_study
from tests.importing_files import ChangingFile, jsonl, user_says

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study()


def take_in(study: Study, file: BinaryIO, **options: Any) -> Report:
    facts: dict[str, Any] = {"file_name": "set.jsonl", "by": None, "check": False, **options}
    return import_conversations(study=study, source=file, **facts)


def healthbench(prompt_id: str = "p1", **facts: Any) -> dict[str, Any]:
    return {
        "prompt_id": prompt_id,
        "prompt": [*user_says("I fainted."), {"role": "assistant", "content": ""}, *user_says("What now?")],
        "example_tags": ["theme:emergency_referrals", "physician_agreed_category:x"],
        "rubrics": [
            {"criterion": "Asks when.", "points": 7, "tags": ["level:example", "axis:context_seeking"]},
            {"criterion": "Diagnoses.", "points": -9, "tags": ["axis:accuracy", "level:cluster", "cluster:a_b_c"]},
        ],
        "ideal_completions_data": None,
        **facts,
    }


def mentalhealthbench(row_id: str = "0" * 32, **facts: Any) -> dict[str, Any]:
    return {
        "id": row_id,
        "conversation": {"messages": [{"role": "system", "content": "Aged 15."}, *user_says("I can't sleep.")]},
        "rubric_items": [
            {"criterion_text": "Asks how long.", "points": 5, "behavior_axis": "context_seeking_and_assessment"},
            {"criterion_text": "Alarms.", "points": -4, "behavior_axis": "over_alarmism_and_under_response"},
        ],
        "acuity": "high_acuity",
        "user_profile": "teen",
        "language": "fa",
        "has_prior_context": False,
        "canary_string": "canary-1",
        **facts,
    }


def errors(report: Report) -> list[tuple[int | None, str | None]]:
    return [(error.line, error.column) for error in report.errors]


def test_a_healthbench_file_becomes_an_external_version(study: Study) -> None:
    report = take_in(study, jsonl(healthbench(canary="canary-2"), healthbench("p2")))
    version = RubricVersion.objects.get()
    assert (report.created, report.unchanged, report.errors) == (2, 0, [])
    assert report.facts["external"] == {"name": "healthbench", "digest": version.digest, "criteria": 4}
    assert (version.kind, version.source_format, version.axes) == (
        "external",
        "healthbench",
        ["accuracy", "context_seeking"],
    )
    assert version.source_sha256 == sha256_hex(jsonl(healthbench(canary="canary-2"), healthbench("p2")).read())
    first = Conversation.objects.get(external_id="p1")
    assert (first.external_name, first.canary_string) == ("healthbench", "canary-2")
    assert first.tags == ["theme:emergency_referrals", "physician_agreed_category:x"]
    assert json.loads(first.extra) == {"ideal_completions_data": None, "consilium": {"canary_key": "canary"}}
    assert [first.language, first.acuity] == [None, None]
    worst = FrozenCriterion.objects.filter(frozen_conversation__external_id="p1").get(points=-9)
    assert (worst.text, worst.axis) == ("Diagnoses.", "accuracy")
    assert json.loads(worst.extra) == {"tags": ["axis:accuracy", "level:cluster", "cluster:a_b_c"]}
    assert worst.criterion.external_id == worst.item_sha256[:16]


def test_the_digest_can_be_recomputed_from_the_file(study: Study) -> None:
    row = mentalhealthbench()
    report = take_in(study, jsonl(row))
    items: list[dict[str, Any]] = [{"id": row["id"], "messages": row["conversation"]["messages"]}]
    items += [
        {
            "conversation_id": row["id"],
            "text": item["criterion_text"],
            "points": item["points"],
            "axis": item["behavior_axis"],
            "scale": "binary",
        }
        for item in row["rubric_items"]
    ]
    hashes = sorted(sha256_hex(canonical_line(item)) for item in items)
    assert report.facts["external"]["digest"] == sha256_hex("\n".join(hashes).encode())


def test_a_mentalhealthbench_file_keeps_its_facts_and_marks_the_study_not_for_public_text(study: Study) -> None:
    report = take_in(study, jsonl(mentalhealthbench()))
    assert report.facts["external"]["name"] == "mentalhealthbench"
    assert "not be shown in public text" in report.warnings[0].message
    study.refresh_from_db()
    assert study.is_not_for_public_text
    kept = FrozenConversation.objects.get()
    assert (kept.acuity, kept.user_profile, kept.language) == ("high_acuity", "teen", "fa")
    assert (kept.has_prior_context, kept.canary_string) == (False, "canary-1")
    assert kept.messages is not None
    assert kept.messages[0]["role"] == "system"


def test_a_published_set_is_never_the_studys_own(study: Study) -> None:
    take_in(study, jsonl(healthbench()))
    assert not Conversation.objects.own().exists()
    assert not Criterion.objects.own().exists()
    assert not Assignment.objects.exists()
    states = count_states(study)
    assert sum(states["conversations"].values()) + sum(states["criteria"].values()) == 0


def test_the_same_file_again_changes_nothing_and_says_so(study: Study) -> None:
    rows = [healthbench(), healthbench("p2")]
    first = take_in(study, jsonl(*rows))
    again = take_in(study, jsonl(*rows))
    assert (again.created, again.unchanged, again.errors) == (0, 2, [])
    assert again.facts == first.facts
    assert (RubricVersion.objects.count(), FileImport.objects.count(), Conversation.objects.count()) == (1, 1, 2)
    other_name = take_in(study, jsonl(*rows), name="copy")
    assert (other_name.created, other_name.facts["external"]["name"]) == (2, "copy")
    assert other_name.facts["external"]["digest"] == first.facts["external"]["digest"]


@pytest.mark.parametrize("other", [healthbench("p2"), healthbench(example_tags=[]), healthbench(more=1)])
def test_a_name_taken_by_other_content_is_refused(study: Study, other: dict[str, Any]) -> None:
    take_in(study, jsonl(healthbench()))
    with pytest.raises(NameIsTaken):
        take_in(study, jsonl(other))
    with pytest.raises(NameIsTaken):
        take_in(study, jsonl(other), name="HealthBench", check=True)
    assert FileImport.objects.count() == 1


def test_a_name_is_not_all_digits_and_not_for_a_studys_own_conversations(study: Study) -> None:
    with pytest.raises(NameCantBeUsed):
        take_in(study, jsonl(healthbench()), name="12")
    with pytest.raises(OnlyPublishedSetsHaveAName):
        take_in(study, jsonl({"id": "1", "messages": user_says("x")}), name="mine")


def test_any_other_file_is_the_studys_own_conversations(study: Study) -> None:
    report = take_in(study, jsonl({"id": "1", "messages": user_says("x")}))
    assert (report.created, report.facts) == (1, {})
    assert Conversation.objects.own().get().external_id == "1"
    assert not RubricVersion.objects.exists()


def test_a_check_writes_nothing_and_answers_the_same_report(study: Study) -> None:
    file = jsonl(mentalhealthbench(), mentalhealthbench(), mentalhealthbench("2"))
    checked = take_in(study, file, check=True)
    for model in (RubricVersion, Conversation, Criterion, Revision, FileImport):
        assert not model._default_manager.exists()
    study.refresh_from_db()
    assert not study.is_not_for_public_text
    assert checked.as_plain() == take_in(study, file).as_plain()
    assert checked.created == 2


def test_every_error_of_a_file_is_told_at_once_and_nothing_is_written(study: Study) -> None:
    broken = healthbench("broken")
    broken["rubrics"] = [
        {"criterion": "", "points": 1, "tags": []},
        {"criterion": "x", "points": 0, "tags": []},
        {"criterion": "x", "points": 3, "tags": ["axis:a", "axis:b"]},
        "text",
    ]
    report = take_in(
        study,
        jsonl(
            healthbench(),
            broken,
            healthbench("prompt", prompt=user_says("")),
            {"prompt_id": "none", "prompt": user_says("x")},
            healthbench("p1", example_tags=["theme:other"]),
            healthbench("p1", rubrics=healthbench()["rubrics"][:1]),
        ),
    )
    assert errors(report) == [
        (2, "rubrics"),
        (2, "rubrics"),
        (2, "rubrics"),
        (2, "rubrics"),
        (3, "prompt"),
        (4, "rubrics"),
        (5, "example_tags"),
        (6, "rubrics"),
    ]
    assert [error.message[:11] for error in report.errors[:4]] == [f"Criterion {number}" for number in (1, 2, 3, 4)]
    assert "lines 1 and 6" in report.errors[-1].message
    assert (report.facts, RubricVersion.objects.count(), Conversation.objects.count()) == ({}, 0, 0)
    mental = take_in(study, jsonl(mentalhealthbench(acuity="grave"), mentalhealthbench("2", conversation=[])))
    assert errors(mental) == [(1, "acuity"), (2, "conversation")]


def test_what_the_version_itself_refuses_is_an_error_of_the_line(study: Study) -> None:
    row = healthbench()
    row["rubrics"][0]["consilium"] = {"scale": "fuzzy"}
    report = take_in(study, jsonl(healthbench("fine"), row))
    assert errors(report) == [(2, "rubrics")]
    assert not RubricVersion.objects.exists()


def test_a_set_without_any_criterion_and_a_meta_evaluation_are_refused(study: Study) -> None:
    with pytest.raises(FileHasNoCriteria):
        take_in(study, jsonl(healthbench(rubrics=[])))
    with pytest.raises(MetaEvaluation):
        take_in(study, jsonl({"prompt": user_says("x"), "completion": "y", "rubric": "z", "binary_labels": [True]}))


def test_a_file_that_changes_between_the_readings_leaves_nothing(study: Study) -> None:
    file = ChangingFile(jsonl(healthbench(), healthbench("p2")), jsonl(healthbench()), from_reading=4)
    with pytest.raises(FileWasChanged):
        take_in(study, file)
    assert (RubricVersion.objects.count(), Conversation.objects.count(), FileImport.objects.count()) == (0, 0, 0)
