"""Set a study's texts and settings; what is not named stays as it is."""

from argparse import ArgumentParser
from typing import Any

from annotation.command_line import add_study, find_actor, find_study
from annotation.setting_options import add_setting_options, settings_given
from annotation.setting_up import missing_before_start, set_up_study
from consilium.commands import ConsiliumCommand, WrongUse


class Command(ConsiliumCommand):
    help = "Set a study's texts and settings: guidelines, consent, what to expect, support, axes, languages and more."

    def add_words(self, parser: ArgumentParser) -> None:
        add_study(parser)
        parser.add_argument("--name", help="The study's name, as people read it.")
        add_setting_options(parser)

    def act(self, **options: Any) -> dict[str, Any]:
        study, by = find_study(options["study"]), find_actor(options["by"])
        facts = settings_given(options)
        if options["name"] is not None:
            facts["name"] = options["name"]
        if not facts:
            raise WrongUse("Name at least one setting; --help lists them.")
        changed = set_up_study(study=study, by=by, **facts)
        return {
            "study": study.slug,
            "changed": changed,
            "consent_version": study.consent_version,
            "missing": [this.setting for this in missing_before_start(study)],
        }

    def say(self, report: dict[str, Any]) -> str:
        changed = [name.replace("_", " ") for name in report["changed"]]
        lines = [f"Changed: {', '.join(changed)}." if changed else "Nothing changed: it was set so already."]
        if "consent_text" in report["changed"]:
            lines.append(f"The consent text is version {report['consent_version']}: everybody is asked for it.")
        if report["missing"]:
            missing = ", ".join(name.replace("_", " ") for name in report["missing"])
            lines.append(f"Still missing before anybody begins: {missing}.")
        return "\n".join(lines)
