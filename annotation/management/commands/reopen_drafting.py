"""Open drafting again where it was closed without a criterion."""

from annotation.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Open drafting again of conversations where it was closed without a criterion."
    act_name = "reopen-drafting"
    counted = "reopened"
