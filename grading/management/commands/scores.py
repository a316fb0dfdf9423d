"""The scores of a run by respondent."""

from argparse import ArgumentParser
from typing import Any

from consilium.commands import ConsiliumCommand
from grading.command_line import add_run, find_run


class Command(ConsiliumCommand):
    help = "The scores of a run by respondent: HealthBench's and MentalHealthBench's, with coverage and bounds."

    def add_words(self, parser: ArgumentParser) -> None:
        add_run(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        # numpy is imported late, so that every command starts within a second
        from grading.score_report import report_scores, scores_as_data

        return scores_as_data(report_scores(find_run(options["run"])))

    def say(self, report: dict[str, Any]) -> str:
        lines = [
            f"{report['scored']:,} of {report['pairs']:,} pairs are scored ({report['coverage']:.1%}); "
            f"{report['failed']} responses failed and were not graded.",
            "",
            f"{'respondent':<28} {'HealthBench':>12} {'MentalHealthBench':>18} {'bounds':>17} {'complete':>10}",
        ]
        for row in report["respondents"]:
            bounds = "–" if row["bounds"] is None else "{:.3f} to {:.3f}".format(*row["bounds"])
            lines.append(
                f"{row['respondent'][:28]:<28} {_number(row['healthbench']):>12} "
                f"{_number(row['mentalhealthbench']):>18} {bounds:>17} {row['complete']:>5} of {row['n']}"
            )
        return "\n".join(lines)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
