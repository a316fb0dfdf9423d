"""Taking a published file in as an external version: known by its name, with its own axes, digested like our own.

Its conversations and criteria belong to it alone: they are never assigned, drafted on, voted on, frozen or counted. A
criterion is named by the first 16 hex digits of its item hash, an exact double by the same with ``-2``. The same
content under the same name changes nothing; a name taken by other content is refused. Rows are taken one after
another and written in batches, all in the caller's transaction.

What our own exports carry under the key ``consilium`` (language, acuity, scale ...) is taken up again where the file's
shape has no place for it, so that an export comes back with the same digest.
"""

import json
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Conversation, Criterion, FileImport, Revision, Scale, Study, User
from annotation.models.conversations import Acuity, UserProfile
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation, violated_constraint
from rubrics import digests
from rubrics.copying import copy_rows
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion

SourceFormat = Literal["healthbench", "mentalhealthbench"]
OWN_KEY = "consilium"
"""The key of our exports for what the shape lacks."""
BATCH = 200
"""Conversations that are written at once; some 2,300 criteria of HealthBench."""


class NameCantBeUsed(RuleViolation):
    """An external version's name has 1 to 100 characters, is not all digits, and holds no slash or line break."""


class NameIsTaken(RuleViolation):
    """The name "{name}" is taken by other content. Take the file in under another name."""


class FileHasNoCriteria(RuleViolation):
    """The file holds no criterion, so that there is nothing to grade by."""


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
    canary_string: str = ""
    extra: str = ""


def find_taken(*, study: Study, name: str, rows: Iterable[ExternalConversation]) -> RubricVersion | None:
    """Answer the version of this name where it holds the same content, None where the name is free. Writes nothing.

    Raises NameIsTaken where it holds other content, NameCantBeUsed for a name that can't be one. ``rows`` are read
    only where the name is there already.
    """
    name = checked_name(name)
    taken = RubricVersion.objects.filter(study=study, kind=RubricVersion.Kind.EXTERNAL, name__iexact=name).first()
    if taken is None:
        return None
    incoming = Counter(_Incoming(row, taken.name).content_sha256() for row in rows)
    if incoming != Counter(_stored_content(taken)):
        raise NameIsTaken(name=taken.name)
    return taken


def take_in_version(
    *,
    study: Study,
    name: str,
    source_format: SourceFormat,
    rows: Iterable[ExternalConversation],
    file_name: str,
    sha256: str,
    by: User | None,
    file_import: FileImport,
) -> RubricVersion:
    """Write a published file as the study's external version ``name``; where it is there already, answer that one.

    To be called inside a transaction. Raises NameCantBeUsed, NameIsTaken, FileHasNoCriteria, and RowCantBeTakenIn with
    the line for what no row can hold. MentalHealthBench's publisher asks that its examples not be shown in public
    text: the study is marked so.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A file is taken in inside a transaction.")
    iterator = iter(rows)
    taken = find_taken(study=study, name=name, rows=iterator)
    if taken is not None:
        return taken
    version = RubricVersion(
        study=study,
        kind=RubricVersion.Kind.EXTERNAL,
        name=checked_name(name),
        note="",
        policy_sha256=digests.policy_sha256(None),
        note_sha256=digests.note_sha256(""),
        source_file_name=file_name,
        source_sha256=sha256,
        source_format=source_format,
        frozen_by=by,
    )
    writing = _Writing(version, file_import)
    while batch := list(islice(iterator, BATCH)):
        writing.write(batch)
    if not writing.criteria_count:
        raise FileHasNoCriteria
    version.digest = digests.digest_of(writing.hashes)
    version.record_digest = digests.record_digest_of(
        digest=version.digest, votes=(), policy=version.policy_sha256, note=version.note_sha256
    )
    version.axes = sorted(writing.axes)
    version.canary_string = writing.canaries.pop() if len(writing.canaries) == 1 else ""
    version.criteria_count, version.conversations_count = writing.criteria_count, writing.conversations_count
    try:
        with transaction.atomic():
            version.save(force_insert=True)
    except IntegrityError as error:  # somebody else took a file in under this name in the same moment
        if violated_constraint(error) == "a_name_is_one_external_version_of_a_study":
            raise NameIsTaken(name=version.name) from error
        raise
    if source_format == "mentalhealthbench" and not study.is_not_for_public_text:
        study.is_not_for_public_text = True
        study.save(update_fields=["is_not_for_public_text"])
    return version


def checked_name(name: str) -> str:
    """Answer a version's name, trimmed and in NFC. Raises NameCantBeUsed."""
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= 100 or name.isdigit() or "/" in name or not name.isprintable() or name in (".", ".."):
        raise NameCantBeUsed
    return name


class _Incoming:
    """A row as it will be stored: names, hashes and what our own exports say under ``consilium``."""

    def __init__(self, row: ExternalConversation, name: str) -> None:
        self.row, self.name = row, name
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
        self.source = _fact(row, own, "source", None) or ""
        self.canary_string = row.canary_string
        self.sha256 = digests.conversation_sha256(conversation_id=row.external_id, messages=row.messages)
        self.criteria = list(self._criteria())
        self._check()

    def _criteria(self) -> Iterator["_IncomingCriterion"]:
        seen: Counter[str] = Counter()
        for given in self.row.criteria:
            criterion = _IncomingCriterion(given, self.row)
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
        return _content_sha256(
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


class _IncomingCriterion:
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
        if not given.text or len(given.text) > 32_767:
            raise RowCantBeTakenIn(line=row.line, what="a criterion has 1 to 32,767 characters.")
        if not -10 <= given.points <= 10 or given.points == 0:
            raise RowCantBeTakenIn(line=row.line, what="points are a whole number from -10 to +10, not 0.")
        if len(given.axis) > 100:
            raise RowCantBeTakenIn(line=row.line, what="an axis has at most 100 characters.")
        if self.scale != Scale.BINARY and self.levels is None:
            raise RowCantBeTakenIn(line=row.line, what="this scale needs its levels.")
        self.sha256 = digests.criterion_sha256(
            conversation_id=row.external_id,
            text=given.text,
            points=given.points,
            axis=given.axis,
            scale=self.scale,
            levels=self.levels,
        )


class _Writing:
    """Writes rows batch by batch, and keeps of them only what the version's own row needs: hashes, axes, counts."""

    def __init__(self, version: RubricVersion, file_import: FileImport) -> None:
        self.version, self.file_import = version, file_import
        self.hashes: list[str] = []
        self.axes: set[str] = set()
        self.canaries: set[str] = set()
        self.ids: set[str] = set()
        self.conversations_count = self.criteria_count = 0

    def write(self, batch: list[ExternalConversation]) -> None:
        conversations: list[Conversation] = []
        frozen_conversations: list[FrozenConversation] = []
        criteria: list[Criterion] = []
        revisions: list[Revision] = []
        frozen: list[FrozenCriterion] = []
        for row in batch:
            incoming = _Incoming(row, self.version.name)
            if row.external_id in self.ids:
                raise RowCantBeTakenIn(line=row.line, what=f'the id "{row.external_id}" stands twice in the file.')
            self.ids.add(row.external_id)
            self.canaries.add(incoming.canary_string)
            conversation, frozen_conversation = self._conversation(incoming)
            conversations.append(conversation)
            frozen_conversations.append(frozen_conversation)
            for each in incoming.criteria:
                made = self._criterion(each, conversation, frozen_conversation)
                criteria.append(made[0])
                revisions.append(made[1])
                frozen.append(made[2])
        for rows in (conversations, criteria, revisions, frozen_conversations, frozen):
            copy_rows(rows)

    def _conversation(self, incoming: _Incoming) -> tuple[Conversation, FrozenConversation]:
        row = incoming.row
        facts = {
            "external_id": row.external_id,
            "messages": row.messages,
            "item_sha256": incoming.sha256,
            "language": incoming.language,
            "country": incoming.country,
            "acuity": incoming.acuity,
            "user_profile": incoming.user_profile,
            "has_prior_context": incoming.has_prior_context,
            "tags": incoming.tags,
            "source": incoming.source,
            "canary_string": incoming.canary_string,
            "extra": incoming.others,
            "position": self.conversations_count,
        }
        conversation = Conversation(
            study_id=self.version.study_id,
            external_name=self.version.name,
            imported_from=self.file_import,
            drafting_closed_at=timezone.now(),
            **facts,
        )
        self.conversations_count += 1
        self.hashes.append(incoming.sha256)
        return conversation, FrozenConversation(version_id=self.version.id, conversation_id=conversation.id, **facts)

    def _criterion(
        self, incoming: _IncomingCriterion, conversation: Conversation, frozen_conversation: FrozenConversation
    ) -> tuple[Criterion, Revision, FrozenCriterion]:
        given, revision_id = incoming.given, uuid.uuid4()
        criterion = Criterion(
            study_id=self.version.study_id,
            conversation_id=conversation.id,
            external_id=incoming.external_id,
            external_name=self.version.name,
            position=self.criteria_count,
            current_revision_id=revision_id,
            imported_from=self.file_import,
            extra=incoming.others,
        )
        facts = {
            "text": given.text,
            "points": given.points,
            "axis": given.axis,
            "scale": incoming.scale,
            "levels": incoming.levels,
            "rationale": incoming.rationale,
        }
        revision = Revision(id=revision_id, criterion_id=criterion.id, number=1, **facts)
        frozen = FrozenCriterion(
            version_id=self.version.id,
            frozen_conversation_id=frozen_conversation.id,
            criterion_id=criterion.id,
            revision_id=revision_id,
            wording_id=revision_id,
            external_id=incoming.external_id,
            extra=incoming.others,
            position=self.criteria_count,
            item_sha256=incoming.sha256,
            **facts,
        )
        self.criteria_count += 1
        self.hashes.append(incoming.sha256)
        if given.axis:
            self.axes.add(given.axis)
        return criterion, revision, frozen


def _divided(extra: str, line: int) -> tuple[str, dict[str, object]]:
    """Part a row's other keys into those to keep, as JSON text, and what our own exports say.

    Of the latter only the canary that the row had before it was ours is kept as it is.
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
    if own.get("source_canary"):
        keys[OWN_KEY] = {"source_canary": own["source_canary"]}
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


def _content_sha256(conversation: str, facts: list[object], criteria: list[tuple[str, str, str]]) -> str:
    """A hash of all that a row brings: its items and all beside them. The order of its criteria doesn't matter."""
    others = [_sorted_keys(fact) for fact in facts]
    told = sorted((sha256, rationale, _sorted_keys(extra)) for sha256, rationale, extra in criteria)
    return sha256_hex(json.dumps([conversation, others, told]).encode("ascii"))


def _sorted_keys(fact: object) -> str:
    """Answer a JSON text with its keys in order: the same keys in another order are the same content."""
    value = json.loads(fact) if isinstance(fact, str) and fact.startswith("{") else fact
    return json.dumps(value, sort_keys=True)


def _stored_content(version: RubricVersion) -> Iterator[str]:
    conversations = FrozenConversation.objects.filter(version=version).order_by("position").iterator(chunk_size=BATCH)
    while batch := list(islice(conversations, BATCH)):
        criteria: dict[uuid.UUID, list[tuple[str, str, str]]] = {this.id: [] for this in batch}
        for frozen in FrozenCriterion.objects.filter(frozen_conversation__in=batch):
            criteria[frozen.frozen_conversation_id].append((frozen.item_sha256, frozen.rationale, frozen.extra))
        for this in batch:
            facts: list[object] = [
                this.language,
                this.country,
                this.acuity,
                this.user_profile,
                this.has_prior_context,
                this.tags,
                this.source,
                this.canary_string,
                this.extra,
            ]
            yield _content_sha256(this.item_sha256, facts, criteria[this.id])
