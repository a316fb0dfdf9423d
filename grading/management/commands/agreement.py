"""The agreement of a run's grader with the clinicians."""

from argparse import ArgumentParser
from typing import Any

from consilium.commands import ConsiliumCommand
from grading.command_line import add_run, find_run


class Command(ConsiliumCommand):
    help = "How far a run's grader agrees with each clinician, and the clinicians with each other."

    def add_words(self, parser: ArgumentParser) -> None:
        add_run(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        # numpy is imported late, so that every command starts within a second
        from grading.agreement import agreement_as_data, report_agreement

        return agreement_as_data(report_agreement(find_run(options["run"])))

    def say(self, report: dict[str, Any]) -> str:
        if not report["n"]:
            return "Not yet known: no clinician has judged a pair that this run has graded."
        names = ("observed", "kappa", "ac1", "alpha", "alpha_clinicians", "macro_f1")
        lines = [f"{report['n']:,} pairs of a grade and a clinician's verdict, coverage {report['coverage']:.1%}.", ""]
        for name in names:
            value = report[name]
            shown = f"{value:.3f}" if value is not None else f"undefined ({report['undefined'][name]})"
            lines.append(f"{name.replace('_', ' '):<18} {shown}")
        lines += ["", f"{'clinician':<34} {'n':>6} {'observed':>9} {'kappa':>9} {'AC1':>9} {'macro F1':>9}"]
        for row in report["clinicians"]:
            numbers = " ".join(
                f"{'–' if row[name] is None else format(row[name], '.3f'):>9}"
                for name in ("observed", "kappa", "ac1", "macro_f1")
            )
            lines.append(f"{row['reviewer'][:34]:<34} {row['n']:>6} {numbers}")
        return "\n".join(lines)
