"""Close drafting; round 1 opens in the same moment where there are criteria."""

from typing import Any

from django.db.models import Exists, OuterRef

from annotation.command_line import find_study
from annotation.models import Conversation, Round
from annotation.round_acts import DraftingIsClosedAlready
from annotation.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Close drafting of conversations; round 1 opens in the same moment where there are criteria."
    act_name = "close-drafting"
    counted = "closed"
    nothing_to_do = (DraftingIsClosedAlready,)

    def act(self, **options: Any) -> dict[str, Any]:
        report = super().act(**options)
        closed = Conversation.objects.own().filter(
            ~Exists(Round.objects.filter(conversation=OuterRef("pk"))),
            study=find_study(options["study"]),
            drafting_closed_at__isnull=False,
        )
        if options["conversations"]:
            closed = closed.filter(external_id__in=options["conversations"])
        for name in closed.order_by("position", "id").values_list("external_id", flat=True):
            self.note(f"Conversation {name} has no criterion to vote on: it has no round, and counts as drafting.")
        return report
