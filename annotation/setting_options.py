"""A study's settings as options of commands: create_study and set_study take the same."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.models import Demand, Role, Study, TextClass
from annotation.models.studies import DEFAULT_AXES
from consilium.errors import RuleViolation

_TEXTS = {
    "guidelines": "guidelines",
    "consent": "consent_text",
    "what_to_expect": "what_to_expect",
    "support": "support_contact",
    "outside_basis": "outside_endpoints_basis",
}
_FILES_ONLY = ("guidelines", "consent")


class TextFileCantBeRead(RuleViolation):
    """The file {name} can't be read as text in UTF-8."""


def add_setting_options(parser: ArgumentParser) -> None:
    """The options of a study's settings; one that is not named is not given."""
    parser.add_argument("--guidelines", metavar="FILE", help="The panel's guidelines, Markdown.")
    parser.add_argument(
        "--consent",
        metavar="FILE",
        help="The consent text, Markdown: purpose, pay, credit, licence, withdrawal. A change asks everybody again.",
    )
    parser.add_argument(
        "--what-to-expect", metavar="TEXT|FILE", help="What the texts are like, said before the first one; Markdown."
    )
    parser.add_argument("--support", metavar="TEXT|FILE", help="Whom somebody can talk to, always in reach.")
    parser.add_argument(
        "--axes", nargs="+", metavar="AXIS", help='The behaviour axes, or "default": MentalHealthBench\'s ten.'
    )
    parser.add_argument(
        "--topics",
        nargs="+",
        metavar="TOPIC",
        help='What clinicians can ask to be spared, or "default": the tags that the conversations carry.',
    )
    parser.add_argument(
        "--emergent-in-a-row", type=int, metavar="N", help="Emergent conversations in a row, at most; 0: no limit."
    )
    parser.add_argument(
        "--care-lead",
        metavar="EMAIL",
        help='The member who is told when a conversation may be a real person; "": all admins.',
    )
    parser.add_argument(
        "--reviewers-by-rule",
        nargs="+",
        metavar="RULE",
        help='More reviewers for some conversations, each as "acuity emergent: 6"; "none" takes the rules away.',
    )
    parser.add_argument(
        "--demand",
        nargs="+",
        choices=[*Demand.values, "none"],
        metavar="country|profession|speciality",
        help="Only reviewers who share it with a conversation that names it; none: they are preferred.",
    )
    parser.add_argument("--languages", nargs="+", metavar="TAG", help="The languages of the texts (BCP 47).")
    parser.add_argument(
        "--text-class",
        type=lambda word: word.strip().lower().replace("-", "_"),
        choices=[*TextClass.values, "identifiable"],
        metavar="synthetic|public|de-identified",
        help="What the texts are (of a new study: synthetic). Identifiable texts are refused.",
    )
    parser.add_argument("--attestation", metavar="TEXT", help="Who de-identified the texts, how and when.")
    parser.add_argument(
        "--outside-basis",
        metavar="TEXT|FILE",
        help="The legal basis on which de-identified texts may go to graders outside this machine.",
    )
    parser.add_argument(
        "--not-for-public-text", choices=["yes", "no"], help="Public reports and demo pages never show its messages."
    )


def settings_given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that a command was given, as the act takes them."""
    facts: dict[str, Any] = {
        setting: _text(options[option], is_file=option in _FILES_ONLY)
        for option, setting in _TEXTS.items()
        if options[option] is not None
    }
    for name in ("text_class", "attestation"):
        if options[name] is not None:
            facts[name] = options[name]
    for name in ("axes", "languages"):
        if options[name] is not None:
            facts[name] = [word.strip() for words in options[name] for word in words.split(",") if word.strip()]
    for name in ("emergent_in_a_row", "care_lead"):
        if options[name] is not None:
            facts[name] = options[name]
    for option, name in (("reviewers_by_rule", "reviewers_by_rule"), ("demand", "demands")):
        if options[option] is not None:
            facts[name] = [] if options[option] == ["none"] else options[option]
    if options["topics"] is not None:
        facts["topics"] = [] if options["topics"] == ["default"] else options["topics"]
    if facts.get("axes") == ["default"]:
        facts["axes"] = list(DEFAULT_AXES)
    if options["not_for_public_text"] is not None:
        facts["is_not_for_public_text"] = options["not_for_public_text"] == "yes"
    return facts


def warnings_about(study: Study) -> list[str]:
    """What a study that was just made still lacks, in sentences."""
    if study.memberships.filter(left_at=None, roles__contains=[Role.ADMIN]).exists():
        return []
    command = f"manage.py add_member {study.slug} EMAIL --role admin"
    return [f"Nobody is its admin yet, so nobody can open its pages. Add one: {command}"]


def _text(words: str, *, is_file: bool) -> str:
    path = Path(words)
    if not is_file and not _is_file(path):
        return words
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise TextFileCantBeRead(name=words) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than a name may be, or no name at all
        return False
