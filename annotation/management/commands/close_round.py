"""Close an open round: it is revealed with the votes that there are."""

from annotation.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Close the open round of conversations: it is revealed with the votes that there are."
    act_name = "close-round"
    counted = "closed"
