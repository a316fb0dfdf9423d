"""The scores of a run by respondent, acuity and axis."""

from argparse import ArgumentParser
from string import ascii_lowercase
from typing import Any

from consilium.commands import ConsiliumCommand
from consilium.templatetags.consilium_text import MINUS, decimals
from grading.command_line import add_reader, open_run, version_as_plain
from grading.models import Run
from grading.terminal_tables import cut, lay_out_table, wrapped


class Command(ConsiliumCommand):
    help = "The scores of a run by respondent: HealthBench's and MentalHealthBench's, with coverage and bounds."

    def add_words(self, parser: ArgumentParser) -> None:
        add_reader(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        # numpy is imported late, so that every command starts within a second
        from grading.score_report import report_scores, scores_as_data

        run = open_run(options["run"], options["by"], note=self.note)
        return {**scores_as_data(report_scores(run)), "version": version_as_plain(run.version)}

    def say(self, report: dict[str, Any]) -> str:
        from grading.score_tables import ACUITIES, acuity_words, axis_words

        rows, reasons = report["respondents"], _Reasons()
        lines = [f"Scores of {report['grader']} on version {report['version']}", "", *wrapped(_state(report))]
        if not report["graded"]:
            return "\n".join([*lines, "", "Not graded yet."])
        heads = [
            "Respondent",
            "HealthBench",
            "MentalHealthBench",
            "Over",
            "Bounds over all",
            "Pairs scored",
            "Critical",
        ]
        by_respondent = [
            [
                row["respondent"],
                reasons.number(row, "healthbench"),
                reasons.number(row, "mentalhealthbench"),
                _over(row),
                "none" if row["bounds"] is None else " to ".join(decimals(bound) for bound in row["bounds"]),
                f"{row['scored']:,} of {row['pairs']:,}",
                f"{row['critical_failures']:,} of {row['n']:,}",
            ]
            for row in rows
        ]
        acuities = [each for each in ACUITIES if any(each in row["by_acuity"] for row in rows)]
        axes = sorted({axis for row in rows for axis in row["by_axis"]}, key=lambda axis: (not axis, axis))
        lines += ["", *lay_out_table(heads, by_respondent)]
        lines += ["", *_sliced("Acuity", "by_acuity", {name: acuity_words(name) for name in acuities}, rows, reasons)]
        lines += ["", *_sliced("Axis", "by_axis", {name: axis_words(name) for name in axes}, rows, reasons)]
        about = (
            "Over 3 of 6: a mean is over the responses that are wholly scored, of all that have positive points; "
            "bounds are over all of them. MentalHealthBench by axis is over the responses of its total, and not "
            f"clipped. Critical: responses that meet a criterion of {MINUS}8 or worse."
        )
        return "\n".join([*lines, "", *reasons.lines(), *wrapped(about)])


def _state(report: dict[str, Any]) -> str:
    """How far the run is, how much is scored, what failed."""
    state = f"The run is {Run.State(report['state']).label}"
    if report["graded"] < report["pairs"]:
        state += f", {report['graded']:,} of {report['pairs']:,} pairs graded so far"
    state += f": {report['scored']:,} of {report['pairs']:,} pairs are scored"
    if report["coverage"] is not None:
        state += f" ({report['coverage']:.1%})"
    if not report["failed"]:
        return f"{state}."
    failed = "response failed and was" if report["failed"] == 1 else "responses failed and were"
    return f"{state}; {report['failed']:,} {failed} not graded."


class _Reasons:
    """The reasons of what is undefined, each once, by letter."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def number(self, row: dict[str, Any] | None, name: str) -> str:
        """A score, or *undefined* with the letter of its reason. No row: the respondent has no response there."""
        if row is not None and row[name] is not None:
            return decimals(row[name])
        reason = "no_responses" if row is None else row["undefined"][name]
        return f"undefined {self._marks.setdefault(reason, ascii_lowercase[len(self._marks)])}"

    def lines(self) -> list[str]:
        from grading.statistics.undefined import Reason

        lines = [f"{mark}: {Reason(reason).sentence}" for reason, mark in self._marks.items()]
        return [*lines, ""] if lines else []


def _over(row: dict[str, Any] | None) -> str:
    """How many responses a mean is over, of how many it could be."""
    return f"{row['averaged']:,} of {row['scorable']:,}" if row is not None else ""


def _sliced(head: str, by: str, names: dict[str, str], rows: list[dict[str, Any]], reasons: _Reasons) -> list[str]:
    """A table with a row a slice and respondent; each slice is named once."""
    lines = []
    for name, words in names.items():
        for index, row in enumerate(rows):
            scores = row[by].get(name)
            numbers = [reasons.number(scores, "healthbench"), _over(scores)]
            numbers.insert(1 if by == "by_acuity" else 2, reasons.number(scores, "mentalhealthbench"))
            lines.append([words if index == 0 else "", cut(row["respondent"], 40), *numbers])
    formulas = ["HealthBench", "Over", "MentalHealthBench"]
    if by == "by_acuity":
        formulas = ["HealthBench", "MentalHealthBench", "Over"]
    return lay_out_table([head, "Respondent", *formulas], lines, words=2)
