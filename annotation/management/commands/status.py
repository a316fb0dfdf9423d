"""Where a study stands: its conversations and criteria by state."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_study
from annotation.reaching import out_of_reach
from annotation.rounds import settle_if_due
from annotation.states import count_states
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Where a study stands: conversations and criteria by state. It tells nothing of an open round's votes."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser, records_who=False)

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        settle_if_due(study)
        return {"study": study.slug, **count_states(study), "out_of_reach": len(out_of_reach(study))}

    def say(self, report: dict[str, Any]) -> str:
        lines = []
        for kind in ("conversations", "criteria"):
            states = [f"  {count:>7,}  {state.replace('_', ' ')}" for state, count in report[kind].items() if count]
            lines += [f"{sum(report[kind].values()):,} {kind}", *states]
        lines.append(f"{report['out_of_reach']:,} conversations out of reach")
        return "\n".join(lines)
