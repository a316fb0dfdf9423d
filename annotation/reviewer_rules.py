"""More reviewers for some conversations: rules such as "acuity emergent: 6", "tag self-harm: 7", "language ar: 5".

A conversation gets the largest number among that which is asked for and those of the rules that it meets. A rule adds;
it never takes reviewers away.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from annotation.languages_and_countries import check_language
from annotation.models import Acuity, Conversation
from annotation.sparing import topic_key
from consilium.errors import RuleViolation

MOST_REVIEWERS = 100
MOST_RULES = 100
LONGEST_VALUE = 200
_RULE = re.compile(r"(?:(?P<of>acuity|tag|language)\s+)?(?P<value>[^\n]+?)\s*:\s*(?P<reviewers>\d{1,4})", re.IGNORECASE)


class RuleIsUnreadable(RuleViolation):
    """ "{line}" is no rule. Write rules such as acuity emergent: 6, tag self-harm: 7, language ar: 5."""


class UnknownAcuity(RuleViolation):
    """An acuity is non_acute, high_acuity or emergent, not "{value}"."""


class TooManyByRule(RuleViolation):
    """A rule asks for 1 to 100 reviewers."""


class TooManyRules(RuleViolation):
    """A study has at most 100 rules for more reviewers."""


@dataclass(frozen=True, slots=True)
class ReviewerRule:
    """Conversations of this acuity, tag or language get at least so many reviewers."""

    of: Literal["acuity", "tag", "language"]
    value: str
    reviewers: int

    def __str__(self) -> str:
        return f"{self.of} {self.value}: {self.reviewers}"

    def holds_for(self, conversation: Conversation) -> bool:
        if self.of == "acuity":
            return conversation.acuity == self.value
        if self.of == "tag":
            return topic_key(self.value) in map(topic_key, conversation.tags)
        return (conversation.language or "").split("-")[0].lower() == self.value.split("-")[0].lower()


def read_rule(line: str) -> ReviewerRule:
    """A rule as it is typed; "emergent: 6" alone is one of an acuity.

    Raises RuleIsUnreadable, UnknownAcuity, TooManyByRule, LanguageIsUnreadable.
    """
    found = _RULE.fullmatch(line.strip())
    if found is None or "\x00" in line:
        raise RuleIsUnreadable(line=line.strip()[:100])
    value, reviewers = " ".join(found["value"].split()), int(found["reviewers"])
    if not 1 <= reviewers <= MOST_REVIEWERS:
        raise TooManyByRule
    of = (found["of"] or "").lower()
    acuity = re.sub(r"[\s-]+", "_", value.lower())
    if of == "acuity" or (not of and acuity in Acuity.values):
        if acuity not in Acuity.values:
            raise UnknownAcuity(value=value[:100])
        return ReviewerRule("acuity", acuity, reviewers)
    if of == "language":
        check_language(value)
        return ReviewerRule("language", value, reviewers)
    if of != "tag" or len(value) > LONGEST_VALUE:
        raise RuleIsUnreadable(line=line.strip()[:100])
    return ReviewerRule("tag", value, reviewers)


def clean_rules(lines: Iterable[str]) -> list[str]:
    """Rules as they are kept: each once, of two about the same the last one. Raises what ``read_rule`` raises."""
    rules: dict[tuple[str, str], ReviewerRule] = {}
    for line in lines:
        if line.strip():
            rule = read_rule(line)
            rules[rule.of, topic_key(rule.value)] = rule
    if len(rules) > MOST_RULES:
        raise TooManyRules
    return [str(rule) for rule in rules.values()]


def reviewers_wanted(conversation: Conversation, rules: Collection[ReviewerRule], reviewers: int) -> int:
    """How many reviewers a conversation gets where so many are asked for."""
    return max([reviewers, *(rule.reviewers for rule in rules if rule.holds_for(conversation))])
