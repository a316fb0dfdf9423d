"""A study's conversations by the ids that their file gave them, as people name them."""

from annotation.models import Conversation, Study
from consilium.errors import RuleViolation


class NoSuchConversation(RuleViolation):
    """The study has no conversation "{id}"."""


def find_conversations(study: Study, ids: list[str]) -> list[Conversation]:
    """The study's own conversations by their ids in the file; all of them where none is named."""
    own = Conversation.objects.own().filter(study=study).order_by("position", "id")
    if not ids:
        return list(own)
    found = {conversation.external_id: conversation for conversation in own.filter(external_id__in=ids)}
    for each in ids:
        if each not in found:
            raise NoSuchConversation(id=each)
    return [found[each] for each in dict.fromkeys(ids)]
