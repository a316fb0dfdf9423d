"""The shapes of published sets, one JSON object a line: HealthBench's and MentalHealthBench's.

Keys that a shape does not know are kept as JSON text and given back by an export. What is read of a row is checked as
a study's own conversations are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from annotation.importing.messages import (
    Messages,
    ReadConversation,
    id_from_messages,
    read_acuity,
    read_language,
    read_messages,
    read_tags,
    read_user_profile,
    unknown_keys,
)
from annotation.importing.rows import Columns, FileRow
from consilium.canonical import canonical_line, sha256_hex
from consilium.tables import Unreadable, as_list, as_text, as_whole_number, under_known_names
from rubrics.incoming import CANARY_KEY, with_own_facts
from rubrics.taking_in import ExternalCriterion, SourceFormat

T = TypeVar("T")
CANARIES = ("canary_string", "canary")
_MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class PublishedConversation:
    """A row of a published set: a conversation and its criteria."""

    conversation: ReadConversation
    criteria: list[ExternalCriterion]

    def criteria_sha256(self) -> str:
        """What two rows of one id are compared by, beside the conversation."""
        told = [[each.text, each.points, each.axis, each.extra] for each in self.criteria]
        return sha256_hex(canonical_line(told))


class Shape(ABC):
    """One published shape. ``name`` is also the default name of a version taken in from it."""

    name: ClassVar[SourceFormat]
    criteria_key: ClassVar[str]
    criterion_keys: ClassVar[tuple[str, ...]]
    columns: ClassVar[Columns]
    own_names: ClassVar[dict[str, str]]
    """The shape's names of what a study's own file calls otherwise."""

    @abstractmethod
    def is_meant_by(self, values: dict[str, object]) -> bool:
        """Whether a row with these keys is of this shape."""

    @abstractmethod
    def read(self, row: FileRow) -> PublishedConversation:
        """Read a row; what can't be taken is its error."""

    @abstractmethod
    def _criterion(self, given: dict[str, object]) -> ExternalCriterion:
        """Read one criterion. Raises Unreadable."""

    def _criteria(self, row: FileRow) -> list[ExternalCriterion]:
        given = row.values.get(self.criteria_key)
        if not isinstance(given, list):
            row.error(self.criteria_key, "Expected a list of criteria.")
            return []
        criteria: list[ExternalCriterion] = []
        faults: list[str] = []
        for number, each in enumerate(given, start=1):
            try:
                if not isinstance(each, dict):
                    raise Unreadable("expected a JSON object.")
                criteria.append(self._criterion(under_known_names(each, known=self.criterion_keys)))
            except Unreadable as fault:
                faults.append(f"Criterion {number}, {fault.message}")
        for told in faults[:_MOST_TOLD]:
            row.error(self.criteria_key, told)
        if len(faults) > _MOST_TOLD:
            more = len(faults) - _MOST_TOLD
            told = "1 more criterion" if more == 1 else f"{more} more criteria"
            row.error(self.criteria_key, f"{told} of this row can't be taken.")
        return criteria

    def _id(self, row: FileRow, column: str, messages: Messages) -> str:
        return row.name(column) or (id_from_messages(messages) if messages else "")

    def _canary(self, row: FileRow) -> str:
        return row.text(_canary_column(row), longest=500)

    def _others(self, row: FileRow) -> str:
        """The keys that the shape does not know, and the one that the canary came under where it is not ours."""
        column = _canary_column(row)
        known = [key for key in self.columns.known if key not in CANARIES or key == column or not row.has(key)]
        others = unknown_keys(row.values, known=known)
        return others if column == CANARIES[0] else with_own_facts(others, **{CANARY_KEY: column})


class HealthBench(Shape):
    """prompt_id, prompt, rubrics [{criterion, points, tags}], example_tags."""

    name = "healthbench"
    criteria_key = "rubrics"
    criterion_keys = ("criterion", "points", "tags")
    columns = Columns(known=("prompt_id", "prompt", "rubrics", "example_tags", *CANARIES))
    own_names: ClassVar[dict[str, str]] = {
        "id": "prompt_id",
        "messages": "prompt",
        "tags": "example_tags",
        "canary_string": "canary",
        "criteria": criteria_key,
    }

    def is_meant_by(self, values: dict[str, object]) -> bool:
        return "rubrics" in values or ("prompt" in values and "messages" not in values)

    def read(self, row: FileRow) -> PublishedConversation:
        messages = read_messages(row, "prompt", row.values.get("prompt"))
        return PublishedConversation(
            conversation=ReadConversation(
                line=row.line,
                external_id=self._id(row, "prompt_id", messages),
                messages=messages,
                tags=read_tags(row, "example_tags"),
                canary_string=self._canary(row),
                extra=self._others(row),
            ),
            criteria=self._criteria(row),
        )

    def _criterion(self, given: dict[str, object]) -> ExternalCriterion:
        tags = _taken("tags", given, as_list) or []
        axes = [tag.removeprefix("axis:") for tag in tags if tag.startswith("axis:")]
        if len(axes) > 1:
            raise Unreadable(f"tags: expected one axis, found {len(axes)}.")
        return ExternalCriterion(
            text=_text("criterion", given),
            points=_points(given),
            axis=_axis("tags", axes[0] if axes else ""),
            extra=unknown_keys(given, known=("criterion", "points")),
        )


class MentalHealthBench(Shape):
    """id, conversation {messages}, rubric_items [{criterion_text, points, behavior_axis}], and the facts."""

    name = "mentalhealthbench"
    criteria_key = "rubric_items"
    own_names: ClassVar[dict[str, str]] = {"messages": "conversation", "criteria": criteria_key}
    criterion_keys = ("criterion_text", "points", "behavior_axis")
    columns = Columns(
        known=(
            "id",
            "conversation",
            "rubric_items",
            "acuity",
            "user_profile",
            "language",
            "has_prior_context",
            *CANARIES,
        )
    )

    def is_meant_by(self, values: dict[str, object]) -> bool:
        return "rubric_items" in values or isinstance(values.get("conversation"), dict)

    def read(self, row: FileRow) -> PublishedConversation:
        messages = self._messages(row)
        return PublishedConversation(
            conversation=ReadConversation(
                line=row.line,
                external_id=self._id(row, "id", messages),
                messages=messages,
                language=read_language(row),
                acuity=read_acuity(row),
                user_profile=read_user_profile(row),
                has_prior_context=row.true_or_false("has_prior_context"),
                canary_string=self._canary(row),
                extra=self._others(row),
            ),
            criteria=self._criteria(row),
        )

    def _messages(self, row: FileRow) -> Messages:
        conversation = row.values.get("conversation")
        if not isinstance(conversation, dict):
            row.error("conversation", "Expected an object {messages}.")
            return []
        try:
            conversation = under_known_names(conversation, known=("messages",))
        except Unreadable as fault:
            row.error("conversation", fault.message)
            return []
        left = sorted(conversation.keys() - {"messages"})
        if left:
            row.warn("conversation", f"Only its messages are kept, not {', '.join(left)}.", kind="messages")
        messages = read_messages(row, "conversation", conversation.get("messages"))
        if not _alternate(messages):
            row.warn("conversation", "User and assistant do not take turns here.", kind="turns")
        return messages

    def _criterion(self, given: dict[str, object]) -> ExternalCriterion:
        return ExternalCriterion(
            text=_text("criterion_text", given),
            points=_points(given),
            axis=_axis("behavior_axis", _taken("behavior_axis", given, as_text) or ""),
            extra=unknown_keys(given, known=self.criterion_keys),
        )


SHAPES: tuple[Shape, ...] = (HealthBench(), MentalHealthBench())


def _taken(key: str, given: dict[str, object], take: Callable[[object], T | None]) -> T | None:
    try:
        return take(given.get(key))
    except Unreadable as fault:
        raise Unreadable(f"{key}: {fault.message}") from fault


def _text(key: str, given: dict[str, object]) -> str:
    text = _taken(key, given, as_text) or ""
    if not text.strip():
        raise Unreadable(f"{key}: expected a text, found nothing.")
    if len(text) > 32_767:
        raise Unreadable(f"{key}: expected at most 32,767 characters, found {len(text):,}.")
    return text


def _points(given: dict[str, object]) -> int:
    points = _taken("points", given, as_whole_number)
    if points is None or not -10 <= points <= 10 or points == 0:
        found = "nothing" if points is None else f"{points:,}"
        raise Unreadable(f"points: expected a whole number from -10 to +10, not 0; found {found}.")
    return points


def _axis(key: str, axis: str) -> str:
    if len(axis) > 100:
        raise Unreadable(f"{key}: expected an axis of at most 100 characters.")
    return axis


def _canary_column(row: FileRow) -> str:
    return next((column for column in CANARIES if row.has(column)), CANARIES[0])


def _alternate(messages: Messages) -> bool:
    """Whether user and assistant take turns, after a first system message where there is one."""
    turns = messages[1:] if messages and messages[0]["role"] == "system" else messages
    return all(turn["role"] == ("assistant" if place % 2 else "user") for place, turn in enumerate(turns))
