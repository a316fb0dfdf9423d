"""Make a study with its policy and its settings."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import find_actor, find_study
from annotation.consensus import PRESETS
from annotation.copying_a_study import copy_study
from annotation.making_a_study import make_study
from annotation.models import TextClass
from annotation.setting_options import add_setting_options, settings_given, warnings_about
from consilium.commands import ConsiliumCommand, WrongUse


class Command(ConsiliumCommand):
    help = "Make a study: its short name, its name, its policy of consensus, what its texts are, and its settings."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="The study's short name, as in its address.")
        parser.add_argument("--name", required=True, help="The study's name, as people read it.")
        parser.add_argument("--policy", choices=sorted(PRESETS), help="Its rule of consensus (default: three-agree).")
        parser.add_argument(
            "--copy-of",
            metavar="STUDY",
            help="Take settings, policy, axes and guidelines of a study; what is given here goes before.",
        )
        parser.add_argument("--by", metavar="EMAIL", help="Who makes it, and becomes its admin.")
        add_setting_options(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        facts, by = settings_given(options), find_actor(options["by"])
        named = {"slug": options["slug"], "name": options["name"], "by": by}
        if options["copy_of"]:
            if options["policy"]:
                raise WrongUse("A copy has the policy of the study copied: leave --policy out, or --copy-of.")
            study = copy_study(source=find_study(options["copy_of"]), **named, **facts)
        else:
            facts.setdefault("text_class", TextClass.SYNTHETIC.value)
            study = make_study(preset=options["policy"] or "three-agree", **named, **facts)
        return {
            "study": study.slug,
            "name": study.name,
            "policy": study.policy.preset,
            "text_class": study.text_class,
            "warnings": warnings_about(study),
        }

    def say(self, report: dict[str, Any]) -> str:
        return "\n".join([f"{report['name']} is there, at /studies/{report['study']}/.", *report["warnings"]])
