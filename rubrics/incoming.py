"""A row of a published file as it will be stored: names, hashes, and what our own exports say of it besides.

What our own exports carry under the key ``consilium`` (language, acuity, scale ...) is taken up again where the file's
shape has no place for it, so that an export comes back with the same digest.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from annotation.models import Scale
from annotation.models.conversations import Acuity, UserProfile
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation
from rubrics import digests

SourceFormat = Literal["healthbench", "mentalhealthbench", "consilium"]
"""The shape of a published file; ``consilium`` is the table that our own exports are."""
OWN_KEY = "consilium"
"""The key of our exports for what the shape lacks."""
NOT_FOR_PUBLIC_TEXT = "is_not_for_public_text"
SOURCE_CANARY, CANARY_KEY = "source_canary", "canary_key"
"""The canary that a row had before it was ours, and the key that its canary came under."""


class RowCantBeTakenIn(RuleViolation):
    """Line {line}: {what}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalCriterion:
    """One criterion of a published file. ``extra`` is the JSON text of its other keys, as given ('' for none).

    Of HealthBench's shape ``tags`` stays in ``extra``, whole, beside the axis that was read from it: levels and
    clusters come out again.
    """

    text: str
    points: int
    axis: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalConversation:
    """One row of a published file, with its criteria. ``line`` is where it stands; ``extra`` as for a criterion.

    ``tags`` are HealthBench's example_tags. What is unknown is None. Ids are trimmed, in NFC, and unique in the file.
    """

    external_id: str
    messages: list[dict[str, str]]
    criteria: list[ExternalCriterion]
    line: int
    language: str | None = None
    country: str | None = None
    acuity: str | None = None
    user_profile: str | None = None
    has_prior_context: bool | None = None
    tags: list[str] = field(default_factory=list)
    source: str = ""
    canary_string: str = ""
    extra: str = ""


class Incoming:
    """A conversation as it will be stored. Making one raises RowCantBeTakenIn for what no row can hold."""

    def __init__(self, row: ExternalConversation) -> None:
        self.row = row
        self.others, own = _divided(row.extra, row.line)
        self.language = _fact(row, own, "language", row.language)
        self.country = _fact(row, own, "country", row.country)
        self.acuity = _fact(row, own, "acuity", row.acuity, allowed=Acuity.values)
        self.user_profile = _fact(row, own, "user_profile", row.user_profile, allowed=UserProfile.values)
        context = own.get("has_prior_context") if row.has_prior_context is None else row.has_prior_context
        self.has_prior_context = context if isinstance(context, bool) else None
        tags = own.get("tags")
        self.tags = list(row.tags)
        if not self.tags and isinstance(tags, list):
            self.tags = [tag for tag in tags if isinstance(tag, str)]
        self.source = _fact(row, own, "source", row.source or None) or ""
        self.canary_string = row.canary_string
        self.sha256 = digests.conversation_sha256(conversation_id=row.external_id, messages=row.messages)
        self.criteria = list(self._criteria())
        self._check()

    def _criteria(self) -> Iterator["IncomingCriterion"]:
        seen: Counter[str] = Counter()
        for given in self.row.criteria:
            criterion = IncomingCriterion(given, self.row)
            seen[criterion.sha256] += 1
            count = seen[criterion.sha256]
            criterion.external_id = criterion.sha256[: digests.LENGTH_OF_A_CRITERION_NAME]
            if count > 1:
                criterion.external_id += f"-{count}"
            yield criterion

    def _check(self) -> None:
        line = self.row.line
        if not 1 <= len(self.row.external_id) <= 500:
            raise RowCantBeTakenIn(line=line, what="an id has 1 to 500 characters.")
        if any(len(tag) > 200 for tag in self.tags):
            raise RowCantBeTakenIn(line=line, what="a tag has at most 200 characters.")
        if len(self.canary_string) > 500:
            raise RowCantBeTakenIn(line=line, what="a canary has at most 500 characters.")

    def content_sha256(self) -> str:
        """Answer a hash of all that the row brings."""
        return content_sha256_of(
            self.sha256,
            [
                self.language,
                self.country,
                self.acuity,
                self.user_profile,
                self.has_prior_context,
                self.tags,
                self.source,
                self.canary_string,
                self.others,
            ],
            [(criterion.sha256, criterion.rationale, criterion.others) for criterion in self.criteria],
        )


class IncomingCriterion:
    """A criterion as it will be stored. Its conversation gives it its name."""

    external_id = ""

    def __init__(self, given: ExternalCriterion, row: ExternalConversation) -> None:
        self.given = given
        self.others, own = _divided(given.extra, row.line)
        scale = own.get("scale", Scale.BINARY.value)
        if scale not in Scale.values:
            raise RowCantBeTakenIn(line=row.line, what=f"a scale is one of {', '.join(Scale.values)}.")
        self.scale = str(scale)
        self.levels = own.get("levels") if self.scale != Scale.BINARY else None
        rationale = own.get("rationale")
        self.rationale = rationale if isinstance(rationale, str) else ""
        if not given.text.strip() or len(given.text) > 32_767:
            raise RowCantBeTakenIn(line=row.line, what="a criterion has 1 to 32,767 characters.")
        if not -10 <= given.points <= 10 or given.points == 0:
            raise RowCantBeTakenIn(line=row.line, what="points are a whole number from -10 to +10, not 0.")
        if len(given.axis) > 100:
            raise RowCantBeTakenIn(line=row.line, what="an axis has at most 100 characters.")
        if self.scale != Scale.BINARY and self.levels is None:
            raise RowCantBeTakenIn(line=row.line, what="this scale needs its levels.")
        try:
            self.sha256 = digests.criterion_sha256(
                conversation_id=row.external_id,
                text=given.text,
                points=given.points,
                axis=given.axis,
                scale=self.scale,
                levels=self.levels,
            )
        except (TypeError, ValueError) as error:
            raise RowCantBeTakenIn(line=row.line, what="levels hold texts and whole numbers only.") from error


def with_own_facts(extra: str, **facts: object) -> str:
    """Other keys with facts added under our own key. What stands there and is no object is left for its error."""
    keys = json.loads(extra) if extra else {}
    own = keys.get(OWN_KEY, {})
    return json.dumps({**keys, OWN_KEY: {**own, **facts}}, ensure_ascii=False) if isinstance(own, dict) else extra


def marked_not_for_public_text(extra: str) -> bool | None:
    """What other keys say of public text under our own key; None where they say nothing."""
    if f'"{OWN_KEY}"' not in extra:
        return None
    own = json.loads(extra).get(OWN_KEY)
    mark = own.get(NOT_FOR_PUBLIC_TEXT) if isinstance(own, dict) else None
    return mark if isinstance(mark, bool) else None


def _divided(extra: str, line: int) -> tuple[str, dict[str, object]]:
    """Part a row's other keys into those to keep, as JSON text, and what our own exports say.

    Of the latter three are kept as they are, since no field holds them: the canary that the row had before it was
    ours, the key that its canary came under, and whether it is not for public text.
    """
    if not extra or f'"{OWN_KEY}"' not in extra:
        return extra, {}
    keys = json.loads(extra)
    own = keys.pop(OWN_KEY, {})
    if not isinstance(own, dict):
        raise RowCantBeTakenIn(line=line, what=f'what stands under "{OWN_KEY}" is no JSON object.')
    again = own.get("unknown_keys")
    if isinstance(again, dict):
        keys = {**again, **keys}
    kept = {name: own[name] for name in (SOURCE_CANARY, CANARY_KEY) if own.get(name)}
    if isinstance(own.get(NOT_FOR_PUBLIC_TEXT), bool):
        kept[NOT_FOR_PUBLIC_TEXT] = own[NOT_FOR_PUBLIC_TEXT]
    if kept:
        keys[OWN_KEY] = kept
    return (json.dumps(keys, ensure_ascii=False) if keys else ""), own


def _fact(
    row: ExternalConversation,
    own: dict[str, object],
    key: str,
    given: str | None,
    *,
    allowed: Iterable[str] | None = None,
) -> str | None:
    """Answer what the row says or else, in its place, what our own export says of it."""
    value = own.get(key) if given is None else given
    if value is None:
        return None
    longest = {"language": 35, "country": 2}.get(key, 500)
    if not isinstance(value, str) or len(value) > longest:
        raise RowCantBeTakenIn(line=row.line, what=f"{key} is no text of at most {longest} characters.")
    if allowed is not None and value not in (words := list(allowed)):
        raise RowCantBeTakenIn(line=row.line, what=f"{key} is one of {', '.join(words)}.")
    return value


def content_sha256_of(conversation: str, facts: list[object], criteria: list[tuple[str, str, str]]) -> str:
    """A hash of all that a row brings: its items and all beside them. The order of its criteria doesn't matter."""
    others = [_sorted_keys(fact) for fact in facts]
    told = sorted((sha256, rationale, _sorted_keys(extra)) for sha256, rationale, extra in criteria)
    return sha256_hex(json.dumps([conversation, others, told]).encode("ascii"))


def _sorted_keys(fact: object) -> str:
    """Answer a JSON text with its keys in order: the same keys in another order are the same content."""
    value = json.loads(fact) if isinstance(fact, str) and fact.startswith("{") else fact
    return json.dumps(value, sort_keys=True)
