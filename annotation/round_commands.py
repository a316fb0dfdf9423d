"""What close_drafting, open_round and close_round share: the conversations named, or all, one after another."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.db import transaction

from annotation.command_line import add_study, find_actor, find_conversations, find_study
from annotation.locks import share_study
from annotation.models import Conversation, User
from consilium.commands import ConsiliumCommand
from consilium.errors import RuleViolation


class RoundCommand(ConsiliumCommand):
    """Does one act on each conversation, in one transaction. Named ones that refuse stop it; others are passed over."""

    counted: str

    def act_on(self, conversation: Conversation, by: User | None) -> bool:
        """Do it; False where there was nothing to do."""
        raise NotImplementedError

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument(
            "conversations", nargs="*", metavar="CONVERSATION", help="Ids as in the file (default: all of the study)."
        )

    def act(self, **options: Any) -> dict[str, Any]:
        study, by = find_study(options["study"]), find_actor(options["by"])
        named: list[str] = options["conversations"]
        done = 0
        with transaction.atomic():
            share_study(study.id)
            for conversation in find_conversations(study, named):
                done += self._one(self.act_on, conversation, by, is_named=bool(named))
        return {self.counted: done}

    def _one(
        self,
        act: Callable[[Conversation, User | None], bool],
        conversation: Conversation,
        by: User | None,
        *,
        is_named: bool,
    ) -> int:
        try:
            with transaction.atomic():
                return int(act(conversation, by))
        except RuleViolation as refusal:
            if is_named:
                raise RuleViolation(f"Conversation {conversation.external_id}: {refusal.sentence}") from refusal
            return 0

    def say(self, report: dict[str, Any]) -> str:
        return f"{report[self.counted]} {self.counted}."
