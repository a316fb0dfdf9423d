"""An import is no way around blindness: who reviews a conversation takes in nothing for it while it is blind.

What an import answers (unchanged, stored with other points, would stop counting) tells of what is stored. An admin who
also reviews a conversation sees it as a reviewer, and so another admin, or the command line, takes its files in.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from annotation.models import Conversation, Round, User

SENTENCE = (
    "You review conversation “{id}”. While it is drafted or voted on, somebody else takes its criteria and votes in, "
    "or the command line."
)


def blind_for(by: User | None, conversations: Collection[UUID]) -> set[UUID]:
    """Those of the conversations that the person reviews and that are blind now. One query."""
    if by is None:
        return set()
    is_voting = Exists(Round.objects.unsettled().filter(conversation=OuterRef("pk")))
    blind = Conversation.objects.filter(
        Q(drafting_closed_at=None) | is_voting, id__in=conversations, assignments__reviewer=by
    )
    return set(blind.values_list("id", flat=True))
