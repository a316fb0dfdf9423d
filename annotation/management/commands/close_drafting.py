"""Close drafting; round 1 opens in the same moment where there are criteria."""

from annotation.models import Conversation, User
from annotation.round_commands import RoundCommand
from annotation.rounds import close_drafting


class Command(RoundCommand):
    help = "Close drafting of conversations; round 1 opens in the same moment where there are criteria."
    counted = "closed"

    def act_on(self, conversation: Conversation, by: User | None) -> bool:
        return close_drafting(conversation=conversation, by=by)
