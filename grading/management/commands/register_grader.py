"""Register a grader: an OpenAI-compatible endpoint and a model, under a name."""

import json
import os
from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from consilium.commands import ConsiliumCommand, WrongUse
from grading.graders import register_grader
from grading.models import Grader


class Command(ConsiliumCommand):
    help = (
        "Register a grader of a study: a model at an OpenAI-compatible endpoint (chat completions). The same again "
        "changes nothing; the same name with other facts is refused, because a grader's verdicts are its own."
    )

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("name", metavar="NAME", help="The grader's name in the study.")
        parser.add_argument("--base-url", required=True, help="As http://127.0.0.1:8080/v1")
        parser.add_argument("--model", required=True, help="The model's name at the endpoint.")
        parser.add_argument("--mode", choices=["per-criterion", "per-response"], default="per-criterion")
        parser.add_argument(
            "--api-key-env",
            metavar="VAR",
            default="",
            help="The environment variable that holds the key; never the key.",
        )
        parser.add_argument(
            "--concurrency", metavar="N", type=int, default=8, help="Calls at once, over all workers (8)."
        )
        parser.add_argument(
            "--parameter",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help="Goes into each request, as temperature=0.2 or max_tokens=800 (default: temperature=0). Repeatable; "
            "response_format=none asks for no schema.",
        )

    def act(self, **options: Any) -> dict[str, Any]:
        study = find_study(options["study"])
        before = Grader.objects.filter(study=study).count()
        grader = register_grader(
            study=study,
            name=options["name"],
            base_url=options["base_url"],
            model=options["model"],
            mode=options["mode"].replace("-", "_"),
            parameters=_read_parameters(options["parameter"]),
            api_key_variable=options["api_key_env"],
            concurrency=options["concurrency"],
            by=find_actor(options["by"]),
            on_page=False,
        )
        if grader.api_key_variable and not os.environ.get(grader.api_key_variable):
            self.note(f"{grader.api_key_variable} isn't set here. It must be where the worker runs.")
        return {
            "grader": grader.name,
            "created": Grader.objects.filter(study=study).count() > before,
            "digest": grader.digest,
            "base_url": grader.base_url,
            "model": grader.model,
            "mode": grader.mode.replace("_", "-"),
            "prompt_version": grader.prompt_version,
            "parameters": grader.parameters,
            "concurrency": grader.concurrency,
        }

    def say(self, report: dict[str, Any]) -> str:
        done = "is registered" if report["created"] else "was registered already"
        return f"The grader “{report['grader']}” {done}: {report['model']} at {report['base_url']}."


def _read_parameters(words: list[str]) -> dict[str, Any] | None:
    """What was given; None where nothing was: the defaults of that grader."""
    if not words:
        return None
    found: dict[str, Any] = {}
    for word in words:
        name, is_given, value = word.partition("=")
        if not is_given or not name.strip():
            raise WrongUse(f"--parameter takes NAME=VALUE, not {word}")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
    return found
