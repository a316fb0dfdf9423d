"""The agreement of a run's grader with the clinicians."""

from argparse import ArgumentParser
from typing import Any

from consilium.commands import ConsiliumCommand
from consilium.templatetags.consilium_text import decimals
from grading.command_line import add_reader, open_run, version_as_plain
from grading.models import Run
from grading.terminal_tables import lay_out_table, wrapped

WORDS = {
    "kappa": "Kappa",
    "macro_f1": "Macro F1",
    "alpha_clinicians": "Alpha, clinicians alone",
    "alpha": "Alpha, with the grader",
    "ac1": "AC1",
    "observed": "Agreement",
}
BY_SLICE = ("kappa", "observed", "macro_f1", "ac1")


class Command(ConsiliumCommand):
    help = "How far a run's grader agrees with each clinician, and the clinicians with each other."

    def add_words(self, parser: ArgumentParser) -> None:
        add_reader(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        # numpy is imported late, so that every command starts within a second
        from grading.agreement import agreement_as_data, report_agreement

        run = open_run(options["run"], options["by"], note=self.note)
        return {**agreement_as_data(report_agreement(run)), "version": version_as_plain(run.version)}

    def say(self, report: dict[str, Any]) -> str:
        from grading.agreement import TOO_FEW, is_too_few
        from grading.score_tables import axis_words
        from grading.statistics.undefined import Reason

        lines = [f"Agreement of {report['grader']} with the clinicians, on version {report['version']}", ""]
        if report["graded"] < report["pairs"]:
            state = Run.State(report["state"]).label
            lines += [f"The run is {state}: {report['graded']:,} of {report['pairs']:,} pairs graded so far.", ""]
        if not report["n"]:
            return "\n".join([*lines, "Not yet known: no clinician has judged a pair that this run has graded."])
        conversations = "1 conversation" if report["conversations"] == 1 else f"{report['conversations']} conversations"
        said = f"{report['judged']:,} verdicts, {report['n']:,} make a pair with a grade, from {conversations}."
        if report["not_blind"]:
            said += f" {report['not_blind']:,} more were given after opening the grades and stay out."
        lines += [*wrapped(said), ""]
        if is_too_few(n=report["n"], conversations=report["conversations"]):
            lines += [f"Said the same: {_same(report)} of {report['n']:,} pairs."]
        else:
            for name, words in WORDS.items():
                value = report[name]
                shown = f"{decimals(value):>6}" if value is not None else _undefined(Reason(report["undefined"][name]))
                lines.append(f"{words:<25}{shown}")
        beside = {row["reviewer"]: row for row in report["among_clinicians"]}
        lines += ["", *lay_out_table(*_clinicians(report["clinicians"], beside))]
        heads = ["Axis", "Pairs", "Same", *(WORDS[name] for name in BY_SLICE)]
        lines += ["", *lay_out_table(heads, _axes(report, axis_words))]
        about = f"Pairs: of the verdicts given. Same: both say the same. –: {TOO_FEW[0].lower()}{TOO_FEW[1:]}"
        more = "With --json every number, and the reason of each that has none."
        return "\n".join([*lines, "", *wrapped(about), more])


def _undefined(reason: Any) -> str:
    return f"undefined: {reason.sentence}"


def _shown(row: dict[str, Any], name: str) -> str:
    """A coefficient; a dash where its pairs are too few; *undefined* where it can't be computed."""
    from grading.agreement import is_too_few

    if is_too_few(n=row["n"], conversations=row["conversations"]):
        return "–"
    return "undefined" if row[name] is None else decimals(row[name])


def _pairs(row: dict[str, Any]) -> str:
    return f"{row['n']:,} of {row['judged']:,}"


def _same(row: dict[str, Any]) -> str:
    """On how many pairs both sides say the same."""
    return f"{row['confusion']['met']['met'] + row['confusion']['not_met']['not_met']:,}"


def _clinicians(rows: list[dict[str, Any]], beside: dict[str, dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    heads = ["Clinician", "Pairs", "Same", *(WORDS[name] for name in BY_SLICE), "With others", "Kappa"]
    return heads, [
        [
            row["reviewer"],
            _pairs(row),
            _same(row),
            *(_shown(row, name) for name in BY_SLICE),
            _pairs(beside[row["reviewer"]]),
            _shown(beside[row["reviewer"]], "kappa"),
        ]
        for row in rows
    ]


def _axes(report: dict[str, Any], words: Any) -> list[list[str]]:
    axes = sorted(report["by_axis"].items(), key=lambda item: (not item[0], item[0]))
    return [[words(axis), _pairs(row), _same(row), *(_shown(row, name) for name in BY_SLICE)] for axis, row in axes]
