"""Freeze the study's next rubric version, and say what stayed out and why."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from consilium.commands import ConsiliumCommand
from rubrics.cautions import cautions_of
from rubrics.counting_words import counted_conversations, counted_criteria
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.selecting import select


class Command(ConsiliumCommand):
    help = (
        "Freeze every criterion in consensus as the study's next rubric version. What the page would have an admin "
        "acknowledge one by one is acknowledged, and named."
    )

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("--note", default="", help="What readers should know of this version.")

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        version = freeze_version(
            study=study,
            by=find_actor(options["by"]),
            note=options["note"],
            acknowledged=ACKNOWLEDGE_ALL,
        )
        left_out = version.left_out.order_by(
            "criterion__conversation__position",
            "criterion__conversation__external_id",
            "criterion__position",
            "criterion__external_id",
        ).values_list("criterion__external_id", "reason", "is_acknowledged")
        return {
            "version": version.number,
            "digest": version.digest,
            "record_digest": version.record_digest,
            "criteria": version.criteria_count,
            "conversations": version.conversations_count,
            "threshold_set_after_votes": version.is_threshold_set_after_votes,
            "left_out": [{"criterion_id": name, "reason": reason} for name, reason, _ in left_out],
            "cautions": cautions_of(select(study=study)).sentences,
            "acknowledged": [name for name, _, is_acknowledged in left_out if is_acknowledged],
        }

    def say(self, report: dict[str, Any]) -> str:
        lines = [
            f"Version {report['version']} is frozen: {counted_criteria(report['criteria'])} of "
            f"{counted_conversations(report['conversations'])}.",
            f"digest         {report['digest']}",
            f"record digest  {report['record_digest']}",
        ]
        if report["threshold_set_after_votes"]:
            lines.append("Threshold set after votes: the policy was changed when votes had been cast.")
        if report["left_out"]:
            lines.append(f"{counted_criteria(len(report['left_out']))} stayed out:")
            lines += [f"  {this['criterion_id']}: {this['reason']}" for this in report["left_out"]]
        if report["cautions"]:
            lines += ["To read:", *(f"  {sentence}" for sentence in report["cautions"])]
        if report["acknowledged"]:
            heavy = ", ".join(report["acknowledged"])
            lines.append(f"Acknowledged, with 8 points or more or of an emergency: {heavy}")
        return "\n".join(lines)
