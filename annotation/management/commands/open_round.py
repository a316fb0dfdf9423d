"""Open the next round where there is something for it."""

from annotation.models import Conversation, User
from annotation.round_commands import RoundCommand
from annotation.rounds import open_round


class Command(RoundCommand):
    help = "Open the next round of conversations, where something was revised, added or asked for."
    counted = "opened"

    def act_on(self, conversation: Conversation, by: User | None) -> bool:
        return open_round(conversation=conversation, by=by) is not None
