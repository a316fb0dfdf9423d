"""Make a study with its policy and its settings."""

from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from annotation.command_line import find_actor
from annotation.consensus import PRESETS
from annotation.joining import create_study
from annotation.models import TextClass
from annotation.setting_options import add_setting_options, settings_given, warnings_about
from annotation.setting_up import set_up_study
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Make a study: its short name, its name, its policy of consensus, what its texts are, and its settings."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="The study's short name, as in its address.")
        parser.add_argument("--name", required=True, help="The study's name, as people read it.")
        parser.add_argument("--policy", choices=sorted(PRESETS), default="three-agree")
        parser.add_argument("--by", metavar="EMAIL", help="Who makes it, and becomes its admin.")
        add_setting_options(parser, text_class=TextClass.SYNTHETIC.value)

    def act(self, **options: Any) -> dict[str, Any]:
        facts, by = settings_given(options), find_actor(options["by"])
        with transaction.atomic():
            study = create_study(
                slug=options["slug"],
                name=options["name"],
                preset=options["policy"],
                text_class=facts.pop("text_class"),
                attestation=facts.pop("attestation", ""),
                by=by,
            )
            set_up_study(study=study, by=by, **facts)
        return {
            "study": study.slug,
            "name": study.name,
            "policy": options["policy"],
            "text_class": study.text_class,
            "warnings": warnings_about(study),
        }

    def say(self, report: dict[str, Any]) -> str:
        return "\n".join([f"{report['name']} is there, at /studies/{report['study']}/.", *report["warnings"]])
