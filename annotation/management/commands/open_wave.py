"""Open a wave of a study: its conversations are out."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.waves import open_wave
from consilium.commands import ConsiliumCommand


class Command(ConsiliumCommand):
    help = "Open a wave: whoever is assigned sees its conversations. Assigns nobody."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("number", type=int, metavar="N", help="The wave's number.")

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        wave = open_wave(study=study, number=options["number"], by=find_actor(options["by"]))
        return {"study": study.slug, "wave": wave.number, "conversations": wave.conversations.count()}

    def say(self, report: dict[str, Any]) -> str:
        return f"Wave {report['wave']} is open: {report['conversations']} conversations."
