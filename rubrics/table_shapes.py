"""A version as tables: one row a criterion, and beside them its conversations, messages, votes' hashes and facts.

In a workbook each has its own sheet; in CSV all stand in one file, told apart by the column ``kind``. A text that is
longer than a cell holds is never cut: its row is followed by rows that are numbered in the column ``part`` from 2 on
and continue it; their texts are put together without anything between them.
"""

from collections.abc import Iterator, Sequence

from consilium.tables import LONGEST_CELL
from consilium.tables.cells import as_json_text, is_too_long
from rubrics.incoming import NOT_FOR_PUBLIC_TEXT
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion
from rubrics.reading_versions import FrozenRubric, facts_of, more_facts_of, rubrics_of
from rubrics.taking_in import is_not_for_public_text

Cells = dict[str, object]

LENGTH_OF_A_PART = 16_000
"""Characters of a part: at most 32,000 of the units in which a spreadsheet counts."""

METADATA = ("language", "country", "acuity", "user_profile", "has_prior_context", "tags", "source", "source_canary")
CRITERION = (
    "conversation_id",
    "criterion_id",
    "part",
    "text",
    "points",
    "axis",
    "scale",
    "levels",
    "rationale",
    "round",
    "sentence",
    *METADATA,
    "extra",
    "sha256",
    "tombstone",
)
CONVERSATION = ("conversation_id", "part", *METADATA, NOT_FOR_PUBLIC_TEXT, "extra", "sha256", "tombstone")
MESSAGE = ("conversation_id", "turn", "part", "role", "content")
VOTE = ("conversation_id", "criterion_id", "sha256")
FACT = ("name", "part", "value")
ALL = ("kind", *dict.fromkeys([*CRITERION, *MESSAGE, *FACT, NOT_FOR_PUBLIC_TEXT]))
"""The columns of the CSV file."""

_REPEATED = frozenset({"kind", "conversation_id", "criterion_id", "turn", "name"})
"""What says of each part where it belongs."""


def sheets(version: RubricVersion) -> list[tuple[str, Sequence[str], Iterator[list[object]]]]:
    """Answer the sheets of the workbook: title, columns, rows. The criteria come first, which is what one opens."""
    return [
        ("criteria", CRITERION, _listed(CRITERION, (row for each in rubrics_of(version) for row in _criteria(each)))),
        (
            "conversations",
            CONVERSATION,
            _listed(CONVERSATION, (_conversation(each, version) for each in rubrics_of(version, with_votes=False))),
        ),
        (
            "messages",
            MESSAGE,
            _listed(MESSAGE, (row for each in rubrics_of(version, with_votes=False) for row in _messages(each))),
        ),
        ("votes", VOTE, _listed(VOTE, (row for each in rubrics_of(version) for row in _votes(each)))),
        ("version", FACT, _listed(FACT, _facts(version))),
    ]


def csv_rows(version: RubricVersion) -> Iterator[list[object]]:
    """Yield the rows of the CSV file under the columns ``ALL``: the facts, then conversation by conversation."""
    return _listed(ALL, _all(version))


def _all(version: RubricVersion) -> Iterator[Cells]:
    yield from ({"kind": "version", **row} for row in _facts(version))
    for rubric in rubrics_of(version):
        yield {"kind": "conversation", **_conversation(rubric, version)}
        yield from ({"kind": "message", **row} for row in _messages(rubric))
        yield from ({"kind": "criterion", **row} for row in _criteria(rubric))
        yield from ({"kind": "vote", **row} for row in _votes(rubric))


def _facts(version: RubricVersion) -> Iterator[Cells]:
    for name, value in {**facts_of(version), **more_facts_of(version)}.items():
        yield {"name": name, "value": value}


def _metadata(conversation: FrozenConversation) -> Cells:
    return {
        "language": conversation.language,
        "country": conversation.country,
        "acuity": conversation.acuity,
        "user_profile": conversation.user_profile,
        "has_prior_context": conversation.has_prior_context,
        "tags": conversation.tags or None,
        "source": conversation.source,
        "source_canary": conversation.canary_string,
    }


def _conversation(rubric: FrozenRubric, version: RubricVersion) -> Cells:
    conversation = rubric.conversation
    return {
        "conversation_id": conversation.external_id,
        **_metadata(conversation),
        NOT_FOR_PUBLIC_TEXT: is_not_for_public_text(version.source_format, conversation.extra),
        "extra": conversation.extra,
        "sha256": conversation.item_sha256,
        "tombstone": conversation.tombstone,
    }


def _messages(rubric: FrozenRubric) -> Iterator[Cells]:
    for turn, message in enumerate(rubric.conversation.messages or [], start=1):
        yield {"conversation_id": rubric.conversation.external_id, "turn": turn, **message}


def _criteria(rubric: FrozenRubric) -> Iterator[Cells]:
    metadata = _metadata(rubric.conversation)
    return (_criterion(criterion, rubric, metadata) for criterion in rubric.criteria)


def _criterion(criterion: FrozenCriterion, rubric: FrozenRubric, metadata: Cells) -> Cells:
    return {
        "conversation_id": rubric.conversation.external_id,
        "criterion_id": criterion.external_id,
        "text": criterion.text,
        "points": criterion.points,
        "axis": criterion.axis,
        "scale": criterion.scale,
        "levels": criterion.levels,
        "rationale": criterion.rationale,
        "round": criterion.round_number,
        "sentence": criterion.sentence,
        **metadata,
        "extra": criterion.extra,
        "sha256": criterion.item_sha256,
        "tombstone": criterion.tombstone,
    }


def _votes(rubric: FrozenRubric) -> Iterator[Cells]:
    for criterion in rubric.criteria:
        for sha256 in rubric.votes[criterion.id]:
            yield {
                "conversation_id": rubric.conversation.external_id,
                "criterion_id": criterion.external_id,
                "sha256": sha256,
            }


def _listed(columns: Sequence[str], rows: Iterator[Cells]) -> Iterator[list[object]]:
    for row in rows:
        for part in _in_parts(row):
            yield [part.get(column) for column in columns]


def _in_parts(row: Cells) -> Iterator[Cells]:
    """Yield the row and, where texts of it are too long for a cell, the rows that continue them."""
    cells: Cells = {
        name: as_json_text(value) if isinstance(value, list | dict) else value for name, value in row.items()
    }
    # One unit is left for the apostrophe that CSV may put before a text.
    too_long = {
        name: value
        for name, value in cells.items()
        if isinstance(value, str) and is_too_long(value, longest=LONGEST_CELL - 1)
    }
    yield cells | {"part": 1} | {name: text[:LENGTH_OF_A_PART] for name, text in too_long.items()}
    places = {name: cells[name] for name in _REPEATED & cells.keys()}
    longest = max((len(text) for text in too_long.values()), default=0)
    for part, start in enumerate(range(LENGTH_OF_A_PART, longest, LENGTH_OF_A_PART), start=2):
        continued = {name: text[start : start + LENGTH_OF_A_PART] for name, text in too_long.items()}
        yield places | {"part": part} | continued
