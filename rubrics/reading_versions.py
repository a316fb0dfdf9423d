"""Reading a frozen version back, conversation by conversation, in its own order and in constant memory."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from rubrics.freezing import policy_facts_of
from rubrics.models import FrozenConversation, FrozenCriterion, FrozenVote, RubricVersion

BATCH = 200
"""Conversations that are read at once."""


@dataclass(frozen=True, slots=True)
class FrozenRubric:
    """One conversation of a version with its criteria, and the hashes of the votes that carried each, sorted."""

    conversation: FrozenConversation
    criteria: list[FrozenCriterion]
    votes: dict[UUID, list[str]]


def rubrics_of(version: RubricVersion, *, with_votes: bool = True) -> Iterator[FrozenRubric]:
    """Yield the conversations of a version in its order, each with its criteria in theirs."""
    conversations = FrozenConversation.objects.filter(version=version).order_by("position").iterator(chunk_size=BATCH)
    while batch := list(islice(conversations, BATCH)):
        criteria: dict[UUID, list[FrozenCriterion]] = defaultdict(list)
        for criterion in FrozenCriterion.objects.filter(frozen_conversation__in=batch).order_by("position"):
            criteria[criterion.frozen_conversation_id].append(criterion)
        votes: dict[UUID, list[str]] = defaultdict(list)
        if with_votes:
            carried = FrozenVote.objects.filter(criterion__frozen_conversation__in=batch)
            for criterion_id, sha256 in carried.values_list("criterion_id", "item_sha256"):
                votes[criterion_id].append(sha256)
        for this in batch:
            mine = criteria[this.id]
            yield FrozenRubric(this, mine, {each.id: sorted(votes[each.id]) for each in mine})


def facts_of(version: RubricVersion) -> dict[str, object]:
    """What every export says of the version itself: all of it frozen, so that the bytes never differ."""
    return {
        "version": version.number if version.number is not None else version.name,
        "kind": version.kind,
        "digest": version.digest,
        "record_digest": version.record_digest,
        "policy_sha256": version.policy_sha256,
        "note_sha256": version.note_sha256,
        "is_threshold_set_after_votes": version.is_threshold_set_after_votes,
    }


def more_facts_of(version: RubricVersion) -> dict[str, object]:
    """What the table exports, which have room for it, say besides."""
    return {
        "conversations": version.conversations_count,
        "criteria": version.criteria_count,
        "policy": policy_facts_of(version.policy) if version.policy else None,
        "note": version.note,
        "tombstone": version.tombstone,
        "axes": version.axes,
        "canary_string": version.canary_string,
        "frozen_at": version.frozen_at,
        "source_format": version.source_format,
        "source_file_name": version.source_file_name,
        "source_sha256": version.source_sha256,
    }
