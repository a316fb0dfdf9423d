"""Assign reviewers to a study's conversations, or one by hand."""

from argparse import ArgumentParser
from typing import Any

from annotation.assigning import assign_reviewer, assign_reviewers, plan_assignment, unassign_reviewer
from annotation.command_line import add_study, find_actor, find_study
from annotation.joining import NobodyByThisAddress, find_person
from annotation.models import Study
from annotation.named_conversations import find_conversations
from annotation.reviewer_rules import MOST_REVIEWERS
from consilium.commands import ConsiliumCommand, WrongUse


class Command(ConsiliumCommand):
    help = (
        "Assign reviewers, balanced over workload and matched on language, country, profession and speciality. "
        "What is settled stays as it is."
    )

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("--reviewers", type=int, metavar="N", help="A conversation (default: the policy's).")
        parser.add_argument("--check", action="store_true", help="Say what would be done, and do nothing.")
        parser.add_argument("--plan", metavar="PLAN", help="As --check told it: do just that, or refuse.")
        parser.add_argument("--conversation", metavar="ID", help="One conversation, by hand, with one of these:")
        parser.add_argument("--add", metavar="EMAIL", help="This clinician reviews it from now on.")
        parser.add_argument("--remove", metavar="EMAIL", help="This one doesn't any more.")

    def act(self, **options: Any) -> dict[str, Any]:
        if options["reviewers"] is not None and not 1 <= options["reviewers"] <= MOST_REVIEWERS:
            raise WrongUse(f"--reviewers takes a whole number from 1 to {MOST_REVIEWERS}.")
        study = find_study(options["study"])
        if options["conversation"] or options["add"] or options["remove"]:
            return self._by_hand(study, options)
        if options["check"]:
            plan = plan_assignment(study, reviewers=options["reviewers"])
            for each in plan.filled:
                self.note(f"{each.conversation.external_id}: {', '.join(person.email for person in each.added)}")
            return {"would_assign": plan.seats, "conversations": len(plan.filled), "plan": plan.digest}
        result = assign_reviewers(study=study, reviewers=options["reviewers"], plan=options["plan"])
        for conversation in result.out_of_reach:
            self.note(f"Conversation {conversation.external_id} is out of reach: too few clinicians can review it.")
        return {"assigned": len(result.made), "out_of_reach": len(result.out_of_reach)}

    def _by_hand(self, study: Study, options: dict[str, Any]) -> dict[str, Any]:
        if not options["conversation"] or bool(options["add"]) == bool(options["remove"]):
            raise WrongUse("By hand: --conversation ID with --add EMAIL or --remove EMAIL.")
        [conversation] = find_conversations(study, [options["conversation"]])
        email = options["add"] or options["remove"]
        person = find_person(email)
        if person is None:
            raise NobodyByThisAddress(email=email)
        if options["add"]:
            assign_reviewer(conversation=conversation, reviewer=person)
        else:
            unassign_reviewer(conversation=conversation, reviewer=person, by=find_actor(options["by"]))
        return {"conversation": conversation.external_id, "added" if options["add"] else "removed": person.email}

    def say(self, report: dict[str, Any]) -> str:
        if "plan" in report:
            return (
                f"{report['would_assign']} assignments in {report['conversations']} conversations would be made. "
                f"To do just that: --plan {report['plan']}"
            )
        if "conversation" in report:
            who = f"{report['added']} reviews" if "added" in report else f"{report['removed']} no longer reviews"
            return f"{who} {report['conversation']}."
        return f"{report['assigned']} assignments made, {report['out_of_reach']} conversations out of reach."
