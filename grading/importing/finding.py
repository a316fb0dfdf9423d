"""The conversations that a file of responses or verdicts names: the study's own first, else an external version's."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from annotation.importing.report import Report
from annotation.importing.rows import in_batches
from annotation.models import Conversation, Study

BATCH = 5000


@dataclass(frozen=True, slots=True)
class NamedConversation:
    """A conversation of the study. ``external_name`` is '' for one of its own."""

    id: UUID
    external_name: str
    item_sha256: str
    created_at: datetime


class ConversationsByName:
    """Conversations by their id in the file, the study's own first, then the newest external version's."""

    def __init__(self, found: dict[str, list[NamedConversation]]) -> None:
        self._found = found
        for named in found.values():
            named.sort(key=lambda one: one.created_at, reverse=True)
            named.sort(key=lambda one: one.external_name != "")

    def all(self, external_id: str) -> list[NamedConversation]:
        return self._found.get(external_id, [])

    def first(self, external_id: str) -> NamedConversation | None:
        """The one that a response belongs to; None where there is none of that id."""
        named = self.all(external_id)
        return named[0] if named else None

    def warn_of_many(self, external_id: str, line: int, report: Report) -> None:
        """Warn where several conversations have this id: the study's own, or several external versions'."""
        named = self.all(external_id)
        if len(named) < 2:
            return
        others = ", ".join(one.external_name for one in named[1:])
        taken = f"that of {named[0].external_name}, the newest" if named[0].external_name else "the study's own"
        report.warn(
            line,
            "conversation_id",
            f"Several conversations have the id “{external_id}”: new responses belong to {taken}, "
            f"not to that of {others}.",
            kind="ids of several conversations",
        )


def find_conversations(study: Study, external_ids: Collection[str]) -> ConversationsByName:
    """Find the conversations of these ids. A query for each five thousand."""
    found: dict[str, list[NamedConversation]] = defaultdict(list)
    for ids in in_batches(external_ids, BATCH):
        for this in Conversation.objects.filter(study=study, undone_at=None, external_id__in=ids).only(
            "external_id", "external_name", "item_sha256", "created_at"
        ):
            named = NamedConversation(this.id, this.external_name, this.item_sha256, this.created_at)
            found[this.external_id].append(named)
    return ConversationsByName(found)
