"""Close an open round: it is revealed with the votes that there are."""

from annotation.models import Conversation, User
from annotation.round_commands import RoundCommand
from annotation.rounds import close_round


class Command(RoundCommand):
    help = "Close the open round of conversations: it is revealed with the votes that there are."
    counted = "closed"

    def act_on(self, conversation: Conversation, by: User | None) -> bool:
        return close_round(conversation=conversation, by=by) is not None
