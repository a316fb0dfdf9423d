"""Send digests and reminders by hand, and whatever mail waits."""

from argparse import ArgumentParser
from typing import Any

from annotation.digests import ask_for_due_mail, due_mail
from annotation.models import Notice
from annotation.sending import send_waiting
from consilium.commands import ConsiliumCommand, Refused


class Command(ConsiliumCommand):
    help = (
        "Send what a worker sends by itself each morning, at any hour: digests and reminders, at most one a period, "
        "and the mail that waits. Exit code 1 where the mail server can't be reached; nothing is lost then."
    )

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="Say who would get what; nothing is sent.")

    def act(self, **options: Any) -> dict[str, Any]:
        if options["check"]:
            due = [
                {"email": each.person.email, "kind": str(each.kind), "period": each.period}
                for each in due_mail(at_any_hour=True)
            ]
            return {"due": due, "waiting": Notice.objects.waiting().count()}
        ask_for_due_mail(at_any_hour=True)
        done = send_waiting()
        refused = [{"email": notice.person.email, "problem": problem} for notice, problem in done.refused]
        report = {"sent": done.sent, "refused": refused, "waiting": Notice.objects.standing().count()}
        if done.unreachable:
            sentence = f"The mail server can't be reached: {done.unreachable} All of it waits."
            raise Refused(sentence, {**report, "error": sentence})
        return report

    def say(self, report: dict[str, Any]) -> str:
        if "due" in report:
            lines = [f"{each['email']}: {each['kind']} of {each['period']}" for each in report["due"]]
            return "\n".join([*lines, f"{len(lines)} would be sent, {report['waiting']} wait already."])
        lines = [f"{each['email']}: {each['problem']}" for each in report["refused"]]
        return "\n".join([*lines, f"Sent: {report['sent']}. Still waiting: {report['waiting']}."])
