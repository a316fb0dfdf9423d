"""Open the next round where there is something for it."""

from annotation.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Open the next round of conversations, where something was revised, added or asked for."
    act_name = "open-round"
    counted = "opened"
