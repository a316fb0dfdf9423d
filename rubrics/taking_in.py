"""Taking a published file in as an external version: known by its name, with its own axes, digested like our own.

Its conversations and criteria belong to it alone: they are never assigned, drafted on, voted on, frozen or counted. A
criterion is named by the first 16 hex digits of its item hash, an exact double by the same with ``-2``. The same
content under the same name changes nothing; a name taken by other content is refused. Rows are taken one after
another and written in batches, all in the caller's transaction.
"""

import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Conversation, Criterion, FileImport, Revision, Study, User
from consilium.errors import RuleViolation, violated_constraint
from rubrics import digests
from rubrics.copying import copy_rows
from rubrics.incoming import (
    ExternalConversation,
    ExternalCriterion,
    Incoming,
    IncomingCriterion,
    RowCantBeTakenIn,
    SourceFormat,
    content_sha256_of,
    marked_not_for_public_text,
)
from rubrics.models import FrozenConversation, FrozenCriterion, RubricVersion

__all__ = [
    "ExternalConversation",
    "ExternalCriterion",
    "FileHasNoCriteria",
    "NameCantBeUsed",
    "NameIsTaken",
    "RowCantBeTakenIn",
    "SourceFormat",
    "checked_name",
    "find_taken",
    "is_not_for_public_text",
    "take_in_version",
]

BATCH = 200
"""Conversations that are written at once; some 2,300 criteria of HealthBench."""


class NameCantBeUsed(RuleViolation):
    """An external version's name has 1 to 100 characters, is not all digits, and holds no slash or line break."""


class NameIsTaken(RuleViolation):
    """The name "{name}" is taken by other content. Take the file in under another name."""


class FileHasNoCriteria(RuleViolation):
    """The file holds no criterion, so that there is nothing to grade by."""


def find_taken(*, study: Study, name: str, rows: Iterable[ExternalConversation]) -> RubricVersion | None:
    """Answer the version of this name where it holds the same content, None where the name is free. Writes nothing.

    Raises NameIsTaken where it holds other content, NameCantBeUsed for a name that can't be one. ``rows`` are read
    only where the name is there already.
    """
    name = checked_name(name)
    taken = RubricVersion.objects.filter(study=study, kind=RubricVersion.Kind.EXTERNAL, name__iexact=name).first()
    if taken is None:
        return None
    incoming = Counter(Incoming(row).content_sha256() for row in rows)
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
    the line for what no row can hold. Where a row is not for public text, the study is marked so.
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
    if writing.is_not_for_public_text and not study.is_not_for_public_text:
        study.is_not_for_public_text = True
        study.save(update_fields=["is_not_for_public_text"])
    return version


def is_not_for_public_text(source_format: str, extra: str) -> bool:
    """Whether a conversation is not for public text: what its row says, as our exports do, else its shape.

    MentalHealthBench's publisher asks that its examples not be shown in public text.
    """
    marked = marked_not_for_public_text(extra)
    return source_format == "mentalhealthbench" if marked is None else marked


def checked_name(name: str) -> str:
    """Answer a version's name, trimmed and in NFC. Raises NameCantBeUsed."""
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= 100 or name.isdigit() or "/" in name or not name.isprintable() or name in (".", ".."):
        raise NameCantBeUsed
    return name


class _Writing:
    """Writes rows batch by batch, and keeps of them only what the version's own row needs: hashes, axes, counts."""

    def __init__(self, version: RubricVersion, file_import: FileImport) -> None:
        self.version, self.file_import = version, file_import
        self.hashes: list[str] = []
        self.axes: set[str] = set()
        self.canaries: set[str] = set()
        self.ids: set[str] = set()
        self.conversations_count = self.criteria_count = 0
        self.is_not_for_public_text = False

    def write(self, batch: list[ExternalConversation]) -> None:
        conversations: list[Conversation] = []
        frozen_conversations: list[FrozenConversation] = []
        criteria: list[Criterion] = []
        revisions: list[Revision] = []
        frozen: list[FrozenCriterion] = []
        for row in batch:
            incoming = Incoming(row)
            if row.external_id in self.ids:
                raise RowCantBeTakenIn(line=row.line, what=f'the id "{row.external_id}" stands twice in the file.')
            self.ids.add(row.external_id)
            self.canaries.add(incoming.canary_string)
            self.is_not_for_public_text |= is_not_for_public_text(self.version.source_format, incoming.others)
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

    def _conversation(self, incoming: Incoming) -> tuple[Conversation, FrozenConversation]:
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
        self, incoming: IncomingCriterion, conversation: Conversation, frozen_conversation: FrozenConversation
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
            yield content_sha256_of(this.item_sha256, facts, criteria[this.id])
