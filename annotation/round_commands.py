"""What close_drafting, reopen_drafting, open_round and close_round share: the conversations named, or all."""

from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from annotation.acting_on_many import ROUND_ACTS
from annotation.command_line import add_study, find_actor, find_study
from annotation.named_conversations import find_conversations
from consilium.commands import ConsiliumCommand
from consilium.errors import RuleViolation


class RoundCommand(ConsiliumCommand):
    """Does one act on many conversations, in one transaction. A named one that refuses stops it, others don't."""

    act_name: str
    counted: str
    nothing_to_do: tuple[type[RuleViolation], ...] = ()
    """What isn't worth a refusal, also where the conversation was named: it is as wanted already."""

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument(
            "conversations", nargs="*", metavar="CONVERSATION", help="Ids as in the file (default: all of the study)."
        )

    def act(self, **options: Any) -> dict[str, Any]:
        study, by = find_study(options["study"]), find_actor(options["by"])
        named: list[str] = options["conversations"]
        with transaction.atomic():
            chosen = find_conversations(study, named)
            ids = [this.id for this in chosen]
            refused = ROUND_ACTS[self.act_name].act(study=study, conversations=ids, by=by)
            for this in chosen if named else []:
                if this.id in refused and not isinstance(refused[this.id], self.nothing_to_do):
                    raise RuleViolation(f"Conversation {this.external_id}: {refused[this.id].sentence}")
        return {self.counted: len(ids) - len(refused)}

    def say(self, report: dict[str, Any]) -> str:
        return f"{report[self.counted]} {self.counted}."
