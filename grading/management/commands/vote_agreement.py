"""The agreement among a study's clinicians on their blind votes."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_study
from annotation.rounds import settle_if_due
from consilium.commands import ConsiliumCommand
from grading.terminal_tables import lay_out_table, wrapped


class Command(ConsiliumCommand):
    help = "How far the clinicians agree on their blind votes, of revealed rounds; nothing of fewer than five people."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)

    def act(self, **options: Any) -> dict[str, Any]:
        # numpy is imported late, so that every command starts within a second
        from grading.vote_agreement import report_votes
        from grading.vote_words import sentences

        study = find_study(options["study"])
        settle_if_due(study)
        report = report_votes(study)
        return {**report.as_data(), "sentences": sentences(report)}

    def say(self, report: dict[str, Any]) -> str:
        from grading.vote_words import TERMINAL_ABOUT, open_sentence, terminal_rows

        lines = []
        for sentence in [*report["sentences"], open_sentence(report["open_conversations"])]:
            lines += wrapped(sentence)
        if report["first"] is None:
            return "\n".join(lines)
        for heads, rows in terminal_rows(report):
            lines += ["", *lay_out_table(heads, rows)]
        return "\n".join([*lines, "", *wrapped(TERMINAL_ABOUT)])
