"""Before the start: for which conversations enough reviewers can be found, by language and country.

A criterion needs as many reviewers as the policy says, and who writes it is none of them. So a conversation without
criteria needs one clinician more than must have judged; one that has criteria needs as many as its writers leave over.
"""

from collections import defaultdict
from dataclasses import dataclass

from annotation.matching import clinicians, reads
from annotation.models import Study
from annotation.reaching import Reach, reach_of


@dataclass(frozen=True, slots=True)
class ReachOfSome:
    """The conversations of one language and country that have something to decide."""

    language: str | None
    country: str | None
    conversations: int
    readers: int
    """The study's clinicians who read the language."""
    readers_there: int
    """Of these, who declared the same country."""
    needed: int
    """How many reviewers the most demanding of these conversations needs."""
    missing: int
    """How many clinicians more would do for all of these."""
    below: int
    """How many of these conversations can't reach a quorum now."""


def reach_by_language(study: Study) -> list[ReachOfSome]:
    """The table of what can reach a quorum: what lacks somebody first, then by language and country."""
    people, least = clinicians(study), study.policy.min_reviewed
    groups: dict[tuple[str | None, str | None], list[Reach]] = defaultdict(list)
    for reach in reach_of(study):
        groups[reach.conversation.language or None, reach.conversation.country or None].append(reach)
    rows = []
    for (language, country), reaches in groups.items():
        readers = [person for person in people if reads(person, language)]
        lacking = [max(0, _needed(reach, least) - reach.possible) for reach in reaches]
        rows.append(
            ReachOfSome(
                language=language,
                country=country,
                conversations=len(reaches),
                readers=len(readers),
                readers_there=sum(bool(country) and person.country == country for person in readers),
                needed=max(_needed(reach, least) for reach in reaches),
                missing=max(lacking),
                below=sum(lack > 0 for lack in lacking),
            )
        )
    return sorted(rows, key=lambda row: (not row.missing, row.language or "~", row.country or "~"))


def _needed(reach: Reach, least: int) -> int:
    """How many reviewers must be found: as many as must judge a criterion, and besides them who writes it."""
    return least + (reach.possible - reach.fewest if reach.has_criteria else 1)
