"""Make a study with its policy."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import find_actor
from annotation.consensus import PRESETS
from annotation.joining import create_study
from annotation.models import TextClass
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Make a study: its short name, its name, its policy of consensus and what its texts are."

    def add_words(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="The study's short name, as in its address.")
        parser.add_argument("--name", required=True, help="The study's name, as people read it.")
        parser.add_argument("--policy", choices=sorted(PRESETS), default="three-agree")
        parser.add_argument(
            "--text-class",
            type=lambda word: word.strip().lower().replace("-", "_"),
            default=TextClass.SYNTHETIC.value,
            metavar="synthetic|public|de-identified",
            help="What the texts are (default: synthetic). Identifiable texts are refused.",
        )
        parser.add_argument("--attestation", default="", help="Who de-identified the texts, how and when.")
        parser.add_argument("--by", metavar="EMAIL", help="Who makes it, and becomes its admin.")

    def act(self, **options: Any) -> dict[str, Any]:
        study = create_study(
            slug=options["slug"],
            name=options["name"],
            preset=options["policy"],
            text_class=options["text_class"],
            attestation=options["attestation"],
            by=find_actor(options["by"]),
        )
        return {"study": study.slug, "name": study.name, "policy": options["policy"], "text_class": study.text_class}

    def say(self, report: dict[str, Any]) -> str:
        return f"{report['name']} is there, at /studies/{report['study']}/."
