"""Set until when drafting, open rounds and discussions go on."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.db import transaction

from annotation.command_line import add_study, find_study
from annotation.named_conversations import find_conversations
from annotation.setting_dates import DateOf, read_date, set_dates
from consilium.commands import ConsiliumCommand, Refused, WrongUse


class Command(ConsiliumCommand):
    help = (
        "Set until when drafting, open rounds and discussions of conversations go on. WHEN is 2026-05-31 (its end, "
        'UTC), 2026-05-31T18:00 or with a zone 2026-05-31T18:00+02:00; "none" takes the date away.'
    )

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)
        parser.add_argument(
            "conversations", nargs="*", metavar="CONVERSATION", help="Ids as in the file (default: all of the study)."
        )
        for of in DateOf:
            parser.add_argument(f"--{of.value}-until", metavar="WHEN", help=f"When {of.label} ends.")

    def act(self, **options: Any) -> dict[str, Any]:
        study, named = find_study(options["study"]), options["conversations"]
        given = {of: options[f"{of.value}_until"] for of in DateOf if options[f"{of.value}_until"] is not None}
        if not given:
            raise WrongUse("Name at least one date; --help lists them.")
        ids = [this.id for this in find_conversations(study, named)] if named else None
        report: dict[str, Any] = {"study": study.slug, "passed_over": []}
        with transaction.atomic():
            for of, words in given.items():
                until = read_date(words)
                done = set_dates(study=study, of=of, until=until, conversations=ids)
                if named and done.passed_over:
                    conversation, why = done.passed_over[0]
                    raise Refused(f"Conversation {conversation.external_id}: {why}")
                report[of.value] = {"until": until.isoformat() if until else None, "conversations": len(done.dated)}
                report["passed_over"] += [
                    {"conversation": conversation.external_id, "date_of": of.value, "why": why}
                    for conversation, why in done.passed_over
                ]
        return report

    def say(self, report: dict[str, Any]) -> str:
        lines = []
        for of in DateOf:
            if found := report.get(of.value):
                until = f"until {found['until']}" if found["until"] else "without a date"
                lines.append(f"{of.label.capitalize()} {until}: {found['conversations']} conversations.")
        reasons = Counter(this["why"] for this in report["passed_over"])
        lines += [f"Passed over: {count}. {why}" for why, count in reasons.items()]
        return "\n".join(lines)
