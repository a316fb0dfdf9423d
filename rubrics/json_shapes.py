"""A version's conversations as rows in HealthBench's and MentalHealthBench's own shapes.

What a shape lacks stands under the key ``consilium``, of the row and of each criterion. The other keys of an imported
row come out again where they were; one that a shape uses itself goes under ``consilium.unknown_keys``. The study's
own versions carry the study's canary as ``canary_string``; one that a conversation was imported with then stands
under ``consilium.source_canary``. A published set's canary comes out of HealthBench's shape under its own key.
"""

import json
from collections.abc import Iterator

from rubrics.incoming import CANARY_KEY, NOT_FOR_PUBLIC_TEXT, OWN_KEY, SOURCE_CANARY
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion
from rubrics.reading_versions import FrozenRubric, facts_of, rubrics_of
from rubrics.taking_in import is_not_for_public_text

Object = dict[str, object]

TELLING = frozenset({"prompt", "rubrics", "conversation", "rubric_items"})
"""Keys by which a reader tells the shapes apart; another's key of this name would mislead it."""


def healthbench_rows(version: RubricVersion) -> Iterator[Object]:
    """Yield one object a conversation, as HealthBench writes them."""
    facts = facts_of(version)
    for rubric in rubrics_of(version):
        conversation = rubric.conversation
        others = _others(conversation.extra)
        row: Object = {
            "prompt_id": conversation.external_id,
            "prompt": conversation.messages or [],
            "rubrics": [_healthbench_criterion(criterion, rubric) for criterion in rubric.criteria],
            "example_tags": conversation.tags,
            "ideal_completions_data": others.pop("ideal_completions_data", None),
        }
        own = facts | {
            "language": conversation.language,
            "country": conversation.country,
            "acuity": conversation.acuity,
            "user_profile": conversation.user_profile,
            "has_prior_context": conversation.has_prior_context,
            "source": conversation.source,
        }
        yield _finished(row, version, conversation, others, own, canary_key=_canary_key(others))


def mentalhealthbench_rows(version: RubricVersion) -> Iterator[Object]:
    """Yield one object a conversation, as MentalHealthBench writes them."""
    facts = facts_of(version)
    for rubric in rubrics_of(version):
        conversation = rubric.conversation
        row: Object = {
            "id": conversation.external_id,
            "conversation": {"messages": conversation.messages or []},
            "rubric_items": [_mentalhealthbench_criterion(criterion, rubric) for criterion in rubric.criteria],
            "acuity": conversation.acuity,
            "user_profile": conversation.user_profile,
            "language": conversation.language,
            "has_prior_context": conversation.has_prior_context,
        }
        own = facts | {"country": conversation.country, "tags": conversation.tags, "source": conversation.source}
        yield _finished(row, version, conversation, _others(conversation.extra), own)


def _finished(
    row: Object,
    version: RubricVersion,
    conversation: FrozenConversation,
    others: Object,
    own: Object,
    *,
    canary_key: str = "canary_string",
) -> Object:
    """The row with its canary, the keys of others, and ``consilium`` last."""
    is_own = version.kind == RubricVersion.Kind.CONSENSUS
    canary = version.canary_string if is_own else conversation.canary_string
    if canary:
        row["canary_string" if is_own else canary_key] = canary
    own["sha256"] = conversation.item_sha256
    if is_own and conversation.canary_string:
        own[SOURCE_CANARY] = conversation.canary_string
    own[NOT_FOR_PUBLIC_TEXT] = is_not_for_public_text(version.source_format, conversation.extra)
    return _with_others(row, others, own, conversation.tombstone)


def _healthbench_criterion(criterion: FrozenCriterion, rubric: FrozenRubric) -> Object:
    others = _others(criterion.extra)
    item: Object = {
        "criterion": criterion.text or "",
        "points": criterion.points,
        "tags": _tags(others.pop("tags", None), criterion.axis),
    }
    return _with_others(item, others, _criterion_facts(criterion, rubric), criterion.tombstone)


def _mentalhealthbench_criterion(criterion: FrozenCriterion, rubric: FrozenRubric) -> Object:
    item: Object = {
        "criterion_text": criterion.text or "",
        "points": criterion.points,
        "behavior_axis": criterion.axis,
    }
    return _with_others(item, _others(criterion.extra), _criterion_facts(criterion, rubric), criterion.tombstone)


def _criterion_facts(criterion: FrozenCriterion, rubric: FrozenRubric) -> Object:
    facts: Object = {
        "id": criterion.external_id,
        "scale": criterion.scale,
        "rationale": criterion.rationale,
        "round": criterion.round_number,
        "sentence": criterion.sentence,
        "sha256": criterion.item_sha256,
        "votes": rubric.votes[criterion.id],
    }
    if criterion.levels is not None:
        facts["levels"] = criterion.levels
    return facts


def _tags(given: object, axis: str) -> list[str]:
    """The tags that a criterion came with, with exactly its axis among them, and a level."""
    tags = [tag for tag in given if isinstance(tag, str)] if isinstance(given, list) else []
    tags = [tag for tag in tags if not tag.startswith("axis:") or tag == f"axis:{axis}"]
    if not any(tag.startswith("level:") for tag in tags):
        tags.insert(0, "level:example")
    if axis and f"axis:{axis}" not in tags:
        tags.append(f"axis:{axis}")
    return tags


def _canary_key(others: Object) -> str:
    """The key that a canary came under: ``canary``, which HealthBench writes too, or ``canary_string``."""
    own = others.get(OWN_KEY)
    came_under = own.get(CANARY_KEY) if isinstance(own, dict) else None
    return "canary" if came_under == "canary" else "canary_string"


def _others(extra: str) -> Object:
    others: Object = json.loads(extra) if extra else {}
    return others


def _with_others(row: Object, others: Object, own: Object, tombstone: str | None) -> Object:
    kept = others.pop(OWN_KEY, None)
    taken = {key: others.pop(key) for key in list(others) if key in row or key in TELLING}
    if isinstance(kept, dict):
        own = kept | own
    if taken:
        own["unknown_keys"] = taken
    if tombstone is not None:
        own["tombstone"] = tombstone
    return row | others | {OWN_KEY: own}
