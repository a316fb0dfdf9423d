"""Assign reviewers to a study's conversations."""

from argparse import ArgumentParser
from typing import Any

from annotation.admin_forms import MOST_REVIEWERS
from annotation.assigning import assign_reviewers
from annotation.command_line import add_study, find_study
from consilium.commands import ConsiliumCommand, WrongUse


class Command(ConsiliumCommand):
    help = "Assign reviewers, balanced over workload and matched on language. What is revealed stays as it is."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)
        parser.add_argument("--reviewers", type=int, metavar="N", help="A conversation (default: the policy's).")

    def act(self, **options: Any) -> dict[str, Any]:
        if options["reviewers"] is not None and not 1 <= options["reviewers"] <= MOST_REVIEWERS:
            raise WrongUse(f"--reviewers takes a whole number from 1 to {MOST_REVIEWERS}.")
        result = assign_reviewers(study=find_study(options["study"]), reviewers=options["reviewers"])
        for conversation in result.out_of_reach:
            self.note(f"Conversation {conversation.external_id} is out of reach: too few clinicians can review it.")
        return {"assigned": len(result.made), "out_of_reach": len(result.out_of_reach)}

    def say(self, report: dict[str, Any]) -> str:
        return f"{report['assigned']} assignments made, {report['out_of_reach']} conversations out of reach."
