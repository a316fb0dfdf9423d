"""Change a study's policy of consensus; what was decided is decided again beside the old finding."""

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation.changing_policy import PolicyPreview, change_policy, preview_policy, propose_policy
from annotation.command_line import add_study, find_actor, find_study
from annotation.consensus import ALL_CATEGORIES, PRESETS
from annotation.models import Drafting, Weights
from annotation.rounds import settle_if_due
from consilium.commands import ConsiliumCommand, WrongUse

MOVES_SHOWN = 50


class Command(ConsiliumCommand):
    help = "Change a study's policy of consensus. --check says what would move and changes nothing."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("--check", action="store_true", help="Say what would move, and change nothing.")
        parser.add_argument(
            "--preset", choices=sorted(PRESETS), help="A known rule; what else is named goes before it."
        )
        parser.add_argument("--min-reviewed", type=int, metavar="N", help="So many must have judged a criterion.")
        parser.add_argument("--min-agree", type=int, metavar="N", help="So many of them must agree.")
        parser.add_argument("--min-ratio", metavar="R", help="Of those who agree or object, as 0.75 or 75%%.")
        parser.add_argument(
            "--points-tolerance", type=int, metavar="N", help="How far weights lie from the middle one."
        )
        parser.add_argument(
            "--blocks", nargs="+", choices=[*ALL_CATEGORIES, "all", "none"], help="Objections that block alone."
        )
        parser.add_argument("--max-rounds", type=int, metavar="N")
        parser.add_argument("--reviewers", type=int, metavar="N", help="Reviewers a conversation.")
        parser.add_argument("--drafting", choices=Drafting.values)
        parser.add_argument("--weights", choices=Weights.values)
        parser.add_argument("--names", choices=["yes", "no"], help="Whether votes show with names after a reveal.")

    def act(self, **options: Any) -> dict[str, Any]:
        study, by = find_study(options["study"]), find_actor(options["by"])
        facts = _facts(options)
        settle_if_due(study)
        preset = options["preset"]
        preview = preview_policy(study=study, policy=propose_policy(study=study, preset=preset, **facts))
        if not options["check"]:
            change_policy(study=study, by=by, against=preview.policy.version - 1, preset=preset, **facts)
        return {"study": study.slug, "checked_only": options["check"], **_report(preview)}

    def say(self, report: dict[str, Any]) -> str:
        is_done = not report["checked_only"]
        head = f"Policy {report['policy']} {'is in force' if is_done else 'would come into force'}: "
        lines = [
            head + f"{report['come_in']} in, {report['go_out']} out of consensus, {report['other_points']} with other "
            f"points, {len(report['moves'])} moved of {report['decided']} decided."
        ]
        for move in report["moves"][:MOVES_SHOWN]:
            before, after = (
                state.replace("_", " ") + (f" at {points:+d}" if points else "")
                for state, points in (
                    (move["before"], move["points_before"]),
                    (move["after"], move["points_after"]),
                )
            )
            lines.append(f"  {move['conversation']} / {move['criterion']}: {before} -> {after}")
        if len(report["moves"]) > MOVES_SHOWN:
            lines.append(f"  and {len(report['moves']) - MOVES_SHOWN} more (--json lists all)")
        if report["revealed_at_once"]:
            lines.append(f"{report['revealed_at_once']} open rounds are complete under it, and revealed at once.")
        return "\n".join(lines)


def _facts(options: dict[str, Any]) -> dict[str, Any]:
    same = ("min_reviewed", "min_agree", "points_tolerance", "max_rounds", "drafting", "weights")
    facts = {name: options[name] for name in same if options[name] is not None}
    if options["reviewers"] is not None:
        facts["reviewers_per_conversation"] = options["reviewers"]
    if options["names"] is not None:
        facts["names_shown_after_reveal"] = options["names"] == "yes"
    if options["min_ratio"] is not None:
        facts["min_ratio"] = _ratio(options["min_ratio"])
    if options["blocks"] is not None:
        named = set(options["blocks"])
        if "none" in named and len(named) > 1:
            raise WrongUse("--blocks none stands alone.")
        facts["blocks"] = list(ALL_CATEGORIES) if "all" in named else sorted(named - {"none"})
    if not facts and not options["preset"]:
        raise WrongUse("Name what changes; --help lists it.")
    return facts


def _ratio(words: str) -> Decimal:
    try:
        return Decimal(words[:-1]) / 100 if words.endswith("%") else Decimal(words)
    except InvalidOperation as error:
        raise WrongUse(f"{words} is no share. Write 0.75 or 75%.") from error


def _report(preview: PolicyPreview) -> dict[str, Any]:
    moves = preview.moves
    return {
        "policy": preview.policy.version,
        "decided": preview.decided,
        "come_in": sum(move.comes_in for move in moves),
        "go_out": sum(move.goes_out for move in moves),
        "other_points": sum(move.state_before == move.state_after for move in moves),
        "revealed_at_once": preview.revealed_at_once,
        "moves": [
            {
                "conversation": move.criterion.conversation.external_id,
                "criterion": move.criterion.external_id,
                "before": move.state_before,
                "after": move.state_after,
                "points_before": move.points_before,
                "points_after": move.points_after,
            }
            for move in moves
        ],
    }
